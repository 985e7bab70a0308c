import Base
import Imaging

/// Memory that the system's limits leave the server. What they have not would end it, and every page with it.
enum ServerMemory {
    /// For what comes beside: frames of other pages, the stacks of threads, and the allocator's own.
    private static let spareByteCount = 64 << 20
    /// What that is there for, too: it is not asked for, which a camera's frames would do thirty times a second.
    private static let smallByteCount = 32 << 20

    /// Refuses a picture whose work takes more than is left.
    static func check(_ needed: Int, _ size: PixelSize) throws(ImageError) {
        guard needed > smallByteCount, let room = MemoryRoom(leftBySystem: spareByteCount), needed > room.byteCount
        else { return }
        throw ImageError(
            "picture",
            .tooMuchMemory(
                width: size.width, height: size.height, needed: needed, available: room.byteCount, bound: room.bound))
    }
}
