import DeviceSupport
import Foundation
import Silhouette
import TestSupport
import Testing

@Suite("Engines over a damaged shader cache", .serialized, .needsVulkan)
struct ShaderCacheTests {
    /// What became of the files of the cache before the next start.
    enum Damage: String, CaseIterable {
        case none, empty, truncated, oneBit, text, large, folders, gone, folderIsFile
    }

    @Test("Whatever lies there, the device works and gives the same masks", .childProcess, arguments: Damage.allCases)
    func damaged(damage: Damage) throws {
        let (files, first) = try Self.kept.get()
        #expect(files.keys.contains { $0.hasSuffix(".bin") }, "nothing was kept: \(files.keys)")
        try withScratchFolder { scratch in
            let folder = "\(scratch)/cache"
            for (name, bytes) in files {
                try makeFile("\(folder)/\(name)", bytes)
                try apply(damage, to: "\(folder)/\(name)")
            }
            if damage == .folderIsFile {
                try FileManager.default.removeItem(atPath: folder)
                try Data("not a folder".utf8).write(to: URL(fileURLWithPath: folder))
            }
            #expect(try masks(folder) == first)
            // And once more over what that start has left.
            #expect(try masks(folder) == first)
        }
    }

    @Test("Engines that start at once share a folder")
    func together() async throws {
        let folder = "\(FileManager.default.temporaryDirectory.path)/silhouette-\(UUID().uuidString)"
        defer { try? FileManager.default.removeItem(atPath: folder) }
        let all = try await withThrowingTaskGroup(of: CategoryMask.self) { group in
            for _ in 0..<4 { group.addTask { try masks(folder) } }
            return try await group.reduce(into: []) { $0.append($1) }
        }
        #expect(all.count == 4 && all.allSatisfy { $0 == all[0] })
        let names = try FileManager.default.contentsOfDirectory(atPath: folder)
        #expect(names.count { $0.hasSuffix(".bin") } == 1, "\(names)")
    }

    /// What an engine keeps in a folder that was empty, and its masks.
    private static let kept = Result {
        try withScratchFolder { folder in
            let masks = try ShaderCacheTests().masks(folder)
            let names = try FileManager.default.contentsOfDirectory(atPath: folder)
            let files: [String: [UInt8]] = try names.reduce(into: [:]) {
                $0[$1] = try [UInt8](Data(contentsOf: URL(fileURLWithPath: "\(folder)/\($1)")))
            }
            return (files, masks)
        }
    }

    /// Starts an engine over a folder, and segments a picture without a warning.
    private func masks(_ folder: String) throws -> CategoryMask {
        let warnings = Warnings()
        var options = VulkanTests.options(warnings)
        options.baseOptions.shaderCacheFolder = folder
        let engine = try EngineChoice(model: VulkanTests.model, options: options.baseOptions).engine
        let masks = try engine.segment(VulkanTests.picture())
        #expect(warnings.all == [] && engine.deviceFailure == nil)
        return try #require(masks.categories)
    }

    private func apply(_ damage: Damage, to file: String) throws {
        let bytes = try Data(contentsOf: URL(fileURLWithPath: file))
        func write(_ data: Data) throws { try data.write(to: URL(fileURLWithPath: file)) }
        switch damage {
        case .none, .folderIsFile: break
        case .empty: try write(Data())
        case .truncated: try write(bytes.dropLast(bytes.count / 3))
        case .oneBit:
            var damaged = bytes
            damaged[damaged.count / 2] ^= 16
            try write(damaged)
        case .text: try write(Data("0123456789abcdef\n".utf8))
        case .large: try write(bytes + Data(count: 1 << 24))
        case .folders:
            try FileManager.default.removeItem(atPath: file)
            try FileManager.default.createDirectory(atPath: file, withIntermediateDirectories: false)
        case .gone: try FileManager.default.removeItem(atPath: file)
        }
    }
}
