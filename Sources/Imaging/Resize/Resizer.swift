/// Resizes pictures of one size to another: Pillow's `resize((width, height), Image.BILINEAR)`, byte for byte.
///
/// Antialiased when shrinking, half-pixel centres; a pass along each axis in integers with 22-bit weights, rounded to
/// 8 bits in between; a pass that would change nothing is left out. RGBA is resized with its colour multiplied by
/// alpha, as Pillow does.
///
/// Tables and working memory are made once, so that a call allocates nothing. Source rows are read once, from the
/// top, and only those that the result depends on. An instance is used by one thread at a time.
package final class Resizer {
    /// Size of the pictures that are read.
    package let source: PixelSize
    /// Size of the pictures that are made.
    package let target: PixelSize
    /// Layout of the pictures that are made: gray, RGB or RGBA.
    package let format: PixelFormat

    /// nil where the axis stays as it is.
    private let columnTaps, rowTaps: ResampleTaps?
    private let isVerticalFirst: Bool
    /// 64-bit words of a pixel; see `PixelWords`.
    private let wordCount: Int
    /// A source row before the pass along it, and a target row.
    private let longRow, targetRow: UnsafeMutablePointer<UInt64>
    /// The rows that go into the vertical pass for the current target row: row r lies in slot r % slotCount.
    private let slots: UnsafeMutablePointer<UInt64>
    private let slotCount: Int
    private let slotWords: Int
    /// The slots that make up the current target row, from the top.
    private let currentSlots: UnsafeMutablePointer<UnsafePointer<UInt64>>

    /// Prepares for resizing from one size to another; all sides are at least 1.
    ///
    /// - Parameter format: What to make: `.gray`, `.rgb` or `.rgba`.
    package init(from source: PixelSize, to target: PixelSize, format: PixelFormat = .rgb) {
        precondition(min(source.width, source.height, target.width, target.height) > 0, "sides are positive")
        precondition(format != .bgr && format != .bgra, "resizing makes gray, RGB or RGBA")
        self.source = source
        self.target = target
        self.format = format
        columnTaps = source.width == target.width ? nil : ResampleTaps(from: source.width, to: target.width)
        rowTaps = source.height == target.height ? nil : ResampleTaps(from: source.height, to: target.height)
        isVerticalFirst = Resizer.isVerticalFirst(from: source, to: target)
        wordCount = PixelWords.count(for: format)
        slotCount = rowTaps?.stride ?? 1
        slotWords = (isVerticalFirst ? source.width : target.width) * wordCount
        longRow = .allocate(capacity: source.width * wordCount)
        targetRow = .allocate(capacity: target.width * wordCount)
        slots = .allocate(capacity: slotCount * slotWords)
        currentSlots = .allocate(capacity: slotCount)
    }

    deinit {
        longRow.deallocate()
        targetRow.deallocate()
        slots.deallocate()
        currentSlots.deallocate()
    }

    /// Whether the vertical pass comes before the horizontal one, which shows in the rounding between the two.
    ///
    /// Pillow does so since version 13 where the height shrinks by more than twice what the width does
    /// (python-pillow/Pillow, pull request 9549); older versions pass horizontally first always.
    package static func isVerticalFirst(from source: PixelSize, to target: PixelSize) -> Bool {
        let (columns, rows) = (source.width - target.width, source.height - target.height)
        return rows > 0 && rows > 2 * columns
    }

    /// Resizes a picture of the size `source` and any layout.
    ///
    /// - Parameters:
    ///   - picture: What to resize.
    ///   - background: What shows through transparent pixels when the result has no alpha.
    ///   - destination: At least (target.height - 1) * rowStride + target.width * channels bytes.
    ///   - rowStride: Bytes from row to row in the destination; as many as the pixels need when nil.
    package func resize(
        _ picture: ImageView, over background: RGBColor = .white,
        into destination: UnsafeMutableBufferPointer<UInt8>, rowStride: Int? = nil
    ) {
        let rowBytes = target.width * format.channelCount
        let rowStride = rowStride ?? rowBytes
        precondition(picture.size == source, "the picture is \(picture.size), the resizer for \(source)")
        precondition(
            rowStride >= rowBytes && destination.count >= (target.height - 1) * rowStride + rowBytes,
            "the destination is too small")
        guard let first = destination.baseAddress else { return }

        var nextRow = 0
        for y in 0..<target.height {
            let start = rowTaps?.starts[y] ?? y
            let count = rowTaps?.counts[y] ?? 1
            for row in max(nextRow, start)..<max(nextRow, start + count) {
                if isVerticalFirst {
                    unpack(picture, row: row, over: background, into: slot(row))
                } else {
                    unpack(picture, row: row, over: background, into: columnTaps == nil ? slot(row) : longRow)
                    filterColumns(longRow, into: slot(row))
                }
            }
            nextRow = max(nextRow, start + count)

            var finished = UnsafePointer(slot(start))
            if isVerticalFirst {
                filterRows(y, start, count, into: columnTaps == nil ? targetRow : longRow)
                filterColumns(longRow, into: targetRow)
                finished = UnsafePointer(targetRow)
            } else if rowTaps != nil {
                filterRows(y, start, count, into: targetRow)
                finished = UnsafePointer(targetRow)
            }
            PixelWords.pack(finished, target.width, to: format, into: first + y * rowStride)
        }
    }

    private func slot(_ row: Int) -> UnsafeMutablePointer<UInt64> { slots + (row % slotCount) * slotWords }

    private func unpack(
        _ picture: ImageView, row: Int, over background: RGBColor, into words: UnsafeMutablePointer<UInt64>
    ) {
        PixelWords.unpack(
            picture.row(row), source.width, from: picture.format, to: format, over: background, into: words)
    }

    /// The horizontal pass of one row; nothing where the width stays.
    private func filterColumns(_ row: UnsafePointer<UInt64>, into result: UnsafeMutablePointer<UInt64>) {
        guard let columnTaps else { return }
        if wordCount == 1 {
            PixelWords.filterSingle(row, columnTaps, target.width, into: result)
        } else {
            PixelWords.filterPairs(row, columnTaps, target.width, into: result)
        }
    }

    /// The vertical pass from the slots of rows `start ..< start + count` to target row `y`.
    private func filterRows(_ y: Int, _ start: Int, _ count: Int, into result: UnsafeMutablePointer<UInt64>) {
        for tap in 0..<count { currentSlots[tap] = UnsafePointer(slot(start + tap)) }
        rowTaps?.withWeights(at: y) {
            PixelWords.combine(rows: currentSlots, weights: $0, count: count, slotWords, into: result)
        }
    }
}

extension Image {
    /// The picture at another size; Pillow's BILINEAR, byte for byte. See `Resizer`.
    public func resized(width: Int, height: Int) -> Image {
        let target = PixelSize(width: width, height: height)
        if target == size { return self }
        // The resizer knows red first only; which channel is which makes no difference to it.
        let plain: PixelFormat = format == .bgr ? .rgb : format == .bgra ? .rgba : format
        return withView { view in
            let resizer = Resizer(from: size, to: target, format: plain)
            return Image(target, format) { resizer.resize(view.relabeled(plain), into: $0) }
        }
    }
}
