import Base
import Glibc
import Imaging

/// Endings of the files that are taken from a folder.
private let pictureEndings: Set<String> = ["png", "jpg", "jpeg", "webp"]

/// What a path leads to.
enum PathKind {
    case file, folder, absent
    /// A pipe, a device or a socket.
    case special

    init(_ path: String) {
        var status = stat()
        if stat(path, &status) != 0 {
            self = .absent
        } else {
            switch status.st_mode & S_IFMT {
            case S_IFDIR: self = .folder
            case S_IFREG: self = .file
            default: self = .special
            }
        }
    }
}

/// The photographs that the operands name: files as they are, folders replaced by the pictures in them, sorted by name.
///
/// Hidden files, and folders and pipes inside folders are left out.
package func expandInputs(_ operands: [String]) throws(UsageError) -> [Input] {
    var inputs: [Input] = []
    for operand in operands {
        guard operand != "-", PathKind(operand) == .folder else {
            // A file that is absent is found out when its turn comes, so that it does not stop the others.
            inputs.append(Input(operand))
            continue
        }
        let folder = operand.hasSuffix("/") ? operand : operand + "/"
        let names = try fileNames(in: operand).filter { name in
            let ending = name.split(separator: ".").last.map { $0.lowercased() } ?? ""
            guard !name.hasPrefix("."), pictureEndings.contains(ending) else { return false }
            // Absent: a link that leads nowhere, or a name that is not UTF-8. That is told when its turn comes.
            let kind = PathKind(folder + name)
            return kind == .file || kind == .absent
        }
        guard !names.isEmpty else {
            throw UsageError("\(operand): no picture (.png, .jpg, .jpeg, .webp) in this folder")
        }
        inputs += names.sorted().map { Input(folder + $0) }
    }
    return inputs
}

private func fileNames(in folder: String) throws(UsageError) -> [String] {
    guard let directory = opendir(folder) else { throw UsageError("\(folder): \(lastSystemError())") }
    defer { closedir(directory) }
    var names: [String] = []
    while let entry = readdir(directory) {
        names.append(
            withUnsafeBytes(of: &entry.pointee.d_name) { String(decoding: $0.prefix { $0 != 0 }, as: UTF8.self) })
    }
    return names
}

/// Where `-o` leads, given what is there and how many photographs there are.
///
/// - Parameter isBatch: Whether there are several photographs, or a folder of them.
package func destination(_ path: String?, isBatch: Bool) throws(UsageError) -> OutputDestination {
    guard let path else { return .currentFolder }
    if path == "-" { return .standardOutput }
    switch PathKind(path) {
    case .folder: return .folder(path)
    case .file, .special:
        if isBatch { throw UsageError("--output-file '\(path)' is a file, but there are several photographs") }
        return .file(path)
    case .absent:
        if path.hasSuffix("/") { return .folder(path) }
        guard isBatch else { return .file(path) }
        guard ImageFormat(path: path) == nil else {
            throw UsageError(
                "--output-file '\(path)' names a file, but there are several photographs; end it in / for a folder"
            )
        }
        return .folder(path)
    }
}

/// Makes a folder and those above it that do not exist.
///
/// - Returns: The reason where it failed.
func makeFolder(_ path: String) -> String? {
    if mkdir(path, 0o777) == 0 || (errno == EEXIST && PathKind(path) == .folder) { return nil }
    guard errno == ENOENT, let slash = path.dropLast().lastIndex(of: "/"), slash != path.startIndex else {
        return lastSystemError()
    }
    return makeFolder(String(path[..<slash]))
        ?? (mkdir(path, 0o777) == 0 || errno == EEXIST ? nil : lastSystemError())
}
