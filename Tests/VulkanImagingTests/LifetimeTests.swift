import VulkanImaging
import DeviceSupport
import Imaging
import ModelGraph
import TestSupport
import Testing
import VulkanBackend
import VulkanCompute

@Suite("Lifetimes of frames under validation", .serialized, .needsVulkan, .needsValidation, .childProcess)
struct LifetimeTests {
    @Test("Network, program, slots and scheduler may be let go in any order, with frames inside", arguments: 0..<6)
    func orders(rotation: Int) throws {
        let instance = try VulkanInstance(validation: true)
        do {
            let physical = try #require(try instance.physicalDevices().first { $0.obstacle == nil })
            let size = PixelSize(width: 31, height: 23)
            let picture = TestPicture.make(size)
            let model = try FrameModel.classes(Extent(height: 17, width: 19), channels: 5)
            var objects: [AnyObject] = []
            do {
                let backend = VulkanBackend(try LogicalDevice(physical, instance: instance), precision: .float32)
                let network = PictureNetwork(
                    backend, graph: model.graph, input: model.input, outputKind: model.kind)
                let program = try SegmentationProgram(
                    network, format: SegmentationFormat(picture: size, outputs: SegmentationOutputs(categories: true)))
                let idle = try program.makeSlot()
                let busy = try program.makeSlot()
                try picture.withView { try busy.submit($0) }
                let scheduler = FrameScheduler<SegmentationSlot> { try program.makeSlot() }
                for _ in 0..<2 { _ = try picture.withView { try scheduler.submit($0) } }
                objects = [network, program, idle, busy, scheduler, backend.device]
            }
            objects = Array(objects[rotation...] + objects[..<rotation])
            while !objects.isEmpty { objects.removeFirst() }
        }
        #expect(instance.validationMessages == [])
    }
}
