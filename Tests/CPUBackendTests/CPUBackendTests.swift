import CPUBackend
import ModelGraph
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

    /// Small files whose packed weights, or what is gathered for them, would fill a computer.
    @Test("refuses networks that would grow past all memory when packed")
    func packedSize() throws {
        let backend = try CPUBackend(threads: 8)
        func weights(_ shape: [Int]) -> Weights {
            Weights(shape: shape, values: [Float](repeating: 0, count: shape.reduce(1, *)))
        }
        var grouped = Graph(name: "grouped")
        let wide = grouped.addInput("input", Shape(height: 1, width: 1, channels: 65_536))
        grouped.outputs = [
            try grouped.append(
                "layer", .convolution(Convolution(weights: weights([65_536, 1, 1, 1]), groups: 65_536)), [wide])
        ]
        var transposed = Graph(name: "transposed")
        let narrow = transposed.addInput("input", Shape(height: 1, width: 1, channels: 1))
        transposed.outputs = [
            try transposed.append(
                "layer", .transposeConvolution(Convolution(weights: weights([1, 1, 2048, 2048]))), [narrow])
        ]
        for graph in [grouped, transposed] {
            #expect(throws: CPUBackendError.self, "\(graph.name)") { try backend.compile(graph, batch: 1) }
        }
    }
}
