import Dispatch
import PreviewProtocol

/// Decodes frames and runs them through the networks of one device, each on threads of its own, in the order that
/// `FairSchedule` gives.
final class FramePipeline: Sendable {
    private let schedule: Guarded<FairSchedule<FrameJob>>
    private let decoders = DispatchQueue(label: "silhouette.decode", qos: .userInitiated, attributes: .concurrent)

    /// - Parameter networkLimit: Frames that the device works on at once.
    init(networkLimit: Int) {
        schedule = Guarded(FairSchedule(preparedLimit: networkLimit + 1, networkLimit: networkLimit))
    }

    /// Adds somebody who has frames.
    func addClient() -> Int { schedule.withLock { $0.addClient() } }

    /// Forgets a client and its frames.
    ///
    /// - Returns: Those that are not in the network; nobody else answers them.
    @discardableResult
    func removeClient(_ id: Int) -> [FrameJob] {
        let jobs = schedule.withLock { $0.removeClient(id) }
        // They may have kept others from being decoded.
        advance()
        return jobs
    }

    /// Hands in a frame. One that it replaces is reported as dropped.
    func submit(_ job: FrameJob, of client: Int) {
        schedule.withLock { $0.submit(job, of: client) }?.drop()
        advance()
    }

    /// Starts what can be started.
    private func advance() {
        while let (job, client, ticket) = schedule.withLock({ $0.takeForDecoding() }) {
            decoders.async { [self] in
                let outcome = Result { () throws(ProtocolError) in try job.decode() }
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
