import Foundation
import PackagePlugin

/// Compiles shaders into SPIR-V and hands them to a target as Swift source.
///
/// They are those of the folder `Shaders` in the target's own folder, where there is one, else in the package's. The work is done by
/// the program EmbedShaders, which runs glslangValidator. Plug-ins do not see PATH through their tools, so the compiler is
/// looked up here and passed on.
@main
struct CompileShaders: BuildToolPlugin {
    func createBuildCommands(context: PluginContext, target: any Target) throws -> [Command] {
        let own = target.directoryURL.appending(path: "Shaders")
        let folder =
            FileManager.default.fileExists(atPath: own.path())
            ? own : context.package.directoryURL.appending(path: "Shaders")
        let shaders = try files(in: folder, named: ".comp")
        // Included files too: whoever edits one gets all shaders compiled anew.
        let include = folder.appending(path: "include")
        let included =
            FileManager.default.fileExists(atPath: include.path()) ? try files(in: include, named: ".glsl") : []
        let output = context.pluginWorkDirectoryURL.appending(path: "EmbeddedShaders.swift")
        return [
            .buildCommand(
                displayName: "Compiling \(shaders.count) shaders",
                executable: try context.tool(named: "EmbedShaders").url,
                arguments: [compiler(), output.path(), include.path()] + shaders.map { $0.path() },
                inputFiles: shaders + included,
                outputFiles: [output])
        ]
    }

    private func files(in folder: URL, named ending: String) throws -> [URL] {
        try FileManager.default.contentsOfDirectory(at: folder, includingPropertiesForKeys: nil)
            .filter { $0.lastPathComponent.hasSuffix(ending) }
            .sorted { $0.lastPathComponent < $1.lastPathComponent }
    }

    /// Where it is, or its bare name: that EmbedShaders then finds nothing is told by the command's failure. A plug-in that fails
    /// leaves a build plan without its output behind, and SwiftPM goes on with that.
    private func compiler() -> String {
        let path = ProcessInfo.processInfo.environment["PATH"] ?? "/usr/local/bin:/usr/bin:/bin"
        let candidates = path.split(separator: ":").map { "\($0)/glslangValidator" }
        return candidates.first(where: FileManager.default.isExecutableFile(atPath:)) ?? "glslangValidator"
    }
}
