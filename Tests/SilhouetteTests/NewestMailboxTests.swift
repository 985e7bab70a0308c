import Silhouette
import Testing

@Suite("Mailbox: the newest frame wins")
struct NewestMailboxTests {
    @Test("The first frame wakes the receiver, those that come while it is busy do not")
    func wakesOnce() throws {
        var mailbox = NewestMailbox<String>()
        #expect(try mailbox.post("a", timestamp: 1))
        #expect(try !mailbox.post("b", timestamp: 2))
        #expect(mailbox.take()?.frame == "b")
        #expect(try !mailbox.post("c", timestamp: 3))
        #expect(mailbox.take()?.frame == "c")
        #expect(mailbox.take() == nil)
        #expect(try mailbox.post("d", timestamp: 4))
    }

    @Test("Frames that a newer one replaces are counted")
    func countsDrops() throws {
        var mailbox = NewestMailbox<Int>()
        for timestamp in 1...5 { _ = try mailbox.post(timestamp * 10, timestamp: timestamp) }
        #expect(mailbox.droppedFrameCount == 4)
        let taken = mailbox.take()
        #expect(taken?.frame == 50)
        #expect(taken?.timestamp == 5)
        #expect(mailbox.droppedFrameCount == 4)
    }

    @Test("A timestamp that does not increase is refused and changes nothing", arguments: [7, 6, -1, .min])
    func refusesTimestamps(late: Int) throws {
        var mailbox = NewestMailbox<String>()
        _ = try mailbox.post("good", timestamp: 7)
        #expect(
            throws: ImageSegmenterError.timestampNotIncreasing(
                timestampInMilliseconds: late, lastTimestampInMilliseconds: 7)
        ) { try mailbox.post("bad", timestamp: late) }
        #expect(mailbox.droppedFrameCount == 0)
        #expect(mailbox.take()?.frame == "good")
        _ = try mailbox.post("later", timestamp: 8)
        #expect(mailbox.take()?.frame == "later")
    }

    @Test("A dropped frame's timestamp still counts as seen")
    func droppedTimestampsCount() throws {
        var mailbox = NewestMailbox<String>()
        _ = try mailbox.post("a", timestamp: 1)
        _ = try mailbox.post("b", timestamp: 9)
        #expect(throws: ImageSegmenterError.self) { try mailbox.post("c", timestamp: 9) }
    }
}
