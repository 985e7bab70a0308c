import Glibc
import Imaging
import Video

/// Takes the frames of a film, in their order.
protocol FilmSink: AnyObject {
    /// Adds a frame.
    ///
    /// - Parameter microseconds: When it is shown, from the first frame on.
    func write(_ image: Image, microseconds: Int) throws

    /// Completes what was made.
    ///
    /// - Returns: What is missing though all frames are there, if anything is.
    func finish(delay: Double, length: Double?) throws -> String?

    /// Files that have to be removed where the program ends at once.
    var hiddenFiles: [String] { get }
}

extension FilmSink {
    var hiddenFiles: [String] { [] }
}

extension FilmWriter: FilmSink {}

extension LiveWriter: FilmSink {
    func finish(delay: Double, length: Double?) throws -> String? {
        try finish()
        return nil
    }
}

/// Writes each frame as a PNG file.
final class PictureWriter: FilmSink {
    private let name: NumberedName
    private var number = 0

    init(_ name: NumberedName) { self.name = name }

    func write(_ image: Image, microseconds: Int) throws {
        number += 1
        let path = name.path(number)
        try OutputFile.write(try image.encoded(as: .png, name: path), to: path)
    }

    func finish(delay: Double, length: Double?) throws -> String? { nil }
}

/// Writes the bytes of each frame to standard output.
final class RawWriter: FilmSink {
    private let format: PixelFormat

    init(_ format: PixelFormat) { self.format = format }

    func write(_ image: Image, microseconds: Int) throws {
        try OutputFile.write(image.converted(to: format).bytes, to: "-")
    }

    func finish(delay: Double, length: Double?) throws -> String? { nil }
}
