import ModelGraph
import Silhouette

/// What the command line of `silhouette model` asks for.
package struct ModelSettings: Sendable {
    package var path: String?
    package var listsLayers = false
    package var modelMemory = ModelLimits.memoryByteCount

    package init() {}

    fileprivate mutating func take(_ file: String) throws(UsageError) {
        guard path == nil else { throw UsageError("more than one file: '\(file)'") }
        path = file
    }
}

extension Subcommand<ModelSettings> {
    /// `silhouette model`.
    package static let model = Subcommand(
        name: "model",
        abstract: "show what is in a model file",
        operands: "[FILE]",
        introduction: """
            Shows a model's input, operators, parameters, multiply-accumulates, memory and labels. Without FILE the \
            model that silhouette segment would use.
            """,
        details: "",
        options: [
            .value("model", "m", "FILE", "The same as the operand FILE.") { settings, file throws(UsageError) in
                try settings.take(file)
            },
            .modelMemory(\.modelMemory),
            .flag("layers", nil, "Also list the layers after all passes.", \.listsLayers),
        ],
        addOperand: { settings, operand throws(UsageError) in try settings.take(operand) },
        check: { _ in })
}

/// Runs `silhouette model`.
func showModel(_ settings: ModelSettings) throws -> ExitCode {
    let location = try ModelLocator(searchesCache: true).locate(settings.path)
    let summary = ModelSummary(try readModel(location.path, memoryLimit: settings.modelMemory))
    Console.print(summary.description(file: [location.path, location.origin.explanation]))
    if settings.listsLayers { Console.print("\n" + summary.layerTable) }
    return .success
}
