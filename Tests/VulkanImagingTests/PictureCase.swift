import VulkanImaging
import Imaging
import ModelGraph
import TestSupport
import VulkanBackend

/// A picture and the way it is stored and brought to a network's size.
struct PictureCase: Sendable, CustomStringConvertible {
    var stored: PixelSize
    var orientation: Orientation = .up
    var layout: PixelFormat = .rgb
    var fit: Fit = .stretch
    var network: Extent
    var order: ChannelOrder = .rgb

    var description: String {
        "\(stored) \(layout) orientation \(orientation.rawValue) \(fit) to \(network.width)x\(network.height) \(order)"
    }

    /// Every orientation, fit and layout; shrinking, enlarging, both, neither; passes in both orders; awkward sizes.
    static let table: [PictureCase] = {
        func size(_ width: Int, _ height: Int) -> PixelSize { PixelSize(width: width, height: height) }
        var cases: [PictureCase] = []
        for orientation in Orientation.allCases {
            for fit in Fit.allCases {
                cases.append(PictureCase(stored: size(61, 47), orientation: orientation, fit: fit, network: [33, 29]))
            }
        }
        for layout in PixelFormat.allCases {
            for order in ChannelOrder.allCases {
                for fit in Fit.allCases {
                    cases.append(
                        PictureCase(stored: size(40, 71), layout: layout, fit: fit, network: [33, 33], order: order))
                }
            }
        }
        let sizes = [
            size(1, 1), size(1, 9), size(9, 1), size(33, 33), size(33, 80), size(80, 33), size(33, 12), size(12, 33),
            size(5, 4), size(66, 66), size(65, 67), size(640, 480), size(100, 700), size(700, 100), size(40, 300),
        ]
        for stored in sizes {
            for fit in Fit.allCases {
                cases.append(PictureCase(stored: stored, layout: .rgba, fit: fit, network: [33, 33]))
            }
        }
        cases.append(PictureCase(stored: size(1023, 769), orientation: .right, network: [257, 257]))
        cases.append(PictureCase(stored: size(3000, 2001), network: [257, 257]))
        cases.append(PictureCase(stored: size(300, 200), layout: .bgra, fit: .letterbox, network: [513, 513]))
        cases.append(PictureCase(stored: size(4, 20_000), network: [3, 3]))
        return cases
    }()

    /// Indices of values of the network's input that are not, bit for bit, the processor's.
    func differences(on backend: VulkanBackend) throws -> [Int] {
        let channels = order.channelCount
        // Values that need rounding; with float16 storage bytes themselves, which need none.
        let isExact = backend.precision == .float16
        let scale: [Float] = isExact ? [1, 1, 1] : [1 / 127.5, 0.017, 0.0156]
        let bias: [Float] = isExact ? [0, 0, 0] : [-1, -2.1, -1.8]
        let model = try FrameModel.identity(
            network, order: order, scale: Array(scale.prefix(channels)), bias: Array(bias.prefix(channels)))
        let format = SegmentationFormat(
            picture: stored, orientation: orientation, fit: fit, maskSize: .model,
            outputs: SegmentationOutputs(categories: false, scores: true),
            background: RGBColor(red: 20, green: 220, blue: 99), padding: RGBColor(red: 200, green: 3, blue: 127))
        let picture = TestPicture.make(stored, layout)
        let found = try model.program(backend, format).makeSlot().run([picture])[0].scores
        let expected = model.preprocessed(picture, format).input.values
        return expected.indices.filter { expected[$0].bitPattern != found[$0].bitPattern }
    }
}
