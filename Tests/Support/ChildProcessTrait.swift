import Foundation
import Testing

/// Runs each test in a process of its own, whose memory has a limit.
///
/// For tests whose failure may be a crash or exhausted memory. What ends then is that process: the test fails by its name,
/// with what the process said at last, and all others go on. Its memory is also its own to measure.
package struct ChildProcessTrait: TestTrait, SuiteTrait, TestScoping {
    /// Bytes that a test may take besides what the process has when it begins.
    let memoryLimit: Int

    /// A suite's holds for each of its tests.
    package var isRecursive: Bool { true }

    /// One process for all arguments of a test: starting one takes longer than most arguments do.
    package func scopeProvider(for test: Test, testCase: Test.Case?) -> Self? {
        test.isSuite || testCase != nil ? nil : self
    }

    package func provideScope(
        for test: Test, testCase: Test.Case?, performing function: @Sendable () async throws -> Void
    ) async throws {
        if let path = ProcessInfo.processInfo.environment[Self.variable] {
            limitMemory(growth: memoryLimit * testMemoryFactor)
            try await function()
            try makeFile(path)
        } else if let failure = try Self.run(test) {
            Issue.record("\(failure)", sourceLocation: test.sourceLocation)
        }
    }

    /// The variable that such a process has: where it puts a file when it has run the test to its end. A run that finds no test
    /// counts as passed.
    private static let variable = "SILHOUETTE_TEST_CHILD"

    /// Runs the test in a process; how that failed, nil where it did not.
    private static func run(_ test: Test) throws -> String? {
        try withScratchFolder { folder in
            let process = Process()
            process.executableURL = URL(fileURLWithPath: "/proc/self/exe").resolvingSymlinksInPath()
            // A test is named by its place, which no other test has. Verbose, so that the argument that a crash had is told.
            let place = test.sourceLocation
            let file = place.fileName.replacing(".", with: "\\.")
            process.arguments = [
                "--testing-library", "swift-testing", "--verbose", "--no-parallel",
                "--filter", "/\(file):\(place.line):\(place.column)$",
            ]
            process.environment = ProcessInfo.processInfo.environment.merging([
                variable: folder + "/end",
                // Of a crash the stack; not every thread's, and no registers.
                "SWIFT_BACKTRACE": "enable=yes,threads=crashed,registers=none,images=none",
            ]) { $1 }
            // A file, not a pipe: nobody has to read while the process runs.
            let log = URL(fileURLWithPath: folder + "/log")
            try Data().write(to: log)
            let handle = try FileHandle(forWritingTo: log)
            process.standardInput = FileHandle.nullDevice
            process.standardOutput = handle
            process.standardError = handle
            try process.run()
            process.waitUntilExit()
            let status = process.terminationStatus
            let isWhole = FileManager.default.fileExists(atPath: folder + "/end")
            if process.terminationReason == .exit, status == 0, isWhole { return nil }
            let text = String(decoding: try Data(contentsOf: log), as: UTF8.self)
            let end = process.terminationReason == .exit ? "exit code \(status)" : "signal \(status)"
            return "its process ended with \(end):\n" + text.split(separator: "\n").suffix(100).joined(separator: "\n")
        }
    }
}

/// How many times as much memory tests may take: a sanitiser keeps notes of every byte, and what is freed for a while.
package let testMemoryFactor =
    ProcessInfo.processInfo.environment["SILHOUETTE_TEST_MEMORY_FACTOR"].flatMap { Int($0) } ?? 1

/// Bytes of this process that are in the machine's memory now.
package var residentByteCount: Int {
    let fields = ((try? String(contentsOfFile: "/proc/self/statm", encoding: .utf8)) ?? "").split(separator: " ")
    return (fields.count > 1 ? Int(fields[1]) ?? 0 : 0) * Int(sysconf(Int32(_SC_PAGESIZE)))
}

/// Lets this process take no more than so many bytes of memory from now on, and leave no core file.
private func limitMemory(growth: Int) {
    // The sixth field: pages of data and stacks, which is what the limit counts.
    let fields = ((try? String(contentsOfFile: "/proc/self/statm", encoding: .utf8)) ?? "").split(separator: " ")
    let used = (fields.count > 5 ? Int(fields[5]) ?? 0 : 0) * Int(sysconf(Int32(_SC_PAGESIZE)))
    var limit = rlimit(rlim_cur: rlim_t(used + growth), rlim_max: rlim_t(used + growth))
    setrlimit(__rlimit_resource_t(RLIMIT_DATA.rawValue), &limit)
    limit = rlimit()
    setrlimit(__rlimit_resource_t(RLIMIT_CORE.rawValue), &limit)
}

extension Trait where Self == ChildProcessTrait {
    /// Runs each test in a process of its own, which may take 2 GiB of memory.
    package static var childProcess: Self { ChildProcessTrait(memoryLimit: 2 << 30) }
}
