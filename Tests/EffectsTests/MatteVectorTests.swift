import Effects
import Foundation
import Imaging
import TestSupport
import Testing

/// The file of mattes that this module and the page's `matte.js` are both tested against: what is found for a frame, step by step.
///
/// `SILHOUETTE_WRITE_VECTORS=1 scripts/test --filter MatteVectorTests` writes it anew.
private struct MatteVectors: Codable {
    struct Constants: Codable {
        var epsilon, certainty, steepness: Float
        var colorSide: Int
        var colorRadii: [Int]
    }

    struct Scene: Codable {
        var name: String
        /// Of the picture, whose pixels are four bytes each.
        var width, height: Int
        var pixels: String
        /// Of the map, and of the picture made as small.
        var mapWidth, mapHeight, radius: Int
        var guide, confidences: String
        /// Four at each place of the map.
        var functions: [Float]
        /// Of the picture's pixels, with the ramp of a threshold of a half.
        var opacities: String
        /// Colours and opacities, and the two colours that they give.
        var colorWidth, colorHeight: Int
        var small, subject, background: String
        /// The subject on nothing, drawn with these colours.
        var cutout: String
    }

    var constants: Constants
    var scenes: [Scene]

    static let path = Checkout.path("Tests/Fixtures/matte/vectors.json")
}

@Suite("The shared vectors of mattes")
struct MatteVectorTests {
    private func hex(_ bytes: some Sequence<UInt8>) -> String {
        bytes.map { String(UInt16($0) + 256, radix: 16).dropFirst() }.joined()
    }

    private func bytes(_ hex: String) -> [UInt8] {
        let digits = Array(hex.utf8)
        return stride(from: 0, to: digits.count, by: 2).map {
            UInt8(String(decoding: digits[$0..<$0 + 2], as: UTF8.self), radix: 16) ?? 0
        }
    }

    private func scene(_ name: String, _ picture: Image, _ map: SubjectMap) -> MatteVectors.Scene {
        var guide = EdgeGuide(picture, map)
        let confidences = guide.confidences.map { UInt8($0 * 255 + 0.5) }
        guide.confidences = confidences.map { Float($0) / 255 }
        let source = guide.matteSource(of: picture, EdgeOptions())
        guard case .functions(let functions, let ramp) = source else { fatalError("no functions") }
        #expect(ramp == MatteRamp(slope: MatteConstants.standard.steepness, offset: 0.5 - 0.5 * ramp.slope))
        let matte = source.matte(of: picture)
        // The page takes the colours of edges from the guide.
        let edgeSize = EdgeColors.size(for: picture.size)
        let size = PixelSize(
            width: min(edgeSize.width, guide.picture.width), height: min(edgeSize.height, guide.picture.height))
        let opacities = matte.image.resized(width: size.width, height: size.height).bytes
        let colors = picture.resized(width: size.width, height: size.height).bytes
        let small = opacities.indices.flatMap { Array(colors[3 * $0..<3 * $0 + 3]) + [opacities[$0]] }
        let edge = EdgeColors(
            small: try! Image(width: size.width, height: size.height, format: .rgba, bytes: small))
        func grid(_ grid: Grid<SIMD4<Float>>) -> [UInt8] {
            grid.values.flatMap { value in (0..<4).map { UInt8(min(max(value[$0], 0), 1) * 255 + 0.5) } }
        }
        let sampler = EdgeColorSampler(edge, over: picture.size)
        var cutout: [UInt8] = []
        for (index, alpha) in matte.opacities.enumerated() {
            let own = Array(picture.bytes[3 * index..<3 * index + 3])
            if alpha == 0 {
                cutout += [0, 0, 0, 0]
            } else if alpha == 255 {
                cutout += own + [255]
            } else {
                sampler.move(toRow: index / picture.width)
                let color = SIMD3(Float(own[0]), Float(own[1]), Float(own[2])) / 255
                let found = sampler.separated(color, alpha: Float(alpha) / 255, at: index % picture.width).subject
                cutout += (0..<3).map { UInt8(found[$0] * 255 + 0.5) } + [alpha]
            }
        }
        return MatteVectors.Scene(
            name: name, width: picture.width, height: picture.height, pixels: hex(picture.converted(to: .rgba).bytes),
            mapWidth: guide.picture.width, mapHeight: guide.picture.height, radius: guide.radius,
            guide: hex(guide.picture.converted(to: .rgba).bytes), confidences: hex(confidences),
            functions: functions.values.flatMap { value in (0..<4).map { value[$0] } }, opacities: hex(matte.opacities),
            colorWidth: size.width, colorHeight: size.height, small: hex(small), subject: hex(grid(edge.subject)),
            background: hex(grid(edge.background)), cutout: hex(cutout))
    }

    private func vectors() throws -> MatteVectors {
        let constants = MatteConstants.standard
        let disc = DiscScene(width: 72, height: 54, radius: 16)
        let small = DiscScene(width: 31, height: 40, radius: 9)
        return MatteVectors(
            constants: .init(
                epsilon: constants.epsilon, certainty: constants.certainty, steepness: constants.steepness,
                colorSide: constants.colorSide, colorRadii: [constants.colorRadii.far, constants.colorRadii.near]),
            scenes: [
                scene("a disc on a ground, made smaller", try disc.image(), disc.map(cell: 12)),
                scene("an upright one that is small already", try small.image(), small.map(cell: 4)),
            ])
    }

    @Test("What is found for a frame, step by step, is what the page is tested against")
    func agreed() throws {
        let found = try vectors()
        if ProcessInfo.processInfo.environment["SILHOUETTE_WRITE_VECTORS"] != nil {
            let encoder = JSONEncoder()
            encoder.outputFormatting = .sortedKeys
            try encoder.encode(found).write(to: URL(fileURLWithPath: MatteVectors.path))
        }
        let agreed = try JSONDecoder().decode(
            MatteVectors.self, from: Data(contentsOf: URL(fileURLWithPath: MatteVectors.path)))
        #expect(agreed.constants.epsilon == found.constants.epsilon)
        #expect(agreed.constants.certainty == found.constants.certainty)
        #expect(agreed.constants.steepness == found.constants.steepness)
        #expect(agreed.constants.colorSide == found.constants.colorSide)
        #expect(agreed.constants.colorRadii == found.constants.colorRadii)
        #expect(agreed.scenes.map(\.name) == found.scenes.map(\.name))
        for (agreed, found) in zip(agreed.scenes, found.scenes) {
            #expect(agreed.radius == found.radius && agreed.mapWidth == found.mapWidth, "\(found.name)")
            // Other processors may round the last bit otherwise.
            let differences = zip(agreed.functions, found.functions).map { abs($0 - $1) / max(1, abs($1)) }
            #expect(agreed.functions.count == found.functions.count && (differences.max() ?? 1) < 1e-4, "\(found.name)")
            for part in [
                \MatteVectors.Scene.pixels, \.guide, \.confidences, \.opacities, \.small, \.subject, \.background,
                \.cutout,
            ] {
                let (first, second) = (bytes(agreed[keyPath: part]), bytes(found[keyPath: part]))
                let greatest = zip(first, second).map { abs(Int($0) - Int($1)) }.max()
                #expect(first.count == second.count && (greatest ?? 255) <= 1, "\(found.name)")
            }
        }
        // There is something to be found.
        for scene in found.scenes {
            #expect(bytes(scene.opacities).contains { $0 > 0 && $0 < 255 } && scene.functions.contains { $0 < -0.4 })
        }
    }
}
