import Imaging
import Glibc

/// Steadies the confidences of a video's frames.
///
/// The frame before is moved to where its parts are now, found by comparing blocks of the two pictures; there it counts as far as
/// the two pictures agree. So edges of what is still do not flicker, and what was uncovered or has changed has no trail.
package struct MotionSmoother: Sendable {
    /// Longer side of the pictures that are compared.
    private static let side = 160
    /// Columns and rows of a block, and how far it may have moved from one frame to the next.
    private static let block = 8
    private static let reach = 7
    /// Levels of brightness by which pictures may differ by noise alone.
    private static let noise: Float = 6
    /// A mean difference of this many levels is another scene.
    private static let otherScene: Float = 40

    private var brightness: Image?
    private var confidences: [Float] = []
    private var size = PixelSize(width: 0, height: 0)

    /// Knows no frame yet.
    package init() {}

    /// Mixes what is known from the frames before into a frame's confidences.
    ///
    /// - Parameter strength: How much of the frames before, 0 to 1, where the pictures agree.
    package mutating func smooth(_ guide: inout EdgeGuide, strength: Float) {
        let scale = min(1, Double(Self.side) / Double(max(guide.picture.width, guide.picture.height)))
        let small = guide.picture.resized(
            width: max(1, Int((Double(guide.picture.width) * scale).rounded())),
            height: max(1, Int((Double(guide.picture.height) * scale).rounded()))
        ).converted(to: .gray)
        defer {
            brightness = small
            confidences = guide.confidences
            size = guide.picture.size
        }
        guard let before = brightness, before.size == small.size, size == guide.picture.size else { return }
        let motion = MotionField(from: before, to: small, block: Self.block, reach: Self.reach)
        guard motion.meanDifference < Self.otherScene else { return }

        let field = motion.field(noise: Self.noise)
        let sampler = GridSampler(field, over: size)
        let steps = Float(size.width) / Float(small.width)
        for y in 0..<size.height {
            sampler.move(toRow: y)
            for x in 0..<size.width {
                let value = sampler.value(at: x)
                let index = y * size.width + x
                let earlier = confidence(x: Float(x) + value.x * steps, y: Float(y) + value.y * steps)
                let share = strength * value.z
                guide.confidences[index] += (earlier - guide.confidences[index]) * share
            }
        }
    }

    /// The earlier confidence at a place between the places.
    private func confidence(x: Float, y: Float) -> Float {
        let column = min(max(x, 0), Float(size.width - 1))
        let row = min(max(y, 0), Float(size.height - 1))
        let (left, top) = (Int(column), Int(row))
        let (right, bottom) = (min(left + 1, size.width - 1), min(top + 1, size.height - 1))
        let (across, down) = (column - Float(left), row - Float(top))
        let upper = confidences[top * size.width + left] * (1 - across) + confidences[top * size.width + right] * across
        let lower =
            confidences[bottom * size.width + left] * (1 - across) + confidences[bottom * size.width + right] * across
        return upper * (1 - down) + lower * down
    }
}

/// Where the parts of a picture were in the one before.
private struct MotionField {
    private let from, to: Image
    private let block: Int
    private let blocks: PixelSize
    /// For each block, columns and rows to where it was, and nothing else.
    private var motions: [SIMD4<Float>] = []

    init(from: Image, to: Image, block: Int, reach: Int) {
        self.from = from
        self.to = to
        self.block = block
        blocks = PixelSize(
            width: (to.width + block - 1) / block, height: (to.height + block - 1) / block)
        for row in 0..<blocks.height {
            for column in 0..<blocks.width {
                let (x, y) = motion(of: column * block, row * block, reach)
                motions.append(SIMD4(Float(x), Float(y), 0, 0))
            }
        }
    }

    /// Where the block at a place was: the least sum of differences, and of equal ones the nearest.
    private func motion(of left: Int, _ top: Int, _ reach: Int) -> (Int, Int) {
        let (width, height) = (to.width, to.height)
        let columns = min(block, width - left)
        let rows = min(block, height - top)
        return from.bytes.withUnsafeBufferPointer { old in
            to.bytes.withUnsafeBufferPointer { new in
                func cost(_ x: Int, _ y: Int, below limit: Int) -> Int {
                    var sum = 0
                    for row in 0..<rows where sum < limit {
                        let here = (top + row) * width + left
                        let there = (top + row + y) * width + left + x
                        for column in 0..<columns {
                            sum += abs(Int(new[here + column]) - Int(old[there + column]))
                        }
                    }
                    return sum
                }
                // Standing still needs a reason to be given up: noise alone is none.
                var best = (x: 0, y: 0, cost: cost(0, 0, below: .max) - columns * rows * 2)
                guard best.cost > 0 else { return (0, 0) }
                for y in max(-reach, -top)...max(max(-reach, -top), min(reach, height - rows - top)) {
                    for x in max(-reach, -left)...max(max(-reach, -left), min(reach, width - columns - left)) {
                        let cost = cost(x, y, below: best.cost)
                        if cost < best.cost { best = (x, y, cost) }
                    }
                }
                return (best.x, best.y)
            }
        }
    }

    /// How much the two pictures differ where they are, in levels.
    var meanDifference: Float {
        var sum = 0
        for index in to.bytes.indices { sum += abs(Int(to.bytes[index]) - Int(from.bytes[index])) }
        return Float(sum) / Float(to.size.pixelCount)
    }

    /// For each pixel, where it was (columns, rows) and how well the pictures agree there, 0 to 1.
    func field(noise: Float) -> Grid<SIMD4<Float>> {
        let size = to.size
        let smooth = GridSampler(
            Grid(blocks, motions), over: PixelSize(width: blocks.width * block, height: blocks.height * block))
        var field = Grid(size) { (result: UnsafeMutablePointer<SIMD4<Float>>) in
            for y in 0..<size.height {
                smooth.move(toRow: y)
                for x in 0..<size.width {
                    var value = smooth.value(at: x)
                    let oldX = min(max(x + Int(value.x.rounded()), 0), size.width - 1)
                    let oldY = min(max(y + Int(value.y.rounded()), 0), size.height - 1)
                    let difference = Int(to.bytes[y * size.width + x]) - Int(from.bytes[oldY * size.width + oldX])
                    value.z = Float(abs(difference))
                    result[y * size.width + x] = value
                }
            }
        }
        // Single pixels agree by chance.
        let differences = field.boxMean(radius: 1)
        for index in field.values.indices {
            let levels = differences.values[index].z / noise
            field.values[index].z = exp(-levels * levels)
        }
        return field
    }
}
