import Foundation
import Silhouette

/// Writes a mask and a cut-out of each photograph: the network runs once for both.
///
///     MasksAndCutouts PHOTO... FOLDER
@main
struct MasksAndCutouts {
    static func main() {
        do {
            let arguments = CommandLine.arguments.dropFirst()
            guard let folder = arguments.last, arguments.count > 1 else {
                throw Failure("usage: MasksAndCutouts PHOTO... FOLDER")
            }
            try run(Array(arguments.dropLast()), into: URL(fileURLWithPath: folder))
        } catch {
            FileHandle.standardError.write(Data("MasksAndCutouts: \(error)\n".utf8))
            exit(1)
        }
    }

    static func run(_ paths: [String], into folder: URL) throws {
        var options = ImageSegmenterOptions()
        options.subjectClasses = .foreground
        let pool = try SegmenterPool(options: options, pictureCount: paths.count)
        let renderer = try EffectRenderer(options: EffectOptions(.cutout), segmenter: pool.segmenters[0])

        // Photographs are read and segmented side by side; they come here in their order.
        var failures: [any Error] = []
        try pool.segment(paths) { path in
            try ImageFile.read(path: path).image
        } finish: { path, outcome in
            do {
                let (photo, result) = try outcome.get()
                let name = URL(fileURLWithPath: path).deletingPathExtension().lastPathComponent
                let cutout = try renderer.render(image: photo, result: result)
                try cutout.write(to: folder.appendingPathComponent(name + ".cutout.png").path)
                try mask(result, pool.segmenters[0].palette)
                    .write(to: folder.appendingPathComponent(name + ".mask.png"))
            } catch {
                failures.append(error)
            }
        }
        if let first = failures.first {
            throw Failure(failures.count == 1 ? "\(first)" : "\(first) (and \(failures.count - 1) more failed)")
        }
    }

    /// The class of each pixel, as a PNG in the colours of the classes.
    static func mask(_ result: ImageSegmenterResult, _ palette: Palette) throws -> Data {
        guard let mask = result.categoryMask else { return Data() }
        let image = try Image(width: mask.width, height: mask.height, format: .gray, bytes: mask.categories)
        return Data(try image.encodedAsIndexedPNG(palette: palette))
    }
}

/// What went wrong, for people.
struct Failure: Error, CustomStringConvertible {
    let description: String

    init(_ description: String) { self.description = description }
}
