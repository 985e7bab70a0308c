import Base
import CSystem
import Glibc

/// How a program ended.
package enum ChildEnding: Equatable, Sendable {
    /// By itself, with an exit code.
    case exited(Int32)
    /// By a signal.
    case signalled(Int32)
}

/// A program that runs beside this one, what it reads and what it writes.
///
/// It is ended, and waited for, when this value goes away.
package struct ChildProcess: ~Copyable {
    /// What a standard stream of the program leads to.
    package enum Stream: Sendable {
        /// Nowhere: nothing comes from it, what is written is lost.
        case nothing
        /// To this program, through a pipe.
        case pipe
        /// To what this program has open.
        case descriptor(Int32)
    }

    /// Where its standard input is written to; -1 where that is no pipe, or is closed.
    package private(set) var input: Int32
    /// What it writes to its standard output; -1 where that is no pipe.
    package let output: Int32
    /// What it complains of.
    package let errors: Int32
    /// Its number, for signals. It may be another program's once `wait` has returned.
    package let id: pid_t
    private var isRunning = true

    /// Starts a program that is found on the path.
    ///
    /// - Parameters:
    ///   - arguments: Its name, and what follows it.
    ///   - open: Descriptors that it gets as 3, 4 and so on.
    ///   - limits: What it may take.
    package init(
        _ arguments: [String], input: Stream = .nothing, output: Stream = .pipe, open: [Int32] = [],
        limits: ChildLimits = ChildLimits()
    ) throws(VideoError) {
        var pipes = Pipes()
        let inputEnds = try pipes.ends(of: input, isInput: true)
        let outputEnds = try pipes.ends(of: output, isInput: false)
        let errorEnds = try pipes.ends(of: .pipe, isInput: false)
        // Copies above all numbers that the program gets, so that none is overwritten before it is handed on. No higher: the
        // system refuses numbers that are above its limit of open files.
        let lowest = STDERR_FILENO + 1 + Int32(open.count)
        var copies: [Int32] = []
        defer { copies.forEach { _ = close($0) } }
        for descriptor in open {
            let copy = fcntl(descriptor, F_DUPFD_CLOEXEC, lowest)
            // A number above the limit is invalid for it, and not one too many.
            guard copy >= 0 else {
                let reason = errno == EINVAL ? systemErrorText(EMFILE) : lastSystemError()
                throw VideoError("\(arguments[0]) does not start: no file can be handed to it: \(reason)")
            }
            copies.append(copy)
        }

        var actions = posix_spawn_file_actions_t()
        posix_spawn_file_actions_init(&actions)
        defer { posix_spawn_file_actions_destroy(&actions) }
        if inputEnds.theirs >= 0 {
            posix_spawn_file_actions_adddup2(&actions, inputEnds.theirs, STDIN_FILENO)
        } else {
            posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0)
        }
        if outputEnds.theirs >= 0 {
            posix_spawn_file_actions_adddup2(&actions, outputEnds.theirs, STDOUT_FILENO)
        } else {
            posix_spawn_file_actions_addopen(&actions, STDOUT_FILENO, "/dev/null", O_WRONLY, 0)
        }
        posix_spawn_file_actions_adddup2(&actions, errorEnds.theirs, STDERR_FILENO)
        for (index, copy) in copies.enumerated() {
            posix_spawn_file_actions_adddup2(&actions, copy, 3 + Int32(index))
        }
        // What libraries have opened is not for it.
        posix_spawn_file_actions_addclosefrom_np(&actions, 3 + Int32(copies.count))
        // Signals that this program ignores are not ignored there, and Ctrl-C is for this program: it ends that one.
        var attributes = posix_spawnattr_t()
        posix_spawnattr_init(&attributes)
        defer { posix_spawnattr_destroy(&attributes) }
        var signals = sigset_t()
        sigemptyset(&signals)
        for signal in [SIGINT, SIGTERM, SIGPIPE, SIGXFSZ] { sigaddset(&signals, signal) }
        posix_spawnattr_setsigdefault(&attributes, &signals)
        // Threads of Dispatch have all signals blocked, and a program takes that over: it could not be ended well.
        var blocked = sigset_t()
        sigemptyset(&blocked)
        posix_spawnattr_setsigmask(&attributes, &blocked)
        let flags = POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETPGROUP
        posix_spawnattr_setflags(&attributes, Int16(flags))

        var id: pid_t = 0
        let words = arguments.map { strdup($0) } + [nil]
        let failure = posix_spawnp(&id, arguments[0], &actions, &attributes, words, environ)
        words.forEach { free($0) }
        guard failure == 0 else {
            let program = arguments[0]
            throw VideoError(
                failure == ENOENT
                    ? "the program \(program) is needed and not installed (apt-get install \(Self.package(of: program)))"
                    : "\(program) does not start: \(systemErrorText(failure))"
                        + (failure == EAGAIN ? "; ulimit -u or the container's limits are too low" : ""))
        }
        limits.impose(on: id)
        pipes.keepOurs()
        self.id = id
        self.input = inputEnds.ours
        self.output = outputEnds.ours
        self.errors = errorEnds.ours
    }

    /// Tells the program that nothing more comes.
    package mutating func closeInput() {
        if input >= 0 { close(input) }
        input = -1
    }

    /// Ends the program at once.
    package func kill() { Glibc.kill(id, SIGKILL) }

    /// Waits until the program has ended.
    package mutating func wait() -> ChildEnding {
        precondition(isRunning, "a program ends once")
        let status = Self.waitFor(id)
        isRunning = false
        return status & 0x7f == 0 ? .exited(status >> 8 & 0xff) : .signalled(status & 0x7f)
    }

    deinit {
        if isRunning {
            kill()
            _ = Self.waitFor(id)
        }
        for descriptor in [input, output, errors] where descriptor >= 0 { close(descriptor) }
    }

    private static func waitFor(_ id: pid_t) -> Int32 {
        var status: Int32 = 0
        while waitpid(id, &status, 0) < 0, errno == EINTR {}
        return status
    }

    /// Debian's package of a program.
    private static func package(of program: String) -> String { program == "ffprobe" ? "ffmpeg" : program }
}

/// The pipes of a program that is about to start: theirs are closed here in any case, ours where it does not start.
private struct Pipes: ~Copyable {
    private var ours: [Int32] = []
    private var theirs: [Int32] = []

    mutating func ends(of stream: ChildProcess.Stream, isInput: Bool) throws(VideoError) -> (ours: Int32, theirs: Int32)
    {
        switch stream {
        case .nothing: return (-1, -1)
        case .descriptor(let descriptor): return (-1, descriptor)
        case .pipe:
            var ends: [Int32] = [-1, -1]
            guard pipe2(&ends, O_CLOEXEC) == 0 else {
                throw VideoError("no pipe can be had to another program: \(lastSystemError())")
            }
            // Frames are large: fewer turns from one program to the other. Where it is refused, it goes without.
            _ = fcntl(ends[0], F_SETPIPE_SZ, Int32(1 << 20))
            let (our, their) = isInput ? (ends[1], ends[0]) : (ends[0], ends[1])
            ours.append(our)
            theirs.append(their)
            return (our, their)
        }
    }

    mutating func keepOurs() { ours = [] }

    deinit { (ours + theirs).forEach { _ = close($0) } }
}

/// `F_SETPIPE_SZ`, whose definition Swift does not import.
private let F_SETPIPE_SZ: Int32 = 1031
