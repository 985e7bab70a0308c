/// What waits to be sent on one connection: the newest frames' messages, never a growing queue, and short notices.
///
/// A pure value without sockets, so that its rules can be tested alone.
package struct Outbox<Message> {
    /// All messages of one frame.
    package struct MessageSet {
        package var sequence: UInt32
        package var timestamp: UInt64
        package var messages: [Message]

        package init(sequence: UInt32, timestamp: UInt64, messages: [Message]) {
            self.sequence = sequence
            self.timestamp = timestamp
            self.messages = messages
        }
    }

    /// Frames that may wait where the other side keeps up: as many as a page may have in flight.
    package static var frameLimit: Int { 2 }

    /// Notices beyond which nothing more should be read from a connection that takes none of them.
    package static var noticeLimit: Int { 32 }

    private var notices: [Message] = []
    private var current: ArraySlice<Message> = []
    private var frames: [MessageSet] = []
    /// Whether a message was taken and it is not known yet whether the other side has room for the next.
    private var isSending = false

    /// An empty outbox.
    package init() {}

    /// Whether nothing waits.
    package var isEmpty: Bool { notices.isEmpty && current.isEmpty && frames.isEmpty }

    /// Whether the other side takes nothing.
    package var isBackedUp: Bool { notices.count >= Self.noticeLimit }

    /// Adds a message that must arrive.
    package mutating func post(_ notice: Message) { notices.append(notice) }

    /// Adds a frame's messages. Where the other side is slow they replace those of older frames that wait.
    ///
    /// - Returns: The frames whose messages are not sent.
    package mutating func post(_ frame: MessageSet) -> [MessageSet] {
        // One that comes late goes before a newer one.
        let position = frames.lastIndex { $0.sequence < frame.sequence }.map { $0 + 1 } ?? 0
        frames.insert(frame, at: position)
        let surplus = frames.count - (isSending ? 1 : Self.frameLimit)
        guard surplus > 0 else { return [] }
        defer { frames.removeFirst(surplus) }
        return Array(frames[..<surplus])
    }

    /// The message to send now, when the other side has room: a frame that is under way is finished first, then come
    /// notices, then the next frame.
    ///
    /// - Returns: Nil where nothing waits.
    package mutating func next() -> Message? {
        let message = take()
        isSending = message != nil
        return message
    }

    private mutating func take() -> Message? {
        if let message = current.popFirst() { return message }
        if !notices.isEmpty { return notices.removeFirst() }
        guard !frames.isEmpty else { return nil }
        current = frames.removeFirst().messages[...]
        return current.popFirst()
    }
}
