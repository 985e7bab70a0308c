import Imaging

/// The classes that are the subject.
package struct SubjectClasses: Sendable {
    /// For each class itself where it belongs to the subject, else 0.
    private let kept: [UInt8]

    /// - Parameter classes: Indices below 256; others are no classes of a mask.
    package init(_ classes: [Int]) {
        var kept = [UInt8](repeating: 0, count: 256)
        for index in classes where kept.indices.contains(index) { kept[index] = UInt8(index) }
        self.kept = kept
    }

    /// A category mask with class 0 in place of the others.
    package func keeping(_ categories: [UInt8]) -> [UInt8] { categories.map { kept[Int($0)] } }

    /// The class of each pixel inside an edge that was drawn anew: of those of the subject the category mask's where that is one,
    /// else the likeliest; 0 outside.
    ///
    /// - Parameter leastOpacity: What counts as inside.
    package func categories(_ mask: [UInt8], _ matte: Matte, _ map: SubjectMap, leastOpacity: UInt8) -> [UInt8] {
        let all = categories(mask, matte.size, map)
        return mask.indices.map { matte.opacities[$0] >= leastOpacity ? all[$0] : 0 }
    }

    /// The class of each pixel if all were inside.
    package func categories(_ mask: [UInt8], _ size: PixelSize, _ map: SubjectMap) -> [UInt8] {
        let likeliest = map.sampledClasses(at: size).values
        return mask.indices.map { index in
            let own = kept[Int(mask[index])]
            return own != 0 ? own : kept[Int(likeliest[index])]
        }
    }
}
