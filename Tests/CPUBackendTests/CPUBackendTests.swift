import CPUBackend
import Testing

@Suite("CPU backend")
struct CPUBackendTests {
    @Test("has the portable instructions everywhere, and its best among the available ones")
    func instructionSets() throws {
        #expect(InstructionSet.available.contains(.portable))
        #expect(InstructionSet.available.contains(.best))
        #expect(try CPUBackend().instructionSet == .best)
    }

    @Test("refuses instructions that the processor does not have, and says which it has")
    func missingInstructions() {
        for set in InstructionSet.allCases where !InstructionSet.available.contains(set) {
            do {
                _ = try CPUBackend(instructionSet: set)
                Issue.record("made a backend on \(set)")
            } catch {
                #expect("\(error)".hasPrefix("this processor has no \(set) instructions; it has portable"))
            }
        }
    }

    @Test("refuses numbers of threads that cannot be", arguments: [Int.min, -1, 0, 257, Int.max])
    func threadCounts(_ count: Int) {
        do {
            _ = try CPUBackend(threads: count)
            Issue.record("made a backend of \(count) threads")
        } catch {
            #expect("\(error)" == "\(count) threads cannot be used; choose 1 to 256")
        }
    }

    @Test("names itself by what it works with")
    func deviceName() throws {
        #expect(try CPUBackend(threads: 1, instructionSet: .portable).deviceName == "CPU (portable, 1 thread)")
        #expect(try CPUBackend(threads: 3, instructionSet: .portable).deviceName == "CPU (portable, 3 threads)")
    }
}
