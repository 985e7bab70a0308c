import Testing
import VulkanCompute

private struct Candidate: DeviceCandidate {
    var index = 0
    var name: String
    var kind: DeviceKind
    var memoryByteCount = 1 << 30
    var obstacle: String?
}

@Suite("Choice of a device")
struct DeviceRequestTests {
    private let devices = [
        Candidate(index: 0, name: "llvmpipe (LLVM 15)", kind: .software, memoryByteCount: 1 << 40),
        Candidate(index: 1, name: "Intel UHD", kind: .integrated),
        Candidate(index: 2, name: "GeForce RTX 3060", kind: .discrete, memoryByteCount: 12 << 30),
        Candidate(index: 3, name: "GeForce RTX 3090", kind: .discrete, memoryByteCount: 24 << 30),
        Candidate(index: 4, name: "Old card", kind: .discrete, memoryByteCount: 99 << 30, obstacle: "it is too old"),
    ]

    private func error(_ request: DeviceRequest, _ devices: [Candidate]) -> String? {
        do throws(VulkanError) {
            _ = try request.choose(among: devices)
            return nil
        } catch {
            return error.description
        }
    }

    @Test("The best is discrete before integrated before virtual, the larger first, and can be used")
    func best() throws {
        let best = try DeviceRequest.best.choose(among: devices)
        #expect(best.device.index == 3)
        #expect(best.reason == "the first choice of several discrete graphics processors")
        let second = try DeviceRequest.bestRealDevice.choose(among: Array(devices[..<2]))
        #expect(second.device.index == 1)
        #expect(second.reason == "the only integrated graphics processor")
        #expect(try DeviceRequest.best.choose(among: devices.reversed()).device.index == 3)
    }

    @Test("Software is taken for `best` where there is nothing else, and never for a real device")
    func software() throws {
        let alone = [devices[0]]
        #expect(try DeviceRequest.best.choose(among: alone).reason == "the only software device")
        #expect(error(.bestRealDevice, alone)?.contains("software") == true)
        #expect(error(.best, [])?.contains("no Vulkan device") == true)
        // It is no substitute for a card that is there and cannot be used.
        #expect(error(.bestRealDevice, [devices[0], devices[4]])?.contains("too old") == true)
    }

    @Test("An index is exact; one that is missing or of no use says what there is")
    func index() throws {
        #expect(try DeviceRequest.index(1).choose(among: devices).device.name == "Intel UHD")
        #expect(error(.index(7), devices)?.contains("3 GeForce RTX 3090") == true)
        #expect(error(.index(4), devices)?.contains("too old") == true)
    }

    @Test("A name may be a part in any case; a whole name wins; one that fits several says which")
    func name() throws {
        #expect(try DeviceRequest.name("rtx 3060").choose(among: devices).device.index == 2)
        #expect(try DeviceRequest.name("LLVM").choose(among: devices).device.index == 0)
        let ambiguous = error(.name("geforce"), devices)
        #expect(ambiguous?.contains("vulkan:2") == true && ambiguous?.contains("vulkan:3") == true)
        let ti = devices + [Candidate(index: 5, name: "GeForce RTX 3060 Ti", kind: .discrete)]
        #expect(try DeviceRequest.name("GeForce RTX 3060").choose(among: ti).device.index == 2)
        #expect(error(.name("Radeon"), devices)?.contains("Radeon") == true)
    }
}
