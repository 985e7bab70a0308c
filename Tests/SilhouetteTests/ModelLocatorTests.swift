import Glibc
import Silhouette
import TestSupport
import Testing

@Suite("Model locator")
struct ModelLocatorTests {
    /// A locator that sees these variables, and installed files in a folder if one is given.
    private func locator(
        _ variables: [String: String], installed: String = "/nowhere", searchesCache: Bool = true
    ) -> ModelLocator {
        ModelLocator(InstalledFiles(home: installed, program: nil), searchesCache: searchesCache) { variables[$0] }
    }

    @Test("A named model comes before everything else")
    func named() throws {
        let location = try locator(["SILHOUETTE_MODEL": "/other"]).locate("/named")
        #expect(location.path == "/named")
        #expect(location.origin == .named)
    }

    @Test("SILHOUETTE_MODEL comes before the cache, and must be readable")
    func environment() throws {
        try withScratchFolder { folder in
            try makeFile("\(folder)/cache/silhouette/a.safetensors")
            try makeFile("\(folder)/mine.safetensors")
            let variables = ["SILHOUETTE_MODEL": "\(folder)/mine.safetensors", "XDG_CACHE_HOME": "\(folder)/cache"]
            let location = try locator(variables).locate(nil)
            #expect(location.path == "\(folder)/mine.safetensors")
            #expect(location.origin == .environment)

            let error = #expect(throws: ImageSegmenterError.self) {
                try locator(["SILHOUETTE_MODEL": "\(folder)/absent"]).locate(nil)
            }
            let message = try #require(error).description
            #expect(message.hasPrefix("\(folder)/absent: "))
            #expect(message.contains("SILHOUETTE_MODEL"))
        }
    }

    @Test("In the cache the official model wins, then the first by name; other files are passed over")
    func cache() throws {
        try withScratchFolder { folder in
            let locator = locator(["XDG_CACHE_HOME": folder])
            #expect(throws: ImageSegmenterError.self) { try locator.locate(nil) }
            try makeFile("\(folder)/silhouette/a.tflite")
            try makeFile("\(folder)/silhouette/.hidden.safetensors")
            #expect(throws: ImageSegmenterError.self) { try locator.locate(nil) }
            try makeFile("\(folder)/silhouette/z.safetensors")
            try makeFile("\(folder)/silhouette/b.safetensors")
            #expect(try locator.locate(nil).path == "\(folder)/silhouette/b.safetensors")
            for name in ModelLocator.officialNames.reversed() {
                try makeFile("\(folder)/silhouette/\(name)")
                #expect(try locator.locate(nil).path == "\(folder)/silhouette/\(name)")
            }
            #expect(try locator.locate(nil).origin == .cache)
        }
    }

    @Test("The default model comes last")
    func included() throws {
        try withScratchFolder { folder in
            try makeFile("\(folder)/\(ModelLocator.includedFile)")
            let location = try locator(["XDG_CACHE_HOME": folder], installed: folder).locate(nil)
            #expect(location.path == "\(folder)/\(ModelLocator.includedFile)")
            #expect(location.origin == .included)
            try makeFile("\(folder)/silhouette/a.safetensors")
            #expect(try locator(["XDG_CACHE_HOME": folder], installed: folder).locate(nil).origin == .cache)
        }
    }

    @Test("A program of one's own never picks up what lies in its user's cache, unless it says so")
    func cacheIsLeftAlone() throws {
        try withScratchFolder { folder in
            for name in ["a.safetensors"] + ModelLocator.officialNames { try makeFile("\(folder)/silhouette/\(name)") }
            let variables = ["XDG_CACHE_HOME": folder]
            let error = #expect(throws: ImageSegmenterError.self) {
                try locator(variables, searchesCache: false).locate(nil)
            }
            let message = try #require(error).description
            #expect(message.contains("modelAssetPath") && message.contains("SILHOUETTE_HOME"))
            #expect(!message.contains("Weights/fetch"))
            try makeFile("\(folder)/home/\(ModelLocator.includedFile)")
            let location = try locator(variables, installed: "\(folder)/home", searchesCache: false).locate(nil)
            #expect(location.path == "\(folder)/home/\(ModelLocator.includedFile)" && location.origin == .included)
        }
        // As an application has it that says nothing.
        #expect(try ModelLocator().locate(nil).origin != .cache)
    }

    @Test("The cache is XDG_CACHE_HOME where that is an absolute path, else .cache at home")
    func cacheFolder() {
        #expect(locator(["XDG_CACHE_HOME": "/c", "HOME": "/h"]).cacheFolder == "/c/silhouette")
        #expect(locator(["XDG_CACHE_HOME": "", "HOME": "/h"]).cacheFolder == "/h/.cache/silhouette")
        #expect(locator(["XDG_CACHE_HOME": "c", "HOME": "/h"]).cacheFolder == "/h/.cache/silhouette")
        #expect(locator([:]).cacheFolder == nil)
    }

    @Test("Without any model one line says where one comes from")
    func noModel() throws {
        let error = #expect(throws: ImageSegmenterError.self) { try locator([:]).locate(nil) }
        let message = try #require(error).description
        #expect(message.contains("Weights/fetch"))
        #expect(!message.contains("\n"))
    }
}
