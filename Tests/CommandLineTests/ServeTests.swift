import Foundation
import Imaging
import TestSupport
import Testing

@Suite("The program: serve")
struct ServeTests {
    /// A server that runs as a user runs it.
    final class Running {
        let process = Process()
        let address: String
        private let output = Pipe()
        private let errors = Pipe()

        /// - Parameter addressKibibytes: What `ulimit -v` gives it.
        init(
            _ arguments: [String], in folder: String, environment: [String: String] = [:], addressKibibytes: Int? = nil
        ) throws {
            process.executableURL = URL(fileURLWithPath: "/bin/sh")
            let limit = addressKibibytes.map { "ulimit -v \($0); " } ?? ""
            process.arguments =
                ["-c", limit + "exec \"$0\" \"$@\"", Program.path, "serve", "-m", Program.model, "-d", "cpu"]
                + arguments
            process.currentDirectoryURL = URL(fileURLWithPath: folder)
            process.environment = ProcessInfo.processInfo.environment.merging(environment) { $1 }
            process.standardOutput = output
            process.standardError = errors
            try process.run()
            var line = Data()
            while let byte = try output.fileHandleForReading.read(upToCount: 1), byte.first != 10 { line += byte }
            let words = String(decoding: line, as: UTF8.self).split(separator: " ")
            guard words.count > 1 else {
                throw Failure(String(decoding: errors.fileHandleForReading.availableData, as: UTF8.self))
            }
            address = String(words[1])
        }

        /// Sends a signal and waits for the end: the exit code, or the signal's negative.
        func end(_ signal: Int32) -> Int32 {
            kill(process.processIdentifier, signal)
            process.waitUntilExit()
            return process.terminationReason == .exit ? process.terminationStatus : -process.terminationStatus
        }

        deinit { if process.isRunning { process.terminate() } }
    }

    struct Failure: Error {
        let text: String
        init(_ text: String) { self.text = text }
    }

    func withPage(_ body: (String) throws -> Void) throws {
        try withScratchFolder { folder in
            try makeFile("\(folder)/web/index.html", Array("<!doctype html><title>page</title>".utf8))
            try body(folder)
        }
    }

    func get(_ arguments: [String], in folder: String) throws -> Program.Outcome {
        try Program.run(executable: "/usr/bin/env", ["curl", "-sS", "--max-time", "20"] + arguments, in: folder)
    }

    static let isSanitised = ["LSAN_OPTIONS", "TSAN_OPTIONS"].contains {
        ProcessInfo.processInfo.environment[$0] != nil
    }
    static let hasCurl = FileManager.default.isExecutableFile(atPath: "/usr/bin/curl")

    @Test("It prints its address and ends well by either signal", arguments: [SIGINT, SIGTERM])
    func signals(number: Int32) throws {
        try withPage { folder in
            let server = try Running(["--port", "0", "--web", "web"], in: folder)
            #expect(server.address.wholeMatch(of: /http:\/\/127\.0\.0\.1:[0-9]+\//) != nil, "\(server.address)")
            #expect(server.end(number) == 0)
        }
    }

    @Test(
        "The page is found under SILHOUETTE_HOME; a port that is taken is one line",
        .enabled(if: hasCurl, "curl is not installed"))
    func page() throws {
        try withPage { folder in
            let server = try Running(["--port", "0"], in: folder, environment: ["SILHOUETTE_HOME": folder])
            #expect(try get([server.address], in: folder).text.contains("<title>page</title>"))
            let port = try #require(server.address.split(separator: ":").last?.dropLast())
            let second = try Program.run(
                ["serve", "-m", Program.model, "-d", "cpu", "--web", "web", "--port", String(port)], in: folder)
            #expect(second.exitCode == 1)
            #expect(second.errorLines.count == 1)
            #expect(second.errors.contains("port \(port) is taken"))
            #expect(second.output.isEmpty)
            #expect(server.end(SIGTERM) == 0)
        }
    }

