import CPUKernels

/// The vector instructions that the kernels of the CPU backend are compiled for.
package enum InstructionSet: String, Sendable, CaseIterable, CustomStringConvertible {
    /// Plain arithmetic on any processor.
    case portable
    /// x86-64 with AVX2 and fused multiply-add.
    case avx2
    /// x86-64 with AVX-512 F, VL, BW and DQ.
    case avx512
    /// 64-bit Arm.
    case neon

    /// The sets that this build and this processor have.
    package static var available: [InstructionSet] { allCases.filter { ck_table($0.rawValue) != nil } }

    /// The fastest of the available sets.
    package static var best: InstructionSet {
        [.avx512, .avx2, .neon].first { ck_table($0.rawValue) != nil } ?? .portable
    }

    /// As people write it: `AVX-512`.
    package var description: String {
        switch self {
        case .portable: "portable"
        case .avx2: "AVX2"
        case .avx512: "AVX-512"
        case .neon: "NEON"
        }
    }
}

// Numbers and functions without state.
extension CKTable: @retroactive @unchecked Sendable {}
