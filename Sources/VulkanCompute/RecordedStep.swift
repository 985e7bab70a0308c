/// One step of a command buffer: a command, or a barrier between what is before it and what is after it.
package enum RecordedStep: Sendable, Equatable {
    /// What is after it on the device sees what is before.
    case deviceBarrier
    /// The host sees what is before.
    case hostBarrier
    /// The command with this index.
    case command(Int)

    /// The commands in their order, with barriers where their byte ranges conflict, and one at either end.
    ///
    /// - Returns: A barrier on the device first, for what an earlier submission or the host has written, and so that nothing is
    ///   overwritten that an earlier submission still reads. A barrier towards the host last, for what it reads then.
    package static func sequence(for commands: [Command]) -> [RecordedStep] {
        var steps: [RecordedStep] = [.deviceBarrier]
        var hazards = HazardTracker()
        for (index, command) in commands.enumerated() {
            let (reads, writes): ([BufferRange], [BufferRange]) =
                switch command {
                case .dispatch(let dispatch): (dispatch.reads, dispatch.writes)
                case .copy(let from, let to): ([from], [to])
                case .timestamp: ([], [])
                }
            if hazards.next(reads: reads.map(HazardTracker.Access.init), writes: writes.map(HazardTracker.Access.init))
            {
                steps.append(.deviceBarrier)
            }
            steps.append(.command(index))
        }
        return steps + [.hostBarrier]
    }
}
