import CPUBackend
import Foundation
import Testing

@Suite("How far a subject is ahead")
struct SubjectMarginTests {
    private func margin(
        _ values: [Float], _ isSubject: [Bool], isSingle: Bool = false, isLogits: Bool = true
    ) -> SubjectMargin {
        values.withUnsafeBufferPointer {
            SubjectMargin($0.baseAddress!, isSubject: isSubject, isSingle: isSingle, isLogits: isLogits)
        }
    }

    @Test("The likeliest class of the subject against the likeliest other one")
    func logits() {
        let found = margin([1, 3, 2.5, -4], [false, true, false, true])
        #expect(found.value == 0.5 && found.likeliest == 1)
        let behind = margin([1, 3, 2.5, -4], [false, false, true, true])
        #expect(behind.value == -0.5 && behind.likeliest == 2)
    }

    @Test("Probabilities are compared as their logits are", arguments: [Float(0.1), 0.5, 0.9])
    func probabilities(_ share: Float) {
        let expected = log(share / (1 - share))
        let several = margin([1 - share, share], [false, true], isLogits: false)
        #expect(abs(several.value - expected) < 1e-5 && several.likeliest == 1)
    }

    @Test("A single channel is the second of two classes", arguments: [Float(0.1), 0.5, 0.9])
    func single(_ value: Float) {
        let logit = margin([value], [false, true], isSingle: true)
        #expect(logit.value == value && logit.likeliest == 1)
        let expected = log(value / (1 - value))
        let probability = margin([value], [false, true], isSingle: true, isLogits: false)
        #expect(abs(probability.value - expected) < 1e-5 && probability.likeliest == 1)
        let background = margin([value], [true, false], isSingle: true, isLogits: false)
        #expect(abs(background.value + expected) < 1e-5 && background.likeliest == 0)
    }

    @Test("Without others it is infinite, without a class of its own negative infinite")
    func alone() {
        #expect(margin([1, 2], [true, true]).value == .infinity)
        #expect(margin([1, 2], [false, false]).value == -.infinity)
        #expect(margin([0, 1], [false, true], isLogits: false).value.isFinite)
    }
}
