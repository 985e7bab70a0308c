import Base
import Dispatch
import PreviewProtocol
import PreviewServer
import Testing

@Suite("Frames through a device")
struct DevicePipelineTests {
    /// What happened to jobs, in order.
    private final class Record: Sendable {
        private let entries = Locked<[String]>([])

        func note(_ entry: String) { entries.update { $0.append(entry) } }

        var all: [String] { entries.withLock { $0 } }

        /// Waits until there are so many entries that fit.
        func wait(for count: Int, where fits: (String) -> Bool = { _ in true }) {
            entries.wait { $0.filter(fits).count >= count ? () : nil }
        }
    }

    private struct Job: PipelineJob {
        let name: String
        let record: Record
        /// Each frame waits for one permit in the network.
        var permits: DispatchSemaphore?
        var fails = false
        let isLarge = false

        func decode() throws(ProtocolError) { if fails { throw ProtocolError(.badPicture, name) } }

        func run() {
            record.note("\(name) runs")
            permits?.wait()
        }

        func answer() { record.note("\(name) is answered") }
        func drop() { record.note("\(name) is dropped") }
        func fail(_ error: ProtocolError) { record.note("\(name) fails") }
    }

    @Test("Frames of several threads each come to one end, and those of a client are answered in their order")
    func threads() throws {
        let pipeline = try DevicePipeline(networkLimit: 3)
        defer { pipeline.stop() }
        let record = Record()
        DispatchQueue.concurrentPerform(iterations: 4) { thread in
            let client = pipeline.addClient()
            for number in 0..<200 {
                pipeline.submit(
                    Job(name: "\(thread) \(number)", record: record, fails: number % 7 == 1), of: client)
            }
        }
        record.wait(for: 800) { !$0.hasSuffix("runs") }
        let ends = record.all.filter { !$0.hasSuffix("runs") }.map { $0.split(separator: " ") }
        #expect(ends.count == 800 && Set(ends.map { "\($0[0]) \($0[1])" }).count == 800)
        for thread in 0..<4 {
            let answered = ends.filter { $0[0] == "\(thread)" && $0.last == "answered" }.compactMap { Int($0[1]) }
            #expect(answered == answered.sorted() && !answered.isEmpty)
        }
    }

    @Test("The end drops what waits at once, and does not wait for the network", .timeLimit(.minutes(1)))
    func end() throws {
        let pipeline = try DevicePipeline(networkLimit: 1)
        let (record, permits) = (Record(), DispatchSemaphore(value: 0))
        let client = pipeline.addClient()
        pipeline.submit(Job(name: "a", record: record, permits: permits), of: client)
        record.wait(for: 1)
        pipeline.submit(Job(name: "b", record: record), of: client)
        pipeline.stop()
        pipeline.submit(Job(name: "c", record: record), of: client)
        #expect(record.all == ["a runs", "b is dropped", "c is dropped"])
        permits.signal()
        record.wait(for: 4)
        #expect(record.all.last == "a is dropped")
    }

    @Test(
        "Whoever waits for a turn has it among the frames, and at once where the end has come", .timeLimit(.minutes(1)))
    func turns() throws {
        let pipeline = try DevicePipeline(networkLimit: 1)
        let (record, permits) = (Record(), DispatchSemaphore(value: 0))
        let client = pipeline.addClient()
        pipeline.submit(Job(name: "a", record: record, permits: permits), of: client)
        record.wait(for: 1)
        let group = DispatchGroup()
        let post: @Sendable (String) -> Void = { name in
            DispatchQueue.global().async(group: group) { pipeline.inTurn { record.note("\(name) has its turn") } }
        }
        post("p")
        permits.signal()
        group.wait()
        #expect(record.all.first == "a runs")
        pipeline.submit(Job(name: "b", record: record, permits: permits), of: client)
        record.wait(for: 1) { $0 == "b runs" }
        post("q")
        pipeline.stop()
        group.wait()
        #expect(record.all.contains("q has its turn"))
        pipeline.inTurn { record.note("late") }
        #expect(record.all.contains("late"))
        permits.signal()
    }
}
