import ModelGraph
import TestSupport
import Testing

@Suite("Precision")
struct PrecisionTests {
    @Test("a binary16 number rounds to itself, and what lies between two to the nearer, ties to even")
    func half() {
        for bits in UInt16(0)..<0x7bff {
            let low = float(fromHalf: bits)
            let high = float(fromHalf: bits + 1)
            let middle = (low + high) / 2
            #expect(roundedToHalf(low) == low)
            #expect(roundedToHalf(middle.nextDown) == low)
            #expect(roundedToHalf(middle.nextUp) == high)
            #expect(roundedToHalf(middle) == (bits % 2 == 0 ? low : high))
            #expect(roundedToHalf(-middle.nextUp) == -high)
        }
        #expect(roundedToHalf(65_504) == 65_504)
        #expect(roundedToHalf(65_519) == 65_504)
        #expect(roundedToHalf(65_520) == .infinity)
        #expect(roundedToHalf(-1e9) == -.infinity)
        #expect(roundedToHalf(.nan).isNaN)
    }

    @Test("accepts what is within the tolerance of the reference and nothing else")
    func tolerance() {
        #expect(Precision.float32.accepts(1e-4, reference: 0.00001))
        #expect(!Precision.float32.accepts(1.2e-4, reference: 0))
        #expect(Precision.float32.accepts(100.009, reference: 100))
        #expect(!Precision.float32.accepts(100.02, reference: 100))
        #expect(Precision.float16.accepts(100.19, reference: 100))
        #expect(!Precision.float16.accepts(0.0021, reference: 0))
        #expect(!Precision.float32.accepts(.nan, reference: 0))
        #expect(!Precision.float32.accepts(.infinity, reference: 0))
    }
}
