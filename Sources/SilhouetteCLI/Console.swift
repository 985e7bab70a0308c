import Glibc

/// The program's two output streams, written without buffering.
///
/// `SIGPIPE` is ignored by `main`, so that a reader that goes away is an error code here and no sudden death.
enum Console {
    /// Fills the places of standard streams that the program was started without.
    ///
    /// The next file that is opened would take such a place, and messages would be written into a result. What is put
    /// there refuses reads and writes as a closed stream does.
    static func occupyStandardStreams() {
        for descriptor in [STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO] where fcntl(descriptor, F_GETFD) < 0 {
            // The lowest free number is given: this one, as those below it are taken.
            _ = open("/dev/null", descriptor == STDIN_FILENO ? O_WRONLY : O_RDONLY)
        }
    }

    /// Whether error messages are seen by a person.
    static var isTerminal: Bool { isatty(STDERR_FILENO) == 1 }

    /// Writes a line to standard output. A closed output ends the program: nobody reads on.
    static func print(_ line: String) {
        // At once: exit handlers would take the graphics driver down under threads that are at work in it.
        if !writeAll(STDOUT_FILENO, line + "\n") { _exit(ExitCode.failure.rawValue) }
    }

    /// Writes a message to standard error.
    static func report(_ message: String) { _ = writeAll(STDERR_FILENO, message + "\n") }

    /// Writes text as it is to standard error.
    static func reportRaw(_ text: String) { _ = writeAll(STDERR_FILENO, text) }

    private static func writeAll(_ descriptor: Int32, _ text: String) -> Bool {
        var text = text
        return text.withUTF8 { bytes in
            var rest = UnsafeRawBufferPointer(bytes)
            while !rest.isEmpty {
                let count = Glibc.write(descriptor, rest.baseAddress, rest.count)
                if count < 0 {
                    if errno == EINTR { continue }
                    return false
                }
                rest = UnsafeRawBufferPointer(rebasing: rest[count...])
            }
            return true
        }
    }
}

/// A message that stays one line and does not steer the terminal, whatever names it quotes: control characters are
/// written as `\n`, `\t`, `\u{1B}`.
package func singleLine(_ message: String) -> String {
    guard message.unicodeScalars.contains(where: { $0.properties.generalCategory == .control }) else { return message }
    return message.unicodeScalars.map { scalar in
        scalar.properties.generalCategory == .control ? scalar.escaped(asASCII: false) : String(scalar)
    }.joined()
}

/// How the program ends.
enum ExitCode: Int32 {
    /// Everything was done.
    case success = 0
    /// Something could not be done; a message said what.
    case failure = 1
    /// The command line could not be obeyed; nothing was done.
    case usage = 2
}
