import ModelGraph

// Table rows are read and pasted by people: shapes, extents and paddings are written there as in the model file.

extension Shape: ExpressibleByArrayLiteral {
    /// [height, width, channels]
    package init(arrayLiteral elements: Int...) {
        precondition(elements.count == 3, "a shape is [height, width, channels]")
        self.init(height: elements[0], width: elements[1], channels: elements[2])
    }
}

extension Extent: ExpressibleByIntegerLiteral, ExpressibleByArrayLiteral {
    /// A square.
    package init(integerLiteral value: Int) { self.init(value) }

    /// [vertical, horizontal]
    package init(arrayLiteral elements: Int...) {
        precondition(elements.count == 2, "an extent is [vertical, horizontal]")
        self.init(height: elements[0], width: elements[1])
    }

    /// The literal that makes this extent.
    var literal: String { height == width ? "\(height)" : "[\(height), \(width)]" }
}

extension Padding: ExpressibleByIntegerLiteral, ExpressibleByArrayLiteral {
    /// The same on every side.
    package init(integerLiteral value: Int) { self.init(value) }

    /// [top, left, bottom, right]
    package init(arrayLiteral elements: Int...) {
        precondition(elements.count == 4, "a padding is [top, left, bottom, right]")
        self.init(top: elements[0], left: elements[1], bottom: elements[2], right: elements[3])
    }

    /// The literal that makes this padding.
    var literal: String {
        self == Padding(top) ? "\(top)" : "[\(top), \(left), \(bottom), \(right)]"
    }
}
