import Base
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

    /// Writes a line to standard output. Where that is not possible, the program ends: with a message, unless nobody
    /// wants to read on.
    static func print(_ line: String) {
        if writeAll(STDOUT_FILENO, line + "\n") { return }
        if errno != EPIPE {
            report("silhouette: standard output: cannot be written: \(lastSystemError())")
        }
        // At once: exit handlers would take the graphics driver down under threads that are at work in it.
        _exit(ExitCode.failure.rawValue)
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

/// A message that stays one line and does not steer the terminal, whatever names it quotes: control characters, and
/// those that turn the direction of text around, are written as `\n`, `\t`, `\u{1B}`.
package func singleLine(_ message: String) -> String {
    guard message.unicodeScalars.contains(where: \.steersText) else { return message }
    return message.unicodeScalars.map { scalar in
        guard scalar.steersText else { return String(scalar) }
        return scalar.value < 0x80
            ? scalar.escaped(asASCII: false) : "\\u{\(String(scalar.value, radix: 16, uppercase: true))}"
    }.joined()
}

extension Unicode.Scalar {
    /// Whether it begins a line, moves a terminal's cursor or turns the direction of the text around it. Other marks
    /// without a look of their own belong to many scripts, and stay.
    var steersText: Bool {
        switch properties.generalCategory {
        case .control, .lineSeparator, .paragraphSeparator: true
        default: properties.isBidiControl
        }
    }
}

/// How the program ends.
enum ExitCode: Int32 {
    /// Everything was done.
    case success = 0
    /// Something could not be done; a message said what.
    case failure = 1
    /// The command line could not be obeyed; nothing was done.
    case usage = 2
    /// A signal ended the work before its time.
    case interrupted = 130
}
