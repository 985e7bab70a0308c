import Base
import TestSupport
import Testing

@Suite("Memory that control groups leave")
struct ControlGroupTests {
    private func bounds(_ membership: String, _ files: [String: String]) throws -> [String] {
        try withScratchFolder { folder in
            try makeFile("\(folder)/membership", Array(membership.utf8))
            for (name, text) in files { try makeFile("\(folder)/groups/\(name)", Array(text.utf8)) }
            return ControlGroup.bounds(membership: "\(folder)/membership", root: "\(folder)/groups")
                .map { "\($0.left) \($0.name)" }
        }
    }

    @Test("A group's limit counts, and that of every group above it; files can be let go of")
    func unified() throws {
        let found = try bounds(
            "0::/pod/box\n",
            [
                "pod/box/memory.max": "1000000\n", "pod/box/memory.current": "600000\n",
                "pod/box/memory.stat": "anon 1\ninactive_file 100000\nactive_file 200000\nslab 5\n",
                "pod/memory.max": "900000\n", "pod/memory.current": "950000\n",
                "memory.max": "max\n", "memory.current": "1\n",
            ])
        #expect(found == ["700000 memory.max of its control group", "0 memory.max of its control group"])
    }

    @Test("So does one of the older kind")
    func older() throws {
        let found = try bounds(
            "5:cpu,memory:/box\n3:pids:/box\n",
            [
                "memory/box/memory.limit_in_bytes": "5000\n", "memory/box/memory.usage_in_bytes": "1000\n",
                "memory/memory.limit_in_bytes": "9223372036854771712\n", "memory/memory.usage_in_bytes": "1000\n",
            ])
        #expect(found == ["4000 memory.limit_in_bytes of its control group"])
    }

    @Test("No file, no limit, or nonsense: no bound", arguments: ["", "0::/\n", "nonsense", "0::/box\n"])
    func none(_ membership: String) throws {
        #expect(
            try bounds(membership, ["memory.max": "max\n", "box/memory.max": "x\n", "box/memory.current": "1"]).isEmpty)
    }
}
