import Base
import PreviewProtocol

/// Gives the frames of the server's own source to all pages: what several want the same way is computed once.
final class Broadcast: Sendable {
    private struct Viewer {
        let output: SessionOutput
        let plan: OutputPlan
        var pace: RateLimiter?
    }

    private struct State {
        var viewers: [ObjectIdentifier: Viewer] = [:]
        /// Where frames go for each plan that somebody has, and what it is called there.
        var lanes: [ObjectIdentifier: (pipeline: DevicePipeline, client: Int)] = [:]
        var sequence: UInt32 = 0
        var lastTimestamp: UInt64 = 0

        /// Leaves the lanes whose plan nobody has any more.
        ///
        /// - Returns: Frames that were waiting in them.
        mutating func leaveUnusedLanes() -> [any PipelineJob] {
            let used = Set(viewers.values.map { ObjectIdentifier($0.plan) })
            return lanes.keys.filter { !used.contains($0) }.flatMap { key -> [any PipelineJob] in
                guard let lane = lanes.removeValue(forKey: key) else { return [] }
                return lane.pipeline.removeClient(lane.client)
            }
        }
    }

    /// What is played, for people.
    let name: String
    private let state = Locked(State())

    init(name: String) { self.name = name }

    /// Whether nobody watches.
    var isUnwatched: Bool { state.withLock { $0.viewers.isEmpty } }

    /// Adds a page, or changes what it wants.
    ///
    /// - Parameter pipeline: Of the plan's device.
    func add(_ output: SessionOutput, _ plan: OutputPlan, pipeline: DevicePipeline, pace: RateLimiter?) {
        let jobs = state.withLock { state in
            // Equal settings share one plan, and with it one run of the network.
            let shared = state.viewers.values.first { $0.plan.gives(theSameAs: plan) }?.plan ?? plan
            state.viewers[ObjectIdentifier(output)] = Viewer(output: output, plan: shared, pace: pace)
            if state.lanes[ObjectIdentifier(shared)] == nil {
                state.lanes[ObjectIdentifier(shared)] = (pipeline, pipeline.addClient())
            }
            return state.leaveUnusedLanes()
        }
        for job in jobs { job.drop() }
    }

    /// Forgets a page.
    func remove(_ output: SessionOutput) {
        let jobs = state.withLock { state in
            state.viewers[ObjectIdentifier(output)] = nil
            return state.leaveUnusedLanes()
        }
        for job in jobs { job.drop() }
    }

    /// Tells all who watch that something is wrong.
    func tell(_ error: ProtocolError) {
        for viewer in state.withLock({ Array($0.viewers.values) }) { viewer.output.refuse(error, sequence: 0) }
    }

    /// Sends a frame with its masks to all who watch.
    ///
    /// - Parameter file: JPEG.
    func show(_ file: [UInt8], width: Int, height: Int, microseconds: UInt64) {
        let now = ContinuousClock.now
        let turns = state.withLock { state -> [(job: PreviewJob, pipeline: DevicePipeline, client: Int)] in
            state.sequence &+= 1
            if state.sequence == 0 { state.sequence = 1 }
            let timestamp = max(microseconds, state.lastTimestamp + 1)
            state.lastTimestamp = timestamp
            var audiences: [ObjectIdentifier: (plan: OutputPlan, outputs: [SessionOutput])] = [:]
            for key in state.viewers.keys {
                guard state.viewers[key]?.pace?.admits(at: now) ?? true, let viewer = state.viewers[key] else {
                    continue
                }
                audiences[ObjectIdentifier(viewer.plan), default: (viewer.plan, [])].outputs.append(viewer.output)
            }
            // Decoded once, however many want it.
            let picture = EncodedPicture(
                header: MessageHeader(
                    kind: .frame, encoding: .jpeg, sequence: state.sequence, payloadByteCount: file.count,
                    timestamp: timestamp, width: UInt32(width), height: UInt32(height)),
                payload: file[...])
            return audiences.compactMap { key, audience in
                guard let lane = state.lanes[key] else { return nil }
                let job = PreviewJob(
                    picture, plan: audience.plan, outputs: audience.outputs, arrival: now, showsPicture: true)
                return (job, lane.pipeline, lane.client)
            }
        }
        for turn in turns { turn.pipeline.submit(turn.job, of: turn.client) }
    }
}
