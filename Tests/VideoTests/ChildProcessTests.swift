import Foundation
import Testing
import Video

@Suite("Programs beside this one")
struct ChildProcessTests {
    private func text(_ descriptor: Int32) -> String {
        String(
            decoding: FileHandle(fileDescriptor: descriptor, closeOnDealloc: false).readDataToEndOfFile(), as: UTF8.self
        )
    }

    @Test("Input, output, complaints and the exit code")
    func streams() throws {
        var child = try ChildProcess(["sh", "-c", "cat; echo no >&2; exit 3"], input: .pipe)
        _ = "hello".withCString { write(child.input, $0, 5) }
        child.closeInput()
        #expect(text(child.output) == "hello")
        #expect(text(child.errors) == "no\n")
        #expect(child.wait() == .exited(3))
    }

    @Test("A signal is told; ignored signals are not ignored by the program")
    func signals() throws {
        var child = try ChildProcess(["sh", "-c", "kill -PIPE $$"])
        #expect(text(child.output).isEmpty)
        #expect(child.wait() == .signalled(SIGPIPE))
    }

    @Test("It can be ended well, from whatever thread it was started", .timeLimit(.minutes(1)))
    func blockedSignals() throws {
        let ending = try DispatchQueue(label: "test").sync { () throws -> ChildEnding in
            var all = sigset_t()
            var before = sigset_t()
            sigfillset(&all)
            pthread_sigmask(SIG_BLOCK, &all, &before)
            defer { pthread_sigmask(SIG_SETMASK, &before, nil) }
            var child = try ChildProcess(["sleep", "100"])
            kill(child.id, SIGTERM)
            return child.wait()
        }
        #expect(ending == .signalled(SIGTERM))
    }

    @Test("It gets the descriptors that are meant for it, and no others")
    func descriptors() throws {
        let file = open("/tmp", O_TMPFILE_DIRECTORY | O_RDWR, 0o600)
        try #require(file >= 0)
        defer { close(file) }
        let other = open("/dev/null", O_RDONLY)
        defer { close(other) }
        var child = try ChildProcess(["sh", "-c", "echo written >/dev/fd/3; ls /proc/$$/fd"], open: [file])
        #expect(text(child.output).split(separator: "\n").allSatisfy { Int($0)! <= 3 || Int($0)! >= 10 })
        #expect(child.wait() == .exited(0))
        lseek(file, 0, SEEK_SET)
        #expect(text(file) == "written\n")
    }

    @Test("One that does not exist is named, with what to do")
    func absent() {
        let error = #expect(throws: VideoError.self) { _ = try ChildProcess(["silhouette-absent"]) }
        #expect(error?.description.contains("silhouette-absent is needed and not installed") == true)
    }

    @Test("Memory and time of a processor are limited")
    func limits() throws {
        let command = ["sh", "-c", "sleep 0.3; head -c 300000000 /dev/zero | tail -c 300000000 | wc -c"]
        var free = try ChildProcess(command)
        #expect(text(free.output) == "300000000\n")
        #expect(free.wait() == .exited(0))
        // A shell's pipes run in processes of their own, which take its limits over.
        var bounded = try ChildProcess(command, limits: ChildLimits(memoryByteCount: 100 << 20))
        #expect(text(bounded.output) == "0\n")
        #expect(text(bounded.errors).contains("memory"))
        _ = bounded.wait()

        var busy = try ChildProcess(["sh", "-c", "while :; do :; done"], limits: ChildLimits(processorSeconds: 1))
        #expect(busy.wait() == .signalled(SIGXCPU))
    }

    @Test("One that goes on is ended when nobody holds it any more")
    func end() throws {
        let id: pid_t
        do {
            let child = try ChildProcess(["sleep", "100"])
            id = child.id
            #expect(kill(id, 0) == 0)
        }
        #expect(kill(id, 0) < 0)
    }

    /// `O_TMPFILE`.
    private let O_TMPFILE_DIRECTORY: Int32 = 0o20_000_000 | O_DIRECTORY
}
