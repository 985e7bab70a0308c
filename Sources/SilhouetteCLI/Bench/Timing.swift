import Glibc
import Silhouette

extension BenchSettings {
    /// How long the first run took, and each of the timed ones, in milliseconds.
    ///
    /// - Parameter after: Called after each timed run, and not timed.
    func time(_ body: () throws -> Void, after: () throws -> Void = {}) throws -> (first: Double, [Double]) {
        func once() throws -> Double {
            let start = ContinuousClock.now
            try body()
            return milliseconds(since: start)
        }
        let first = try once()
        for _ in 0..<warmup { try body() }
        let latencies = try (0..<iterations).map { _ in
            let latency = try once()
            try after()
            return latency
        }
        return (first, latencies)
    }
}

func milliseconds(since start: ContinuousClock.Instant) -> Double {
    (ContinuousClock.now - start) / .milliseconds(1)
}

/// The most memory that the process has had at any time.
enum PeakMemory {
    /// In bytes, since the process began or since `forget()`.
    static var byteCount: Int {
        // Not getrusage: what that counts goes on across exec, and with it the memory of whoever started the program.
        let line = SystemFile.text("/proc/self/status")?.split(separator: "\n").first { $0.hasPrefix("VmHWM:") }
        if let kibibytes = line?.split(whereSeparator: { !$0.isNumber }).first.flatMap({ Int($0) }) {
            return kibibytes * 1024
        }
        var usage = rusage()
        getrusage(__rusage_who_t(RUSAGE_SELF.rawValue), &usage)
        return usage.ru_maxrss * 1024  // Linux counts in KiB
    }

    /// Begins anew, so that one run of a sweep does not count for the next. Where the system does not let it, the
    /// peak stays that of all runs so far.
    static func forget() {
        let descriptor = open("/proc/self/clear_refs", O_WRONLY | O_CLOEXEC)
        guard descriptor >= 0 else { return }
        _ = write(descriptor, "5", 1)
        close(descriptor)
    }
}

extension Precision {
    /// Bytes of a stored activation or weight.
    var valueByteCount: Int { self == .float32 ? 4 : 2 }
}
