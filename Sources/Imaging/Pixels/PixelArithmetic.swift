/// `value / 255` rounded half up, exact for 0 ... 255 * 255.
///
/// Jim Blinn, "Three Wrongs Make a Right", IEEE Computer Graphics and Applications, November 1995.
@inlinable @inline(__always)
package func dividedBy255(_ value: UInt32) -> UInt32 {
    let biased = value &+ 128
    return (biased &+ (biased >> 8)) >> 8
}

/// `top` over `bottom` at an opacity of `alpha / 255`, rounded half up.
@inlinable @inline(__always)
package func blend(_ top: UInt8, over bottom: UInt8, alpha: UInt8) -> UInt8 {
    let a = UInt32(alpha)
    return UInt8(truncatingIfNeeded: dividedBy255(UInt32(top) &* a &+ UInt32(bottom) &* (255 &- a)))
}

/// Brightness by ITU-R BT.601: 0.299 R + 0.587 G + 0.114 B in 16-bit fixed point, rounded half up, as Pillow's `L`.
@inlinable @inline(__always)
package func luminance(_ red: UInt8, _ green: UInt8, _ blue: UInt8) -> UInt8 {
    UInt8(
        truncatingIfNeeded: (UInt32(red) &* 19595 &+ UInt32(green) &* 38470 &+ UInt32(blue) &* 7471 &+ 0x8000) >> 16)
}

/// `fraction` of 255, rounded half up and clamped; 0 for a NaN.
@inlinable @inline(__always)
package func byte(fraction: Float) -> UInt8 {
    // `max` first with the constant on the left: it gives the constant when the value is not a number.
    fraction > 0 ? UInt8(truncatingIfNeeded: Int32(min(fraction, 1) * 255 + 0.5)) : 0
}
