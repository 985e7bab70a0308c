import Glibc
import SilhouetteCLI
import TestSupport
import Testing

@Suite("Files that are read")
struct ReadFilesTests {
    private func refusal(_ read: ReadFiles, _ outputs: [String]) -> String? {
        do throws(UsageError) {
            try read.requireUntouched(by: outputs)
            return nil
        } catch {
            return "\(error)"
        }
    }

    @Test("What would replace one is refused, whatever it is called")
    func names() throws {
        try withScratchFolder { folder in
            try makeFile("\(folder)/a.png")
            try makeFile("\(folder)/b.png")
            symlink("a.png", "\(folder)/link.png")
            symlink(folder, "\(folder)/here")
            link("\(folder)/a.png", "\(folder)/hard.png")
            var read = ReadFiles()
            read.add("\(folder)/a.png", "the photograph a.png")
            for name in ["a.png", "./a.png", "/a.png", "here/a.png", "link.png", "hard.png"] {
                let text = refusal(read, ["\(folder)/none.png", "\(folder)/b.png", "\(folder)/\(name)"])
                #expect(text?.contains("\(name) would replace the photograph a.png; choose") == true, "\(name)")
            }
            #expect(refusal(read, ["\(folder)/b.png", "\(folder)/none.png", "\(folder)"]) == nil)
        }
    }

    @Test("Two outputs that are one file are refused; what is not there yet is no file")
    func links() throws {
        try withScratchFolder { folder in
            try makeFile("\(folder)/b.png")
            symlink("b.png", "\(folder)/a.png")
            let outputs = ["\(folder)/a.png", "\(folder)/b.png"]
            #expect(refusal(ReadFiles(), outputs)?.contains("are one file, by a link") == true)
            #expect(refusal(ReadFiles(), [outputs[0], outputs[0]]) == nil)
            unlink("\(folder)/a.png")
            #expect(refusal(ReadFiles(), outputs) == nil)
        }
    }

    @Test("Pipes and devices may be read and written")
    func devices() {
        var read = ReadFiles()
        read.add("/dev/null", "nothing")
        #expect(refusal(read, ["/dev/null"]) == nil)
    }
}
