import SilhouetteCLI
import TestSupport
import Testing

@Suite("Facts of the machine")
struct MachineFactsTests {
    @Test("The processor's name and clock, as kernels write them")
    func cpuInfo() {
        let intel = """
            processor\t: 0
            model name\t: Intel(R) Core(TM)  i7 @ 3.0 GHz: fast
            cpu MHz\t\t: 1200.5
            processor\t: 1
            cpu MHz\t\t: 3400.25
            """
        #expect(CPUInfo.name(in: intel) == "Intel(R) Core(TM) i7 @ 3.0 GHz: fast")
        #expect(CPUInfo.clock(in: intel) == 3400.25)
        #expect(
            CPUInfo.name(in: "processor\t: 0\nHardware\t: BCM2835\nModel\t\t: Raspberry Pi 4\n") == "Raspberry Pi 4")
        #expect(CPUInfo.name(in: "processor\t: 0\n") == nil && CPUInfo.name(in: "") == nil)
        #expect(CPUInfo.clock(in: "cpu MHz : 0.000") == nil)
    }

    @Test("A processor without a clock, as one that is switched off, hides no other's")
    func clocks() throws {
        try withScratchFolder { folder in
            #expect(CPUClock.fastest("now", in: folder) == nil)
            for (index, text) in [(1, "1200000\n"), (2, "<unsupported>\n"), (9, "3400500\n"), (12, "800000\n")] {
                try makeFile("\(folder)/cpu\(index)/cpufreq/now", Array(text.utf8))
            }
            #expect(CPUClock.fastest("now", in: folder) == 3400.5)
        }
    }

    @Test("Time that was spent working, without waiting, and without guests twice")
    func load() {
        #expect(ProcessorLoad.busyTicks(in: "cpu  10 20 30 1000 500 1 2 3 4 5\ncpu0 9 9 9 9 9 9 9 9 9 9\n") == 66)
        #expect(ProcessorLoad.busyTicks(in: "cpu  10 20 30 1000 500 1 2\n") == 63)
        #expect(ProcessorLoad.busyTicks(in: "cpu  1 2\n") == nil && ProcessorLoad.busyTicks(in: "") == nil)
    }

    @Test(
        "A busy machine is said to be one",
        arguments: [(nil, false), (0.0, false), (0.5, false), (0.6, true), (2, true)])
    func warning(busy: Double?, warns: Bool) {
        var machine = BenchFixtures.machine
        machine.busyProcessorCount = busy
        #expect((machine.busyWarning != nil) == warns)
    }

    @Test("A graphics card is described")
    func graphics() {
        var machine = BenchFixtures.machine
        machine.graphics = .init(
            name: "Card", kind: "discrete", driver: "Driver 5", apiVersion: "1.3.230", memoryByteCount: 8 << 30)
        let rows = Dictionary(uniqueKeysWithValues: machine.rows.map { ($0.name, $0.value) })
        #expect(rows["graphics"] == "Card (discrete)" && rows["driver"] == "Driver 5")
        #expect(rows["Vulkan"] == "1.3.230, 8.0 GiB")
        #expect(rows["processor"] == "Processor <X> & Co, 2 processors, AVX2, 2400 MHz")
    }
}
