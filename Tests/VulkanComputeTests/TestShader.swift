import Foundation
import VulkanCompute

/// The shaders of these tests.
enum TestShader: String {
    case scale = "scale BACKWARDS=0"
    case scaleBackwards = "scale BACKWARDS=1"
    case texels, blocks, slow

    /// SPIR-V, in words.
    var code: [UInt32] {
        var found: [UInt32] = []
        forEachEmbeddedShader { name, text in
            guard "\(name)" == rawValue, let bytes = Data(base64Encoded: "\(text)") else { return }
            found = stride(from: 0, to: bytes.count, by: 4).map { start in
                bytes[start..<start + 4].reversed().reduce(0) { $0 << 8 | UInt32($1) }
            }
        }
        precondition(!found.isEmpty, "there is no shader \(rawValue)")
        return found
    }

    var interface: ShaderInterface {
        switch self {
        case .scale, .scaleBackwards:
            ShaderInterface(bindings: [.storageBuffer, .storageBuffer], pushConstantsByteCount: 8)
        case .texels: ShaderInterface(bindings: [.storageBuffer, .texelBuffer], pushConstantsByteCount: 4)
        case .blocks: ShaderInterface(bindings: [.storageBuffer, .uniformBuffer(count: 3)], pushConstantsByteCount: 0)
        case .slow: ShaderInterface(bindings: [.storageBuffer], pushConstantsByteCount: 4)
        }
    }

    func pipeline(_ device: LogicalDevice, constants: [UInt32] = [], cache: PipelineCache? = nil) throws -> Pipeline {
        try Pipeline(device, code: code, interface: interface, constants: constants, cache: cache, name: rawValue)
    }
}

extension Buffer {
    /// A buffer that the host sees, with these values in it.
    static func of(_ values: [UInt32], _ device: LogicalDevice, _ placement: Placement = .upload) throws -> Buffer {
        let buffer = try Buffer(device, byteCount: values.count * 4, placement)
        buffer.write(values)
        return buffer
    }

    func write(_ values: [UInt32]) {
        contents?.copyMemory(from: values, byteCount: values.count * 4)
    }

    /// The values in it.
    var words: [UInt32] {
        guard let contents else { return [] }
        return Array(UnsafeRawBufferPointer(start: contents, count: byteCount).bindMemory(to: UInt32.self))
    }
}

extension Command {
    /// A dispatch of `scale`: destination = source * the pipeline's factor + offset.
    static func scale(
        _ pipeline: Pipeline, _ source: BufferRange, to destination: BufferRange, offset: UInt32 = 0
    ) -> Command {
        let count = destination.byteCount / 4
        return .dispatch(
            Dispatch(
                name: "scale", pipeline, [.storage(destination), .storage(source)],
                pushConstants: [UInt32(count), offset], workgroups: ((count + 63) / 64, 1, 1), reads: [source],
                writes: [destination]))
    }
}

extension LogicalDevice {
    /// Records, submits and waits.
    @discardableResult
    func run(_ commands: [Command]) throws -> CommandBuffer {
        let recorded = try CommandBuffer(self, commands)
        let submission = try Submission(self)
        try submission.submit(recorded)
        try submission.wait(nanoseconds: 20_000_000_000)
        return recorded
    }
}
