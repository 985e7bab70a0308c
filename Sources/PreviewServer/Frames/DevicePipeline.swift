import Base
import Glibc
import PreviewProtocol

/// Something that has a turn in the network.
package protocol PipelineJob: Sendable {
    /// Whether decoding takes so long that others should not have to wait for it.
    var isLarge: Bool { get }

    /// Prepares for the network.
    func decode() throws(ProtocolError)

    /// Runs through the network.
    func run()

    /// Tells what came of that, while the network goes on.
    func answer()

    /// Told that it is not run: a newer one of the same client came, or the server ends.
    func drop()

    /// Told that it cannot be decoded.
    func fail(_ error: ProtocolError)
}

/// Decodes frames, runs them through the networks of one device and answers them, in the order that `FairSchedule` gives.
///
/// All its threads do the same: each takes the next step that the schedule allows, whatever it is. There are as many as there may
/// be steps at once, so no step waits for a thread.
package final class DevicePipeline: Sendable {
    private enum Step {
        case decode(any PipelineJob, client: Int, ticket: Int)
        case run(any PipelineJob, client: Int)
        case answer(any PipelineJob, client: Int)
        case end
    }

    private struct State {
        var schedule: FairSchedule<any PipelineJob>
        var isStopping = false

        mutating func takeStep() -> Step? {
            if isStopping { return .end }
            if let (job, client) = schedule.takeForNetwork() { return .run(job, client: client) }
            if let (job, client) = schedule.takeForAnswer() { return .answer(job, client: client) }
            if let (job, client, ticket) = schedule.takeForDecoding() {
                return .decode(job, client: client, ticket: ticket)
            }
            return nil
        }
    }

    /// The threads have this and not the pipeline, which ends them when nobody holds it any more.
    private let state: Locked<State>

    /// - Parameter networkLimit: Frames that the device works on at once.
    /// - Throws: `SystemError` where the system has no thread left.
    package init(networkLimit: Int) throws(SystemError) {
        let (preparedLimit, answerLimit) = (networkLimit + 1, Self.answerLimit)
        let state = Locked(
            State(
                schedule: FairSchedule(
                    preparedLimit: preparedLimit, networkLimit: networkLimit, answerLimit: answerLimit)))
        self.state = state
        for _ in 0..<preparedLimit + networkLimit + answerLimit {
            try SystemThread(name: "frames") { Self.work(state) }.detach()
        }
    }

    /// Messages of one frame after the other take a tenth of a millisecond, drawn overlays tens of them: so all processors may be
    /// at it, but for more there is no use.
    private static var answerLimit: Int { min(max(2, sysconf(Int32(_SC_NPROCESSORS_ONLN))), 8) }

    deinit { stop() }

    /// Ends: no step begins any more, frames that wait for one are dropped, as are those that still come. A frame that a device
    /// does not come back from holds up nobody.
    package func stop() {
        let jobs = state.update { state in
            state.isStopping = true
            return state.schedule.removeAll()
        }
        for job in jobs { job.drop() }
    }

    /// Adds somebody who has frames.
    package func addClient() -> Int { state.withLock { $0.schedule.addClient() } }

    /// Forgets a client and its frames.
    ///
    /// - Returns: Those that have not come into the network; nobody else answers them.
    @discardableResult
    package func removeClient(_ id: Int) -> [any PipelineJob] {
        // They may have kept others from being decoded.
        state.update { $0.schedule.removeClient(id) }
    }

    /// Hands in a frame. One that it replaces is reported as dropped.
    package func submit(_ job: any PipelineJob, of client: Int) {
        let dropped = state.update { state in
            state.isStopping ? job : state.schedule.submit(job, of: client, isLarge: job.isLarge)
        }
        dropped?.drop()
    }

    /// Waits for a turn among the frames and calls `body` in it, while the network is its own.
    package func inTurn(_ body: () -> Void) {
        let turn = Turn()
        let client = addClient()
        submit(turn, of: client)
        turn.wait()
        body()
        turn.end()
        removeClient(client)
    }

    private static func work(_ state: Locked<State>) {
        while true {
            switch state.wait({ $0.takeStep() }) {
            case .decode(let job, let client, let ticket):
                let failure = decode(job)
                let isWanted = state.update {
                    $0.schedule.finishDecoding(of: client, ticket: ticket, succeeded: failure == nil)
                }
                // One that was replaced meanwhile has had its answer.
                if let failure, isWanted { job.fail(failure) }
            case .run(let job, let client):
                job.run()
                let isStopping = state.update { state in
                    if !state.isStopping { state.schedule.finishNetwork(job, of: client) }
                    return state.isStopping
                }
                // Nobody takes another step.
                if isStopping { job.drop() }
            case .answer(let job, let client):
                job.answer()
                state.update { $0.schedule.finishAnswer(of: client) }
            case .end: return
            }
        }
    }

    private static func decode(_ job: any PipelineJob) -> ProtocolError? {
        do throws(ProtocolError) {
            guard job.isLarge else {
                try job.decode()
                return nil
            }
            try runAtBackgroundPriority { Result { () throws(ProtocolError) in try job.decode() } }.get()
            return nil
        } catch {
            return error
        }
    }
}

/// Somebody who waits for the network and has nothing to decode and nothing to answer.
private final class Turn: PipelineJob {
    private enum Stage {
        case waiting
        case begun
        case over
    }

    private let stage = Locked(Stage.waiting)

    var isLarge: Bool { false }

    func decode() {}

    /// The network is somebody else's until `end`.
    func run() {
        stage.update { $0 = .begun }
        stage.wait { $0 == .over ? () : nil }
    }

    func answer() {}

    /// The server ends, and nobody takes turns any more: a client with one job is not overtaken.
    func drop() { stage.update { if $0 == .waiting { $0 = .begun } } }

    func fail(_ error: ProtocolError) {}

    /// Waits until the turn begins.
    func wait() { stage.wait { $0 == .waiting ? nil : () } }

    /// Lets others have the network.
    func end() { stage.update { $0 = .over } }
}
