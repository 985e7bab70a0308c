// What all harnesses share. Each has `fuzz(_:)`, which is called with every input, and `seeds`, inputs to start from beside
// the files that it names.

import Glibc

/// Runs one input.
@_cdecl("LLVMFuzzerTestOneInput")
package func testOneInput(_ start: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
    fuzz(Array(UnsafeBufferPointer(start: start, count: count)))
    return 0
}

/// Writes the seeds into the folder that the environment names, where it does.
@_cdecl("LLVMFuzzerInitialize")
package func initialize(
    _ count: UnsafeMutablePointer<CInt>,
    _ arguments: UnsafeMutablePointer<UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>>
) -> CInt {
    guard let folder = getenv("FUZZ_SEEDS").map({ String(cString: $0) }) else { return 0 }
    for (index, seed) in seeds.enumerated() {
        let descriptor = open("\(folder)/made-\(index)", O_WRONLY | O_CREAT | O_TRUNC, 0o600)
        precondition(descriptor >= 0 && write(descriptor, seed, seed.count) == seed.count, "a seed cannot be written")
        close(descriptor)
    }
    return 0
}

/// What is wrong with a one-line message. Nil: nothing.
func fault(inLine line: String) -> String? {
    if line.isEmpty { return "an error without words" }
    return line.utf8.contains { $0 < 32 || $0 == 127 } ? "an error of two lines or with control characters" : nil
}

/// Pieces of bytes of one length; the last one may be shorter.
func pieces(of bytes: [UInt8], length: Int) -> [ArraySlice<UInt8>] {
    stride(from: 0, to: bytes.count, by: length).map { bytes[$0..<min(bytes.count, $0 + length)] }
}

/// Takes numbers and bytes off an input.
struct InputReader {
    private(set) var rest: ArraySlice<UInt8>

    init(_ input: [UInt8]) { rest = input[...] }

    /// The next byte; 0 at the end.
    mutating func byte() -> UInt8 { rest.popFirst() ?? 0 }

    /// A number below a limit of at most 256.
    mutating func below(_ limit: Int) -> Int { Int(byte()) % limit }

    /// Up to so many bytes.
    mutating func bytes(_ count: Int) -> [UInt8] {
        let taken = rest.prefix(count)
        rest = rest.dropFirst(count)
        return Array(taken)
    }
}
