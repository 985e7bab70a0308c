import Foundation
import SilhouetteCLI
import TestSupport
import Testing

/// Where no driver is: the loader finds nothing.
private let noDriver = ["VK_ICD_FILENAMES": "/nonexistent.json", "VK_DRIVER_FILES": "/nonexistent.json"]

/// A JSON object that the program printed.
private func object(_ data: Data) throws -> [String: Any] {
    try #require(try JSONSerialization.jsonObject(with: data) as? [String: Any])
}

/// The Vulkan devices that the program sees.
private func vulkanDevices() throws -> [[String: Any]] {
    try withScratchFolder { folder in
        try #require(try object(Program.run(["devices", "--json"], in: folder).output)["vulkan"] as? [[String: Any]])
    }
}

@Suite("The program: devices")
struct DevicesProgramTests {
    @Test("The processor is always there; without a driver one line says what to install")
    func noVulkan() throws {
        try withScratchFolder { folder in
            let outcome = try Program.run(["devices"], in: folder, environment: noDriver)
            #expect(outcome.exitCode == 0 && outcome.errors.isEmpty)
            #expect(outcome.text.hasPrefix("cpu  "))
            #expect(outcome.text.contains("picked by -d auto: there is no graphics card"))
            let lines = outcome.text.split(separator: "\n").filter { $0.hasPrefix("no Vulkan: ") }
            #expect(lines.count == 1 && lines[0].contains("install"))

            let json = try object(Program.run(["devices", "--json"], in: folder, environment: noDriver).output)
            #expect(json["vulkan_problem"] is String)
            #expect((json["vulkan"] as? [Any])?.isEmpty == true)
            let processor = try #require(json["cpu"] as? [String: Any])
            #expect(processor["picked_by_auto"] as? Bool == true)
        }
    }

