/// What waits to be sent on one connection: never more than the newest frame's messages, and short notices.
///
/// A pure value without sockets, so that its rules can be tested alone.
package struct Outbox<Message> {
    /// All messages of one frame.
    package struct FrameSet {
        package var sequence: UInt32
        package var timestamp: UInt64
        package var messages: [Message]

        package init(sequence: UInt32, timestamp: UInt64, messages: [Message]) {
            self.sequence = sequence
            self.timestamp = timestamp
            self.messages = messages
        }
    }

    /// Notices beyond which nothing more should be read from a connection that takes none of them.
    package static var noticeLimit: Int { 32 }

    private var notices: [Message] = []
    private var current: ArraySlice<Message> = []
    private var newest: FrameSet?

    /// An empty outbox.
    package init() {}

    /// Whether nothing waits.
    package var isEmpty: Bool { notices.isEmpty && current.isEmpty && newest == nil }

    /// Whether the other side takes nothing.
    package var isBackedUp: Bool { notices.count >= Self.noticeLimit }

    /// Adds a message that must arrive.
    package mutating func post(_ notice: Message) { notices.append(notice) }

    /// Adds a frame's messages in place of those that wait, unless those are of a later frame.
    ///
    /// - Returns: The frame whose messages are not sent.
    package mutating func post(_ set: FrameSet) -> FrameSet? {
        guard let waiting = newest else {
            newest = set
            return nil
        }
        if waiting.sequence > set.sequence { return set }
        newest = set
        return waiting
    }

    /// The message to send now: a frame that is under way is finished first, then come notices, then the next frame.
    package mutating func next() -> Message? {
        if let message = current.popFirst() { return message }
        if !notices.isEmpty { return notices.removeFirst() }
        guard let set = newest else { return nil }
        newest = nil
        current = set.messages[...]
        return current.popFirst()
    }
}
