import Effects
import VulkanImaging
import DeviceSupport
import Imaging
import TestSupport
import Testing
import VulkanBackend
import VulkanCompute

/// Effects drawn on a device, against those that the processor draws.
@Suite("Effects on a device", .serialized, .needsVulkan)
struct EffectTests {
    private func program(_ drawing: PictureDrawing, _ backend: VulkanBackend) throws -> EffectProgram {
        try EffectProgram(backend, EffectFormat(drawing))
    }

    @Test(
        "are the processor's within one level, opacities to the bit: every effect, background, edge, with holes and without",
        arguments: EffectCase.sizes)
    func table(_ size: PixelSize) throws {
        let backend = try ValidatedDevice.backend()
        var drawn: Set<[UInt8]> = []
        for row in EffectCase.table(size) {
            let drawing = row.drawing
            let result = try program(drawing, backend).draw(drawing, DeviceTimeout())
            let difference = DrawingDifference(result, from: row.expected)
            let tolerance = row.overlay == nil ? 1 : 0
            #expect(difference.levels <= tolerance && difference.opacities == 0, "\(row): \(difference)")
            #expect(row.overlay == nil || drawing.drawn() == row.expected)
            drawn.insert(result.bytes)
        }
        // The rows are different ones; opaque subjects look alike before every background.
        if size.width > 1 { #expect(drawn.count > EffectCase.table(size).count / 2) }
        try ValidatedDevice.expectSilence()
    }

    @Test("take pictures in every layout, and with padded rows", arguments: PixelFormat.allCases)
    func layouts(_ layout: PixelFormat) throws {
        let backend = try ValidatedDevice.backend()
        let size = PixelSize(width: 61, height: 40)
        for (name, background) in EffectCase.backgrounds {
            let row = EffectCase(
                size: size, layout: layout, background: background, backgroundName: name, edges: EdgeOptions())
            let drawing = row.drawing
            let plain = drawing.picture
            let rowBytes = size.width * layout.channelCount
            var bytes: [UInt8] = []
            for y in 0..<size.height {
                bytes += plain.bytes[y * rowBytes..<(y + 1) * rowBytes] + [UInt8](repeating: 77, count: 5)
            }
            let padded = try Image(
                width: size.width, height: size.height, format: layout, rowStride: rowBytes + 5, bytes: bytes)
            let program = try program(drawing, backend)
            let expected = drawing.drawn()
            for picture in [plain, padded] {
                let other = PictureDrawing(picture, drawing.matte, over: background)
                let difference = DrawingDifference(
                    try program.draw(other, DeviceTimeout()), from: expected)
                #expect(difference.levels <= 1 && difference.opacities == 0, "\(row): \(difference)")
            }
        }
        try ValidatedDevice.expectSilence()
    }

    @Test("follow one another in one program: other pictures, other mattes, other backdrops")
    func repetition() throws {
        let backend = try ValidatedDevice.backend()
        let size = PixelSize(width: 90, height: 67)
        let row = EffectCase(
            size: size, layout: .rgb, background: .color(.black), backgroundName: "colour", edges: EdgeOptions())
        let source = row.drawing.matte
        let program = try program(row.drawing, backend)
        let backdrops = (0..<2).map { TestPicture.make(size, seed: UInt64(50 + $0)) }
        for turn in 0..<8 {
            let drawing = PictureDrawing(
                TestPicture.make(size, seed: UInt64(turn / 2)), source, over: .color(.black),
                backdrop: backdrops[turn / 4])
            let difference = DrawingDifference(try program.draw(drawing, DeviceTimeout()), from: drawing.drawn())
            #expect(difference.levels <= 1, "turn \(turn): \(difference)")
        }
        try ValidatedDevice.expectSilence()
    }

    @Test("of many threads wait for each other")
    func threads() async throws {
        let size = PixelSize(width: 64, height: 50)
        let row = EffectCase(
            size: size, layout: .rgba, background: .blur(), backgroundName: "blur", edges: EdgeOptions())
        let program = try program(row.drawing, ValidatedDevice.backend())
        let source = row.drawing.matte
        try await withThrowingTaskGroup(of: Int.self) { group in
            for seed in 0..<12 {
                group.addTask {
                    let drawing = PictureDrawing(
                        TestPicture.make(size, .rgba, seed: UInt64(seed)), source, over: .blur())
                    return DrawingDifference(try program.draw(drawing, DeviceTimeout()), from: drawing.drawn()).levels
                }
            }
            for try await levels in group { #expect(levels <= 1) }
        }
        try ValidatedDevice.expectSilence()
    }

    @Test("that a device has no room for are a shortage, and known before anything is drawn")
    func tooLarge() throws {
        let faults = FaultInjector()
        let backend = VulkanBackend(try TestDevice.open(faults: faults))
        let drawing = EffectCase.table(PixelSize(width: 33, height: 17))[0].drawing
        for call in ["vkAllocateMemory", "vkCreateBuffer"] {
            let shortage = FaultInjector.Fault.outOfDeviceMemory(at: call).result
            faults.inject(.init(call, after: 1, times: 1, result: shortage))
            do {
                _ = try program(drawing, backend)
                Issue.record("there was room")
            } catch let error as VulkanError {
                #expect(error.isOutOfResources, "\(error)")
            }
        }
        // It works still.
        let result = try program(drawing, backend).draw(drawing, DeviceTimeout())
        #expect(DrawingDifference(result, from: drawing.drawn()).levels <= 1)
        // What a program says that it takes is at least what its buffers have, give or take their alignment.
        #expect(EffectFormat(drawing).byteCount > drawing.picture.size.pixelCount * 24)
    }

    @Test("without one of their barriers are reported by the validation layers", .needsValidation)
    func canary() throws {
        let row = EffectCase(
            size: PixelSize(width: 700, height: 300), layout: .rgb, background: .blur(), backgroundName: "blur",
            edges: EdgeOptions())
        // After the upload, before and between the passes of the resizes.
        for barrier in [0, 1, 2] {
            let device = try TestDevice.open(validation: true)
            let backend = VulkanBackend(device)
            let drawing = row.drawing
            _ = try program(drawing, backend).draw(drawing, DeviceTimeout())
            #expect(device.instance.validationMessages.isEmpty)
            _ = try EffectProgram(backend, EffectFormat(drawing), omittedBarrier: barrier)
                .draw(drawing, DeviceTimeout())
            let messages = device.instance.validationMessages
            #expect(messages.contains { $0.contains("SYNC-HAZARD") }, "barrier \(barrier): \(messages)")
        }
    }
}
