extension Image {
    /// A picture in RGB of a camera's or a video's frame in NV12.
    ///
    /// NV12 is a plane of brightness, a byte a pixel, and a plane with a pair of colour differences (Cb, then Cr) for every two by
    /// two pixels; where a side is odd, the last pair is for the single pixels at the edge. Each pair counts for its pixels alike.
    ///
    /// - Parameters:
    ///   - luma: The plane of brightness.
    ///   - lumaStride: Bytes from row to row there; `width` when nil.
    ///   - chroma: The plane of pairs, half as many rows.
    ///   - chromaStride: Bytes from row to row there; as many as the pairs need when nil.
    ///   - colors: What the bytes mean. Frames do not say; BT.601 in video range is usual for cameras, BT.709 for videos of high
    ///     definition.
    /// - Throws: `ImageError` when a side is not positive, a stride too small or a plane too short.
    public init(
        nv12 luma: UnsafeRawBufferPointer, lumaStride: Int? = nil, chroma: UnsafeRawBufferPointer,
        chromaStride: Int? = nil, width: Int, height: Int, colors: YCbCr = .bt601
    ) throws(ImageError) {
        let luma = try NV12Plane(luma, "brightness", width: width, height: height, bytesAPixel: 1, stride: lumaStride)
        let chroma = try NV12Plane(
            chroma, "colour", width: width / 2 + width % 2, height: height / 2 + height % 2, bytesAPixel: 2,
            stride: chromaStride)
        let conversion = YCbCrConversion(colors)
        self.init(PixelSize(width: width, height: height), .rgb) { buffer in
            guard var pixel = buffer.baseAddress else { return }
            for y in 0..<height {
                let levels = luma.row(y)
                let pairs = chroma.row(y / 2)
                for x in stride(from: 0, to: width, by: 2) {
                    let offsets = conversion.offsets(cb: pairs[x], cr: pairs[x + 1])
                    conversion.store(levels[x], offsets, to: pixel)
                    pixel += 3
                    guard x + 1 < width else { break }
                    conversion.store(levels[x + 1], offsets, to: pixel)
                    pixel += 3
                }
            }
        }
    }

    /// The same of planes in arrays.
    ///
    /// - Throws: As `init(nv12:lumaStride:chroma:chromaStride:width:height:colors:)`.
    public init(
        nv12 luma: [UInt8], lumaStride: Int? = nil, chroma: [UInt8], chromaStride: Int? = nil, width: Int, height: Int,
        colors: YCbCr = .bt601
    ) throws(ImageError) {
        self = try luma.withUnsafeBufferPointer { luma throws(ImageError) in
            try chroma.withUnsafeBufferPointer { chroma throws(ImageError) in
                try Image(
                    nv12: UnsafeRawBufferPointer(luma), lumaStride: lumaStride, chroma: UnsafeRawBufferPointer(chroma),
                    chromaStride: chromaStride, width: width, height: height, colors: colors)
            }
        }
    }

    /// The same of a frame in one piece, as cameras and ffmpeg (`-pix_fmt nv12`) give it: the plane of pairs follows that of
    /// brightness, and its rows are as far apart.
    ///
    /// - Parameter rowStride: Bytes from row to row in both planes; in each as many as it needs when nil.
    /// - Throws: As `init(nv12:lumaStride:chroma:chromaStride:width:height:colors:)`.
    public init(
        nv12 frame: UnsafeRawBufferPointer, width: Int, height: Int, rowStride: Int? = nil, colors: YCbCr = .bt601
    ) throws(ImageError) {
        let (lumaCount, overflow) = (rowStride ?? width).multipliedReportingOverflow(by: height)
        guard !overflow, (0...frame.count).contains(lumaCount) else {
            throw ImageError(
                "NV12 frame", .inconsistent("\(width)x\(height) does not fit into \(frame.count) bytes"))
        }
        try self.init(
            nv12: UnsafeRawBufferPointer(rebasing: frame[..<lumaCount]), lumaStride: rowStride,
            chroma: UnsafeRawBufferPointer(rebasing: frame[lumaCount...]), chromaStride: rowStride, width: width,
            height: height, colors: colors)
    }

    /// The same of a frame in one array.
    ///
    /// - Throws: As `init(nv12:lumaStride:chroma:chromaStride:width:height:colors:)`.
    public init(
        nv12 frame: [UInt8], width: Int, height: Int, rowStride: Int? = nil, colors: YCbCr = .bt601
    ) throws(ImageError) {
        self = try frame.withUnsafeBufferPointer { frame throws(ImageError) in
            try Image(
                nv12: UnsafeRawBufferPointer(frame), width: width, height: height, rowStride: rowStride, colors: colors)
        }
    }
}

/// A plane whose rows are all there.
private struct NV12Plane {
    private let base: UnsafePointer<UInt8>
    private let stride: Int

    init(
        _ bytes: UnsafeRawBufferPointer, _ name: String, width: Int, height: Int, bytesAPixel: Int, stride: Int?
    ) throws(ImageError) {
        guard width > 0, height > 0 else {
            throw ImageError("NV12 frame", .emptyPicture(width: width, height: height))
        }
        let (rowBytes, overflow) = width.multipliedReportingOverflow(by: bytesAPixel)
        self.stride = stride ?? rowBytes
        let (before, overflow2) = self.stride.multipliedReportingOverflow(by: height - 1)
        let (needed, overflow3) = before.addingReportingOverflow(rowBytes)
        guard !overflow, !overflow2, !overflow3, self.stride >= rowBytes, bytes.count >= needed,
            let base = bytes.baseAddress
        else {
            throw ImageError(
                "NV12 frame",
                .inconsistent(
                    "a plane of \(name) of \(height) rows of \(rowBytes) bytes, \(self.stride) from one to the next, does "
                        + "not fit into \(bytes.count) bytes"))
        }
        self.base = base.assumingMemoryBound(to: UInt8.self)
    }

    func row(_ index: Int) -> UnsafePointer<UInt8> { base + index * stride }
}
