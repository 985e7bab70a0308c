import Effects
import Imaging
import TestSupport

/// An effect on a picture, and how the edge of the subject is drawn.
struct EffectCase: Sendable, CustomStringConvertible {
    var size: PixelSize
    var layout: PixelFormat
    /// Nil: the subject is cut out.
    var background: Background?
    var backgroundName: String
    /// Nil: everything is subject.
    var edges: EdgeOptions?
    /// How classes are laid over the picture, in place of the background.
    var overlay: OverlayStyle?

    var description: String {
        let edge = edges.map { "\($0.source) \($0.threshold), shift \($0.shift), feather \($0.feather)" } ?? "opaque"
        return "\(size) \(layout), \(backgroundName), \(edge)"
    }

    static let sizes = [(1, 1), (33, 17), (640, 481)].map { PixelSize(width: $0, height: $1) }

    static let backgrounds: [(name: String, background: Background?)] = [
        ("cut out", nil), ("colour", .color(RGBColor(red: 12, green: 200, blue: 255))),
        ("gradient", .gradient(Gradient(angle: 30, colors: [.white, RGBColor(red: 90, green: 0, blue: 7), .black]))),
        ("cover", .picture(TestPicture.make(PixelSize(width: 50, height: 70), seed: 9), .cover)),
        ("tile", .picture(TestPicture.make(PixelSize(width: 7, height: 5), .rgba, seed: 9), .tile)),
        ("blur", .blur()), ("blur 0.5", .blur(radius: 0.5)), ("blur 9", .blur(radius: 9)), ("gray", .gray),
        ("dim", .dim(0.35)),
    ]

    static let edges: [EdgeOptions?] = [
        EdgeOptions(), EdgeOptions(source: .plain, threshold: 0.3), EdgeOptions(threshold: 0.8, shift: -3),
        EdgeOptions(source: .plain, feather: 7), nil,
    ]

    /// Everything with everything.
    static func table(_ size: PixelSize) -> [EffectCase] {
        var cases: [EffectCase] = []
        for layout in [PixelFormat.rgb, .rgba] {
            for (name, background) in backgrounds {
                for edges in edges {
                    cases.append(
                        EffectCase(
                            size: size, layout: layout, background: background, backgroundName: name, edges: edges))
                }
            }
            for edges in edges {
                cases.append(
                    EffectCase(
                        size: size, layout: layout, backgroundName: "overlay", edges: edges,
                        overlay: OverlayStyle(opacity: 0.7, colors: [3: .black])))
            }
        }
        return cases
    }

    /// What is to be drawn: the subject is a disc with a stripe, which the network sees on 17x17 places.
    var drawing: PictureDrawing {
        let picture = TestPicture.make(size, layout, seed: 3)
        let places = PixelSize(width: 17, height: 17)
        let confidences = (0..<places.pixelCount).map { index -> Float in
            let (x, y) = (Float(index % 17) - 7, Float(index / 17) - 8)
            let distance = (x * x + y * y).squareRoot()
            return x > 7 ? 0.97 : min(max(0.5 + (5 - distance) * 0.6, 0), 1)
        }
        let map = SubjectMap(
            size: places, confidences: confidences, classes: [UInt8](repeating: 1, count: places.pixelCount),
            geometry: FitGeometry(.stretch, picture: size, network: places),
            cell: Float(max(size.width, size.height)) / 17)
        let source =
            edges.map { EdgeGuide(picture, map, for: $0.source).matteSource(of: picture, $0) }
            ?? .plane(Matte(size: size, opacities: [UInt8](repeating: 255, count: size.pixelCount)))
        guard let overlay else { return PictureDrawing(picture, source, over: background) }
        let classes = (0..<size.pixelCount).map { UInt8($0 / 7 % 5) }
        return PictureDrawing(picture, source, showing: classes, OverlayColors(.voc(count: 5), overlay))
    }

    /// The same, as it would be drawn without a description.
    var expected: Image {
        let drawing = drawing
        guard let overlay else { return drawing.drawn() }
        let matte = drawing.matte.matte(of: drawing.picture)
        return Compositing.overlay(
            drawing.picture, categories: drawing.classes, matte: matte, palette: .voc(count: 5), style: overlay)
    }
}

/// How a drawing differs from the processor's.
struct DrawingDifference: CustomStringConvertible {
    /// Largest difference of a byte, and how many bytes differ.
    var levels = 0
    var count = 0
    /// Opacities of a cut-out that differ.
    var opacities = 0

    init(_ result: Image, from expected: Image) {
        guard result.size == expected.size, result.format == expected.format,
            result.bytes.count == expected.bytes.count
        else {
            levels = 255
            return
        }
        for index in expected.bytes.indices where result.bytes[index] != expected.bytes[index] {
            levels = max(levels, abs(Int(result.bytes[index]) - Int(expected.bytes[index])))
            count += 1
            if expected.format == .rgba, index % 4 == 3 { opacities += 1 }
        }
    }

    var description: String { "\(count) bytes by up to \(levels) levels, \(opacities) opacities" }
}
