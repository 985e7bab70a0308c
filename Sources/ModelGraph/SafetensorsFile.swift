import Base
import JSONText

/// The safetensors container: named arrays and a table of strings.
///
/// ```
/// | 8 bytes, N | N bytes of JSON                                         | the arrays, one after another |
/// |            | {"NAME": {"dtype", "shape", "data_offsets": [b, e]},    |                               |
/// |            |  "__metadata__": {"KEY": "TEXT"}}                       |                               |
/// ```
///
/// Every array's type, shape and place are checked here; the values are not touched.
struct SafetensorsFile {
    /// One array: what the header says of it.
    private struct Entry {
        var format: Weights.Format
        var shape: [Int]
        /// In bytes from the first array.
        var range: Range<Int>
    }

    /// The strings of `__metadata__`.
    let metadata: [String: JSON]
    private let entries: [String: Entry]
    private let storage: any Weights.Storage
    /// Where the first array begins, in bytes from the start of the file.
    private let dataOffset: Int

    init(_ storage: any Weights.Storage) throws(ModelFault) {
        let bytes = storage.bytes
        let convert = "other kinds of model are converted by Weights/convert.py"
        guard bytes.count >= 8 else {
            throw ModelFault("is no safetensors file: it has only \(bytes.count) bytes; \(convert)")
        }
        let claimed = UInt64(littleEndian: bytes.loadUnaligned(as: UInt64.self))
        guard claimed <= UInt64(ModelLimits.headerByteCount) else {
            throw ModelFault(
                "is no safetensors file; \(convert) (its header would have \(claimed) bytes, limit "
                    + "\(ModelLimits.headerByteCount))"
            )
        }
        guard claimed <= UInt64(bytes.count - 8) else {
            throw ModelFault("is cut short: its header has \(claimed) bytes, the file only \(bytes.count - 8) after it")
        }
        dataOffset = 8 + Int(claimed)
        // A copy: what has been checked must not change under a mapping.
        let header = [UInt8](bytes[8..<dataOffset])
        guard case .object(var values) = try parseJSON(header, "header") else {
            throw ModelFault("header: expected an object")
        }

        switch values.removeValue(forKey: "__metadata__") {
        case nil: metadata = [:]
        case .object(let metadata): self.metadata = metadata
        case .some(let other): throw ModelFault("header: __metadata__ is \(other.kind), expected an object")
        }
        guard values.count <= ModelLimits.storedTensors else {
            throw ModelFault("header: has \(values.count) tensors, limit \(ModelLimits.storedTensors)")
        }
        var entries: [String: Entry] = [:]
        // In the order of their names: of several faults the same one is told each time.
        for (name, value) in values.sorted(by: { $0.key < $1.key }) { entries[name] = try Self.entry(name, value) }
        try Self.checkPlaces(entries, byteCount: bytes.count - dataOffset)
        self.entries = entries
        self.storage = storage
    }

    /// Holds all arrays against a digest: `sha256:` and 64 lower-case hexadecimal digits.
    ///
    /// - Throws: Where they are not those that it was made of: a byte has changed since.
    func check(digest: String) throws(ModelFault) {
        let prefix = "sha256:"
        let digits = digest.dropFirst(prefix.count)
        guard digest.hasPrefix(prefix), digits.utf8.count == 64,
            digits.utf8.allSatisfy({ (48...57).contains($0) || (97...102).contains($0) })
        else { throw ModelFault("document: digest: expected sha256: and 64 hexadecimal digits") }
        let actual = SHA256.digits(of: UnsafeRawBufferPointer(rebasing: storage.bytes[dataOffset...]))
        guard actual == digits else {
            throw ModelFault(
                "is damaged: its weights are not those that its digest was made of; fetch or convert it again")
        }
    }

    /// The array called `name`, nil where the file has none.
    subscript(_ name: String) -> Weights? {
        guard let entry = entries[name] else { return nil }
        return Weights(
            shape: entry.shape, format: entry.format, storage: storage, offset: dataOffset + entry.range.lowerBound)
    }

    private static func entry(_ name: String, _ value: JSON) throws(ModelFault) -> Entry {
        let fields = try Fields(value, "tensor \(printable(name))")
        try fields.allow(only: ["dtype", "shape", "data_offsets"])
        let type = try fields.string("dtype")
        guard let format = Weights.Format(rawValue: type) else {
            throw fields.fault("has the element type \(printable(type)), expected F32 or F16")
        }
        let shape = try fields.integers("shape")
        let place = try fields.integers("data_offsets")
        guard place.count == 2, place[0] >= 0, place[0] <= place[1] else {
            throw fields.fault("data_offsets: expected [begin, end]")
        }
        var byteCount = format.byteCount
        var fits = shape.count <= 8
        for extent in shape where fits {
            let (product, overflows) = byteCount.multipliedReportingOverflow(by: extent)
            byteCount = product
            fits = extent >= 0 && !overflows
        }
        guard fits, byteCount == place[1] - place[0] else {
            throw fields.fault(
                "the shape \(shape) of \(type) does not take the \(place[1] - place[0]) bytes of its place")
        }
        guard place[0] % format.byteCount == 0 else {
            throw fields.fault("begins at byte \(place[0]), which is no multiple of its element's size")
        }
        return Entry(format: format, shape: shape, range: place[0]..<place[1])
    }

    /// The arrays must fill the rest of the file: no gap, no overlap, nothing past the end.
    private static func checkPlaces(_ entries: [String: Entry], byteCount: Int) throws(ModelFault) {
        let sorted = entries.sorted {
            ($0.value.range.lowerBound, $0.value.range.upperBound, $0.key) < (
                $1.value.range.lowerBound, $1.value.range.upperBound, $1.key
            )
        }
        var end = 0
        for (name, entry) in sorted {
            let name = printable(name)
            guard entry.range.upperBound <= byteCount else {
                throw ModelFault(
                    "tensor \(name): ends at byte \(entry.range.upperBound) of the data, the file has only \(byteCount)"
                )
            }
            guard entry.range.lowerBound >= end else {
                throw ModelFault("tensor \(name): overlaps another one at byte \(entry.range.lowerBound) of the data")
            }
            guard entry.range.lowerBound == end else {
                throw ModelFault("tensor \(name): leaves a gap before byte \(entry.range.lowerBound) of the data")
            }
            end = entry.range.upperBound
        }
        guard end == byteCount else {
            throw ModelFault("has \(byteCount - end) bytes after its last tensor")
        }
    }
}

/// Parses a text of the file; `place` says which, in messages.
func parseJSON(_ text: [UInt8], _ place: String) throws(ModelFault) -> JSON {
    let result = text.withUnsafeBytes { bytes in
        Result { () throws(JSONError) -> JSON in try JSON(parsing: bytes) }
    }
    switch result {
    case .success(let value): return value
    case .failure(let error): throw ModelFault("\(place): byte \(error.offset): \(error.reason)")
    }
}
