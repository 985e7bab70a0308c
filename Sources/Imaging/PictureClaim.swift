/// What a file's header says of the memory that reading it takes, before any is taken.
package struct PictureClaim: Hashable, Sendable {
    /// Columns and rows, as stored.
    package var size: PixelSize
    /// Bytes of a pixel of the picture that comes out.
    package var channelCount: Int
    /// Bytes of the file, which is in memory meanwhile.
    package var fileByteCount: Int
    /// Bytes besides file and picture while it is decoded and turned upright.
    package var workingByteCount: Int

    package init(size: PixelSize, channelCount: Int, fileByteCount: Int, workingByteCount: Int = 0) {
        self.size = size
        self.channelCount = channelCount
        self.fileByteCount = fileByteCount
        self.workingByteCount = workingByteCount
    }

    /// Bytes of the picture.
    package var pictureByteCount: Int { size.pixelCount * channelCount }

    /// Bytes at most while the file becomes a picture.
    package var byteCount: Int { fileByteCount + pictureByteCount + workingByteCount }

    /// Bytes of a second picture, for one that is not stored upright.
    mutating func addTurning(_ orientation: Orientation) {
        if orientation != .up { workingByteCount += pictureByteCount }
    }

    /// Looks at a claim and throws where so much memory is not to be had.
    package typealias Check = (PictureClaim) throws(ImageError) -> Void
}
