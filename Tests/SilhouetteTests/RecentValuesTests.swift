import Silhouette
import Testing

@Suite("Values that were used last")
struct RecentValuesTests {
    private struct Failure: Error {}

    @Test("The one that was used longest ago goes first")
    func count() {
        var values = RecentValues<Int, String>(countLimit: 2, costLimit: 100)
        var made: [Int] = []
        for key in [1, 2, 1, 3, 2] {
            let value = values.value(for: key, cost: 1) {
                made.append(key)
                return "\(key)"
            }
            #expect(value == "\(key)")
        }
        #expect(made == [1, 2, 3, 2])
        #expect(values.keys == [3, 2])
    }

    @Test("What has to go goes before a new one is made; the newest stays whatever it costs")
    func cost() {
        var values = RecentValues<Int, Int>(countLimit: 9, costLimit: 10)
        for key in 1...3 { _ = values.value(for: key, cost: 3) { key } }
        #expect(values.keys == [1, 2, 3])
        _ = values.value(for: 4, cost: 4) { 4 }
        #expect(values.keys == [2, 3, 4])
        _ = values.value(for: 5, cost: 50) { 5 }
        #expect(values.keys == [5])
    }

    @Test("What could not be made leaves nothing behind")
    func failure() {
        var values = RecentValues<Int, Int>(countLimit: 2, costLimit: 10)
        #expect(throws: Failure.self) {
            try values.value(for: 1, cost: 1) { () throws(Failure) -> Int in throw Failure() }
        }
        #expect(values.keys.isEmpty)
        #expect(values.value(for: 1, cost: 1) { 7 } == 7)
    }
}
