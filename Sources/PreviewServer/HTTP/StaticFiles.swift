import WebProtocol
import Base
import CZlib
import Glibc

/// The page's files, read once when the server starts: nothing else of the disk can be asked for.
package struct StaticFiles: Sendable {
    private struct File: Sendable {
        let type: String
        let tag: String
        let bytes: [UInt8]
    }

    /// Files beyond which a folder is no page.
    private static let countLimit = 200
    private static let byteLimit = 32 << 20
    private static let types = [
        "html": "text/html; charset=utf-8", "css": "text/css; charset=utf-8", "js": "text/javascript; charset=utf-8",
        "svg": "image/svg+xml; charset=utf-8",
    ]
    private var files: [String: File] = [:]

    /// No files.
    package init() {}

    /// Reads the files that lie directly in a folder and that a page is made of.
    ///
    /// - Throws: `ServerError` where it has no index.html.
    package init(folder: String) throws {
        try add(folder)
        guard let index = files["/index.html"] else {
            throw ServerError("\(folder): there is no index.html, so this is not the page's folder (--web)")
        }
        files["/"] = index
    }

    private mutating func add(_ folder: String) throws {
        guard let directory = opendir(folder) else {
            throw ServerError("\(folder): cannot be read: \(lastSystemError())")
        }
        defer { closedir(directory) }
        while let entry = readdir(directory) {
            let name = withUnsafeBytes(of: &entry.pointee.d_name) {
                String(decoding: $0.prefix { $0 != 0 }, as: UTF8.self)
            }
            guard !name.hasPrefix("."), let type = Self.types[Self.fileExtension(of: name)] else { continue }
            var status = stat()
            guard stat("\(folder)/\(name)", &status) == 0, status.st_mode & S_IFMT == S_IFREG else { continue }
            guard files.count < Self.countLimit else {
                throw ServerError(
                    "\(folder): more than \(Self.countLimit) files, so this is not the page's folder (--web)")
            }
            let bytes = try readFile("\(folder)/\(name)", limit: Self.byteLimit)
            files["/" + name] = File(type: type, tag: Self.tag(of: bytes), bytes: bytes)
        }
    }

    private static func fileExtension(of name: String) -> String {
        name.lastIndex(of: ".").map { name[name.index(after: $0)...].lowercased() } ?? ""
    }

    /// A name for the contents: two checksums and the length.
    private static func tag(of bytes: [UInt8]) -> String {
        let sums = bytes.withUnsafeBufferPointer { buffer in
            [
                crc32_z(0, buffer.baseAddress, buffer.count), adler32_z(1, buffer.baseAddress, buffer.count),
                UInt(buffer.count),
            ]
        }
        return "\"" + sums.map { String($0, radix: 16) }.joined(separator: "-") + "\""
    }

    /// The file that a request asks for. Nil: there is none.
    package func response(to request: HTTPRequest) -> HTTPResponse? {
        guard let file = files[request.path] else { return nil }
        let known = (request.fields["if-none-match"] ?? "").split(separator: ",").map { $0.filter { $0 != " " } }
        if known.contains(file.tag) || known.contains("W/" + file.tag) || known == ["*"] {
            return HTTPResponse(304, file.type, [], [("ETag", file.tag)])
        }
        return HTTPResponse(200, file.type, file.bytes, [("ETag", file.tag)])
    }
}
