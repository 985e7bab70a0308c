import Foundation

/// What libwebsockets says of failures, to the thread that called it: servers that start side by side do not read each
/// other's reasons.
enum Log {
    private static let key = "silhouette.libwebsockets"

    /// The calling thread's lines since `reset`, at most 20.
    private(set) static var all: [String] {
        get { Thread.current.threadDictionary[key] as? [String] ?? [] }
        set { Thread.current.threadDictionary[key] = newValue }
    }

    static func emit(_ line: UnsafePointer<CChar>?) {
        guard let line else { return }
        all = all.suffix(19) + [String(cString: line).filter { !$0.isNewline }]
    }

    static func reset() { all = [] }

    /// The last line.
    static var last: String { all.last ?? "no reason was given" }
}
