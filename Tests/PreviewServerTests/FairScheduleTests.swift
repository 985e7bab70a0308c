import PreviewServer
import TestSupport
import Testing

@Suite("Fair schedule: clients take turns, the newest frame wins")
struct FairScheduleTests {
    private typealias Schedule = FairSchedule<String>

    /// Decodes what may be decoded; gives the jobs.
    private func decode(_ schedule: inout Schedule) -> [String] {
        var jobs: [String] = []
        while let (job, client, ticket) = schedule.takeForDecoding() {
            jobs.append(job)
            #expect(schedule.finishDecoding(of: client, ticket: ticket, succeeded: true) == true)
        }
        return jobs
    }

    /// Takes a frame out of the network and answers it.
    private func finish(_ schedule: inout Schedule, of client: Int) {
        schedule.finishNetwork("", of: client)
        while let (_, client) = schedule.takeForAnswer() { schedule.finishAnswer(of: client) }
    }

    @Test("One client: one frame in the network, one decoded ahead, a third replaces the second")
    func oneClient() {
        var schedule = Schedule(preparedLimit: 2, networkLimit: 1, answerLimit: 2)
        let client = schedule.addClient()
        #expect(schedule.submit("a", of: client) == nil)
        #expect(decode(&schedule) == ["a"])
        #expect(schedule.takeForNetwork()?.job == "a")
        #expect(schedule.submit("b", of: client) == nil)
        #expect(decode(&schedule) == ["b"])
        #expect(schedule.takeForNetwork() == nil)
        #expect(schedule.submit("c", of: client) == "b")
        #expect(schedule.submit("d", of: client) == "c")
        #expect(decode(&schedule) == ["d"])
        finish(&schedule, of: client)
        #expect(schedule.takeForNetwork()?.job == "d")
        finish(&schedule, of: client)
        #expect(schedule.takeForNetwork() == nil)
    }

    @Test("A frame that is replaced while it is decoded is not wanted any more")
    func replacedWhileDecoding() throws {
        var schedule = Schedule(preparedLimit: 1, networkLimit: 1, answerLimit: 2)
        let client = schedule.addClient()
        _ = schedule.submit("a", of: client)
        _ = decode(&schedule)
        _ = schedule.takeForNetwork()
        _ = schedule.submit("b", of: client)
        let next = schedule.takeForDecoding()
        let taken = try #require(next)
        #expect(schedule.submit("c", of: client) == "b")
        // Its place is taken until it is done.
        #expect(schedule.takeForDecoding() == nil)
        #expect(schedule.finishDecoding(of: client, ticket: taken.ticket, succeeded: true) == false)
        #expect(decode(&schedule) == ["c"])
    }

    @Test("Who goes away takes along the frames that are not in the network")
    func departure() {
        var schedule = Schedule(preparedLimit: 2, networkLimit: 1, answerLimit: 2)
        let client = schedule.addClient()
        _ = schedule.submit("a", of: client)
        _ = decode(&schedule)
        _ = schedule.takeForNetwork()
        _ = schedule.submit("b", of: client)
        _ = decode(&schedule)
        #expect(schedule.removeClient(client) == ["b"])
        #expect(schedule.removeClient(client) == [])
        let other = schedule.addClient()
        _ = schedule.submit("c", of: other)
        #expect(schedule.removeClient(other) == ["c"])
    }

    @Test("A frame that cannot be decoded makes room")
    func broken() throws {
        var schedule = Schedule(preparedLimit: 1, networkLimit: 1, answerLimit: 2)
        let client = schedule.addClient()
        _ = schedule.submit("a", of: client)
        let next = schedule.takeForDecoding()
        let taken = try #require(next)
        #expect(schedule.finishDecoding(of: client, ticket: taken.ticket, succeeded: false) == true)
        #expect(schedule.takeForNetwork() == nil)
        _ = schedule.submit("b", of: client)
        #expect(decode(&schedule) == ["b"])
    }

    @Test("One large frame is decoded at a time, whoever sends more, and others are decoded meanwhile")
    func largeFrames() throws {
        var schedule = Schedule(preparedLimit: 3, networkLimit: 1, answerLimit: 2)
        let (first, second, small) = (schedule.addClient(), schedule.addClient(), schedule.addClient())
        _ = schedule.submit("large", of: first, isLarge: true)
        _ = schedule.submit("larger", of: second, isLarge: true)
        let taken = schedule.takeForDecoding()
        let large = try #require(taken)
        #expect(large.job == "large")
        #expect(schedule.takeForDecoding() == nil)
        _ = schedule.submit("small", of: small)
        #expect(decode(&schedule) == ["small"])
        // Also where whoever sent it has gone.
        schedule.removeClient(first)
        #expect(schedule.takeForDecoding() == nil)
        #expect(schedule.finishDecoding(of: first, ticket: large.ticket, succeeded: true) == false)
        #expect(decode(&schedule) == ["larger"])
    }

    @Test("A client has one frame decoded at a time, also where that one is replaced meanwhile")
    func oneDecoding() throws {
        var schedule = Schedule(preparedLimit: 3, networkLimit: 1, answerLimit: 2)
        let client = schedule.addClient()
        _ = schedule.submit("a", of: client)
        _ = decode(&schedule)
        _ = schedule.takeForNetwork()
        _ = schedule.submit("b", of: client)
        let next = schedule.takeForDecoding()
        let taken = try #require(next)
        #expect(schedule.submit("c", of: client) == "b")
        #expect(schedule.takeForDecoding() == nil)
        #expect(schedule.finishDecoding(of: client, ticket: taken.ticket, succeeded: true) == false)
        #expect(decode(&schedule) == ["c"])
    }

