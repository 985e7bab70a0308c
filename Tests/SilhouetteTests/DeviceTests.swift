import Silhouette
import Testing

@Suite("Device option")
struct DeviceTests {
    @Test(
        "Is read from text",
        arguments: [
            ("auto", Device.automatic), ("cpu", .cpu), ("vulkan", .vulkan(.best)), ("vulkan:0", .vulkan(.index(0))),
            ("vulkan:12", .vulkan(.index(12))), ("vulkan:RTX 3090", .vulkan(.name("RTX 3090"))),
            ("vulkan:99999999999999999999", .vulkan(.index(.max))), ("vulkan:-1", .vulkan(.name("-1"))),
        ])
    func read(text: String, device: Device) { #expect(Device(text) == device) }

    @Test("Or is nothing", arguments: ["", "gpu", "vulkan:", "CPU", "vulkan0"])
    func refused(text: String) { #expect(Device(text) == nil) }

    @Test("The processor is chosen without a word to Vulkan")
    func processor() throws {
        let choice = try DeviceChoice(.cpu, faults: .init([.outOfHostMemory(at: "vkCreateInstance")]))
        guard case .processor = choice.outcome else {
            Issue.record("not the processor")
            return
        }
        #expect(choice.reason == "as asked for")
    }
}
