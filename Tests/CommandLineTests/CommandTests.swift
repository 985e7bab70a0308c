import Base
import Effects
import SilhouetteCLI
import Testing

@Suite("Parser")
struct CommandTests {
    private func parse(_ arguments: String...) throws -> SegmentSettings {
        guard case .run(let settings) = try Subcommand.segment.parse(arguments, into: SegmentSettings()) else {
            throw UsageError("shows help")
        }
        return settings
    }

    private func message(_ arguments: String...) -> String? {
        do throws(UsageError) {
            _ = try Subcommand.segment.parse(arguments, into: SegmentSettings())
            return nil
        } catch {
            return error.description
        }
    }

    @Test("Defaults")
    func defaults() throws {
        let settings = try parse("a.jpg")
        #expect(settings.inputs == ["a.jpg"])
        #expect(settings.output == .overlay)
        #expect(settings.maskSize == .source)
        #expect(settings.fit == .stretch)
        #expect(settings.device == .automatic)
        #expect(settings.destination == nil)
        #expect(settings.threads == nil)
        #expect(!settings.isVerbose)
    }

    @Test(
        "A value follows its option, or is joined to it",
        arguments: [
            ["--output-file", "x.png"], ["--output-file=x.png"], ["-o", "x.png"], ["-ox.png"],
        ])
    func values(form: [String]) throws {
        guard case .run(let settings) = try Subcommand.segment.parse(form + ["a"], into: SegmentSettings()) else {
            return
        }
        #expect(settings.destination == "x.png")
        #expect(settings.inputs == ["a"])
    }

    @Test("Options may stand anywhere, the last of equal ones counts, -- ends them, - is an operand")
    func order() throws {
        let settings = try parse("-", "--threads", "1", "--threads=2", "-v", "-o", "-", "--", "-x.jpg")
        #expect(settings.inputs == ["-", "-x.jpg"])
        #expect(settings.threads == 2)
        #expect(settings.destination == "-")
        #expect(settings.isVerbose)
    }

    @Test("Classes are a list")
    func classes() throws {
        #expect(try parse("a", "--classes", "person,8").classes == ClassSelection(texts: ["person,8"]))
        #expect(message("a", "--classes", "person,,8") != nil)
    }

    @Test("A label with a comma of its own can be chosen and left out")
    func commas() throws {
        let labels = ["background", "lamp, red", "lamp", "cup"]
        func chosen(_ arguments: String...) throws -> [Int]? {
            guard case .run(let settings) = try Subcommand.segment.parse(arguments + ["a"], into: SegmentSettings())
            else { return nil }
            return try chosenClasses(keeping: settings.classes, dropping: settings.droppedClasses, in: labels)
        }
        #expect(try chosen() == nil)
        #expect(try chosen("--classes", "cup,lamp, red") == [3, 1])
        #expect(try chosen("--drop-classes", "Lamp, Red") == [2, 3])
        #expect(throws: UsageError("--classes: the model has no class 'cp'; did you mean cup?")) {
            try chosen("--classes", "cp")
        }
        #expect(throws: UsageError("--drop-classes leaves no class but background")) {
            try chosen("--drop-classes", "1,2,3")
        }
    }

    @Test("Help wins over everything after it")
    func help() throws {
        for form in ["-h", "--help"] {
            guard case .help = try Subcommand.segment.parse([form, "--nonsense"], into: SegmentSettings()) else {
                Issue.record("\(form) does not show the help page")
                return
            }
        }
    }

    @Test("What is wrong is named, with the nearest that would be right")
    func errors() {
        #expect(message("a", "--ouput", "mask") == "unknown option --ouput; did you mean --output?")
        #expect(message("a", "--quux") == "unknown option --quux")
        #expect(message("a", "-x") == "unknown option -x")
        #expect(message("a", "-output", "x") == "unknown option -output; did you mean --output?")
        #expect(message("a", "-vo", "x") == "unknown option -vo; short options are written one by one")
        #expect(message("a", "--threads") == "--threads needs a value: N")
        #expect(message("a", "-o", "--output", "mask") == "-o needs a value: FILE|DIR|-")
        #expect(message("a", "--output", "cutout", "--shift", "-1.5") == nil)
        #expect(message("a", "--threads", "0") == "--threads needs a whole number from 1 to 256, not '0'")
        #expect(message("a", "--threads", "99999999999999999999") != nil)
        #expect(message("a", "--verbose=yes") == "--verbose takes no value, but has 'yes'")
        #expect(
            message("a", "--output", "maks")
                == "--output is mask, overlay, cutout, composite, confidence or scores, not 'maks'; did you mean mask?")
        #expect(message() == "no photograph given")
        #expect(message("-", "-") == "standard input (-) is given twice")
        #expect(message("a", "--model=") == "--model needs a FILE, not an empty text")
    }

    @Test("What this version cannot do is refused by name")
    func refusals() {
        #expect(message("a", "-d", "gpu")?.contains("vulkan") == true)
        #expect(message("a", "-d", "vulkan:1") == nil)
        #expect(message("a", "--output", "composite")?.contains("composite") == true)
        #expect(message("a", "--output", "scores", "--classes", "person") != nil)
        #expect(message("a", "--mask-size", "model") != nil)
        #expect(message("a", "--mask-size", "model", "--output", "mask") == nil)
        #expect(message("a", "--mask-size", "model", "--output", "mask", "--fit", "tile") != nil)
        #expect(message("a", "--tile-side", "300") != nil)
        #expect(message("a", "--tile-side", "300", "--fit", "tile") == nil)
    }
}

@Suite("Suggestions")
struct SuggestionTests {
    @Test(
        "A slip of the finger is understood, another word is not",
        arguments: [
            ("segmnet", "segment"), ("bnech", "bench"), ("Model", "model"), ("seg", "segment"), ("vidoe", "video"),
            ("x", nil),
        ])
    func nearestCommand(word: String, expected: String?) {
        #expect(nearest(to: word, among: commandNames) == expected)
    }

    @Test("A list reads as a sentence")
    func lists() {
        #expect(["a"].listed(with: "or") == "a")
        #expect(["a", "b"].listed(with: "or") == "a or b")
        #expect(["a", "b", "c"].listed(with: "and") == "a, b and c")
    }
}
