import PreviewProtocol
import PreviewServer
import TestSupport
import Testing

@Suite("Messages in pieces")
struct MessageAssemblerTests {
    private let rules = MessageRules(pixelLimit: 1000, takesFrames: true)

    /// Hands in a message in pieces; gives what comes out at its end or what it is refused with.
    private func assemble(
        _ bytes: [UInt8], pieces: Int, limit: Int = 4096, _ assembler: inout MessageAssembler
    ) throws(ProtocolError) -> [UInt8]? {
        var start = 0
        repeat {
            let end = min(bytes.count, start + pieces)
            let piece = Array(bytes[start..<end])
            let rules = rules
            let outcome = piece.withUnsafeBytes { piece in
                Result { () throws(ProtocolError) in
                    try assembler.append(piece, isLast: end == bytes.count, check: rules.check)?.bytes
                }
            }
            if let message = try outcome.get() { return message }
            start = end
        } while start < bytes.count
        return nil
    }

    @Test("A message comes out whole, whatever the pieces", arguments: [1, 2, 31, 32, 33, 1000])
    func pieces(count: Int) throws {
        var assembler = MessageAssembler(byteLimit: 4096)
        let first = TestServer.frame(1, width: 20, height: 20).bytes
        let second = TestServer.settings("{}").bytes
        #expect(try assemble(first, pieces: count, &assembler) == first)
        #expect(!assembler.isInMessage)
        #expect(try assemble(second, pieces: count, &assembler) == second)
    }

    @Test("What is too long is refused by its header, before the rest has come")
    func announced() {
        var assembler = MessageAssembler(byteLimit: 4096)
        let header = MessageHeader(kind: .frame, encoding: .jpeg, payloadByteCount: 4065, width: 1, height: 1)
        var bytes = [UInt8](repeating: 0, count: 32)
        bytes.withUnsafeMutableBytes { header.write(to: $0) }
        let rules = rules
        let error = #expect(throws: ProtocolError.self) {
            try bytes.withUnsafeBytes { try assembler.append($0, isLast: false, check: rules.check) }
        }
        #expect(error?.code == .tooLarge)
        #expect(error?.closeCode == 1009)
    }

    @Test("More than was announced is refused when it comes")
    func surplus() {
        for pieces in [1, 10, 100] {
            var assembler = MessageAssembler(byteLimit: 4096)
            let bytes = TestServer.frame(1).bytes + [UInt8](repeating: 0, count: 100)
            let error = #expect(throws: ProtocolError.self) { try assemble(bytes, pieces: pieces, &assembler) }
            #expect(error?.code == .malformed)
            #expect(error?.closeCode == 1002)
        }
    }

    @Test("A frame that its header betrays is passed over to its end, and the next message is read")
    func passedOver() throws {
        var assembler = MessageAssembler(byteLimit: 4096)
        for pieces in [1, 40, 1000] {
            let large = TestServer.frame(9, width: 1001, height: 1).bytes
            let error = #expect(throws: ProtocolError.self) { try assemble(large, pieces: pieces, &assembler) }
            #expect(error?.code == .tooLarge)
            #expect(error?.closeCode == nil)
            #expect(assembler.sequence == 9)
            assembler.reset()
            let next = TestServer.frame(10).bytes
            #expect(try assemble(next, pieces: pieces, &assembler) == next)
        }
    }

    @Test("Where memory is short the rest of a message is passed over", arguments: [0, 20, 40])
    func shortage(count: Int) throws {
        var assembler = MessageAssembler(byteLimit: 4096)
        let bytes = TestServer.frame(9, width: 20, height: 20).bytes
        let rules = rules
        try bytes[..<count].withUnsafeBytes { _ = try assembler.append($0, isLast: false, check: rules.check) }
        assembler.passOver(ProtocolError(.busy, "short"))
        let error = #expect(throws: ProtocolError.self) {
            try bytes[count...].withUnsafeBytes { try assembler.append($0, isLast: true, check: rules.check) }
        }
        #expect(error?.code == .busy)
        #expect(assembler.sequence == (count < 12 ? 0 : 9))
    }

    @Test("Each message has some bytes free, all others share the rest")
    func budget() {
        let budget = ByteBudget(limit: 100)
        let free = ByteBudget.freeByteCount
        var shares = (0..<3).map { _ in budget.share() }
        for share in shares { #expect(share.grow(by: free) == true) }
        #expect(shares[0].grow(by: 60) == true)
        #expect(shares[1].grow(by: 41) == false)
        #expect(shares[1].grow(by: 40) == true)
        #expect(shares[2].grow(by: 1) == false)
        shares.removeFirst()
        #expect(shares[1].grow(by: 60) == true)
        #expect(budget.share().grow(by: free + 1) == false)
    }

    @Test("Headers that frames must not have")
    func headers() {
        func code(_ header: MessageHeader, takesFrames: Bool = true) -> ProtocolError.Code? {
            do throws(ProtocolError) {
                try MessageRules(pixelLimit: 1000, takesFrames: takesFrames).check(header)
                return nil
            } catch {
                return error.code
            }
        }
        func frame(_ encoding: PayloadEncoding, _ width: UInt32, _ height: UInt32, _ count: Int) -> MessageHeader {
            MessageHeader(kind: .frame, encoding: encoding, payloadByteCount: count, width: width, height: height)
        }
        #expect(code(frame(.jpeg, 100, 10, 5)) == nil)
        #expect(code(frame(.jpeg, 1001, 1, 5)) == .tooLarge)
        #expect(code(frame(.jpeg, .max, .max, 5)) == .tooLarge)
        #expect(code(frame(.rgb, 10, 10, 300)) == nil)
        #expect(code(frame(.rgb, 10, 10, 299)) == .sizeMismatch)
        #expect(code(frame(.rgba, 10, 10, 300)) == .sizeMismatch)
        #expect(code(frame(.jpeg, 10, 10, 300), takesFrames: false) == .unexpected)
        #expect(code(MessageHeader(kind: .hello, encoding: .json)) == .unknownKind)
        #expect(code(MessageHeader(kind: .settings, encoding: .json, payloadByteCount: 1 << 17)) == .badSettings)
    }

    @Test("Sequence and timestamp must rise; one that does not changes nothing")
    func order() throws {
        var order = ArrivalOrder()
        func accept(_ sequence: UInt32, _ timestamp: UInt64) -> Bool {
            (try? order.accept(TestServer.frame(sequence, timestamp: timestamp).header)) != nil
        }
        #expect(!accept(0, 5))
        #expect(accept(3, 5))
        #expect(!accept(3, 6))
        #expect(!accept(4, 5))
        #expect(accept(4, 6))
    }
}
