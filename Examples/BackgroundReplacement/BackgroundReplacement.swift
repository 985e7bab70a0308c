import Foundation
import Silhouette

/// Puts what a photograph shows before another background: a picture, or a colour.
///
///     BackgroundReplacement PHOTO BACKGROUND RESULT
///     BackgroundReplacement PHOTO '#204060' RESULT
@main
struct BackgroundReplacement {
    static func main() {
        do {
            let arguments = CommandLine.arguments
            guard arguments.count == 4 else {
                throw Failure("usage: BackgroundReplacement PHOTO BACKGROUND|#rrggbb RESULT")
            }
            try replaceBackground(of: arguments[1], by: arguments[2], into: arguments[3])
        } catch {
            FileHandle.standardError.write(Data("BackgroundReplacement: \(error)\n".utf8))
            exit(1)
        }
    }

    static func replaceBackground(of path: String, by background: String, into result: String) throws {
        let photo = try ImageFile.read(path: path).image
        let behind: Background =
            if let color = RGBColor(hex: background) {
                .color(color)
            } else {
                .picture(try ImageFile.read(path: background).image, .cover)
            }

        var segmenterOptions = ImageSegmenterOptions()
        segmenterOptions.baseOptions.modelAssetPath = try ModelLocator(searchesCache: true).locate(nil).path
        let segmenter = try ImageSegmenter(options: segmenterOptions)
        var options = EffectOptions(.composite(behind))
        options.edges = EdgeOptions(source: .guided, feather: 1)
        let renderer = try EffectRenderer(options: options, segmenter: segmenter)
        try renderer.render(image: photo).write(to: result)
    }
}

/// What went wrong, for people.
struct Failure: Error, CustomStringConvertible {
    let description: String

    init(_ description: String) { self.description = description }
}
