/// Brings pictures of one size to the network's size: 8-bit RGB or gray, height x width x channels.
///
/// Tables and working memory are made once. An instance is used by one thread at a time.
package final class Preprocessor {
    /// Where the picture lies in the input; masks go back the same way.
    package let geometry: FitGeometry
    /// `.rgb` or `.gray`.
    package let format: PixelFormat
    /// What shows through transparent pixels.
    package let background: RGBColor
    /// The bars of a letterbox.
    package let padding: RGBColor

    private let resizer: Resizer

    /// Prepares for pictures of one size; all sides are at least 1.
    ///
    /// - Parameters:
    ///   - picture: Size of the upright pictures.
    ///   - network: Size of the network's input.
    ///   - fit: How the one is brought to the other.
    ///   - format: What the network is given: `.rgb` or `.gray`.
    ///   - background: What shows through transparent pixels: white by default, as most programs show cut-outs.
    ///   - padding: Colour of a letterbox's bars: DeepLab's mean pixel by default.
    package init(
        picture: PixelSize, network: PixelSize, fit: Fit = .stretch, format: PixelFormat = .rgb,
        background: RGBColor = .white, padding: RGBColor = .middleGray
    ) {
        precondition(format == .rgb || format == .gray, "networks are given RGB or gray")
        geometry = FitGeometry(fit, picture: picture, network: network)
        self.format = format
        self.background = background
        self.padding = padding
        resizer = Resizer(from: geometry.source.size, to: geometry.target.size, format: format)
    }

    /// Bytes of one input.
    package var byteCount: Int { geometry.network.pixelCount * format.channelCount }

    /// Writes the network's input for a picture of the size and any layout.
    ///
    /// - Parameter destination: `byteCount` bytes.
    package func prepare(_ picture: ImageView, into destination: UnsafeMutableBufferPointer<UInt8>) {
        precondition(picture.size == geometry.picture, "the picture is \(picture.size), expected \(geometry.picture)")
        precondition(destination.count >= byteCount, "the destination is too small")
        let channels = format.channelCount
        let target = geometry.target
        if target.size != geometry.network { fillBars(destination) }
        let rowStride = geometry.network.width * channels
        let corner = target.y * rowStride + target.x * channels
        resizer.resize(
            picture.cropped(to: geometry.source), over: background,
            into: UnsafeMutableBufferPointer(rebasing: destination[corner...]), rowStride: rowStride)
    }

    /// Writes the network's input for a picture.
    package func prepare(_ picture: Image) -> Image {
        picture.withView { view in Image(geometry.network, format) { prepare(view, into: $0) } }
    }

    private func fillBars(_ destination: UnsafeMutableBufferPointer<UInt8>) {
        if format == .gray {
            destination.update(repeating: luminance(padding.red, padding.green, padding.blue))
            return
        }
        for pixel in 0..<geometry.network.pixelCount {
            destination[3 * pixel] = padding.red
            destination[3 * pixel + 1] = padding.green
            destination[3 * pixel + 2] = padding.blue
        }
    }
}
