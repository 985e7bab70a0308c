import Glibc

/// What the system refused, in words.
package struct SystemError: Error, CustomStringConvertible {
    package let description: String

    package init(_ description: String) { self.description = description }

    /// That the system gives no thread, nor another process: which limits there are.
    package static func noThread(_ reason: String) -> SystemError {
        SystemError("no thread can be had: \(reason); ulimit -u, ulimit -v or the container's limits are too low")
    }
}

/// What a number of `errno` means, and how a limit is raised where that can be done.
package func systemErrorText(_ number: Int32) -> String {
    let text = String(cString: strerror(number))
    return number == EMFILE ? text + " (ulimit -n raises the limit)" : text
}

/// Why the system's last call failed.
package func lastSystemError() -> String { systemErrorText(errno) }
