import CPUBackend
import Glibc
import JSONText
import Silhouette
import VulkanCompute

/// What must be known of a machine to judge its figures.
package struct MachineFacts: Sendable {
    /// A Vulkan device as its driver describes it.
    package struct Graphics: Sendable {
        package var name, kind, driver, apiVersion: String
        package var memoryByteCount: Int

        package init(name: String, kind: String, driver: String, apiVersion: String, memoryByteCount: Int) {
            self.name = name
            self.kind = kind
            self.driver = driver
            self.apiVersion = apiVersion
            self.memoryByteCount = memoryByteCount
        }
    }

    /// Silhouette's version.
    package var version: String
    /// UTC, as in `2026-11-30T13:20:07Z`.
    package var date: String
    /// Kernel and architecture: `Linux 6.1.0 x86_64`.
    package var system: String
    package var processor: String
    /// Processors that the program may use.
    package var processorCount: Int
    package var instructionSet: String
    /// In MHz; nil where the system does not tell.
    package var clock, greatestClock: Double?
    /// Over a minute, before the first run.
    package var loadAverage: Double?
    /// How many processors other programs kept at work before the first run.
    package var busyProcessorCount: Double?
    /// Nil: the processor computes.
    package var graphics: Graphics?

    package init(
        version: String, date: String, system: String, processor: String, processorCount: Int, instructionSet: String,
        clock: Double? = nil, greatestClock: Double? = nil, loadAverage: Double? = nil,
        busyProcessorCount: Double? = nil, graphics: Graphics? = nil
    ) {
        self.version = version
        self.date = date
        self.system = system
        self.processor = processor
        self.processorCount = processorCount
        self.instructionSet = instructionSet
        self.clock = clock
        self.greatestClock = greatestClock
        self.loadAverage = loadAverage
        self.busyProcessorCount = busyProcessorCount
        self.graphics = graphics
    }

    /// Asks the system.
    init(_ target: BenchTarget) throws {
        let backend = try CPUBackend()
        let cpuInfo = SystemFile.text("/proc/cpuinfo") ?? ""
        let (kernel, architecture) = Self.kernel
        self.init(
            version: SilhouetteVersion.string, date: Self.now, system: kernel + " " + architecture,
            processor: CPUInfo.name(in: cpuInfo) ?? architecture, processorCount: backend.threadCount,
            instructionSet: backend.instructionSet.description,
            greatestClock: CPUClock.greatest, loadAverage: SystemFile.number("/proc/loadavg"),
            busyProcessorCount: ProcessorLoad.measure(),
            graphics: target.physical.map { device in
                Graphics(
                    name: device.name, kind: device.kind.rawValue, driver: device.driver,
                    apiVersion: device.apiVersion.description, memoryByteCount: device.memoryByteCount)
            })
        readClock()
    }

    /// Takes note of the present clock: it says most right after work.
    mutating func readClock() {
        clock = CPUClock.present ?? CPUInfo.clock(in: SystemFile.text("/proc/cpuinfo") ?? "")
    }

    /// One line for people, where other programs disturb the measurement.
    package var busyWarning: String? {
        guard Self.isBusy(busyProcessorCount), let busyProcessorCount else { return nil }
        return "the machine is busy: other programs keep \(decimal(busyProcessorCount, places: 1)) "
            + "processor\(busyProcessorCount < 1.05 ? "" : "s") at work, so times will be longer and vary"
    }

    /// Whether other programs do so much that times suffer.
    static func isBusy(_ processorCount: Double?) -> Bool { processorCount ?? 0 > 0.5 }

    private static var now: String {
        var seconds = time(nil)
        var parts = tm()
        gmtime_r(&seconds, &parts)
        var text = [CChar](repeating: 0, count: 32)
        let count = strftime(&text, text.count, "%Y-%m-%dT%H:%M:%SZ", &parts)
        return String(decoding: text[..<count].map(UInt8.init(bitPattern:)), as: UTF8.self)
    }

    private static var kernel: (String, architecture: String) {
        var names = utsname()
        uname(&names)
        func text<Characters>(_ characters: Characters) -> String {
            withUnsafeBytes(of: characters) { String(decoding: $0.prefix { $0 != 0 }, as: UTF8.self) }
        }
        return (text(names.sysname) + " " + text(names.release), text(names.machine))
    }
}

extension MachineFacts {
    /// One JSON object.
    var json: JSONValue {
        func number(_ value: Double?) -> JSONValue { value.map(JSONValue.number) ?? .null }
        return .object([
            "silhouette": .text(version), "date": .text(date), "system": .text(system), "cpu": .text(processor),
            "processors": .integer(processorCount), "instruction_set": .text(instructionSet),
            "clock_mhz": number(clock), "greatest_clock_mhz": number(greatestClock),
            "load_average": number(loadAverage), "busy_processors": number(busyProcessorCount),
            "vulkan": graphics.map { device in
                .object([
                    "device": .text(device.name), "type": .text(device.kind), "driver": .text(device.driver),
                    "api_version": .text(device.apiVersion), "memory_bytes": .integer(device.memoryByteCount),
                ])
            } ?? .null,
        ])
    }

    /// The facts in words, each with its name.
    package var rows: [(name: String, value: String)] {
        var processor = processor + ", \(processorCount) processor\(processorCount == 1 ? "" : "s"), \(instructionSet)"
        if let clock { processor += ", \(decimal(clock, places: 0)) MHz" }
        if let greatestClock { processor += " of \(decimal(greatestClock, places: 0)) MHz" }
        var rows = [("processor", processor)]
        if let graphics {
            rows += [
                ("graphics", "\(graphics.name) (\(graphics.kind))"), ("driver", graphics.driver),
                (
                    "Vulkan",
                    "\(graphics.apiVersion), \(decimal(Double(graphics.memoryByteCount) / 1_073_741_824, places: 1)) GiB"
                ),
            ]
        }
        rows.append(("system", system))
        if let loadAverage {
            var load = "load average \(decimal(loadAverage, places: 2))"
            if let busyProcessorCount {
                load += ", \(decimal(busyProcessorCount, places: 1)) of \(processorCount) processors busy with others"
            }
            rows.append(("load before", load))
        }
        return rows + [("Silhouette", version), ("date", date)]
    }
}
