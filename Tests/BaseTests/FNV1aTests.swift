import Base
import Testing

@Suite("FNV-1a")
struct FNV1aTests {
    // Source: the test vectors of the algorithm's authors, test_fnv.c.
    @Test(
        "Known texts have their known hashes",
        arguments: [("", "cbf29ce484222325"), ("a", "af63dc4c8601ec8c"), ("foobar", "85944171f73967e8")])
    func vectors(text: String, digits: String) {
        var hash = FNV1a()
        hash.add(text)
        #expect(hash.digits == digits)
    }

    @Test("Parts give what the whole gives, and digits are always 16")
    func parts() {
        var (whole, parts) = (FNV1a(), FNV1a())
        whole.add("foobar")
        parts.add("foo")
        parts.add(Array("bar".utf8))
        #expect(whole.value == parts.value)
        for number in 0..<500 {
            var hash = FNV1a()
            hash.add("\(number)")
            #expect(hash.digits.count == 16)
        }
    }
}