    @Test("A client that sends far more than others gets no more turns")
    func turns() {
        var schedule = Schedule(preparedLimit: 2, networkLimit: 1, answerLimit: 2)
        let clients = (0..<4).map { _ in schedule.addClient() }
        var counts = [Int: Int]()
        for round in 0..<400 {
            for _ in 0..<10 { _ = schedule.submit("\(round)", of: clients[0]) }
            for client in clients.dropFirst() { _ = schedule.submit("\(round)", of: client) }
            _ = decode(&schedule)
            if let (_, client) = schedule.takeForNetwork() {
                counts[client, default: 0] += 1
                finish(&schedule, of: client)
            }
        }
        for client in clients { #expect(counts[client] == 100) }
    }

    @Test("Clients that go away leave nothing behind, whatever their frames were doing")
    func departures() {
        var generator = SeededGenerator(seed: 5)
        var schedule = Schedule(preparedLimit: 2, networkLimit: 2, answerLimit: 2)
        var clients: [Int] = []
        var decoding: [(client: Int, ticket: Int)] = []
        var network: [Int] = []
        for step in 0..<20_000 {
            switch Int.random(in: 0..<6, using: &generator) {
            case 0 where clients.count < 6: clients.append(schedule.addClient())
            case 1 where Int.random(in: 0..<8, using: &generator) == 0 && !clients.isEmpty:
                schedule.removeClient(clients.remove(at: Int.random(in: 0..<clients.count, using: &generator)))
            case 2:
                if let client = clients.randomElement(using: &generator) { _ = schedule.submit("\(step)", of: client) }
            case 3: if let taken = schedule.takeForDecoding() { decoding.append((taken.client, taken.ticket)) }
            case 4 where !decoding.isEmpty:
                let done = decoding.removeFirst()
                _ = schedule.finishDecoding(
                    of: done.client, ticket: done.ticket, succeeded: Bool.random(using: &generator))
            default:
                if let taken = schedule.takeForNetwork() { network.append(taken.client) }
                if !network.isEmpty, Bool.random(using: &generator) {
                    finish(&schedule, of: network.removeFirst())
                }
            }
            #expect(decoding.count <= 2 && network.count <= 2)
        }
        for done in decoding { _ = schedule.finishDecoding(of: done.client, ticket: done.ticket, succeeded: true) }
        for client in network { finish(&schedule, of: client) }
        for client in clients { schedule.removeClient(client) }
        // All places are free again.
        let client = schedule.addClient()
        let other = schedule.addClient()
        _ = schedule.submit("x", of: client)
        _ = schedule.submit("y", of: other)
        #expect(decode(&schedule) == ["x", "y"])
        #expect(schedule.takeForNetwork() != nil)
        #expect(schedule.takeForNetwork() != nil)
    }

    @Test("A client's answers keep their order, and while one waits none of its frames enters the network")
    func answers() {
        var schedule = Schedule(preparedLimit: 2, networkLimit: 2, answerLimit: 2)
        let (slow, other) = (schedule.addClient(), schedule.addClient())
        func run(_ job: String, of client: Int) {
            _ = schedule.submit(job, of: client)
            #expect(decode(&schedule) == [job])
        }
        run("a", of: slow)
        #expect(schedule.takeForNetwork()?.job == "a")
        schedule.finishNetwork("a", of: slow)
        #expect(schedule.takeForAnswer()?.job == "a")
        // The network goes on meanwhile.
        run("b", of: slow)
        #expect(schedule.takeForNetwork()?.job == "b")
        schedule.finishNetwork("b", of: slow)
        #expect(schedule.takeForAnswer() == nil)
        run("c", of: slow)
        #expect(schedule.takeForNetwork() == nil)
        // Of another client as well.
        run("x", of: other)
        #expect(schedule.takeForNetwork()?.job == "x")
        schedule.finishNetwork("x", of: other)
        #expect(schedule.takeForAnswer()?.job == "x")
        schedule.finishAnswer(of: slow)
        #expect(schedule.takeForAnswer()?.job == "b")
        #expect(schedule.takeForNetwork()?.job == "c")
    }

    @Test("No more frames are answered at once than may be, and who goes away is still answered")
    func answerLimit() {
        var schedule = Schedule(preparedLimit: 3, networkLimit: 3, answerLimit: 1)
        let clients = (0..<3).map { _ in schedule.addClient() }
        for client in clients { _ = schedule.submit("\(client)", of: client) }
        #expect(decode(&schedule).count == 3)
        while let (job, client) = schedule.takeForNetwork() { schedule.finishNetwork(job, of: client) }
        schedule.removeClient(clients[1])
        for client in clients {
            #expect(schedule.takeForAnswer()?.job == "\(client)")
            #expect(schedule.takeForAnswer() == nil)
            schedule.finishAnswer(of: client)
        }
        #expect(schedule.takeForAnswer() == nil)
    }

    @Test("At the end every frame that waits for anything is handed back once")
    func end() {
        var schedule = Schedule(preparedLimit: 2, networkLimit: 1, answerLimit: 1)
        let client = schedule.addClient()
        for job in ["a", "b"] {
            _ = schedule.submit(job, of: client)
            _ = decode(&schedule)
            _ = schedule.takeForNetwork()
        }
        schedule.finishNetwork("a", of: client)
        _ = schedule.submit("c", of: client)
        #expect(schedule.removeAll() == ["b", "c", "a"])
        #expect(schedule.removeAll() == [])
        #expect(schedule.submit("d", of: client) == "d")
        #expect(schedule.takeForAnswer() == nil)
    }
}
