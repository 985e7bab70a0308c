import Foundation
import Silhouette

/// Blurs what is behind the people in a photograph.
///
///     PortraitBlur PHOTO RESULT [RADIUS]
@main
struct PortraitBlur {
    static func main() {
        do {
            let arguments = CommandLine.arguments
            guard (3...4).contains(arguments.count), let radius = Float(arguments.count == 4 ? arguments[3] : "12")
            else { throw Failure("usage: PortraitBlur PHOTO RESULT [RADIUS]") }
            try blur(arguments[1], into: arguments[2], radius: radius)
        } catch {
            FileHandle.standardError.write(Data("PortraitBlur: \(error)\n".utf8))
            exit(1)
        }
    }

    static func blur(_ path: String, into result: String, radius: Float) throws {
        let photo = try ImageFile.read(path: path).image
        let segmenter = try ImageSegmenter(options: ImageSegmenterOptions())
        let options = EffectOptions(.composite(.blur(radius: radius)), classes: ["person"])
        let renderer = try EffectRenderer(options: options, segmenter: segmenter)
        try renderer.render(image: photo).write(to: result)
    }
}

/// What went wrong, for people.
struct Failure: Error, CustomStringConvertible {
    let description: String

    init(_ description: String) { self.description = description }
}
