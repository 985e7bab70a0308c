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

        .systemLibrary(name: "CProcess"),

        .systemLibrary(name: "CVulkan", pkgConfig: "vulkan", providers: [.apt(["libvulkan-dev"])]),

        // JSON, read strictly and written in order.
        .target(name: "JSONText"),

        // The network as a value, knowing no device.
        .target(name: "ModelGraph", dependencies: ["JSONText"]),

        // The processor's path.
        .target(
            name: "CPUKernels", exclude: ["README.md", "check"],
            cSettings: [.define("NDEBUG", .when(configuration: .release))]),
        .target(name: "CPUBackend", dependencies: ["ModelGraph", "CPUKernels"]),

        // The graphics card's path.
        .target(name: "VulkanCompute", dependencies: ["CVulkan"]),
        .target(
            name: "VulkanBackend", dependencies: ["ModelGraph", "VulkanCompute", "Imaging"], plugins: ["CompileShaders"]
        ),
        .executableTarget(name: "EmbedShaders"),
        .plugin(name: "CompileShaders", capability: .buildTool(), dependencies: ["EmbedShaders"]),

        // Whether one device computes what another does.
        .target(name: "Verification", dependencies: ["ModelGraph"]),

        // Pictures.
        .target(name: "Imaging", dependencies: ["CPNG", "CTurboJPEG", "CWebP"]),

        // Films, through the programs of ffmpeg.
        .target(name: "Video", dependencies: ["CProcess", "Imaging"]),

        // The bytes between the preview's server and its page.
        .target(name: "PreviewProtocol", dependencies: ["JSONText", "CZlib"]),

        // What people import, and what they type.
        .target(
            name: "Silhouette",
            dependencies: ["ModelGraph", "CPUBackend", "VulkanBackend", "VulkanCompute", "Imaging"]),
        .target(
            name: "PreviewServer",
            dependencies: [
                "PreviewProtocol", "CWebSockets", "CZlib", "Silhouette", "ModelGraph", "Imaging", "Video",
            ], exclude: ["README.md"]),
        .executableTarget(
            name: "SilhouetteCLI",
            dependencies: [
                "Silhouette", "PreviewServer", "JSONText", "ModelGraph", "CPUBackend", "VulkanBackend", "VulkanCompute",
                "Verification", "Imaging", "Video",
            ]),

        // What a program of one's own looks like.
        .executableTarget(
            name: "BackgroundReplacement", dependencies: ["Silhouette"], path: "Examples/BackgroundReplacement"),
        .executableTarget(name: "GettingStarted", dependencies: ["Silhouette"], path: "Examples/GettingStarted"),
        .executableTarget(name: "LiveStream", dependencies: ["Silhouette"], path: "Examples/LiveStream"),
        .executableTarget(name: "PortraitBlur", dependencies: ["Silhouette"], path: "Examples/PortraitBlur"),

        // Tests: references and case tables are an ordinary target, so that every backend is driven by the same ones.
        .target(
            name: "TestSupport", dependencies: ["JSONText", "ModelGraph"], path: "Tests/Support",
            exclude: ["run_onnx.py"]),
        .target(name: "DeviceSupport", dependencies: ["Silhouette", "VulkanCompute"], path: "Tests/DeviceSupport"),
        .testTarget(name: "TestSupportTests", dependencies: ["ModelGraph", "TestSupport"], path: "Tests/SupportTests"),
        .testTarget(name: "ModelGraphTests", dependencies: ["JSONText", "ModelGraph", "TestSupport"]),
        .testTarget(name: "CPUBackendTests", dependencies: ["CPUBackend", "ModelGraph", "Imaging", "TestSupport"]),
        .testTarget(
            name: "VerificationTests", dependencies: ["Verification", "CPUBackend", "ModelGraph", "TestSupport"]),
        .testTarget(
            name: "VulkanComputeTests", dependencies: ["CVulkan", "VulkanCompute", "TestSupport", "DeviceSupport"],
            exclude: ["Shaders"], plugins: ["CompileShaders"]),
        .testTarget(
            name: "VulkanBackendTests",
            dependencies: [
                "VulkanBackend", "VulkanCompute", "Verification", "CPUBackend", "ModelGraph", "Imaging", "TestSupport",
                "DeviceSupport",
            ]),
        .testTarget(name: "EmbedShadersTests", dependencies: ["VulkanBackend", "TestSupport"]),
        .testTarget(name: "VideoTests", dependencies: ["Video", "Imaging", "TestSupport"]),
        .testTarget(name: "ImagingTests", dependencies: ["Imaging", "TestSupport"]),
        .testTarget(
            name: "SilhouetteTests",
            dependencies: [
                "Silhouette", "VulkanBackend", "VulkanCompute", "ModelGraph", "TestSupport", "DeviceSupport",
            ]),
        .testTarget(name: "PreviewProtocolTests", dependencies: ["PreviewProtocol", "TestSupport"]),
        .testTarget(
            name: "PreviewServerTests",
            dependencies: [
                "PreviewServer", "PreviewProtocol", "Silhouette", "ModelGraph", "Imaging", "TestSupport",
                "DeviceSupport",
            ]),
        .testTarget(
            name: "CommandLineTests", dependencies: ["TestSupport", "SilhouetteCLI", "Imaging"], exclude: ["Snapshots"]),
    ],
    swiftLanguageModes: [.v6],
    cLanguageStandard: .gnu17
)
