import Foundation
import Imaging
import ImagingSupport
import Testing

@Suite("Encoding")
struct EncodingTests {
    @Test("PNG gives every layout back", arguments: PixelFormat.allCases)
    func png(format: PixelFormat) throws {
        let image = try Fixtures.noise(37, 21, format)
        let bytes = try image.encoded(as: .png)
        let decoded = try ImageFile.decode(bytes)
        #expect(decoded.format == .png)
        #expect(decoded.image == image.converted(to: format.hasAlpha ? .rgba : .rgb))
    }

    @Test("An indexed PNG gives indices and colours back")
    func indexed() throws {
        let indices = try Image(width: 3, height: 2, format: .gray, bytes: [0, 1, 2, 20, 15, 0])
        let palette = Palette.voc(count: 21)
        let bytes = try indices.encodedAsIndexedPNG(palette: palette, transparentIndices: [0, 2])
        let folder = FileManager.default.temporaryDirectory.appending(path: "silhouette-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        let path = folder.appending(path: "mask.png").path
        try OutputFile.write(bytes, to: path)
        #expect(try ImageFile.readLabels(path: path) == indices)
        let colors = try ImageFile.read(path: path).image
        #expect(colors.format == .rgba)
        for (place, index) in indices.bytes.enumerated() {
            let color = palette[Int(index)]
            let alpha: UInt8 = index == 0 || index == 2 ? 0 : 255
            #expect(colors.pixel(place % 3, place / 3) == [color.red, color.green, color.blue, alpha])
        }
        let opaque = try ImageFile.decode(indices.encodedAsIndexedPNG(palette: palette)).image
        #expect(opaque.format == .rgb)
        #expect(throws: ImageError.self) { try indices.encodedAsIndexedPNG(palette: Palette.voc(count: 20)) }
    }

    @Test("JPEG comes close, in the right order of channels")
    func jpeg() throws {
        let picture = try Fixtures.decoded("jpeg-baseline444.png").image
        for format in PixelFormat.allCases {
            let bytes = try picture.converted(to: format).encoded(as: .jpeg)
            let decoded = try ImageFile.decode(bytes)
            #expect(decoded.format == .jpeg)
            let expected = format == .gray ? picture.converted(to: .gray).converted(to: .rgb) : picture
            // Sharp edges ring: 32 levels is far from the 200 of swapped channels.
            #expect(decoded.image.largestDifference(from: expected)! < 32, "\(format)")
        }
        let rough = try picture.encoded(as: .jpeg, options: EncodingOptions(quality: 20))
        #expect(try rough.count < picture.encoded(as: .jpeg).count)
    }

    @Test("JPEG has no alpha: it is put over white")
    func jpegAlpha() throws {
        let clear = try Image(width: 16, height: 16, format: .rgba, bytes: [UInt8](repeating: 0, count: 1024))
        #expect(try ImageFile.decode(clear.encoded(as: .jpeg)).image.bytes.allSatisfy { $0 == 255 })
    }

    @Test("WebP without loss gives every layout back", arguments: PixelFormat.allCases)
    func webp(format: PixelFormat) throws {
        var image = try Fixtures.noise(19, 23, format)
        if format.hasAlpha {
            // libwebp does not keep the colour under alpha 0.
            image = try Image(
                width: 19, height: 23, format: format,
                bytes: image.bytes.enumerated().map { $0 % 4 == 3 ? $1 | 1 : $1 })
        }
        let decoded = try ImageFile.decode(image.encoded(as: .webp, options: EncodingOptions(losslessWebP: true)))
        #expect(decoded.format == .webp)
        #expect(decoded.image == image.converted(to: format.hasAlpha ? .rgba : .rgb))
        let lossy = try ImageFile.decode(image.encoded(as: .webp)).image
        #expect(lossy.size == image.size)
    }

    @Test("What a format cannot hold is refused")
    func limits() throws {
        let long = Image(size: PixelSize(width: 70_000, height: 1), format: .gray, color: .white)
        for format in [ImageFormat.jpeg, .webp] {
            let error = #expect(throws: ImageError.self) { try long.encoded(as: format, name: "x") }
            #expect(error == ImageError("x", .sideTooLong(width: 70_000, height: 1, limit: format.maxSide)))
        }
        #expect(
            try ImageFile.decode(long.encoded(as: .png), limits: ImageLimits(maxSide: 70_000)).image.width == 70_000)
        #expect(throws: ImageError.self) { try long.encoded(as: .npy) }
    }

    @Test("NPY has NumPy's header")
    func npy() {
        for shape in [[2, 3, 4], [24], [1, 24], [100_000, 1, 1]] {
            let header = NPY.header(shape: shape)
            #expect(header.count % 64 == 0)
            #expect(header.prefix(8).elementsEqual([0x93, 0x4e, 0x55, 0x4d, 0x50, 0x59, 1, 0]))
            #expect(Int(header[8]) | Int(header[9]) << 8 == header.count - 10)
            #expect(header.last == 10)
        }
        #expect(
            String(decoding: NPY.header(shape: [24])[10...], as: UTF8.self)
                .hasPrefix("{'descr': '<f4', 'fortran_order': False, 'shape': (24,), }"))
        let values: [Float] = [1, -2.5]
        let file = values.withUnsafeBufferPointer { NPY.encode($0, shape: [1, 2]) }
        #expect(file.suffix(8).elementsEqual([0, 0, 0x80, 0x3f, 0, 0, 0x20, 0xc0]))
    }

    @Test("A file name's extension chooses the format")
    func extensions() throws {
        #expect(ImageFormat(path: "a/b.PNG") == .png)
        #expect(ImageFormat(path: "x.jpeg") == .jpeg)
        #expect(ImageFormat(path: "x.y.webp") == .webp)
        #expect(ImageFormat(path: "x.npy") == .npy)
        #expect(ImageFormat(path: "folder.png/x") == nil)
        #expect(ImageFormat(path: ".png") == nil)
        #expect(throws: ImageError("x.bmp", .unknownExtension(".bmp"))) { try ImageFormat.forWriting(path: "x.bmp") }
    }
}

