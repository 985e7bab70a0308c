/// What one picture gave.
public struct ImageSegmenterResult: Sendable {
    /// The most likely class of each pixel, where it was asked for.
    public var categoryMask: CategoryMask?
    /// The same at the picture's size, whatever the size of the other masks, where it was asked for.
    package var pictureCategoryMask: CategoryMask?
    /// How likely each class is at each pixel, one mask a class, where they were asked for.
    public var confidenceMasks: [ConfidenceMask]?
    /// The network's raw output, where it was asked for.
    public var scores: ScoreMap?
    /// How surely each place belongs to the subject, at the size of the network's output, where it was asked for.
    package var subject: SubjectMap?
    /// The classes that are the subject there, ascending.
    package var subjectClasses: [Int]?
    /// Names of the classes, by index.
    public var labels: [String]
    /// Width of the masks, in pixels.
    public var width: Int
    /// Height of the masks, in pixels.
    public var height: Int
    /// The timestamp of a frame of a video or a live stream. Nil for a single picture.
    public var timestampInMilliseconds: Int?
    /// How long each step took.
    public var timings: Timings
    /// What the network ran on: `CPU (AVX2, 2 threads)`.
    public var deviceName: String

    /// Columns and rows of the masks.
    public var size: PixelSize { PixelSize(width: width, height: height) }

    /// How likely a class is at each pixel, by its name in `labels`. Nil: there is no such class, or its mask was not asked for.
    public func confidenceMask(for label: String) -> ConfidenceMask? {
        labels.firstIndex(of: label).flatMap { confidenceMask(forClass: $0) }
    }

    /// How likely a class is at each pixel, by its position in `labels`. Nil: its mask was not asked for.
    public func confidenceMask(forClass index: Int) -> ConfidenceMask? {
        confidenceMasks?.first { $0.classIndex == index }
    }
}

/// The class of each pixel: height x width, row by row.
public struct CategoryMask: Sendable, Equatable {
    /// Columns.
    public let width: Int
    /// Rows.
    public let height: Int
    /// Class indices, `height * width` of them. A model with one channel has 1 where its probability is at least 0.5.
    public let categories: [UInt8]

    /// Creates a mask; the number of categories must fit.
    package init(width: Int, height: Int, categories: [UInt8]) {
        precondition(categories.count == width * height)
        self.width = width
        self.height = height
        self.categories = categories
    }

    /// Columns and rows.
    package var size: PixelSize { PixelSize(width: width, height: height) }

    /// The class at a pixel.
    public subscript(x: Int, y: Int) -> UInt8 {
        precondition((0..<width).contains(x) && (0..<height).contains(y))
        return categories[y * width + x]
    }

    /// Number of pixels of each class, `classCount` numbers.
    public func histogram(classCount: Int) -> [Int] {
        var counts = [Int](repeating: 0, count: 256)
        categories.withUnsafeBufferPointer { for category in $0 { counts[Int(category)] += 1 } }
        return Array(counts.prefix(classCount))
    }
}

/// How likely one class is at each pixel: height x width, row by row, 0 to 1.
public struct ConfidenceMask: Sendable, Equatable {
    /// Position of the class in the labels.
    public let classIndex: Int
    /// Columns.
    public let width: Int
    /// Rows.
    public let height: Int
    /// Probabilities, `height * width` of them.
    public let confidences: [Float]

    /// Creates a mask; the number of confidences must fit.
    package init(classIndex: Int, width: Int, height: Int, confidences: [Float]) {
        precondition(confidences.count == width * height)
        self.classIndex = classIndex
        self.width = width
        self.height = height
        self.confidences = confidences
    }

    /// The probability at a pixel.
    public subscript(x: Int, y: Int) -> Float {
        precondition((0..<width).contains(x) && (0..<height).contains(y))
        return confidences[y * width + x]
    }
}

/// The network's output before soft-max or comparison: height x width x channels, channels innermost.
public struct ScoreMap: Sendable, Equatable {
    /// Columns.
    public let width: Int
    /// Rows.
    public let height: Int
    /// Values at each pixel.
    public let channels: Int
    /// Scores, `height * width * channels` of them.
    public let values: [Float]

    /// Creates a map; the number of values must fit.
    package init(width: Int, height: Int, channels: Int, values: [Float]) {
        precondition(values.count == width * height * channels)
        self.width = width
        self.height = height
        self.channels = channels
        self.values = values
    }

    /// A channel's value at a pixel.
    public subscript(x: Int, y: Int, channel: Int) -> Float {
        precondition((0..<width).contains(x) && (0..<height).contains(y) && (0..<channels).contains(channel))
        return values[(y * width + x) * channels + channel]
    }
}

/// How long the steps of one picture took.
public struct Timings: Sendable, Equatable {
    /// Resizing and normalising the picture.
    public var preprocessMilliseconds: Double
    /// Running the network.
    public var inferenceMilliseconds: Double
    /// Making masks of the scores.
    public var postprocessMilliseconds: Double

    /// Creates timings.
    package init(preprocessMilliseconds: Double, inferenceMilliseconds: Double, postprocessMilliseconds: Double) {
        self.preprocessMilliseconds = preprocessMilliseconds
        self.inferenceMilliseconds = inferenceMilliseconds
        self.postprocessMilliseconds = postprocessMilliseconds
    }

    /// All steps together.
    public var totalMilliseconds: Double {
        preprocessMilliseconds + inferenceMilliseconds + postprocessMilliseconds
    }
}
