import Foundation
import Silhouette

/// The code of the article "Getting started", as a program.
///
///     GettingStarted PHOTO
@main
struct GettingStarted {
    static func main() {
        do {
            guard CommandLine.arguments.count == 2 else { throw Failure("usage: GettingStarted PHOTO") }
            let path = CommandLine.arguments[1]
            try segmentPicture(path)
            try findPerson(path)
            try segmentVideo([ImageFile.read(path: path).image])
        } catch {
            FileHandle.standardError.write(Data("GettingStarted: \(error)\n".utf8))
            exit(1)
        }
    }

    /// One picture, every class.
    static func segmentPicture(_ path: String) throws {
        let segmenter = try ImageSegmenter(options: ImageSegmenterOptions())
        print("\(segmenter.labels.count) classes on \(segmenter.deviceName)")

        let photo = try ImageFile.read(path: path).image
        let result = try segmenter.segment(image: photo)
        if let mask = result.categoryMask {
            let middle = mask[photo.width / 2, photo.height / 2]
            print("in the middle: \(result.labels[Int(middle)])")
        }
    }

    /// How likely it is that each pixel shows a person.
    static func findPerson(_ path: String) throws {
        var options = ImageSegmenterOptions()
        options.baseOptions.device = .cpu
        options.baseOptions.threadCount = 2
        options.shouldOutputCategoryMask = false
        options.shouldOutputConfidenceMasks = true
        options.maskSize = .model
        let segmenter = try ImageSegmenter(options: options)

        let photo = try ImageFile.read(path: path).image
        let result = try segmenter.segment(image: photo)
        if let person = result.confidenceMask(for: "person") {
            print("most likely a person: \(person.confidences.max() ?? 0), \(person.width)x\(person.height)")
        }
    }

    /// The frames of a video, one after the other.
    static func segmentVideo(_ frames: [Image]) throws {
        var options = ImageSegmenterOptions()
        options.runningMode = .video
        let segmenter = try ImageSegmenter(options: options)
        for (index, frame) in frames.enumerated() {
            let result = try segmenter.segment(videoFrame: frame, timestampInMilliseconds: index * 40)
            print("\(result.timestampInMilliseconds ?? 0) ms: \(result.timings.totalMilliseconds) ms of work")
        }
    }
}

/// What went wrong, for people.
struct Failure: Error, CustomStringConvertible {
    let description: String

    init(_ description: String) { self.description = description }
}
