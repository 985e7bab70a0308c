import VulkanCompute

/// A shader, its variant and its specialisation constants: what a pipeline is made from.
package struct Kernel: Hashable, Sendable {
    /// Name of the shader file, without `.comp`.
    var shader: String
    /// The macros of the variant, as in `FLOAT16=0 READ_PATH=2 TILE=4x2`.
    var variant: String
    /// Specialisation constants from 0 on; the first is the number of invocations in a workgroup.
    var constants: [UInt32]
    var interface: ShaderInterface

    package init(shader: String, variant: String, constants: [UInt32], interface: ShaderInterface) {
        self.shader = shader
        self.variant = variant
        self.constants = constants
        self.interface = interface
    }

    /// The name that it is embedded under.
    var embeddedName: String { variant.isEmpty ? shader : "\(shader) \(variant)" }
}