    @Test(
        "A picture that memory does not suffice for is refused, and the server goes on",
        .enabled(if: hasCurl, "curl is not installed"),
        .disabled(if: isSanitised, "a sanitiser takes addresses itself"),
        arguments: [600_000, 900_000])
    func memoryLimit(kibibytes: Int) throws {
        try withPage { folder in
            try Image(size: PixelSize(width: 4000, height: 3000), format: .rgb, color: .white).write(
                to: folder + "/large.png")
            let server = try Running(["--port", "0", "--web", "web"], in: folder, addressKibibytes: kibibytes)
            let code = ["-o", "answer", "-w", "%{http_code}"]
            for query in ["output=overlay", "output=cutout&feather=8", "output=confidence", "background=blur"] {
                let outcome = try get(
                    code + ["--data-binary", "@large.png", "\(server.address)api/segment?\(query)"], in: folder)
                #expect(["200", "422"].contains(outcome.text), "\(query): \(outcome.text) \(outcome.errors)")
                if outcome.text == "422" {
                    let text = try String(contentsOfFile: folder + "/answer", encoding: .utf8)
                    #expect(text.contains("4000x3000 takes up to"), "\(text)")
                }
            }
            let small = ["--data-binary", "@\(Program.picture)", "\(server.address)api/segment"]
            #expect(try get(code + small, in: folder).text == "200")
            #expect(server.end(SIGTERM) == 0)
        }
    }

    @Test("An address that others reach gets a token, which the address shows")
    func token() throws {
        try withPage { folder in
            let server = try Running(["--port", "0", "--web", "web", "--host", "0.0.0.0"], in: folder)
            #expect(server.address.contains("/?token="))
            #expect(server.end(SIGTERM) == 0)
            try makeFile("\(folder)/token", Array("correct-horse\n".utf8))
            let named = try Running(["--port", "0", "--web", "web", "--token-file", "token"], in: folder)
            #expect(named.address.hasSuffix("/?token=correct-horse"))
            #expect(named.end(SIGTERM) == 0)
        }
    }

    @Test(
        "With a certificate it serves https, and offers HTTP/1.1 alone",
        .enabled(
            if: hasCurl && FileManager.default.isExecutableFile(atPath: "/usr/bin/openssl"),
            "openssl or curl is not installed"))
    func https() throws {
        try withPage { folder in
            let made = try Program.run(
                executable: "/usr/bin/openssl",
                [
                    "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-keyout", "key.pem", "-out", "certificate.pem",
                    "-days",
                    "2", "-subj", "/CN=localhost", "-addext", "subjectAltName=IP:127.0.0.1",
                ], in: folder)
            try #require(made.exitCode == 0)
            let server = try Running(
                ["--port", "0", "--web", "web", "--tls-certificate", "certificate.pem", "--tls-key", "key.pem"],
                in: folder)
            #expect(server.address.hasPrefix("https://127.0.0.1:"))
            let page = try get(
                ["--cacert", "certificate.pem", "--http2", "-w", "%{http_version}", server.address], in: folder)
            #expect(
                page.text.contains("<title>page</title>") && page.text.hasSuffix("1.1"), "\(page.text) \(page.errors)")
            // Plain HTTP to the same port gets nothing, and does no harm.
            _ = try get([server.address.replacing("https", with: "http")], in: folder)
            #expect(try get(["--cacert", "certificate.pem", server.address + "healthz"], in: folder).text == "ok\n")
            #expect(server.end(SIGTERM) == 0)

            for files in [["absent.pem", "key.pem"], ["certificate.pem", "certificate.pem"]] {
                let refused = try Program.run(
                    [
                        "serve", "-m", Program.model, "-d", "cpu", "--web", "web", "--port", "0", "--tls-certificate",
                        files[0],
                        "--tls-key", files[1],
                    ], in: folder)
                #expect(refused.exitCode == 1)
                #expect(refused.errorLines.count == 1, "\(refused.errors)")
            }
        }
    }

    @Test(
        "What cannot be is one line",
        arguments: [
            (["--port", "70000"], 2), (["--token", "short"], 2), (["--token", "spaces in it"], 2), (["x"], 2),
            (["--tls-key", "x"], 2), (["--token", "longenough", "--token-file", "x"], 2),
            (["--allow-origin", "example.org"], 2), (["--allow-origin", "http://a\r\nb"], 2),
            (["--allow-origin", "http://u@a"], 2), (["--allow-origin", "http://a:99999"], 2),
            (["--web", "absent"], 1), (["--host", "example.org"], 1), (["--source", "absent.mkv", "--web", "web"], 1),
            (["--token-file", "absent"], 1), (["--web", "web", "--host", "203.0.113.1"], 1),
        ] as [([String], Int32)])
    func refusals(arguments: [String], exitCode: Int32) throws {
        try withPage { folder in
            let outcome = try Program.run(
                ["serve", "-m", Program.model, "-d", "cpu", "--port", "0"] + arguments, in: folder)
            #expect(outcome.exitCode == exitCode, "\(outcome.errors)")
            #expect(outcome.errorLines.count == 1, "\(outcome.errors)")
            #expect(outcome.output.isEmpty)
        }
    }
}
