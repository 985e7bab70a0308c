/// Whose frame is decoded, whose goes through the network and whose is answered next.
///
///     waiting ── decoded ahead of time ── in the network ───────────── answered
///     1 each     1 each, few in all       1 each, `networkLimit` in all    1 each, `answerLimit` in all
///
/// Clients take turns. Of each at most two frames are on their way to masks, and a third replaces the one that is not in the
/// network yet: the newest wins. One frame of each is decoded at a time, and one large one in all, so that those that take long
/// leave room for others. A client's answers keep their order; while one waits for the one before it, no frame of that client
/// enters the network. A pure value without threads, so that its rules can be tested alone.
package struct FairSchedule<Job> {
    private struct Client {
        var waiting: (job: Job, isLarge: Bool)?
        var prepared: (job: Job, ticket: Int, isDecoded: Bool)?
        /// Also of a frame that was replaced meanwhile.
        var isDecoding = false
        var isInNetwork = false
    }

    /// Frames decoded ahead of the network, over all clients.
    package let preparedLimit: Int
    /// Frames in the network at once, over all clients.
    package let networkLimit: Int
    /// Frames that are answered at once, over all clients.
    package let answerLimit: Int

    private var clients: [Int: Client] = [:]
    private var nextClient = 1
    private var nextTicket = 1
    /// Clients that have a frame waiting, in the order of their turns.
    private var waitingClients: [Int] = []
    /// Clients whose frame is decoded.
    private var readyClients: [Int] = []
    /// Frames being decoded, or decoded and not in the network yet.
    private var preparedCount = 0
    private var networkCount = 0
    /// The large frame that is being decoded.
    private var largeTicket: Int?
    /// Frames that are through the network, in the order in which they were.
    private var unanswered: [(job: Job, client: Int)] = []
    /// Clients one of whose frames is being answered; they may have gone.
    private var answering: Set<Int> = []

    /// Creates a schedule without clients.
    package init(preparedLimit: Int, networkLimit: Int, answerLimit: Int) {
        self.preparedLimit = preparedLimit
        self.networkLimit = networkLimit
        self.answerLimit = answerLimit
    }

    /// Adds somebody who has frames.
    package mutating func addClient() -> Int {
        defer { nextClient += 1 }
        clients[nextClient] = Client()
        return nextClient
    }

    /// Forgets a client and its frames that have not come into the network; the others are answered.
    ///
    /// - Returns: Those frames.
    @discardableResult
    package mutating func removeClient(_ id: Int) -> [Job] {
        guard let client = clients.removeValue(forKey: id) else { return [] }
        waitingClients.removeAll { $0 == id }
        readyClients.removeAll { $0 == id }
        // A frame that is being decoded is counted until `finishDecoding`.
        if let prepared = client.prepared, prepared.isDecoded { preparedCount -= 1 }
        return [client.prepared?.job, client.waiting?.job].compactMap(\.self)
    }

    /// Adds a client's frame.
    ///
    /// - Parameter isLarge: Whether decoding it takes long.
    /// - Returns: The frame that it replaces.
    package mutating func submit(_ job: Job, of id: Int, isLarge: Bool = false) -> Job? {
        guard var client = clients[id] else { return job }
        var replaced = client.waiting?.job
        client.waiting = (job, isLarge)
        if replaced == nil {
            waitingClients.append(id)
            if client.isInNetwork, let prepared = client.prepared {
                replaced = prepared.job
                client.prepared = nil
                readyClients.removeAll { $0 == id }
                if prepared.isDecoded { preparedCount -= 1 }
            }
        }
        clients[id] = client
        return replaced
    }

    /// The next frame to decode. Nil: none waits, or enough are decoded.
    package mutating func takeForDecoding() -> (job: Job, client: Int, ticket: Int)? {
        guard preparedCount < preparedLimit,
            let position = waitingClients.firstIndex(where: mayDecode)
        else { return nil }
        let id = waitingClients.remove(at: position)
        guard let (job, isLarge) = clients[id]?.waiting else { return nil }
        defer { nextTicket += 1 }
        clients[id]?.waiting = nil
        clients[id]?.prepared = (job, nextTicket, false)
        clients[id]?.isDecoding = true
        if isLarge { largeTicket = nextTicket }
        preparedCount += 1
        return (job, id, nextTicket)
    }

    private func mayDecode(_ id: Int) -> Bool {
        guard let client = clients[id], client.prepared == nil, !client.isDecoding else { return false }
        return largeTicket == nil || client.waiting?.isLarge == false
    }

    /// Notes that a frame was decoded, or could not be.
    ///
    /// - Parameter ticket: From `takeForDecoding()`.
    /// - Returns: Whether the frame is still wanted.
    package mutating func finishDecoding(of id: Int, ticket: Int, succeeded: Bool) -> Bool {
        clients[id]?.isDecoding = false
        if largeTicket == ticket { largeTicket = nil }
        guard let prepared = clients[id]?.prepared, prepared.ticket == ticket else {
            preparedCount -= 1
            return false
        }
        if succeeded {
            clients[id]?.prepared?.isDecoded = true
            readyClients.append(id)
        } else {
            clients[id]?.prepared = nil
            preparedCount -= 1
        }
        return true
    }

    /// The next frame for the network. Nil: none is ready, or the network is busy.
    package mutating func takeForNetwork() -> (job: Job, client: Int)? {
        guard networkCount < networkLimit, let position = readyClients.firstIndex(where: mayEnterNetwork) else {
            return nil
        }
        let id = readyClients.remove(at: position)
        guard let prepared = clients[id]?.prepared else { return nil }
        clients[id]?.prepared = nil
        clients[id]?.isInNetwork = true
        preparedCount -= 1
        networkCount += 1
        return (prepared.job, id)
    }

    private func mayEnterNetwork(_ id: Int) -> Bool {
        clients[id]?.isInNetwork == false && !unanswered.contains { $0.client == id }
    }

    /// Notes that a frame is through the network and has to be answered.
    package mutating func finishNetwork(_ job: Job, of id: Int) {
        networkCount -= 1
        clients[id]?.isInNetwork = false
        unanswered.append((job, id))
    }

    /// The next frame to answer. Nil: none waits, or enough are being answered.
    package mutating func takeForAnswer() -> (job: Job, client: Int)? {
        guard answering.count < answerLimit,
            let position = unanswered.firstIndex(where: { !answering.contains($0.client) })
        else { return nil }
        let next = unanswered.remove(at: position)
        answering.insert(next.client)
        return next
    }

    /// Notes that a frame is answered.
    package mutating func finishAnswer(of id: Int) { answering.remove(id) }

    /// Forgets all clients and all frames that wait for a step.
    ///
    /// - Returns: Those frames.
    package mutating func removeAll() -> [Job] {
        defer { unanswered = [] }
        return clients.keys.sorted().flatMap { removeClient($0) } + unanswered.map(\.job)
    }
}
