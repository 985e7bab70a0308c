import Foundation
import PreviewServer
import TestSupport
import Testing

private let tlsFolder = FileManager.default.temporaryDirectory.appending(path: "silhouette-tls-\(getpid())")
private let hasOpenSSL = FileManager.default.isExecutableFile(atPath: "/usr/bin/openssl")

/// One after another: libwebsockets 4.1 keeps a number of OpenSSL's for all its contexts of a process, and of two that are there
/// at once the first no longer finds, and so leaks, what it made.
@Suite("Server: certificates", .serialized, .enabled(if: hasOpenSSL, "there is no openssl"))
struct TLSFilesTests {
    private static func openssl(_ arguments: String, in folder: URL) throws {
        let process = Process()
        process.executableURL = URL(filePath: "/usr/bin/openssl")
        process.arguments = arguments.split(separator: " ").map(String.init)
        process.currentDirectoryURL = folder
        process.standardError = FileHandle.nullDevice
        process.standardOutput = FileHandle.nullDevice
        try process.run()
        process.waitUntilExit()
        try #require(process.terminationStatus == 0)
    }

    /// Good and bad files, made once.
    private static let folder: URL? = try? {
        let folder = tlsFolder
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        atexit { try? FileManager.default.removeItem(at: tlsFolder) }
        try openssl(
            "req -x509 -newkey rsa:2048 -nodes -keyout key -out certificate -days 2 -subj /CN=localhost", in: folder)
        try openssl("genrsa -out other 2048", in: folder)
        try openssl("pkey -in key -aes128 -passout pass:x -out encrypted", in: folder)
        try openssl("req -x509 -newkey rsa:512 -nodes -keyout shortkey -out short -days 2 -subj /CN=x", in: folder)
        try Data("junk\n".utf8).write(to: folder.appending(path: "junk"))
        try Data().write(to: folder.appending(path: "empty"))
        try Data("-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n".utf8)
            .write(to: folder.appending(path: "broken"))
        mkfifo(folder.appending(path: "pipe").path(), 0o600)
        return folder
    }()

    @Test(
        "What is wrong with the files is said, and with which",
        arguments: [
            ("absent", "key", "absent: cannot be read: No such file"),
            ("certificate", "absent", "absent: cannot be read"),
            (".", "key", "is no file"), ("certificate", ".", "is no file"), ("pipe", "key", "pipe: is no file"),
            ("certificate", "pipe", "pipe: is no file"),
            ("certificate", "other", "other: is not the key of the certificate"),
            ("certificate", "encrypted", "encrypted: is encrypted"), ("junk", "key", "junk: holds no certificate"),
            ("certificate", "junk", "junk: holds no key"), ("empty", "key", "empty: is empty"),
            ("certificate", "empty", "empty: is empty"), ("key", "certificate", "swapped"),
            ("certificate", "certificate", "swapped"), ("short", "shortkey", "short: cannot be used: ee key too small"),
            ("broken", "key", "broken: cannot be used"),
        ])
    func wrong(certificate: String, key: String, text: String) throws {
        let folder = try #require(Self.folder)
        let error = #expect(throws: ServerError.self) {
            try TestServer.mini {
                $0.tls = (folder.appending(path: certificate).path(), folder.appending(path: key).path())
            }
        }
        #expect(error?.description.contains(text) == true, "\(error?.description ?? "")")
        #expect(error?.description.contains("\n") == false)
    }

    @Test("Good ones serve")
    func good() throws {
        let folder = try #require(Self.folder)
        let server = try TestServer.mini {
            $0.tls = (folder.appending(path: "certificate").path(), folder.appending(path: "key").path())
        }
        server.stop()
    }
}
