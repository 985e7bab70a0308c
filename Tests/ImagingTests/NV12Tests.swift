import Foundation
import Imaging
import TestSupport
import Testing

@Suite("NV12")
struct NV12Tests {
    private static let all = YCbCr.Matrix.allCases.flatMap { matrix in
        YCbCr.Range.allCases.map { YCbCr(matrix: matrix, range: $0) }
    }

    /// The definition in float64: not rounded, not clamped.
    private func exact(_ colors: YCbCr, _ y: Int, _ cb: Int, _ cr: Int) -> [Double] {
        let (red, blue) = colors.matrix == .bt601 ? (0.299, 0.114) : (0.2126, 0.0722)
        let level = colors.range == .video ? Double(y - 16) / 219 : Double(y) / 255
        let scale = colors.range == .video ? 224.0 : 255.0
        let (b, r) = (Double(cb - 128) / scale, Double(cr - 128) / scale)
        let (redOut, blueOut) = (level + 2 * (1 - red) * r, level + 2 * (1 - blue) * b)
        let green = (level - red * redOut - blue * blueOut) / (1 - red - blue)
        return [redOut, green, blueOut].map { $0 * 255 }
    }

    @Test("Every level gives what the recommendation says, rounded", arguments: all)
    func values(colors: YCbCr) throws {
        // One row for each Cr, all Y and many Cb in it; each pair is for two pixels.
        for cr in stride(from: 0, to: 256, by: 5) {
            var luma: [UInt8] = []
            var chroma: [UInt8] = []
            for cb in stride(from: 0, to: 256, by: 15) {
                luma += (0..<256).map { UInt8($0) }
                for _ in 0..<128 { chroma += [UInt8(cb), UInt8(cr)] }
            }
            let picture = try Image(nv12: luma, chroma: chroma, width: luma.count, height: 1, colors: colors)
            for x in 0..<luma.count {
                let expected = exact(colors, Int(luma[x]), Int(chroma[x / 2 * 2]), cr)
                for channel in 0..<3 {
                    let value = min(max(expected[channel], 0), 255)
                    let found = Double(picture.bytes[3 * x + channel])
                    guard abs(found - value) > 0.501 else { continue }
                    Issue.record("Y \(luma[x]), Cb \(chroma[x / 2 * 2]), Cr \(cr): \(found), not \(value)")
                    return
                }
            }
        }
    }

    @Test("Known colours: black, white, red, blue")
    func known() throws {
        for (colors, bytes, expected) in [
            (YCbCr.bt601, [16, 128, 128], [0, 0, 0]), (.bt601, [235, 128, 128], [255, 255, 255]),
            (.bt601, [81, 90, 240], [254, 0, 0]), (.bt601, [41, 240, 110], [0, 0, 255]),
            (.bt709, [63, 102, 240], [255, 1, 0]), (.bt709, [32, 240, 118], [1, 0, 255]),
            (.jpeg, [76, 85, 255], [254, 0, 0]), (.jpeg, [0, 128, 128], [0, 0, 0]),
        ] as [(YCbCr, [UInt8], [UInt8])] {
            let picture = try Image(
                nv12: [bytes[0]], chroma: Array(bytes[1...]), width: 1, height: 1, colors: colors)
            #expect(picture.bytes == expected, "\(colors) \(bytes)")
        }
    }

    @Test("Pairs belong to two by two pixels, at odd edges to fewer; padding is passed over")
    func layout() throws {
        for (width, height) in [(1, 1), (2, 2), (3, 1), (1, 3), (5, 3), (4, 6)] {
            let pairs = PixelSize(width: (width + 1) / 2, height: (height + 1) / 2)
            let (lumaStride, chromaStride) = (width + 3, 2 * pairs.width + 5)
            var luma = [UInt8](repeating: 99, count: lumaStride * height)
            var chroma = [UInt8](repeating: 99, count: chromaStride * pairs.height)
            for y in 0..<height { for x in 0..<width { luma[y * lumaStride + x] = UInt8(16 + 11 * y + 7 * x) } }
            for y in 0..<pairs.height {
                for x in 0..<pairs.width {
                    chroma[y * chromaStride + 2 * x] = UInt8(90 + 20 * x)
                    chroma[y * chromaStride + 2 * x + 1] = UInt8(100 + 30 * y)
                }
            }
            let picture = try Image(
                nv12: luma, lumaStride: lumaStride, chroma: chroma, chromaStride: chromaStride, width: width,
                height: height, colors: .jpeg)
            #expect(picture.width == width && picture.height == height && picture.format == .rgb)
            for y in 0..<height {
                for x in 0..<width {
                    let alone = try Image(
                        nv12: [luma[y * lumaStride + x]],
                        chroma: Array(chroma[y / 2 * chromaStride + x / 2 * 2..<y / 2 * chromaStride + x / 2 * 2 + 2]),
                        width: 1, height: 1, colors: .jpeg)
                    #expect(Array(picture.bytes[3 * (y * width + x)..<3 * (y * width + x) + 3]) == alone.bytes)
                }
            }
            // In one piece, and the last rows without their padding.
            let short = Array(chroma.dropLast(5))
            let whole = try Image(
                nv12: luma, lumaStride: lumaStride, chroma: short, chromaStride: chromaStride, width: width,
                height: height, colors: .jpeg)
            #expect(whole == picture)
        }
    }

