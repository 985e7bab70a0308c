/// How one direction of a picture is covered by overlapping tiles of one length, and how much each counts where.
///
///     tile 0  [===========]
///     tile 1          [===========]
///     tile 2                  [===========]
///     picture |---------------------------|
///
/// Neighbours share at least a quarter of their length; there their weights cross over smoothly, because a network knows least
/// about what lies at the edge of its input. At every place the weights add up to 1.
package struct TileAxis: Hashable, Sendable {
    /// Rows or columns of the picture.
    package let length: Int
    /// Rows or columns of each tile.
    package let tile: Int
    /// Where each tile starts, in order; the first at 0, the last so that it ends with the picture.
    package let starts: [Int]

    /// Places as few tiles as cover the picture, evenly. What is at most a quarter longer than a tile is one tile.
    ///
    /// - Parameters:
    ///   - length: Rows or columns of the picture, at least 1.
    ///   - wanted: Those of a tile, at least 1.
    package init(length: Int, tile wanted: Int) {
        precondition(length > 0 && wanted > 0, "lengths are positive")
        self.length = length
        let count = TileAxis.count(length: length, tile: wanted)
        tile = count == 1 ? length : wanted
        let rest = length - tile
        starts = (0..<count).map { count == 1 ? 0 : ($0 * rest + (count - 1) / 2) / (count - 1) }
    }

    /// The number of tiles that `init(length:tile:)` places.
    package static func count(length: Int, tile: Int) -> Int {
        guard tile < length, length - tile > tile / 4 else { return 1 }
        let step = max(1, tile - (tile + 3) / 4)
        return 1 + (length - tile + step - 1) / step
    }

    /// What each tile gives to a mask, by half-pixel bilinear.
    ///
    /// - Parameters:
    ///   - target: Rows or columns of the mask, at least 1: the picture's, or any other number.
    ///   - output: Rows or columns of the scores of a tile.
    package func spans(target: Int, output: Int) -> [TileSpan] {
        let scale = Double(length) / Double(target)
        /// The middle of a row or column of the mask, behind the first edge of a tile, in pixels of the picture.
        func offset(_ index: Int, _ start: Int) -> Double { (Double(index) + 0.5) * scale - Double(start) }
        let ranges = starts.map { start in
            let first = (0...target).first { offset($0, start) >= 0 } ?? target
            let end = (first...target).first { offset($0, start) >= Double(tile) } ?? target
            return first..<min(end, target)
        }
        var sums = [Double](repeating: 0, count: target)
        let raw = zip(starts.indices, ranges).map { tile, range in
            range.map { ramp(tile, at: offset($0, starts[tile])) }
        }
        for (range, values) in zip(ranges, raw) { for (index, value) in zip(range, values) { sums[index] += value } }
        return starts.indices.map { tile in
            TileSpan(
                range: ranges[tile],
                taps: ranges[tile].map {
                    let position = offset($0, starts[tile]) * Double(output) / Double(self.tile) - 0.5
                    return ResizeTap(at: position, length: output)
                }, weights: zip(ranges[tile], raw[tile]).map { Float($1 / sums[$0]) })
        }
    }

    /// Rises over what a tile shares with the one before it, and falls over what it shares with the next.
    ///
    /// - Parameter offset: Behind the tile's first edge, in pixels of the picture.
    private func ramp(_ index: Int, at offset: Double) -> Double {
        var value = 1.0
        if index > 0 {
            let shared = Double(starts[index - 1] + tile - starts[index])
            if offset < shared { value *= smoothStep(offset / shared) }
        }
        if index + 1 < starts.count {
            let (left, shared) = (Double(tile) - offset, Double(starts[index] + tile - starts[index + 1]))
            if left < shared { value *= smoothStep(left / shared) }
        }
        return value
    }
}

/// What a tile gives to a mask.
package struct TileSpan: Hashable, Sendable {
    /// The mask's rows or columns whose middles the tile covers.
    package let range: Range<Int>
    /// What each of them is made of in the scores of the tile.
    package let taps: [ResizeTap]
    /// How much the tile counts in each of them.
    package let weights: [Float]
}

/// 3 t^2 - 2 t^3: from 0 to 1, level at both ends.
private func smoothStep(_ t: Double) -> Double { t * t * (3 - 2 * t) }
