/// What a picture may claim before memory is taken for it.
///
/// All three are checked from the file's header, so a lying header costs nothing. At the default limit the largest
/// picture takes 400 MB (four channels), twice that for a moment while it is turned upright.
public struct ImageLimits: Hashable, Sendable {
    /// Width times height.
    public var maxPixels: Int
    /// Width and height each.
    public var maxSide: Int
    /// Bytes of the file itself.
    public var maxByteCount: Int

    /// Creates limits: by default 100 million pixels, 65,535 a side (as much as JPEG can say) and files of 1 GiB.
    public init(maxPixels: Int = 100_000_000, maxSide: Int = 65_535, maxByteCount: Int = 1 << 30) {
        self.maxPixels = maxPixels
        self.maxSide = maxSide
        self.maxByteCount = maxByteCount
    }

    /// Throws when a header claims no pixels or too many.
    func check(_ size: PixelSize, name: String) throws(ImageError) {
        let (width, height) = (size.width, size.height)
        guard width > 0, height > 0 else { throw ImageError(name, .emptyPicture(width: width, height: height)) }
        guard width <= maxPixels / height else {
            throw ImageError(name, .tooManyPixels(width: width, height: height, limit: maxPixels))
        }
        guard width <= maxSide, height <= maxSide else {
            throw ImageError(name, .sideTooLong(width: width, height: height, limit: maxSide))
        }
    }
}
