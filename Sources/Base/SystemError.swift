import Glibc

/// What the system refused, in words.
package struct SystemError: Error, CustomStringConvertible {
    package let description: String

    package init(_ description: String) { self.description = description }
}

/// What a number of `errno` means, and how a limit is raised where that can be done.
package func systemErrorText(_ number: Int32) -> String {
    let text = String(cString: strerror(number))
    return number == EMFILE ? text + " (ulimit -n raises the limit)" : text
}

/// Why the system's last call failed.
package func lastSystemError() -> String { systemErrorText(errno) }
