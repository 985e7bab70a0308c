/// Why a picture could not be read, made or written: the file and the cause in one line.
public struct ImageError: Error, Hashable, Sendable, CustomStringConvertible {
    /// The file, as the user named it.
    public let name: String
    /// What is wrong with it.
    public let reason: Reason

    /// Creates an error about the file `name`.
    package init(_ name: String, _ reason: Reason) {
        self.name = name
        self.reason = reason
    }

    /// What can be wrong with a picture.
    public enum Reason: Hashable, Sendable {
        /// The system would not open or read it; its own words.
        case unreadable(String)
        /// The system would not create or write it; its own words.
        case unwritable(String)
        /// Nothing in it.
        case emptyFile
        /// Neither PNG nor JPEG nor WebP, by its first bytes.
        case unknownContent
        /// The file ends before the picture does.
        case truncated(ImageFormat)
        /// The file breaks its format's rules; what the decoder says.
        case damaged(ImageFormat, String)
        /// A valid file of a kind that is not read here.
        case unsupported(String)
        /// No pixels.
        case emptyPicture(width: Int, height: Int)
        /// More pixels than `ImageLimits.maxPixels`.
        case tooManyPixels(width: Int, height: Int, limit: Int)
        /// A side longer than `ImageLimits.maxSide`, or than the format can hold.
        case sideTooLong(width: Int, height: Int, limit: Int)
        /// More bytes than `ImageLimits.maxByteCount`.
        case tooManyBytes(limit: Int)
        /// More memory than may be taken: how much reading it and working on it takes at most, how much there is, and what bounds
        /// that.
        case tooMuchMemory(width: Int, height: Int, needed: Int, available: Int, bound: String)
        /// Sizes that contradict one another.
        case inconsistent(String)
        /// A file name whose extension names no format to write.
        case unknownExtension(String)
        /// An encoder failed; what it says.
        case notEncoded(ImageFormat, String)
    }

    /// One line: `photo.jpg: the file ends before the picture does (JPEG)`.
    public var description: String { "\(name): \(reason)" }
}

extension ImageError.Reason: CustomStringConvertible {
    /// The cause alone, without the file.
    public var description: String {
        switch self {
        case .unreadable(let why): "cannot be read: \(why)"
        case .unwritable(let why): "cannot be written: \(why)"
        case .emptyFile: "the file is empty"
        case .unknownContent: "not a picture that can be read (PNG, JPEG and WebP can)"
        case .truncated(let format): "the file ends before the picture does (\(format.title))"
        case .damaged(let format, let why): "damaged \(format.title): \(why)"
        case .unsupported(let what): "\(what) is not supported"
        case .emptyPicture(let width, let height): "a picture of \(width)x\(height) has no pixels"
        case .tooManyPixels(let width, let height, let limit):
            limit < 1_000_000
                ? "claims \(width)x\(height); the limit is \(limit) pixels (it can be raised)"
                : "claims \(width)x\(height), \(millions(width, height)) million pixels; the limit is "
                    + "\(millions(limit, 1)) million (it can be raised)"
        case .sideTooLong(let width, let height, let limit):
            "claims \(width)x\(height); the limit is \(limit) pixels a side"
        case .tooManyBytes(let limit): "more than \(limit) bytes, which is the limit"
        case .tooMuchMemory(let width, let height, let needed, let available, let bound):
            "\(width)x\(height) takes up to \(needed >> 20) MiB of memory here, and \(bound) leaves \(available >> 20) MiB; "
                + "raise that, or make the picture smaller"
        case .inconsistent(let what): what
        case .unknownExtension(let found):
            (found.isEmpty ? "no file extension" : "unknown file extension \(found)")
                + "; known are \(ImageFormat.allCases.map { "." + $0.rawValue }.joined(separator: ", "))"
        case .notEncoded(let format, let why): "cannot be encoded as \(format.title): \(why)"
        }
    }

    /// Millions of pixels with one decimal, at least 0.1. In floating point, since two 32-bit sides may multiply to
    /// 2^64.
    private func millions(_ width: Int, _ height: Int) -> String {
        let tenths = UInt64(max(1, (Double(width) * Double(height) / 100_000).rounded()))
        return "\(tenths / 10).\(tenths % 10)"
    }
}
