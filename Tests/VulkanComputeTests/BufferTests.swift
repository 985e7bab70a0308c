import DeviceSupport
import Testing
import VulkanCompute

@Suite("Buffers", .serialized, .needsVulkan)
struct BufferTests {
    @Test("The host sees what it uploads and reads back, and not the device's own memory")
    func placement() throws {
        let device = try TestDevice.open()
        #expect(try Buffer(device, byteCount: 100, .device).contents == nil)
        for placement in [Buffer.Placement.upload, .readback] {
            let buffer = try Buffer.of([7, 8, 9], device, placement)
            #expect(buffer.words == [7, 8, 9])
            #expect(buffer.byteCount == 12)
        }
    }

    @Test("A buffer of more memory than the device gives at a time is refused, not tried")
    func moreThanAnAllocation() throws {
        let device = try TestDevice.open()
        let most = device.physical.limits.allocationByteCount
        #expect(most >= 1 << 30)
        #expect {
            try Buffer(device, byteCount: most + 1, .device)
        } throws: { error in
            "\(error)".contains("a buffer of \(most + 1) bytes, of at most \(most)")
        }
    }

    @Test("A range knows where it lies")
    func ranges() throws {
        let buffer = try Buffer.of([1, 2, 3, 4], try TestDevice.open())
        let range = buffer.range(8, 4)
        #expect(range.contents?.load(as: UInt32.self) == 3)
        #expect(buffer.all.offset == 0 && buffer.all.byteCount == 16)
    }

    @Test("Copies go through the device's memory, part by part")
    func copies() throws {
        let device = try TestDevice.open()
        let source = try Buffer.of(Array(0..<16), device)
        let middle = try Buffer(device, byteCount: 64, .device)
        let target = try Buffer(device, byteCount: 64, .readback)
        let recorded = try device.run([
            .copy(from: source.range(0, 32), to: middle.range(32, 32)),
            .copy(from: source.range(32, 32), to: middle.range(0, 32)),
            .copy(from: middle.all, to: target.all),
        ])
        #expect(target.words == Array(8..<16) + Array(0..<8))
        #expect(recorded.dispatchCount == 0)
        // The first two write different halves; the third reads both.
        #expect(recorded.barrierCount == 1)
    }

    @Test("More memory than there is: an error, and the device goes on")
    func tooLarge() throws {
        let device = try TestDevice.open()
        #expect(throws: VulkanError.self) { try Buffer(device, byteCount: 1 << 46, .device) }
        let buffer = try Buffer.of([5], device)
        #expect(buffer.words == [5])
    }
}