    @Test("A frame in one piece", arguments: [(4, 4, 4), (5, 3, nil), (4, 2, 9), (7, 5, 8)])
    func onePiece(width: Int, height: Int, rowStride: Int?) throws {
        let (lumaStride, chromaStride) = (rowStride ?? width, rowStride ?? (width + 1) / 2 * 2)
        var random = SeededGenerator(seed: 4)
        let frame = (0..<lumaStride * height + chromaStride * ((height + 1) / 2)).map { _ in
            UInt8.random(in: 0...255, using: &random)
        }
        let planes = try Image(
            nv12: Array(frame[..<(lumaStride * height)]), lumaStride: lumaStride,
            chroma: Array(frame[(lumaStride * height)...]), chromaStride: chromaStride, width: width, height: height)
        #expect(try Image(nv12: frame, width: width, height: height, rowStride: rowStride) == planes)
        let other = try frame.withUnsafeBytes {
            try Image(nv12: $0, width: width, height: height, rowStride: rowStride)
        }
        #expect(other == planes)
        #expect(throws: ImageError.self) {
            try Image(
                nv12: Array(frame.dropLast(1 + (rowStride.map { $0 - (width + 1) / 2 * 2 } ?? 0))), width: width,
                height: height, rowStride: rowStride)
        }
    }

    @Test("Sizes and strides that do not fit are refused, whatever they are")
    func refusals() {
        let bytes = [UInt8](repeating: 0, count: 64)
        for (width, height, lumaStride, chromaStride) in [
            (0, 1, nil, nil), (1, 0, nil, nil), (-1, 4, nil, nil), (4, -1, nil, nil), (9, 9, nil, nil), (8, 8, 7, nil),
            (8, 8, nil, 7), (8, 8, -8, nil), (8, 8, nil, -8), (8, 8, 9, nil), (2, 64, nil, nil), (.max, 1, nil, nil),
            (1, .max, nil, nil), (.max, .max, nil, nil), (.min, .min, nil, nil), (8, 8, .max, nil), (8, 4, nil, .max),
            (8, 8, .min, .min), (1 << 32, 1 << 32, nil, nil), (7, 3, nil, 7), (1, 2, 0, nil), (2, 4, nil, 0),
        ] as [(Int, Int, Int?, Int?)] {
            #expect(throws: ImageError.self, "\(width)x\(height), \(lumaStride ?? 0), \(chromaStride ?? 0)") {
                try Image(
                    nv12: bytes, lumaStride: lumaStride, chroma: bytes, chromaStride: chromaStride, width: width,
                    height: height)
            }
            if let lumaStride, chromaStride == nil {
                #expect(throws: ImageError.self) {
                    try Image(nv12: bytes, width: width, height: height, rowStride: lumaStride)
                }
            }
        }
        #expect(throws: ImageError.self) { try Image(nv12: [], width: 1, height: 1) }
        #expect(throws: ImageError.self) {
            try Image(nv12: UnsafeRawBufferPointer(start: nil, count: 0), width: 2, height: 2)
        }
        #expect(throws: ImageError.self) {
            try Image(copying: UnsafeRawBufferPointer(start: nil, count: 0), width: 2, height: 2, format: .rgb)
        }
    }

    @Test("ffmpeg makes the same of it", arguments: all)
    func ffmpeg(colors: YCbCr) throws {
        let tool = "/usr/bin/ffmpeg"
        guard FileManager.default.isExecutableFile(atPath: tool) else { return }
        let (width, height) = (64, 48)
        var random = SeededGenerator(seed: 12)
        // Colour differences that change slowly: how pairs are spread over pixels is a choice.
        let luma = (0..<width * height).map { _ in UInt8.random(in: 16...235, using: &random) }
        var chroma: [UInt8] = []
        for _ in 0..<height / 2 { for x in 0..<width / 2 { chroma += [UInt8(100 + x), UInt8(150 - x)] } }
        let picture = try Image(nv12: luma + chroma, width: width, height: height, colors: colors)
        try withScratchFolder { folder in
            try Data(luma + chroma).write(to: URL(fileURLWithPath: "\(folder)/in.yuv"))
            let process = Process()
            process.executableURL = URL(fileURLWithPath: tool)
            let matrix = colors.matrix == .bt601 ? "bt601" : "bt709"
            let range = colors.range == .video ? "tv" : "pc"
            process.arguments = [
                "-v", "error", "-f", "rawvideo", "-pix_fmt", "nv12", "-s", "\(width)x\(height)", "-i",
                "\(folder)/in.yuv",
                "-vf",
                "scale=in_color_matrix=\(matrix):in_range=\(range):out_range=pc:flags=accurate_rnd+full_chroma_int",
                "-f", "rawvideo", "-pix_fmt", "rgb24", "\(folder)/out.rgb",
            ]
            try process.run()
            process.waitUntilExit()
            let expected = [UInt8](try Data(contentsOf: URL(fileURLWithPath: "\(folder)/out.rgb")))
            #expect(expected.count == picture.bytes.count)
            let largest = zip(expected, picture.bytes).map { abs(Int($0) - Int($1)) }.max() ?? 255
            #expect(largest <= 3)
        }
    }

    @Test("A copy of somebody's bytes, and a part of a picture, have no padding")
    func copies() throws {
        let bytes = (0..<5 * 20).map { UInt8($0) }
        let picture = try Image(width: 4, height: 5, format: .rgb, rowStride: 20, bytes: bytes)
        let copy = try bytes.withUnsafeBytes {
            try Image(copying: $0, width: 4, height: 5, format: .rgb, rowStride: 20)
        }
        #expect(copy.rowStride == 12 && copy.bytes == picture.converted(to: .rgb).bytes)
        let part = picture.cropped(to: PixelRect(x: 1, y: 3, width: 2, height: 2))
        #expect(part.bytes == [63, 64, 65, 66, 67, 68, 83, 84, 85, 86, 87, 88])
    }
}
