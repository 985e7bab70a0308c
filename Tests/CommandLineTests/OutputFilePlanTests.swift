import SilhouetteCLI
import TestSupport
import Testing

@Suite("Names of outputs")
struct OutputPlanTests {
    private func files(
        _ inputs: [String], _ kind: SegmentOutput, _ destination: OutputDestination, classes: [String] = []
    ) throws -> [[String]]? {
        try OutputFilePlan(inputs: inputs.map { Input($0) }, kind: kind, destination: destination, classNames: classes)
            .files
    }

    @Test(
        "In the current folder the kind of output is part of the name",
        arguments: [
            (SegmentOutput.mask, "cat.mask.png"), (.overlay, "cat.overlay.png"), (.cutout, "cat.cutout.png"),
            (.scores, "cat.scores.npy"),
        ])
    func currentFolder(kind: SegmentOutput, name: String) throws {
        #expect(try files(["some/where/cat.jpg"], kind, .currentFolder) == [[name]])
    }

    @Test("In a folder of its own it is not")
    func folder() throws {
        #expect(try files(["a/cat.jpg", "dog.png"], .mask, .folder("out")) == [["out/cat.png"], ["out/dog.png"]])
        #expect(try files(["cat.jpg"], .scores, .folder("out/")) == [["out/cat.npy"]])
    }

    @Test("Names are told apart by their bytes: two spellings of an accent are two files")
    func spellings() throws {
        let names = ["out/e\u{301}.png", "out/\u{E9}.png"].map { Array($0.utf8) }
        let planned = try files(["e\u{301}.jpg", "\u{E9}.jpg"], .mask, .folder("out"))
        #expect(planned?.joined().map { Array($0.utf8) } == names)
    }

    @Test("A confidence output has one file a class, with a name that any file system takes")
    func confidence() throws {
        #expect(
            try files(["cat.jpg"], .confidence, .currentFolder, classes: ["person", "tv/monitor 2"])
                == [["cat.person.png", "cat.tv_monitor_2.png"]])
        #expect(try files(["cat.jpg"], .confidence, .file("x.png"), classes: ["person"]) == [["x.png"]])
        #expect(throws: UsageError.self) { try files(["c.jpg"], .confidence, .file("x.png"), classes: ["a", "b"]) }
        #expect(throws: UsageError.self) { try files(["c.jpg"], .confidence, .standardOutput, classes: ["a", "b"]) }
        #expect(throws: UsageError.self) { try files(["c.jpg"], .confidence, .currentFolder, classes: ["a b", "a_b"]) }
    }

    @Test(
        "Stems",
        arguments: [
            ("photo.jpg", "photo"), ("a.b.jpeg", "a.b"), (".hidden", ".hidden"), ("dir.d/none", "none"), ("-", "stdin"),
        ])
    func stems(path: String, stem: String) {
        #expect(Input(path).stem == stem)
    }

    @Test("Two results in one file are refused before anything is written")
    func collisions() {
        #expect(
            throws: UsageError(
                "a/cat.jpg and b/cat.png would both be written to out/cat.png; "
                    + "segment them in separate runs or into separate folders")
        ) { try files(["a/cat.jpg", "b/cat.png"], .mask, .folder("out")) }
        #expect(throws: UsageError.self) { try files(["cat.jpg", "cat.jpg"], .mask, .currentFolder) }
        // Confidence of the class `a` of cat.jpg and of the class `b` of cat.a.jpg are different files.
        #expect(throws: Never.self) {
            try files(["cat.jpg", "cat.a.jpg"], .confidence, .currentFolder, classes: ["a", "b"])
        }
    }

    @Test("The name of a picture is no folder for several photographs")
    func folderNamedAsPicture() throws {
        #expect(throws: UsageError.self) { try destination("absent/x.png", isBatch: true) }
        #expect(try destination("absent/x.png/", isBatch: true) == .folder("absent/x.png/"))
        #expect(try destination("absent/x", isBatch: true) == .folder("absent/x"))
        #expect(try destination("absent/x.png", isBatch: false) == .file("absent/x.png"))
    }

    @Test("One file or standard output takes one photograph")
    func single() {
        #expect(throws: UsageError.self) { try files(["a.jpg", "b.jpg"], .mask, .file("x.png")) }
        #expect(throws: UsageError.self) { try files(["a.jpg", "b.jpg"], .mask, .standardOutput) }
    }

    @Test("The ending of a file says its format, as far as the output can have it")
    func endings() throws {
        func accepts(_ name: String, _ kind: SegmentOutput) -> Bool {
            (try? files(["a.jpg"], kind, .file(name), classes: ["c"])) != nil
        }
        #expect(accepts("x.PNG", .mask) && !accepts("x.jpg", .mask) && !accepts("x", .mask))
        #expect(accepts("x.jpeg", .overlay) && accepts("x.webp", .overlay) && !accepts("x.gif", .overlay))
        #expect(accepts("x.webp", .cutout) && !accepts("x.jpg", .cutout))
        #expect(accepts("x.npy", .scores) && !accepts("x.png", .scores))
        #expect(!accepts("a.png/x", .overlay))
    }

    @Test("Where -o leads depends on what is there")
    func destinations() throws {
        try withScratchFolder { folder in
            try makeFile("\(folder)/there.png")
            #expect(try destination(nil, isBatch: true) == .currentFolder)
            #expect(try destination("-", isBatch: false) == .standardOutput)
            #expect(try destination(folder, isBatch: false) == .folder(folder))
            #expect(try destination("\(folder)/new.png", isBatch: false) == .file("\(folder)/new.png"))
            #expect(try destination("\(folder)/new", isBatch: true) == .folder("\(folder)/new"))
            #expect(try destination("\(folder)/new/", isBatch: false) == .folder("\(folder)/new/"))
            #expect(throws: UsageError.self) { try destination("\(folder)/there.png", isBatch: true) }
        }
    }

    @Test("A folder stands for the pictures in it, sorted; hidden and other files are left out")
    func expansion() throws {
        try withScratchFolder { folder in
            for name in ["b.JPG", "a.png", "c.webp", "notes.txt", ".d.png", "sub.png/e.png"] {
                try makeFile("\(folder)/\(name)")
            }
            #expect(
                try expandInputs([folder, "other.gif"]).map(\.path)
                    == ["\(folder)/a.png", "\(folder)/b.JPG", "\(folder)/c.webp", "other.gif"])
            try makeFile("\(folder)/empty/x.txt")
            #expect(throws: UsageError.self) { try expandInputs(["\(folder)/empty"]) }
        }
    }
}
