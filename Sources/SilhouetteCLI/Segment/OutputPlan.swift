import Base
import Imaging

/// A photograph to be segmented.
package struct Input: Sendable, Equatable {
    /// Its path, or `-` for standard input.
    package let path: String

    /// Creates an input.
    package init(_ path: String) { self.path = path }

    /// For messages.
    package var displayName: String { path == "-" ? "standard input" : path }

    /// What its results are named after: the file name without folder and ending.
    package var stem: String {
        if path == "-" { return "stdin" }
        let name = path.split(separator: "/").last.map(String.init) ?? path
        guard let dot = name.lastIndex(of: "."), dot != name.startIndex else { return name }
        return String(name[..<dot])
    }
}

/// Where the results of a run go.
package enum OutputDestination: Sendable, Equatable {
    /// The current folder, with the kind of output in the name.
    case currentFolder
    /// A folder, which may have to be made.
    case folder(String)
    /// One file.
    case file(String)
    /// Standard output.
    case standardOutput
}

/// Which files a run writes, known and checked before it begins.
package struct OutputPlan: Sendable, Equatable {
    /// The files of each input, in the inputs' order: one, or one for each class of a confidence output.
    /// Nil stands for standard output.
    package let files: [[String]]?

    /// The format of every file.
    package let format: ImageFormat

    /// Plans a run.
    ///
    /// - Parameters:
    ///   - classNames: For a confidence output the names of its classes; else nothing.
    /// - Throws: `UsageError` where two results would be one file, or where the destination cannot hold them.
    package init(inputs: [Input], kind: SegmentOutput, destination: OutputDestination, classNames: [String])
        throws(UsageError)
    {
        let parts: [String?] = kind == .confidence ? classNames.map(fileNamePart) : [nil]
        switch destination {
        case .standardOutput, .file:
            if inputs.count != 1 {
                throw UsageError("--output-file must be a folder (end it in /) where there are several photographs")
            }
            if parts.count != 1 {
                throw UsageError(
                    "--output-file must be a folder (end it in /) for the confidence of \(parts.count) classes; "
                        + "or choose one class with --classes")
            }
        case .currentFolder, .folder: break
        }
        switch destination {
        case .standardOutput:
            files = nil
            format = kind == .scores ? .npy : .png
        case .file(let path):
            format = try Self.format(of: path, for: kind)
            files = [[path]]
        case .currentFolder, .folder:
            let folder = if case .folder(let path) = destination { path.hasSuffix("/") ? path : path + "/" } else { "" }
            let ending = kind.fileExtension
            let files = inputs.map { input in
                parts.map { part in
                    if let part { return "\(folder)\(input.stem).\(part).\(ending)" }
                    if folder.isEmpty { return "\(input.stem).\(kind.rawValue).\(ending)" }
                    return "\(folder)\(input.stem).\(ending)"
                }
            }
            try Self.requireDistinct(files, inputs)
            self.files = files
            format = kind == .scores ? .npy : .png
        }
    }

    private static func format(of path: String, for kind: SegmentOutput) throws(UsageError) -> ImageFormat {
        let allowed: [ImageFormat] =
            switch kind {
            case .overlay, .composite: [.png, .jpeg, .webp]
            case .cutout: [.png, .webp]
            case .mask, .confidence: [.png]
            case .scores: [.npy]
            }
        guard let format = ImageFormat(path: path), allowed.contains(format) else {
            let endings = allowed.map { "." + $0.rawValue }.listed(with: "or")
            throw UsageError(
                "--output-file '\(path)' must end in \(endings) for --output \(kind.rawValue), or in / for a folder")
        }
        return format
    }

    private static func requireDistinct(_ files: [[String]], _ inputs: [Input]) throws(UsageError) {
        // By their bytes, as the file system tells names apart: for `String` both spellings of an accent are equal.
        var writers: [[UInt8]: Input] = [:]
        for (input, paths) in zip(inputs, files) {
            for path in paths {
                guard let other = writers.updateValue(input, forKey: Array(path.utf8)) else { continue }
                if other == input {
                    throw UsageError(
                        "\(input.displayName) is given twice, or two of its classes share the file \(path)")
                }
                throw UsageError(
                    "\(other.displayName) and \(input.displayName) would both be written to \(path); "
                        + "segment them in separate runs or into separate folders")
            }
        }
    }
}

/// A class name as part of a file name: everything but letters, digits, `-` and `_` becomes `_`.
package func fileNamePart(_ label: String) -> String {
    String(label.map { $0.isLetter || $0.isNumber || $0 == "-" || $0 == "_" ? $0 : "_" })
}
