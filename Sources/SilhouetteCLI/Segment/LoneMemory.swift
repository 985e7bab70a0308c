import Base
import Imaging

/// Memory that is taken once and stays: that of a background, or of a picture that is measured with.
enum LoneMemory {
    /// For the stacks of threads, and the allocator's arenas for them.
    static let spareByteCount = 32 << 20

    /// What the system leaves now. Nil: as much as there is.
    static var room: MemoryRoom? { MemoryRoom(leftBySystem: spareByteCount) }

    /// Reads a picture, where the memory for it is to be had.
    ///
    /// - Parameter isFlattened: Whether it is then copied without its transparency.
    static func read(
        _ path: String, limits: ImageLimits = ImageLimits(), isFlattened: Bool = false
    ) throws(ImageError) -> Image {
        try ImageFile.read(path: path, limits: limits) { claim throws(ImageError) in
            let flat = isFlattened && claim.channelCount == 4 ? claim.pictureByteCount + 3 * claim.size.pixelCount : 0
            try check(max(claim.byteCount, flat), claim.size, name: Input(path).displayName, room)
        }.image
    }

    /// Refuses what a room has not.
    static func check(
        _ byteCount: Int, _ size: PixelSize, name: String, _ room: MemoryRoom?
    ) throws(ImageError) {
        guard let room, byteCount > room.byteCount else { return }
        throw ImageError(
            name,
            .tooMuchMemory(
                width: size.width, height: size.height, needed: byteCount, available: room.byteCount, bound: room.bound)
        )
    }
}
