extension Image {
    /// The picture turned upright, for one that is stored in `orientation`; without row padding.
    public func oriented(_ orientation: Orientation) -> Image {
        if orientation == .up { return self }
        return withView { source in
            Image(size.oriented(orientation), format) { buffer in
                guard let destination = buffer.baseAddress else { return }
                switch format.channelCount {
                case 1: turn(source, orientation, into: destination) { $1[0] = $0[0] }
                case 3:
                    turn(source, orientation, into: destination) {
                        $1[0] = $0[0]; $1[1] = $0[1]; $1[2] = $0[2]
                    }
                default:
                    turn(source, orientation, into: destination) {
                        UnsafeMutableRawPointer($1).storeBytes(
                            of: UnsafeRawPointer($0).loadUnaligned(as: UInt32.self), as: UInt32.self)
                    }
                }
            }
        }
    }
}

/// Copies every pixel to its upright place, tile by tile, so that rows read across columns stay in the cache.
@inline(__always)
private func turn(
    _ source: ImageView, _ orientation: Orientation, into destination: UnsafeMutablePointer<UInt8>,
    copy: (UnsafePointer<UInt8>, UnsafeMutablePointer<UInt8>) -> Void
) {
    let channels = source.format.channelCount
    let upright = source.size.oriented(orientation)
    // One pixel to the right and one row down in the upright picture, as steps of bytes in the stored one.
    let column = orientation.flipsColumns ? -channels : channels
    let row = orientation.flipsRows ? -source.rowStride : source.rowStride
    let (right, down) = orientation.swapsSides ? (row, column) : (column, row)
    let first =
        source.base + (orientation.flipsRows ? (source.size.height - 1) * source.rowStride : 0)
        + (orientation.flipsColumns ? (source.size.width - 1) * channels : 0)

    let side = 32
    for top in stride(from: 0, to: upright.height, by: side) {
        for left in stride(from: 0, to: upright.width, by: side) {
            let columns = min(side, upright.width - left)
            for y in top..<min(top + side, upright.height) {
                var from = first + (y * down + left * right)
                var to = destination + (y * upright.width + left) * channels
                for _ in 0..<columns {
                    copy(from, to)
                    from += right
                    to += channels
                }
            }
        }
    }
}
