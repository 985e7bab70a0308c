import Imaging
import ImagingSupport
import TestSupport
import Testing

/// Bytes that ought to be a picture and are not: an error or a picture, never a crash, never half a picture.
@Suite("Damaged pictures", .childProcess)
struct DamageTests {
    @Test("A file cut anywhere is an error", arguments: try Fixtures.names("png", "jpg", "webp"))
    func truncated(name: String) throws {
        let bytes = try Fixtures.bytes(name)
        for count in 0..<bytes.count {
            // What lacks at the end of a JPEG may be its end marker alone, or a part of it: the picture is whole then.
            if name.hasSuffix(".jpg"), count >= bytes.count - 2 { continue }
            #expect(throws: ImageError.self, "the first \(count) of \(bytes.count) bytes of \(name)") {
                try ImageFile.decode(Array(bytes.prefix(count)), name: name)
            }
        }
    }

    @Test(
        "A PNG with any one bit wrong is an error",
        arguments: ["png-gray4.png", "png-palette2-alpha.png", "png-exif6.png"])
    func flippedPNG(name: String) throws {
        let bytes = try Fixtures.bytes(name)
        for bit in 0..<bytes.count * 8 {
            var damaged = bytes
            damaged[bit / 8] ^= 1 << UInt8(bit % 8)
            // A chunk whose name becomes another's still has a wrong checksum, so nothing gets through.
            #expect(throws: ImageError.self, "bit \(bit) of \(name)") { try ImageFile.decode(damaged, name: name) }
        }
    }

    @Test("Bytes turned at random never crash a decoder", arguments: try Fixtures.names("png", "jpg", "webp"))
    func random(name: String) throws {
        let bytes = try Fixtures.bytes(name)
        let places = Fixtures.noise(3000, seed: 77)
        var refused = 0
        for attempt in 0..<200 {
            var damaged = bytes
            for change in 0..<(1 + attempt % 4) {
                let at = (attempt * 4 + change) * 3
                let place = (Int(places[at]) << 8 | Int(places[at + 1])) % bytes.count
                damaged[place] = places[at + 2]
            }
            do { _ = try ImageFile.decode(damaged, name: name, limits: ImageLimits(maxPixels: 1_000_000)) } catch {
                refused += 1
            }
        }
        // PNG has checksums throughout; the others cannot notice everything.
        #expect(refused > (name.hasSuffix(".png") ? 190 : 0))
    }

    @Test("A file that is not there, a folder and an unreadable descriptor are named")
    func missing() {
        let error = #expect(throws: ImageError.self) { try ImageFile.read(path: "/no/such/picture.png") }
        #expect(error?.description == "/no/such/picture.png: cannot be read: No such file or directory")
        let folder = #expect(throws: ImageError.self) { try ImageFile.read(path: Fixtures.path("")) }
        #expect(folder?.description.hasSuffix("cannot be read: Is a directory") == true)
    }
}
