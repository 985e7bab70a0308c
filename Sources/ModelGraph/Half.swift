// IEEE 754 binary16 in software: `Float16` is not available on every processor that Swift compiles for, and a table or an
// intrinsic gains nothing.

/// The value of an IEEE 754 binary16 number given by its bits.
package func float(fromHalf bits: UInt16) -> Float {
    let sign = UInt32(bits & 0x8000) << 16
    let exponent = UInt32(bits >> 10) & 0x1f
    let fraction = UInt32(bits & 0x3ff)
    switch exponent {
    case 0:  // zero and subnormal numbers: fraction * 2^-24, exact in float32
        let magnitude = Float(fraction) * 0x1p-24
        return sign == 0 ? magnitude : -magnitude
    case 31: return Float(bitPattern: sign | 0x7f80_0000 | fraction << 13)
    default: return Float(bitPattern: sign | (exponent + 112) << 23 | fraction << 13)
    }
}

/// The bits of the nearest IEEE 754 binary16 number, ties to even; past its range, infinity.
package func halfBits(of value: Float) -> UInt16 {
    let sign = UInt16(truncatingIfNeeded: value.bitPattern >> 16) & 0x8000
    let magnitude = abs(value)
    if magnitude.isNaN { return sign | 0x7e00 }
    if magnitude >= 65_520 { return sign | 0x7c00 }
    // Adding and subtracting a power of two rounds to its unit in the last place: 2^-24 for subnormal numbers of binary16.
    let exponent = max(magnitude == 0 ? -14 : Int(magnitude.exponent), -14)
    let shift = Float(sign: .plus, exponent: exponent + 13, significand: 1.5)
    let rounded = (magnitude + shift) - shift
    if rounded < 0x1p-14 { return sign | UInt16(rounded * 0x1p24) }
    return sign | UInt16(truncatingIfNeeded: (rounded.bitPattern - (112 << 23)) >> 13)
}
