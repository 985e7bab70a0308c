import CWebSockets
import Glibc

/// A program that runs beside this one, and what it writes.
///
/// Its input is empty. It is ended, and waited for, when this value goes away.
struct ChildProcess: ~Copyable {
    /// What it writes to its standard output.
    let output: Int32
    /// What it complains of.
    let errors: Int32
    private let process: pid_t

    /// Starts a program that is found on the path.
    init(_ arguments: [String]) throws(ServerError) {
        var output: [Int32] = [-1, -1]
        var errors: [Int32] = [-1, -1]
        guard pipe2(&output, O_CLOEXEC) == 0 else { throw ServerError("no pipe: \(lastSystemError())") }
        guard pipe2(&errors, O_CLOEXEC) == 0 else {
            let reason = lastSystemError()
            output.forEach { _ = close($0) }
            throw ServerError("no pipe: \(reason)")
        }
        var actions = posix_spawn_file_actions_t()
        posix_spawn_file_actions_init(&actions)
        defer { posix_spawn_file_actions_destroy(&actions) }
        posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0)
        posix_spawn_file_actions_adddup2(&actions, output[1], STDOUT_FILENO)
        posix_spawn_file_actions_adddup2(&actions, errors[1], STDERR_FILENO)
        // What libraries have opened is not for it.
        posix_spawn_file_actions_addclosefrom_np(&actions, 3)
        // Signals that this program ignores are not ignored there, and Ctrl-C is for this program: it ends that one.
        var attributes = posix_spawnattr_t()
        posix_spawnattr_init(&attributes)
        defer { posix_spawnattr_destroy(&attributes) }
        var signals = sigset_t()
        sigemptyset(&signals)
        for signal in [SIGINT, SIGTERM, SIGPIPE, SIGXFSZ] { sigaddset(&signals, signal) }
        posix_spawnattr_setsigdefault(&attributes, &signals)
        posix_spawnattr_setflags(&attributes, Int16(POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETPGROUP))

        var process: pid_t = 0
        let words = arguments.map { strdup($0) } + [nil]
        let failure = posix_spawnp(&process, arguments[0], &actions, &attributes, words, environ)
        words.forEach { free($0) }
        close(output[1])
        close(errors[1])
        guard failure == 0 else {
            close(output[0])
            close(errors[0])
            throw ServerError(
                failure == ENOENT
                    ? "the program \(arguments[0]) is needed and not installed (apt-get install \(arguments[0]))"
                    : "\(arguments[0]) does not start: \(String(cString: strerror(failure)))")
        }
        self.process = process
        self.output = output[0]
        self.errors = errors[0]
    }

    deinit {
        kill(process, SIGKILL)
        var status: Int32 = 0
        while waitpid(process, &status, 0) < 0, errno == EINTR {}
        close(output)
        close(errors)
    }
}
