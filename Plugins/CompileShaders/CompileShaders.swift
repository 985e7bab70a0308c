import Foundation
import PackagePlugin

/// Compiles the shaders of the package into SPIR-V and hands them to a target as Swift source.
///
/// The work is done by the program EmbedShaders, which runs glslangValidator. Plug-ins do not see PATH through their tools, so
/// the compiler is looked up here and passed on.
@main
struct CompileShaders: BuildToolPlugin {
    func createBuildCommands(context: PluginContext, target: any Target) throws -> [Command] {
        let folder = context.package.directoryURL.appending(path: "Shaders")
        let shaders = try files(in: folder, named: ".comp")
        // Included files too: whoever edits one gets all shaders compiled anew.
        let included = try files(in: folder.appending(path: "include"), named: ".glsl")
        let output = context.pluginWorkDirectoryURL.appending(path: "EmbeddedShaders.swift")
        return [
            .buildCommand(
                displayName: "Compiling \(shaders.count) shaders",
                executable: try context.tool(named: "EmbedShaders").url,
                arguments: [compiler(), output.path(), folder.appending(path: "include").path()]
                    + shaders.map { $0.path() },
                inputFiles: shaders + included,
                outputFiles: [output])
        ]
    }

    private func files(in folder: URL, named ending: String) throws -> [URL] {
        try FileManager.default.contentsOfDirectory(at: folder, includingPropertiesForKeys: nil)
            .filter { $0.lastPathComponent.hasSuffix(ending) }
            .sorted { $0.lastPathComponent < $1.lastPathComponent }
    }

    private func compiler() -> String {
        let folders = (ProcessInfo.processInfo.environment["PATH"] ?? "/usr/local/bin:/usr/bin:/bin").split(
            separator: ":")
        let candidates = folders.map { "\($0)/glslangValidator" }
        return candidates.first(where: FileManager.default.isExecutableFile(atPath:)) ?? "glslangValidator"
    }
}
