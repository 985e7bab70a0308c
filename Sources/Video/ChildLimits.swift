import CSystem
import Glibc

/// What a program that is started may take: files that are made to hurt let it take all that there is.
package struct ChildLimits: Sendable, Equatable {
    /// Bytes of memory for its data. Nil: no limit but the system's.
    package var memoryByteCount: Int?
    /// Seconds of one processor's time. Nil: no limit but the system's.
    package var processorSeconds: Int?

    package init(memoryByteCount: Int? = nil, processorSeconds: Int? = nil) {
        self.memoryByteCount = memoryByteCount
        self.processorSeconds = processorSeconds
    }

    /// For a program that finds out what is in a film. It keeps a few pictures, of up to 8 bytes a pixel.
    package static func probing(maxPixels: Int) -> ChildLimits {
        ChildLimits(memoryByteCount: 1 << 30 + 24 * maxPixels, processorSeconds: 60)
    }

    /// For a program that reads a film's pictures. It keeps those that others refer to and those that its threads are at: 32, of
    /// up to 8 bytes a pixel.
    package static func decoding(pixelCount: Int) -> ChildLimits {
        ChildLimits(memoryByteCount: 1 << 30 + 256 * pixelCount)
    }

    /// Sets them for a program that runs. A lower limit of the system stays.
    func impose(on id: pid_t) {
        if let memoryByteCount {
            let most = UInt64(memoryByteCount)
            _ = silhouette_limit(id, Int32(RLIMIT_DATA.rawValue), most, most)
        }
        if let processorSeconds {
            let most = UInt64(processorSeconds)
            _ = silhouette_limit(id, Int32(RLIMIT_CPU.rawValue), most, most + 5)
        }
    }
}