    @Test("Every device is described, and at most one of all is picked")
    func devices() throws {
        let devices = try vulkanDevices()
        for device in devices {
            for key in ["device", "name", "type", "driver", "api_version", "access", "reason"] {
                #expect((device[key] as? String)?.isEmpty == false, "\(key)")
            }
            #expect(device["usable"] is Bool && device["memory_bytes"] is Int)
            // Software is never picked.
            if device["type"] as? String == "software" { #expect(device["picked_by_auto"] as? Bool == false) }
        }
        #expect(devices.count { $0["picked_by_auto"] as? Bool == true } <= 1)
        try withScratchFolder { folder in
            let text = try Program.run(["devices"], in: folder).text
            for device in devices { #expect(text.contains("\(device["device"] ?? "")    ")) }
        }
    }

    @Test("Reports say who is picked, and why the others are not")
    func report() {
        func entry(_ index: Int, picked: Bool, obstacle: String? = nil) -> DeviceReport.Entry {
            DeviceReport.Entry(
                index: index, name: "Card \(index)", kind: "discrete", driver: "driver", apiVersion: "1.3.0",
                memoryByteCount: 8 << 30, access: "through the texture units", obstacle: obstacle, isPicked: picked,
                reason: picked ? "the only one" : "it cannot be used", limits: [("subgroup_size", 32)],
                timestampPeriod: nil)
        }
        let report = DeviceReport(
            instructionSet: "AVX2", threads: 1, vulkanProblem: nil,
            entries: [entry(0, picked: false, obstacle: "it has Vulkan 1.0.9, 1.1 is needed"), entry(1, picked: true)])
        #expect(report.text.contains("cpu         AVX2, 1 thread\n  auto      not picked by -d auto"))
        #expect(report.text.contains("  use       cannot be used: it has Vulkan 1.0.9, 1.1 is needed"))
        #expect(report.text.contains("  auto      picked by -d auto: the only one"))
        #expect(report.text.contains("  memory    8.0 GiB"))
        #expect(report.text.contains("no time stamps"))
    }
}

@Suite("The program: verify")
struct VerifyProgramTests {
    private let model = ["-m", Program.model]

    @Test("The processor against itself: every layer, exit code 0")
    func processor() throws {
        try withScratchFolder { folder in
            let outcome = try Program.run(["verify", "-d", "cpu"] + model, in: folder)
            #expect(outcome.exitCode == 0, "\(outcome.text)")
            #expect(outcome.errors.isEmpty)
            #expect(outcome.text.contains("fp32: all "))
            #expect(!outcome.text.contains("fp16") && !outcome.text.contains("FAIL"))
            #expect(try fileNames(in: folder).isEmpty)

            let json = try object(Program.run(["verify", "-d", "cpu", "--json"] + model, in: folder).output)
            #expect(json["passes"] as? Bool == true)
            let run = try #require((json["runs"] as? [[String: Any]])?.first)
            let layers = try #require(run["layers"] as? [[String: Any]])
            #expect(layers.count { $0["passes"] as? Bool == true } == layers.count && !layers.isEmpty)
            #expect(run["first_failure"] is NSNull)
        }
    }

    @Test("A Vulkan device against the processor, in both precisions; its pipelines are kept in the user's cache")
    func vulkan() throws {
        guard try vulkanDevices().contains(where: { $0["usable"] as? Bool == true }) else { return }
        try withScratchFolder { folder in
            let outcome = try Program.run(["verify", Program.picture] + model, in: folder)
            #expect(outcome.exitCode == 0, "\(outcome.text)")
            #expect(outcome.text.contains("fp32: all ") && outcome.text.contains("fp16: all "))
            #expect(outcome.text.contains("picture    \(Program.picture)"))
            #expect(
                try fileNames(in: folder + "/.cache/silhouette/vulkan").allSatisfy {
                    $0.hasSuffix(".bin") || $0.hasSuffix(".tuning")
                })
        }
    }

    @Test(
        "What cannot be done is one line and exit code 1",
        arguments: [
            ["-d", "vulkan:99"], ["-d", "vulkan:no such card"], ["-d", "cpu", "no such.png"],
        ])
    func problems(arguments: [String]) throws {
        try withScratchFolder { folder in
            let outcome = try Program.run(["verify"] + model + arguments, in: folder)
            #expect(outcome.exitCode == 1)
            #expect(outcome.output.isEmpty)
            #expect(outcome.errorLines.count == 1, "\(outcome.errors)")
        }
    }

    @Test("Without a driver the error says what is missing")
    func noVulkan() throws {
        try withScratchFolder { folder in
            let outcome = try Program.run(["verify"] + model, in: folder, environment: noDriver)
            #expect(outcome.exitCode == 1 && outcome.output.isEmpty)
            #expect(outcome.errorLines.count == 1 && outcome.errors.contains("driver"))
        }
    }

    @Test(
        "A command line that cannot be obeyed: exit code 2",
        arguments: [
            ["-d", "gpu"], ["-d", "vulkan:"], ["-d", "cpu", "--precision", "fp16"], ["--precision", "fp8"], ["a", "b"],
        ])
    func usage(arguments: [String]) throws {
        try withScratchFolder { folder in
            let outcome = try Program.run(["verify"] + model + arguments, in: folder)
            #expect(outcome.exitCode == 2)
            #expect(outcome.errorLines.count == 1, "\(outcome.errors)")
        }
    }

    @Test("Small and large numbers with two digits")
    func numbers() {
        #expect(scientific(0) == "0")
        #expect(scientific(3.14e-7) == "3.1e-07")
        #expect(scientific(-0.0996) == "-1.0e-01")
        #expect(scientific(1e-4) == "1.0e-04")
        #expect(scientific(123456) == "1.2e+05")
        #expect(scientific(9.96) == "1.0e+01")
        #expect(scientific(1e-30) == "1.0e-30")
        #expect(scientific(.infinity) == "inf")
    }
}
