import Base
import PreviewProtocol

/// What goes to one page. Any thread posts; the service thread sends.
final class SessionOutput: Sendable {
    private struct State {
        var outbox = Outbox<WireMessage>()
        var droppedFrames = 0
        /// The status to close with once all is sent.
        var closeCode: UInt16?
        /// Whether the service thread has been told that something waits.
        var isAnnounced = false
    }

    let metrics: Metrics
    /// Whether the page only watches: it is not told of single frames that it misses, since it did not send them.
    private let isViewer: Bool
    /// The version of the protocol that the page speaks.
    private let version: UInt8
    private let state = Locked(State())
    private let announce: @Sendable () -> Void

    /// - Parameter announce: Tells the service thread that something waits to be sent.
    init(metrics: Metrics, isViewer: Bool, version: UInt8, announce: @escaping @Sendable () -> Void) {
        self.metrics = metrics
        self.isViewer = isViewer
        self.version = version
        self.announce = announce
    }

    /// Frames of this page that were dropped.
    var droppedFrameCount: Int { state.withLock { $0.droppedFrames } }

    /// Whether the page takes nothing of what is sent.
    var isBackedUp: Bool { state.withLock { $0.outbox.isBackedUp } }

    /// The status to close with, and that all before it was sent.
    var closeCode: UInt16? { state.withLock { $0.outbox.isEmpty ? $0.closeCode : nil } }

    /// Whether nothing more will be taken from the page.
    var isClosing: Bool { state.withLock { $0.closeCode != nil } }

    /// Sends a message that must arrive.
    func send(_ message: PreviewMessage) {
        let message = WireMessage(message, version: version)
        change { $0.outbox.post(message) }
    }

    /// Sends a frame's messages, unless those of a newer one come first.
    func send(_ messages: [WireMessage], sequence: UInt32, timestamp: UInt64) {
        var replaced: [Outbox<WireMessage>.MessageSet] = []
        change { replaced = $0.outbox.post(.init(sequence: sequence, timestamp: timestamp, messages: messages)) }
        for frame in replaced { dropped(frame.sequence, timestamp: frame.timestamp) }
    }

    /// Tells that a frame was dropped.
    func dropped(_ sequence: UInt32, timestamp: UInt64) {
        metrics.count { $0.framesDropped += 1 }
        guard !isViewer else { return state.withLock { $0.droppedFrames += 1 } }
        let notice = WireMessage(
            PreviewMessage(.dropped, .none, sequence: sequence, timestamp: timestamp), version: version)
        change { state in
            state.droppedFrames += 1
            state.outbox.post(notice)
        }
    }

    /// Tells what is wrong with a frame or message, and ends the connection where nothing can follow.
    func refuse(_ error: ProtocolError, sequence: UInt32, timestamp: UInt64 = 0) {
        metrics.count { $0.errors[error.code.rawValue, default: 0] += 1 }
        let notice = WireMessage(
            PreviewMessage(.error, json: error.json, sequence: sequence, timestamp: timestamp), version: version)
        change { state in
            // A viewer that takes nothing must not gather notices; one that sends frames is not read from meanwhile.
            if !isViewer || !state.outbox.isBackedUp { state.outbox.post(notice) }
            if let code = error.closeCode, state.closeCode == nil { state.closeCode = code }
        }
    }

    /// Ends the connection once what waits is sent.
    func close(_ code: UInt16) {
        change { if $0.closeCode == nil { $0.closeCode = code } }
    }

    /// The message to send now, for the service thread.
    func next() -> WireMessage? {
        state.withLock { state in
            state.isAnnounced = false
            return state.outbox.next()
        }
    }

    /// Whether anything is left to do.
    var hasWork: Bool { state.withLock { !$0.outbox.isEmpty || $0.closeCode != nil } }

    private func change(_ body: (inout State) -> Void) {
        let isNew = state.withLock { state in
            body(&state)
            defer { state.isAnnounced = true }
            return !state.isAnnounced
        }
        if isNew { announce() }
    }
}
