/// A picture in memory: rows from the top, pixels from the left, 8 bits a channel.
public struct Image: Hashable, Sendable {
    /// Columns; at least 1.
    public let width: Int
    /// Rows; at least 1.
    public let height: Int
    /// Layout of a pixel.
    public let format: PixelFormat
    /// Bytes from the start of one row to the start of the next.
    public let rowStride: Int
    /// The rows. The last one may lack the bytes that pad a row to its stride.
    public package(set) var bytes: [UInt8]

    /// Creates a picture from bytes at hand, for instance a camera's frame.
    ///
    /// - Parameter rowStride: Bytes from row to row; as many as the pixels need when nil.
    /// - Throws: `ImageError` when a side is not positive, the stride too small or the bytes too few.
    public init(
        width: Int, height: Int, format: PixelFormat, rowStride: Int? = nil, bytes: [UInt8]
    ) throws(ImageError) {
        let stride = try Image.checkedStride(width, height, format, rowStride, byteCount: bytes.count)
        self.init(width: width, height: height, format: format, trustedStride: stride, bytes: bytes)
    }

    /// Creates a picture from a copy of somebody else's bytes, without row padding.
    ///
    /// - Parameter rowStride: Bytes from row to row; as many as the pixels need when nil.
    /// - Throws: As `init(width:height:format:rowStride:bytes:)`.
    public init(
        copying bytes: UnsafeRawBufferPointer, width: Int, height: Int, format: PixelFormat, rowStride: Int? = nil
    ) throws(ImageError) {
        self = ImageView.copy(
            try ImageView(bytes, width: width, height: height, format: format, rowStride: rowStride))
    }

    private init(width: Int, height: Int, format: PixelFormat, trustedStride: Int, bytes: [UInt8]) {
        self.width = width
        self.height = height
        self.format = format
        self.rowStride = trustedStride
        self.bytes = bytes
    }

    /// A picture without row padding whose bytes `body` writes; the sides are positive and vouched for.
    package init<Failure: Error>(
        _ size: PixelSize, _ format: PixelFormat,
        filledBy body: (UnsafeMutableBufferPointer<UInt8>) throws(Failure) -> Void
    ) throws(Failure) {
        let stride = size.width * format.channelCount
        let count = stride * size.height
        var failure: Failure?
        let bytes = [UInt8](unsafeUninitializedCapacity: count) { buffer, initialized in
            do throws(Failure) {
                try body(UnsafeMutableBufferPointer(rebasing: buffer[..<count]))
                initialized = count
            } catch {
                failure = error
            }
        }
        if let failure { throw failure }
        self.init(width: size.width, height: size.height, format: format, trustedStride: stride, bytes: bytes)
    }

    /// A picture of one colour, opaque where the format has alpha.
    public init(size: PixelSize, format: PixelFormat, color: RGBColor) {
        precondition(size.width > 0 && size.height > 0, "a picture has at least one pixel")
        var pixel: [UInt8] =
            switch format {
            case .gray: [luminance(color.red, color.green, color.blue)]
            case .rgb, .rgba: [color.red, color.green, color.blue]
            case .bgr, .bgra: [color.blue, color.green, color.red]
            }
        if format.hasAlpha { pixel.append(255) }
        let channels = pixel.count
        self.init(size, format) { buffer in
            for index in buffer.indices { buffer[index] = pixel[index % channels] }
        }
    }

    /// Columns and rows.
    public var size: PixelSize { PixelSize(width: width, height: height) }

    /// Calls `body` with a view of the bytes that is valid until it returns.
    package func withView<Result, Failure: Error>(_ body: (ImageView) throws(Failure) -> Result) throws(Failure)
        -> Result
    {
        try bytes.withUnsafeBufferPointer { buffer throws(Failure) in
            try body(
                ImageView(vouched: UnsafeRawBufferPointer(buffer), size: size, format: format, rowStride: rowStride))
        }
    }

    /// The row stride, if the pixels fit into the bytes.
    static func checkedStride(
        _ width: Int, _ height: Int, _ format: PixelFormat, _ rowStride: Int?, byteCount: Int
    ) throws(ImageError) -> Int {
        let name = "\(format.rawValue) picture"
        guard width > 0, height > 0 else { throw ImageError(name, .emptyPicture(width: width, height: height)) }
        let (rowBytes, overflow) = width.multipliedReportingOverflow(by: format.channelCount)
        let stride = rowStride ?? rowBytes
        let (before, overflow2) = stride.multipliedReportingOverflow(by: height - 1)
        let (needed, overflow3) = before.addingReportingOverflow(rowBytes)
        // The C libraries count in 32 bits.
        guard !overflow, !overflow2, !overflow3, stride >= rowBytes, stride <= Int(Int32.max), byteCount >= needed
        else {
            throw ImageError(
                name,
                .inconsistent(
                    "\(width)x\(height) with \(stride) bytes a row does not fit into \(byteCount) bytes"))
        }
        return stride
    }
}

/// A borrowed picture: somebody else's bytes, read in place.
///
/// Valid only while the bytes are; `Image.withView` and the callers of `ImageView.init` see to that.
package struct ImageView {
    /// Columns and rows; both at least 1.
    package let size: PixelSize
    /// Layout of a pixel.
    package let format: PixelFormat
    /// Bytes from the start of one row to the start of the next.
    package let rowStride: Int
    let base: UnsafePointer<UInt8>

    /// Looks at bytes in memory without copying them.
    ///
    /// - Throws: `ImageError` when a side is not positive, the stride too small or the bytes too few.
    package init(
        _ bytes: UnsafeRawBufferPointer, width: Int, height: Int, format: PixelFormat, rowStride: Int? = nil
    ) throws(ImageError) {
        let stride = try Image.checkedStride(width, height, format, rowStride, byteCount: bytes.count)
        self.init(
            vouched: bytes, size: PixelSize(width: width, height: height), format: format, rowStride: stride)
    }

    /// The sizes are vouched for: the buffer holds at least one pixel, so it has an address.
    package init(vouched bytes: UnsafeRawBufferPointer, size: PixelSize, format: PixelFormat, rowStride: Int) {
        self.size = size
        self.format = format
        self.rowStride = rowStride
        base = bytes.baseAddress!.assumingMemoryBound(to: UInt8.self)
    }

    private init(base: UnsafePointer<UInt8>, size: PixelSize, format: PixelFormat, rowStride: Int) {
        self.base = base
        self.size = size
        self.format = format
        self.rowStride = rowStride
    }

    /// A picture of the bytes, without row padding.
    fileprivate static func copy(_ view: ImageView) -> Image {
        let rowBytes = view.size.width * view.format.channelCount
        return Image(view.size, view.format) { buffer in
            guard let to = buffer.baseAddress else { return }
            for y in 0..<view.size.height { (to + y * rowBytes).update(from: view.row(y), count: rowBytes) }
        }
    }

    /// The first byte of a row.
    package func row(_ index: Int) -> UnsafePointer<UInt8> { base + index * rowStride }

    /// The same bytes under another layout of as many channels.
    package func relabeled(_ format: PixelFormat) -> ImageView {
        ImageView(base: base, size: size, format: format, rowStride: rowStride)
    }

    /// A part of the picture; `rect` lies inside it.
    package func cropped(to rect: PixelRect) -> ImageView {
        ImageView(
            base: base + rect.y * rowStride + rect.x * format.channelCount, size: rect.size, format: format,
            rowStride: rowStride)
    }
}
