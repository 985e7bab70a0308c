/// Names of the subcommands.
package let commandNames = ["segment", "video", "serve", "model", "devices", "verify", "bench", "help"]

/// The page of a subcommand. Nil: there is none of that name.
package func helpPage(of command: String) -> String? {
    switch command {
    case "segment": Command<SegmentSettings>.segment.helpPage
    case "video": Command<VideoSettings>.video.helpPage
    case "serve": Command<ServeSettings>.serve.helpPage
    case "model": Command<ModelSettings>.model.helpPage
    case "devices": Command<DevicesSettings>.devices.helpPage
    case "verify": Command<VerifySettings>.verify.helpPage
    case "bench": Command<BenchSettings>.bench.helpPage
    case "help": overview
    default: nil
    }
}

/// What `silhouette help` shows.
package var overview: String {
    let commands = [
        (Command<SegmentSettings>.segment.name, Command<SegmentSettings>.segment.abstract),
        (Command<VideoSettings>.video.name, Command<VideoSettings>.video.abstract),
        (Command<ServeSettings>.serve.name, Command<ServeSettings>.serve.abstract),
        (Command<ModelSettings>.model.name, Command<ModelSettings>.model.abstract),
        (Command<DevicesSettings>.devices.name, Command<DevicesSettings>.devices.abstract),
        (Command<VerifySettings>.verify.name, Command<VerifySettings>.verify.abstract),
        (Command<BenchSettings>.bench.name, Command<BenchSettings>.bench.abstract),
        ("help", "show this page, or that of a command"),
    ]
    let lines = commands.map { name, abstract in
        "  " + name + String(repeating: " ", count: 10 - name.count) + abstract
    }
    return """
        usage: silhouette COMMAND [ARGUMENT...]

        Segments photographs, films and live cameras with DeepLabV3 networks.

        commands:
        \(lines.joined(separator: "\n"))

        silhouette COMMAND --help shows all options of a command; silhouette --version shows the version.
        """
}
