import Imaging

/// What of a subject's map is taken for a mistake of the network, and not for the subject's own shape.
///
/// The measure is the largest piece of the subject. All areas are counted in places of the map, on the side of the subject or of the
/// background where they lie: at a confidence of a half.
package enum OutlineRule {
    /// A piece that is less of the largest one than this is a speck: it goes.
    package static let speckShare: Float = 0.02
    /// A hole that is less than this is closed, whatever is seen in it.
    package static let beadShare: Float = 0.003
    /// A hole that is less than this is closed unless at least half of it is surely background: the room under an arm stays, a chair
    /// that is seen through somebody goes.
    package static let holeShare: Float = 0.05
    /// The confidence up to which background is sure.
    package static let sureBackground: Float = 0.1
    /// Pieces hang together where confidences are above this: nothing that is fainter shows.
    fileprivate static let visible: Float = 0.2
    /// Holes hang together where confidences are below this: all that is surer is opaque.
    fileprivate static let whole: Float = 0.8
}

extension SubjectMap {
    /// Drops the specks beside the subject and closes the holes in it, as `OutlineRule` says. A hole is enclosed by the subject: what
    /// reaches the map's border is none.
    ///
    /// - Parameters:
    ///   - categories: The likeliest class of each pixel of the picture, of all classes, 0 for background.
    ///   - size: Of the categories, which are laid over the whole picture.
    package mutating func mendOutline(categories: [UInt8], of size: PixelSize) {
        precondition(categories.count == size.pixelCount, "categories of another size")
        let pieces = regions {
            $0 > OutlineRule.visible
        } counting: {
            $0 >= 0.5
        }
        guard let largest = pieces.map(\.area).max(), largest > 0 else { return }
        let unit = Float(largest)
        for piece in pieces where Float(piece.area) < OutlineRule.speckShare * unit {
            for place in piece.places { confidences[place] = 0 }
        }
        for hole in regions(where: { $0 < OutlineRule.whole }, counting: { $0 < 0.5 }) where !hole.touchesBorder {
            let area = Float(hole.area)
            guard area < OutlineRule.holeShare * unit else { continue }
            if area >= OutlineRule.beadShare * unit {
                let sure = hole.places.count {
                    confidences[$0] <= OutlineRule.sureBackground
                        && category(at: $0, categories, size) == 0
                }
                if 2 * sure >= hole.area { continue }
            }
            for place in hole.places { confidences[place] = 1 }
        }
    }

    /// Places that hang together, above, below or beside one another.
    private struct Region {
        var places: [Int] = []
        /// How many of them count.
        var area = 0
        var touchesBorder = false
    }

    private func regions(where belongs: (Float) -> Bool, counting counts: (Float) -> Bool) -> [Region] {
        let (width, height) = (size.width, size.height)
        var isLeft = confidences.map(belongs)
        var regions: [Region] = []
        for start in isLeft.indices where isLeft[start] {
            var region = Region()
            isLeft[start] = false
            region.places.append(start)
            var next = 0
            while next < region.places.count {
                let place = region.places[next]
                next += 1
                if counts(confidences[place]) { region.area += 1 }
                let (x, y) = (place % width, place / width)
                func visit(_ other: Int) {
                    guard isLeft[other] else { return }
                    isLeft[other] = false
                    region.places.append(other)
                }
                if x > 0 { visit(place - 1) }
                if x < width - 1 { visit(place + 1) }
                if y > 0 { visit(place - width) }
                if y < height - 1 { visit(place + width) }
                if x == 0 || y == 0 || x == width - 1 || y == height - 1 { region.touchesBorder = true }
            }
            regions.append(region)
        }
        return regions
    }

    /// The category at the centre of a place. 0 where the network has not looked.
    private func category(at place: Int, _ categories: [UInt8], _ size: PixelSize) -> UInt8 {
        func index(_ place: Int, _ length: KeyPath<PixelSize, Int>, _ start: KeyPath<PixelRect, Int>) -> Int? {
            let places = Double(self.size[keyPath: length]) / Double(geometry.network[keyPath: length])
            let (source, target) = (geometry.source, geometry.target)
            let scale = Double(source.size[keyPath: length]) / Double(target.size[keyPath: length])
            let inNetwork = (Double(place) + 0.5) / places - Double(target[keyPath: start])
            let inPicture = inNetwork * scale + Double(source[keyPath: start])
            let pixels = size[keyPath: length]
            let found = Int((inPicture * Double(pixels) / Double(geometry.picture[keyPath: length])).rounded(.down))
            return (0..<pixels).contains(found) ? found : nil
        }
        guard let x = index(place % self.size.width, \.width, \.x),
            let y = index(place / self.size.width, \.height, \.y)
        else { return 0 }
        return categories[y * size.width + x]
    }
}
