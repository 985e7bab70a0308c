import JSONText

/// What `silhouette devices` shows.
package struct DeviceReport: Sendable {
    /// A Vulkan device.
    package struct Entry: Sendable {
        package var index: Int
        package var name, kind, driver, apiVersion: String
        package var memoryByteCount: Int
        /// How shaders would read activations and weights.
        package var access: String
        /// Why the device cannot be used at all; nil where it can.
        package var obstacle: String?
        /// Whether `-d auto` picks it, and why or why not.
        package var isPicked: Bool
        package var reason: String
        /// Limits that matter here, by name and in the unit that the name has.
        package var limits: [(name: String, value: Int)]
        /// Nanoseconds of a tick of its time stamps; nil where it takes none.
        package var timestampPeriod: Double?

        package init(
            index: Int, name: String, kind: String, driver: String, apiVersion: String, memoryByteCount: Int,
            access: String, obstacle: String?, isPicked: Bool, reason: String, limits: [(name: String, value: Int)],
            timestampPeriod: Double?
        ) {
            self.index = index
            self.name = name
            self.kind = kind
            self.driver = driver
            self.apiVersion = apiVersion
            self.memoryByteCount = memoryByteCount
            self.access = access
            self.obstacle = obstacle
            self.isPicked = isPicked
            self.reason = reason
            self.limits = limits
            self.timestampPeriod = timestampPeriod
        }
    }

    package var instructionSet: String
    package var threads: Int
    /// Why there is no Vulkan at all; nil where there is.
    package var vulkanProblem: String?
    package var entries: [Entry]

    package init(instructionSet: String, threads: Int, vulkanProblem: String?, entries: [Entry]) {
        self.instructionSet = instructionSet
        self.threads = threads
        self.vulkanProblem = vulkanProblem
        self.entries = entries
    }

    private var picksProcessor: Bool { !entries.contains(where: \.isPicked) }
    private var processorReason: String {
        picksProcessor
            ? "picked by -d auto: there is no graphics card" : "not picked by -d auto: there is a graphics card"
    }

    /// A block of lines for each device.
    package var text: String {
        var blocks = [
            block("cpu", "\(instructionSet), \(threads) thread\(threads == 1 ? "" : "s")", [("auto", processorReason)])
        ]
        if let vulkanProblem { blocks.append("no Vulkan: \(vulkanProblem)") }
        blocks += entries.map { entry in
            var rows = [
                ("type", entry.kind), ("driver", entry.driver), ("Vulkan", entry.apiVersion),
                ("memory", decimal(Double(entry.memoryByteCount) / 1_073_741_824, places: 1) + " GiB"),
                ("limits", entry.limits.map { "\($0.name.replacingUnderscores) \($0.value)" }.joined(separator: "\n")),
                (
                    "time",
                    entry.timestampPeriod.map { "time stamps, a tick is \(decimal($0, places: 2)) ns" }
                        ?? "no time stamps: bench cannot tell what a layer takes"
                ),
            ]
            if let obstacle = entry.obstacle {
                rows.append(("use", "cannot be used: \(obstacle)"))
            } else {
                rows.append(("use", entry.access))
            }
            rows.append(("auto", (entry.isPicked ? "picked by -d auto: " : "not picked by -d auto: ") + entry.reason))
            return block("vulkan:\(entry.index)", entry.name, rows)
        }
        return blocks.joined(separator: "\n\n")
    }

    private func block(_ device: String, _ name: String, _ rows: [(String, String)]) -> String {
        let margin = "\n" + String(repeating: " ", count: 12)
        let lines = rows.map { row in
            "  " + row.0 + String(repeating: " ", count: 10 - row.0.count)
                + row.1.split(separator: "\n").joined(separator: margin)
        }
        return (["\(device)" + String(repeating: " ", count: max(1, 12 - device.count)) + name] + lines).joined(
            separator: "\n")
    }

    /// One JSON object.
    package var json: String {
        JSONValue.object([
            "cpu": .object([
                "device": .text("cpu"), "instruction_set": .text(instructionSet), "threads": .integer(threads),
                "picked_by_auto": .boolean(picksProcessor), "reason": .text(processorReason),
            ]),
            "vulkan_problem": vulkanProblem.map(JSONValue.text) ?? .null,
            "vulkan": .list(
                entries.map { entry in
                    .object([
                        "device": .text("vulkan:\(entry.index)"), "index": .integer(entry.index),
                        "name": .text(entry.name), "type": .text(entry.kind), "driver": .text(entry.driver),
                        "api_version": .text(entry.apiVersion), "memory_bytes": .integer(entry.memoryByteCount),
                        "usable": .boolean(entry.obstacle == nil),
                        "obstacle": entry.obstacle.map(JSONValue.text) ?? .null, "access": .text(entry.access),
                        "picked_by_auto": .boolean(entry.isPicked), "reason": .text(entry.reason),
                        "limits": .list(
                            entry.limits.map { .object(["name": .text($0.name), "value": .integer($0.value)]) }),
                        "timestamp_period_ns": entry.timestampPeriod.map(JSONValue.exact) ?? .null,
                    ])
                }),
        ]).json
    }
}

extension String {
    fileprivate var replacingUnderscores: String { String(map { $0 == "_" ? " " : $0 }) }
}
