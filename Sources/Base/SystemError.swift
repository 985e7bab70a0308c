import Glibc

/// What the system refused, in words.
package struct SystemError: Error, CustomStringConvertible {
    package let description: String

    package init(_ description: String) { self.description = description }
}

/// What a number of `errno` means.
package func systemErrorText(_ number: Int32) -> String { String(cString: strerror(number)) }

/// Why the system's last call failed.
package func lastSystemError() -> String { systemErrorText(errno) }
