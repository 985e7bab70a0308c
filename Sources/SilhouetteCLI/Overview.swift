/// Names of the subcommands.
package let commandNames = ["segment", "video", "serve", "model", "devices", "verify", "bench", "help"]

/// The page of a subcommand. Nil: there is none of that name.
package func helpPage(of command: String) -> String? {
    switch command {
    case "segment": Subcommand<SegmentSettings>.segment.helpPage
    case "video": Subcommand<VideoSettings>.video.helpPage
    case "serve": Subcommand<ServeSettings>.serve.helpPage
    case "model": Subcommand<ModelSettings>.model.helpPage
    case "devices": Subcommand<DevicesSettings>.devices.helpPage
    case "verify": Subcommand<VerifySettings>.verify.helpPage
    case "bench": Subcommand<BenchSettings>.bench.helpPage
    case "help": overview
    default: nil
    }
}

/// What `silhouette help` shows.
package var overview: String {
    let commands = [
        (Subcommand<SegmentSettings>.segment.name, Subcommand<SegmentSettings>.segment.abstract),
        (Subcommand<VideoSettings>.video.name, Subcommand<VideoSettings>.video.abstract),
        (Subcommand<ServeSettings>.serve.name, Subcommand<ServeSettings>.serve.abstract),
        (Subcommand<ModelSettings>.model.name, Subcommand<ModelSettings>.model.abstract),
        (Subcommand<DevicesSettings>.devices.name, Subcommand<DevicesSettings>.devices.abstract),
        (Subcommand<VerifySettings>.verify.name, Subcommand<VerifySettings>.verify.abstract),
        (Subcommand<BenchSettings>.bench.name, Subcommand<BenchSettings>.bench.abstract),
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
