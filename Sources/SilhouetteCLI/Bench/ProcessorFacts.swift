import Glibc

/// What `/proc/cpuinfo` tells.
package enum CPUInfo {
    /// As in `AMD Ryzen 7 5800X 8-Core Processor`; nil where the kernel does not name it, as on many Arm boards.
    package static func name(in text: String) -> String? {
        for key in ["model name", "Model", "Hardware", "cpu model"] {
            if let name = value(of: key, in: text), !name.isEmpty { return name }
        }
        return nil
    }

    /// The fastest present clock of all processors, in MHz.
    package static func clock(in text: String) -> Double? {
        lines(text).filter { $0.key == "cpu MHz" }.compactMap { Double($0.value) }.filter { $0 > 0 }.max()
    }

    private static func value(of key: String, in text: String) -> String? {
        lines(text).first { $0.key == key }.map { String($0.value) }
    }

    private static func lines(_ text: String) -> some Sequence<(key: String, value: String)> {
        text.split(separator: "\n").lazy.compactMap { line in
            guard let colon = line.firstIndex(of: ":") else { return nil }
            return (trimmed(line[..<colon]), trimmed(line[line.index(after: colon)...]))
        }
    }

    private static func trimmed(_ text: Substring) -> String {
        text.split(whereSeparator: \.isWhitespace).joined(separator: " ")
    }
}

/// Clocks as the kernel's frequency driver has them, in MHz; nil where there is none, as in most virtual machines.
package enum CPUClock {
    /// The fastest of all processors now.
    static var present: Double? { fastest("scaling_cur_freq") }
    /// The fastest that any processor can have.
    static var greatest: Double? { fastest("cpuinfo_max_freq") }

    /// - Parameter folder: Where the kernel describes its processors. Those that are switched off have no clock there.
    package static func fastest(_ name: String, in folder: String = "/sys/devices/system/cpu") -> Double? {
        (0..<1024).compactMap { SystemFile.number("\(folder)/cpu\($0)/cpufreq/\(name)") }.max().map { $0 / 1000 }
    }
}

/// How much others work.
package enum ProcessorLoad {
    /// How many processors were busy during a fifth of a second, in which this program sleeps.
    ///
    /// The load average does not serve: it remembers the last minute, and so an earlier run of this very program.
    static func measure() -> Double? {
        let start = SystemFile.text("/proc/stat")
        let begun = ContinuousClock.now
        usleep(200_000)
        let seconds = (ContinuousClock.now - begun) / .seconds(1)
        guard let start, let end = SystemFile.text("/proc/stat"), let before = busyTicks(in: start),
            let after = busyTicks(in: end), after >= before
        else { return nil }
        return Double(after - before) / Double(sysconf(Int32(_SC_CLK_TCK))) / seconds
    }

    /// Ticks that all processors together have worked, from `/proc/stat`.
    package static func busyTicks(in text: String) -> Int? {
        // cpu user nice system idle iowait irq softirq steal guest guest_nice; guests are in user and nice, too.
        let line = text.split(separator: "\n").first { $0.hasPrefix("cpu ") }
        let ticks = line?.split(separator: " ").dropFirst().compactMap { Int($0) } ?? []
        guard ticks.count >= 7 else { return nil }
        return ticks.prefix(8).enumerated().filter { $0.offset != 3 && $0.offset != 4 }.map(\.element).reduce(0, +)
    }
}