@Suite("Output files")
final class OutputFileTests {
    let folder: String

    init() throws {
        let url = FileManager.default.temporaryDirectory.appending(path: "silhouette-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: url, withIntermediateDirectories: true)
        folder = url.path
    }

    deinit { try? FileManager.default.removeItem(atPath: folder) }

    private func contents() throws -> [String] { try FileManager.default.contentsOfDirectory(atPath: folder).sorted() }

    @Test("A file is written whole, replaced in one step, and nothing is left beside it")
    func replaced() throws {
        let path = folder + "/a.bin"
        try OutputFile.write([1, 2, 3], to: path)
        try OutputFile.write([4, 5], to: path)
        #expect(FileManager.default.contents(atPath: path) == Data([4, 5]))
        let pieces: [[UInt8]] = [[6], [], [7, 8]]
        try pieces[0].withUnsafeBytes { first in
            try pieces[1].withUnsafeBytes { second in
                try pieces[2].withUnsafeBytes { try OutputFile.write([first, second, $0], to: path) }
            }
        }
        #expect(FileManager.default.contents(atPath: path) == Data([6, 7, 8]))
        #expect(try contents() == ["a.bin"])
    }

    @Test("A symbolic link is followed")
    func link() throws {
        try OutputFile.write([1], to: folder + "/real")
        try FileManager.default.createSymbolicLink(atPath: folder + "/link", withDestinationPath: "real")
        try OutputFile.write([2], to: folder + "/link")
        #expect(FileManager.default.contents(atPath: folder + "/real") == Data([2]))
        #expect(try contents() == ["link", "real"])
    }

    @Test("The file that a symbolic link leads to need not exist yet; links that lead in a circle are refused")
    func linkToNothing() throws {
        let files = FileManager.default
        try files.createDirectory(atPath: folder + "/inner", withIntermediateDirectories: true)
        try files.createSymbolicLink(atPath: folder + "/first", withDestinationPath: "inner/second")
        try files.createSymbolicLink(atPath: folder + "/inner/second", withDestinationPath: "real")
        try OutputFile.write([1], to: folder + "/first")
        #expect(files.contents(atPath: folder + "/inner/real") == Data([1]))
        try files.createSymbolicLink(atPath: folder + "/circle", withDestinationPath: "circle")
        #expect(throws: ImageError(folder + "/circle", .unwritable("Too many levels of symbolic links"))) {
            try OutputFile.write([1], to: folder + "/circle")
        }
        #expect(try contents() == ["circle", "first", "inner"])
    }

    @Test("A file that is replaced keeps its permissions; a new one has those of the user's mask")
    func permissions() throws {
        let path = folder + "/private"
        try OutputFile.write([1], to: path)
        try OutputFile.write([1], to: folder + "/other")
        var (status, other) = (stat(), stat())
        #expect(chmod(path, 0o600) == 0)
        try OutputFile.write([2], to: path)
        #expect(stat(path, &status) == 0 && status.st_mode & 0o777 == 0o600)
        close(open(folder + "/usual", O_CREAT | O_WRONLY, 0o666))
        #expect(stat(folder + "/usual", &status) == 0 && stat(folder + "/other", &other) == 0)
        #expect(status.st_mode == other.st_mode)
    }

    @Test("Where a file cannot get its name nothing is left of it")
    func unnamed() throws {
        let path = folder + "/a.bin"
        var file = try PendingFile(replacing: path)
        // Somebody puts a folder there meanwhile.
        try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: false)
        do throws(ImageError) {
            try file.publish()
            Issue.record("a file has replaced a folder")
        } catch {
            #expect(error == ImageError(path, .unwritable("Is a directory")))
        }
        #expect(file.name != nil)
        _ = consume file
        #expect(try contents() == ["a.bin"])
    }

    @Test("A file that may not be written is not replaced", .disabled(if: geteuid() == 0, "root may write all files"))
    func protected() throws {
        let path = folder + "/protected"
        try OutputFile.write([1], to: path)
        #expect(chmod(path, 0o444) == 0)
        #expect(throws: ImageError(path, .unwritable("Permission denied"))) { try OutputFile.write([2], to: path) }
        #expect(FileManager.default.contents(atPath: path) == Data([1]))
    }

    @Test("A place that cannot be written to is named, and nothing is left")
    func refused() throws {
        #expect(throws: ImageError(folder, .unwritable("is a folder"))) { try OutputFile.write([1], to: folder) }
        let path = folder + "/no/such/folder.png"
        #expect(throws: ImageError(path, .unwritable("No such file or directory"))) {
            try OutputFile.write([1], to: path)
        }
        #expect(throws: ImageError("/dev/full", .unwritable("No space left on device"))) {
            try OutputFile.write([1], to: "/dev/full")
        }
        #expect(try contents().isEmpty)
    }

    @Test("A device is written to directly")
    func device() throws {
        try OutputFile.write([1, 2, 3], to: "/dev/null")
        var status = stat()
        #expect(stat("/dev/null", &status) == 0 && status.st_mode & S_IFMT == S_IFCHR)
    }
}
