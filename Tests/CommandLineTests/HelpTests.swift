import Foundation
import SilhouetteCLI
import Testing

@Suite("Help pages")
struct HelpTests {
    private static let folder = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
        .appendingPathComponent("Snapshots")

    /// To accept a changed page: `.build/release/silhouette help NAME > Tests/CommandLineTests/Snapshots/NAME.txt`.
    @Test("Every page is as it was agreed", arguments: commandNames)
    func snapshot(command: String) throws {
        let agreed = try String(contentsOf: Self.folder.appendingPathComponent("\(command).txt"), encoding: .utf8)
        #expect(try #require(helpPage(of: command)) + "\n" == agreed)
    }

    @Test("No line is too long for a terminal of 100 columns", arguments: commandNames)
    func width(command: String) throws {
        for line in try #require(helpPage(of: command)).split(separator: "\n") { #expect(line.count <= 100, "\(line)") }
    }

    @Test("Text is broken at spaces and indented")
    func wrapping() {
        #expect(wrapped("one two three four", width: 12, indent: 4) == "one two\n    three\n    four")
        #expect(wrapped("a\nb", width: 10, indent: 2) == "a\n  b")
        #expect(wrapped("longerthanwidth x", width: 5, indent: 0) == "longerthanwidth\nx")
    }
}
