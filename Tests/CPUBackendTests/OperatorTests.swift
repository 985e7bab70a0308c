import CPUBackend
import ModelGraph
import TestSupport
import Testing

/// Instruction sets beside thread counts: every way that the processor's path can take here.
let ways: [(InstructionSet, Int)] = InstructionSet.available.flatMap { set in [1, 2, 3].map { (set, $0) } }

// Serialized: pools of several threads on few processors would wait for each other.
@Suite("Operators on the processor", .serialized)
struct OperatorTests {
    static let prepared = OperatorCase.table.map { row in
        do {
            return try row.prepared()
        } catch {
            preconditionFailure("\(row): \(error)")
        }
    }

    @Test("agree with the float64 reference", arguments: ways)
    func reference(_ set: InstructionSet, threads: Int) throws {
        let backend = try CPUBackend(threads: threads, instructionSet: set)
        for prepared in Self.prepared {
            if let failure = check(backend, prepared) { Issue.record("\(failure)") }
        }
    }

    @Test("give the same bytes on one, two and three threads", arguments: InstructionSet.available)
    func threadCounts(_ set: InstructionSet) throws {
        let backends = try [1, 2, 3].map { try CPUBackend(threads: $0, instructionSet: set) }
        for prepared in Self.prepared {
            let results = try backends.map {
                try $0.compile(prepared.graph, batch: prepared.row.batch).runGuarded(prepared.inputs)
            }
            #expect(results[1].hasBytes(of: results[0]), "\(prepared.row), // two threads")
            #expect(results[2].hasBytes(of: results[0]), "\(prepared.row), // three threads")
        }
    }

    @Test("give a batch what its pictures get alone, byte for byte", arguments: InstructionSet.available)
    func batches(_ set: InstructionSet) throws {
        let backend = try CPUBackend(threads: 2, instructionSet: set)
        let batches = Self.prepared.filter { $0.row.batch > 1 }
        #expect(batches.count > 50)
        for prepared in batches {
            let together = try backend.compile(prepared.graph, batch: prepared.row.batch).runGuarded(prepared.inputs)
            let single = try backend.compile(prepared.graph, batch: 1)
            for picture in 0..<prepared.row.batch {
                let alone = try single.runGuarded(prepared.inputs.map { $0.picture(picture) })
                let part = together.map { $0.picture(picture) }
                #expect(alone.hasBytes(of: part), "\(prepared.row), // picture \(picture)")
            }
        }
    }

    @Test("give the same bytes in each of twenty runs", arguments: InstructionSet.available)
    func repeats(_ set: InstructionSet) throws {
        let backend = try CPUBackend(threads: 2, instructionSet: set)
        for prepared in Self.prepared where try prepared.row.macCount() < 100_000 {
            let compiled = try backend.compile(prepared.graph, batch: prepared.row.batch)
            let first = try compiled.runGuarded(prepared.inputs)
            for run in 2...20 {
                let again = try compiled.runGuarded(prepared.inputs)
                #expect(again.hasBytes(of: first), "\(prepared.row), // run \(run)")
            }
        }
    }
}
