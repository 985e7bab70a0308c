// swift-tools-version: 6.2
import PackageDescription

let package = Package(
    name: "Silhouette",
    products: [
        .library(name: "Silhouette", targets: ["Silhouette"]),
        .executable(name: "silhouette", targets: ["SilhouetteCLI"]),
    ],
    targets: [
        // Debian's C libraries: a module map and a header of inline shims each.
        .systemLibrary(name: "CPNG", pkgConfig: "libpng", providers: [.apt(["libpng-dev"])]),
        .systemLibrary(name: "CTurboJPEG", pkgConfig: "libturbojpeg", providers: [.apt(["libturbojpeg0-dev"])]),
        .systemLibrary(name: "CWebP", pkgConfig: "libwebpdemux", providers: [.apt(["libwebp-dev"])]),

        .systemLibrary(name: "CZlib", pkgConfig: "zlib", providers: [.apt(["zlib1g-dev"])]),
        .systemLibrary(name: "CWebSockets", pkgConfig: "libwebsockets", providers: [.apt(["libwebsockets-dev"])]),

        .systemLibrary(name: "CSystem"),

        .systemLibrary(name: "CVulkan", pkgConfig: "vulkan", providers: [.apt(["libvulkan-dev"])]),

        // SHA-256 by the processor's instructions.
        .target(name: "CHash"),

        // Locks, threads, hashes and the system's errors: what everything else stands on.
        .target(name: "Base", dependencies: ["CHash", "CSystem"]),

        // JSON, read strictly and written in order.
        .target(name: "JSONText"),

        // The network as a value, knowing no device.
        .target(name: "ModelGraph", dependencies: ["Base", "JSONText"]),

        // The processor's path.
        .target(
            name: "CPUKernels", exclude: ["README.md", "check"],
            cSettings: [.define("NDEBUG", .when(configuration: .release))]),
        .target(name: "CPUBackend", dependencies: ["Base", "ModelGraph", "CPUKernels"]),

        // The graphics card's path.
        .target(name: "VulkanCompute", dependencies: ["Base", "CVulkan"]),
        .target(
            name: "VulkanBackend", dependencies: ["Base", "ModelGraph", "VulkanCompute"], plugins: ["CompileShaders"]),
        .target(
            name: "VulkanImaging",
            dependencies: ["Base", "ModelGraph", "VulkanCompute", "VulkanBackend", "Imaging", "Effects"]),
        .executableTarget(name: "EmbedShaders", dependencies: ["Base"]),
        .plugin(name: "CompileShaders", capability: .buildTool(), dependencies: ["EmbedShaders"]),

        // Whether one device computes what another does.
        .target(name: "Verification", dependencies: ["ModelGraph"]),

        // Pictures.
        .target(name: "Imaging", dependencies: ["Base", "CPNG", "CTurboJPEG", "CWebP"]),
        .target(name: "Effects", dependencies: ["Base", "Imaging"]),

        // Films, through the programs of ffmpeg.
        .target(name: "Video", dependencies: ["Base", "CSystem", "Imaging"]),

        // The bytes between the preview's server and its page.
        .target(name: "PreviewProtocol", dependencies: ["JSONText", "CZlib"]),

        // HTTP/1.1 and WebSocket as values: what came over the wire, and what goes.
        .target(name: "WebProtocol"),

        // What people import, and what they type.
        .target(
            name: "Silhouette",
            dependencies: [
                "Base", "ModelGraph", "CPUBackend", "VulkanCompute", "VulkanBackend", "VulkanImaging", "Imaging",
                "Effects",
            ]),
        .target(
            name: "PreviewServer",
            dependencies: [
                "Base", "PreviewProtocol", "WebProtocol", "CWebSockets", "CZlib", "Silhouette", "ModelGraph", "Imaging",
                "Effects",
                "Video",
            ], exclude: ["README.md"]),
        .executableTarget(
            name: "SilhouetteCLI",
            dependencies: [
                "Base", "Silhouette", "PreviewServer", "JSONText", "ModelGraph", "CPUBackend", "VulkanBackend",
                "VulkanCompute",
                "Verification", "Imaging", "Effects", "Video",
            ]),

        // What a program of one's own looks like.
        .executableTarget(
            name: "BackgroundReplacement", dependencies: ["Silhouette"], path: "Examples/BackgroundReplacement"),
        .executableTarget(name: "GettingStarted", dependencies: ["Silhouette"], path: "Examples/GettingStarted"),
        .executableTarget(name: "LiveStream", dependencies: ["Silhouette"], path: "Examples/LiveStream"),
        .executableTarget(name: "MasksAndCutouts", dependencies: ["Silhouette"], path: "Examples/MasksAndCutouts"),
        .executableTarget(name: "PortraitBlur", dependencies: ["Silhouette"], path: "Examples/PortraitBlur"),

        // Tests: references and case tables are an ordinary target, so that every backend is driven by the same ones.
        .target(
            name: "TestSupport", dependencies: ["Base", "JSONText", "ModelGraph"], path: "Tests/Support",
            exclude: ["run_onnx.py"]),
        .target(
            name: "DeviceSupport",
            dependencies: ["CVulkan", "Silhouette", "TestSupport", "VulkanBackend", "VulkanCompute"],
            path: "Tests/DeviceSupport"),
        .testTarget(name: "BaseTests", dependencies: ["Base", "CHash", "TestSupport"]),
        .testTarget(name: "TestSupportTests", dependencies: ["ModelGraph", "TestSupport"], path: "Tests/SupportTests"),
        .testTarget(name: "ModelGraphTests", dependencies: ["Base", "JSONText", "ModelGraph", "TestSupport"]),
        .testTarget(name: "CPUBackendTests", dependencies: ["CPUBackend", "ModelGraph", "Imaging", "TestSupport"]),
        .testTarget(
            name: "VerificationTests", dependencies: ["Verification", "CPUBackend", "ModelGraph", "TestSupport"]),
        .testTarget(
            name: "VulkanComputeTests", dependencies: ["CVulkan", "VulkanCompute", "TestSupport", "DeviceSupport"],
            exclude: ["Shaders"], plugins: ["CompileShaders"]),
        .testTarget(
            name: "VulkanBackendTests",
            dependencies: [
                "Base", "VulkanBackend", "VulkanCompute", "Verification", "CPUBackend", "ModelGraph", "TestSupport",
                "DeviceSupport",
            ]),
        .testTarget(
            name: "VulkanImagingTests",
            dependencies: [
                "Base", "VulkanImaging", "VulkanBackend", "VulkanCompute", "CPUBackend", "ModelGraph", "Imaging",
                "Effects", "TestSupport", "DeviceSupport",
            ]),
        .testTarget(name: "EmbedShadersTests", dependencies: ["VulkanBackend", "TestSupport"]),
        .testTarget(name: "VideoTests", dependencies: ["Base", "Video", "Imaging", "TestSupport"]),
        .target(name: "ImagingSupport", dependencies: ["Imaging", "TestSupport"], path: "Tests/ImagingSupport"),
        .testTarget(name: "ImagingTests", dependencies: ["Effects", "Imaging", "TestSupport", "ImagingSupport"]),
        .testTarget(name: "EffectsTests", dependencies: ["Effects", "Imaging", "TestSupport", "ImagingSupport"]),
        .testTarget(
            name: "SilhouetteTests",
            dependencies: [
                "Base", "Silhouette", "VulkanImaging", "VulkanBackend", "VulkanCompute", "ModelGraph", "TestSupport",
                "DeviceSupport",
            ]),
        .testTarget(name: "WebProtocolTests", dependencies: ["WebProtocol"]),
        .testTarget(name: "PreviewProtocolTests", dependencies: ["PreviewProtocol", "TestSupport"]),
        .testTarget(
            name: "PreviewServerTests",
            dependencies: [
                "Base", "PreviewServer", "PreviewProtocol", "WebProtocol", "Silhouette", "ModelGraph", "Imaging",
                "TestSupport",
                "DeviceSupport",
            ]),
        .testTarget(
            name: "CommandLineTests",
            dependencies: ["Base", "Effects", "TestSupport", "SilhouetteCLI", "Silhouette", "ModelGraph", "Imaging"],
            exclude: ["Snapshots"]),
    ],
    swiftLanguageModes: [.v6],
    cLanguageStandard: .gnu17
)
