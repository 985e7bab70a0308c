import Base
import PreviewProtocol

/// Gives the frames of the server's own source to all pages: what several want the same way is computed once.
final class Broadcast: Sendable {
    private struct Viewer {
        let output: SessionOutput
        let program: FrameProgram
        var pace: RateLimiter?
    }

    private struct State {
        var viewers: [ObjectIdentifier: Viewer] = [:]
        var sequence: UInt32 = 0
        var lastTimestamp: UInt64 = 0
    }

    /// What is played, for people.
    let name: String
    private let pipeline: FramePipeline
    private let client: Int
    private let state = Locked(State())

    init(name: String, pipeline: FramePipeline) {
        self.name = name
        self.pipeline = pipeline
        client = pipeline.addClient()
    }

    /// Whether nobody watches.
    var isUnwatched: Bool { state.withLock { $0.viewers.isEmpty } }

    /// Adds a page, or changes what it wants.
    func add(_ output: SessionOutput, _ program: FrameProgram, pace: RateLimiter?) {
        state.withLock { state in
            // Equal settings share one program, and with it one run of the network.
            let shared = state.viewers.values.first { $0.program.gives(theSameAs: program) }?.program ?? program
            state.viewers[ObjectIdentifier(output)] = Viewer(output: output, program: shared, pace: pace)
        }
    }

    /// Forgets a page.
    func remove(_ output: SessionOutput) {
        state.withLock { $0.viewers[ObjectIdentifier(output)] = nil }
    }

    /// Tells all who watch that something is wrong.
    func tell(_ error: ProtocolError) {
        for viewer in state.withLock({ Array($0.viewers.values) }) { viewer.output.refuse(error, sequence: 0) }
    }

    /// Sends a frame with its masks to all who watch.
    ///
    /// - Parameter message: Room for a header, and behind it a JPEG file.
    func show(_ message: [UInt8], width: Int, height: Int, microseconds: UInt64) {
        let now = ContinuousClock.now
        let job = state.withLock { state -> FrameJob? in
            state.sequence &+= 1
            if state.sequence == 0 { state.sequence = 1 }
            let timestamp = max(microseconds, state.lastTimestamp + 1)
            state.lastTimestamp = timestamp
            var audiences: [ObjectIdentifier: (FrameProgram, [SessionOutput])] = [:]
            for key in state.viewers.keys {
                guard state.viewers[key]?.pace?.admits(at: now) ?? true, let viewer = state.viewers[key] else {
                    continue
                }
                audiences[ObjectIdentifier(viewer.program), default: (viewer.program, [])].1.append(viewer.output)
            }
            guard !audiences.isEmpty else { return nil }
            let header = MessageHeader(
                kind: .frame, encoding: .jpeg, sequence: state.sequence,
                payloadByteCount: message.count - MessageHeader.byteCount, timestamp: timestamp, width: UInt32(width),
                height: UInt32(height))
            return FrameJob(
                EncodedPicture(header: header, message: message, share: nil),
                audiences: audiences.values.map { FrameJob.Audience(program: $0, outputs: $1) }, arrival: now,
                showsPicture: true)
        }
        if let job { pipeline.submit(job, of: client) }
    }
}
