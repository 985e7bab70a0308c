import Base
import Dispatch
import PreviewProtocol

/// Something that has a turn in the network.
protocol PipelineJob: Sendable {
    /// Whether decoding takes so long that others should not have to wait for it.
    var isLarge: Bool { get }

    /// Prepares for the network.
    func decode() throws(ProtocolError)

    /// Runs through the network.
    ///
    /// - Parameter leaveNetwork: Called once, when the network is free for the next one.
    func run(leaveNetwork: @escaping @Sendable () -> Void)

    /// Told that a newer one of the same client came.
    func drop()

    /// Told that it cannot be decoded.
    func fail(_ error: ProtocolError)
}

/// Decodes frames and runs them through the networks of one device, each on threads of its own, in the order that
/// `FairSchedule` gives.
final class FramePipeline: Sendable {
    private let schedule: Locked<FairSchedule<any PipelineJob>>
    private let decoders = DispatchQueue(label: "silhouette.decode", qos: .userInitiated, attributes: .concurrent)
    private let largeDecoder = DispatchQueue(label: "silhouette.decode-large", qos: .userInitiated)

    /// - Parameter networkLimit: Frames that the device works on at once.
    init(networkLimit: Int) {
        schedule = Locked(FairSchedule(preparedLimit: networkLimit + 1, networkLimit: networkLimit))
    }

    /// Adds somebody who has frames.
    func addClient() -> Int { schedule.withLock { $0.addClient() } }

    /// Forgets a client and its frames.
    ///
    /// - Returns: Those that are not in the network; nobody else answers them.
    @discardableResult
    func removeClient(_ id: Int) -> [any PipelineJob] {
        let jobs = schedule.withLock { $0.removeClient(id) }
        // They may have kept others from being decoded.
        advance()
        return jobs
    }

    /// Hands in a frame. One that it replaces is reported as dropped.
    func submit(_ job: any PipelineJob, of client: Int) {
        schedule.withLock { $0.submit(job, of: client, isLarge: job.isLarge) }?.drop()
        advance()
    }

    /// Waits for a turn among the frames and calls `body` in it, while the network is its own.
    func inTurn(_ body: () -> Void) {
        let turn = Turn()
        let client = addClient()
        submit(turn, of: client)
        let leave = turn.wait()
        body()
        leave()
        removeClient(client)
    }

    /// Starts what can be started.
    private func advance() {
        while let (job, client, ticket) = schedule.withLock({ $0.takeForDecoding() }) {
            let isLarge = job.isLarge
            (isLarge ? largeDecoder : decoders).async { [self] in
                let outcome =
                    isLarge
                    ? runAtBackgroundPriority { Result { () throws(ProtocolError) in try job.decode() } }
                    : Result { () throws(ProtocolError) in try job.decode() }
                let failure: ProtocolError? = if case .failure(let error) = outcome { error } else { nil }
                let isWanted = schedule.withLock {
                    $0.finishDecoding(of: client, ticket: ticket, succeeded: failure == nil)
                }
                // One that was replaced meanwhile has had its answer.
                if let failure, isWanted { job.fail(failure) }
                advance()
            }
        }
        while let (job, client) = schedule.withLock({ $0.takeForNetwork() }) {
            job.run { [self] in
                schedule.withLock { $0.finishNetwork(of: client) }
                advance()
            }
        }
    }
}

/// Somebody who waits for the network and has nothing to decode.
private final class Turn: PipelineJob {
    private let begun = DispatchSemaphore(value: 0)
    private let leave = Locked<(@Sendable () -> Void)?>(nil)

    var isLarge: Bool { false }

    func decode() {}

    func run(leaveNetwork: @escaping @Sendable () -> Void) {
        leave.withLock { $0 = leaveNetwork }
        begun.signal()
    }

    // A client with one job is not overtaken.
    func drop() {}
    func fail(_ error: ProtocolError) {}

    /// Waits until the network is free.
    ///
    /// - Returns: To be called when the network is free for the next one.
    func wait() -> @Sendable () -> Void {
        begun.wait()
        let leave = leave.withLock { leave -> (@Sendable () -> Void)? in leave }
        guard let leave else { preconditionFailure("a turn that did not begin") }
        return leave
    }
}
