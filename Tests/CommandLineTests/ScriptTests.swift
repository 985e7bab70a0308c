import Foundation
import TestSupport
import Testing

@Suite("Scripts")
struct ScriptTests {
    private func script(_ name: String, _ arguments: [String], environment: [String: String] = [:]) throws
        -> Program.Outcome
    {
        try withScratchFolder { folder in
            try Program.run(
                executable: Checkout.path("scripts/\(name)"), arguments, in: folder, environment: environment)
        }
    }

    @Test("A wrong command line is one line and exit code 2")
    func usage() throws {
        for (name, arguments) in [
            ("demo", ["--nonsense"]), ("demo", ["a.jpg", "b.jpg"]), ("test", ["--nonsense"]), ("test", ["--filter"]),
            ("install", []),
        ] {
            let outcome = try script(name, arguments)
            #expect(outcome.errorLines.count == 1, "\(name): \(outcome.errors)")
            #expect(outcome.exitCode == (arguments.contains("a.jpg") ? 1 : 2))
            #expect(outcome.output.isEmpty)
        }
        #expect(try script("setup", ["nonsense"]).errorLines.count == 1)
    }

    @Test("A photograph that is not there is named")
    func absentPhotograph() throws {
        let outcome = try script("demo", ["absent.jpg"])
        #expect(outcome.exitCode == 1)
        #expect(outcome.errors == "scripts/demo: absent.jpg: no such file\n")
    }

    @Test("A folder is refused: a demonstration has one result")
    func folder() throws {
        let outcome = try script("demo", ["."])
        #expect(outcome.exitCode == 1)
        #expect(outcome.errorLines.count == 1)
        #expect(outcome.errors.hasPrefix("scripts/demo: . is a folder"))
    }

    @Test("Help says how each script is used", arguments: ["demo", "test"])
    func help(name: String) throws {
        let outcome = try script(name, ["--help"])
        #expect(outcome.exitCode == 0)
        #expect(outcome.text.contains("scripts/\(name) ["))
    }

    @Test("Without a compiler one line says where it comes from")
    func noCompiler() throws {
        try withScratchFolder { folder in
            for tool in ["bash", "env", "dirname", "mktemp", "rm", "sed", "head"] {
                let found = try #require(
                    ["/usr/bin/", "/bin/"].map { $0 + tool }.first { FileManager.default.isExecutableFile(atPath: $0) })
                try FileManager.default.createSymbolicLink(atPath: "\(folder)/\(tool)", withDestinationPath: found)
            }
            let outcome = try script("demo", [Program.picture], environment: ["PATH": folder])
            #expect(outcome.exitCode == 1)
            #expect(outcome.errorLines.count == 1)
            #expect(outcome.errors.contains("Swift is missing") && outcome.errors.contains("swift.org"))
        }
    }
}
