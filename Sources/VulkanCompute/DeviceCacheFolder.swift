import Glibc

/// A folder with a file for each device and driver: its compiled pipelines, or what else is only true of it.
///
/// Nothing that is wrong with it is an error. A file that cannot be read, is damaged or belongs to another driver counts as
/// none. One that cannot be written is done without.
///
///     1002-744c-00800059-0123456789abcdef.bin      vendor, device, driver version, beginning of the driver's own identity
package struct DeviceCacheFolder: Sendable {
    /// Where it is.
    package let path: String
    private let fileExtension: String
    /// Bytes that one file may have; larger ones are neither read nor written.
    package let fileByteLimit: Int
    /// Files that the folder may have; the oldest go when a new one comes. Each update of a driver leaves one behind.
    package let fileLimit: Int

    /// Creates a view of a folder, which need not exist.
    ///
    /// - Parameter fileExtension: One for each kind of data.
    package init(path: String, fileExtension: String = "bin", fileByteLimit: Int = 64 << 20, fileLimit: Int = 16) {
        self.path = path
        self.fileExtension = fileExtension
        self.fileByteLimit = fileByteLimit
        self.fileLimit = fileLimit
    }

    /// Path of the file for a device and driver.
    package func file(for identity: PhysicalDevice.CacheIdentity) -> String {
        let numbers = [hex(identity.vendor, 4), hex(identity.device, 4), hex(identity.driverVersion, 8)]
        return path + "/" + (numbers + [identity.uuid.prefix(8).map { hex($0, 2) }.joined()]).joined(separator: "-")
            + ".\(fileExtension)"
    }

    /// The data of earlier runs; empty where there is none to be trusted.
    package func data(for identity: PhysicalDevice.CacheIdentity) -> [UInt8] {
        guard let bytes = readFile(file(for: identity), atMost: fileByteLimit) else { return [] }
        return DeviceCacheFile.decode(bytes, for: identity) ?? []
    }

    /// Keeps data for later runs; whoever reads at the same time sees the file before or the file after. True where that worked.
    @discardableResult
    package func store(_ data: [UInt8], for identity: PhysicalDevice.CacheIdentity) -> Bool {
        let bytes = DeviceCacheFile.encode(data, for: identity)
        guard bytes.count <= fileByteLimit, makeFolders(path) else { return false }
        let file = file(for: identity)
        guard replaceFile(file, with: bytes) else { return false }
        removeOldest(but: file)
        return true
    }

    private func removeOldest(but newest: String) {
        let files = names(in: path).filter { $0.hasSuffix(".\(fileExtension)") }.map { "\(path)/\($0)" }
        guard files.count > fileLimit else { return }
        let others = files.filter { $0 != newest }.map { (path: $0, time: modificationTime($0)) }
        for file in others.sorted(by: { ($0.time, $0.path) < ($1.time, $1.path) }).prefix(files.count - fileLimit) {
            unlink(file.path)
        }
    }
}

private func hex(_ number: some BinaryInteger, _ width: Int) -> String {
    let digits = String(number, radix: 16)
    return String(repeating: "0", count: max(0, width - digits.count)) + digits
}

/// The bytes of a regular file; nil where there is none, or it is empty, larger than `limit` or cannot be read.
private func readFile(_ path: String, atMost limit: Int) -> [UInt8]? {
    // Not blocking: what has the name may be a pipe.
    let descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK)
    guard descriptor >= 0 else { return nil }
    defer { close(descriptor) }
    var status = stat()
    guard fstat(descriptor, &status) == 0, status.st_mode & S_IFMT == S_IFREG, (1...limit).contains(Int(status.st_size))
    else { return nil }
    let size = Int(status.st_size)
    var count = 0
    let bytes = [UInt8](unsafeUninitializedCapacity: size) { buffer, initialized in
        while count < size {
            let read = Glibc.read(descriptor, buffer.baseAddress! + count, size - count)
            if read < 0, errno == EINTR { continue }
            if read <= 0 { break }
            count += read
        }
        initialized = count
    }
    return count == size ? bytes : nil
}

/// Puts a file in another's place in one step.
private func replaceFile(_ path: String, with bytes: [UInt8]) -> Bool {
    var template = Array("\(path).XXXXXX".utf8CString)
    let descriptor = mkstemp(&template)
    guard descriptor >= 0 else { return false }
    let isWritten = bytes.withUnsafeBytes { bytes in
        var rest = UnsafeRawBufferPointer(bytes)
        while !rest.isEmpty {
            let written = Glibc.write(descriptor, rest.baseAddress, rest.count)
            if written < 0, errno == EINTR { continue }
            if written <= 0 { return false }
            rest = UnsafeRawBufferPointer(rebasing: rest[written...])
        }
        return true
    }
    // Closing tells of errors that writing did not.
    let isDone = close(descriptor) == 0 && isWritten && rename(template, path) == 0
    if !isDone { unlink(template) }
    return isDone
}

/// Makes a folder and those above it, for this user alone as the XDG specification has it.
private func makeFolders(_ path: String) -> Bool {
    if mkdir(path, 0o700) == 0 || errno == EEXIST { return true }
    guard errno == ENOENT, let slash = path.lastIndex(of: "/"), slash != path.startIndex else { return false }
    return makeFolders(String(path[..<slash])) && (mkdir(path, 0o700) == 0 || errno == EEXIST)
}

private func names(in folder: String) -> [String] {
    guard let directory = opendir(folder) else { return [] }
    defer { closedir(directory) }
    var names: [String] = []
    while let entry = readdir(directory) {
        names.append(
            withUnsafeBytes(of: &entry.pointee.d_name) { String(decoding: $0.prefix { $0 != 0 }, as: UTF8.self) })
    }
    return names
}

private func modificationTime(_ path: String) -> Int {
    var status = stat()
    return stat(path, &status) == 0 ? Int(status.st_mtim.tv_sec) : 0
}
