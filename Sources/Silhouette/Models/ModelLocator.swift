import Base
import Glibc

/// Finds the model to use when the caller leaves it open.
///
/// In this order: the path that is named; the environment variable `SILHOUETTE_MODEL`; where it is asked for, a converted model in
/// the user's cache, `${XDG_CACHE_HOME:-$HOME/.cache}/silhouette/*.safetensors`, the official ones first; the default model, which
/// comes with Silhouette, in the folder that `SILHOUETTE_HOME` names or, without that, beside the program as `scripts/install` lays
/// it out or in the checkout.
///
/// The command line looks into the cache, where `Weights/fetch` puts models. A program of one's own does so only where it says
/// `searchesCache`: what its users have fetched for something else should not change what it does.
///
///     let model = try ModelLocator(searchesCache: true).locate(nil)
///     options.baseOptions.modelAssetPath = model.path
public struct ModelLocator: Sendable {
    /// Why a model was chosen.
    public enum Origin: Sendable, Equatable {
        /// The caller named it.
        case named
        /// `SILHOUETTE_MODEL` names it.
        case environment
        /// It lies in the user's cache, which was to be searched.
        case cache
        /// It comes with Silhouette, and there is no other.
        case included
    }

    /// A model file, and why this one.
    public struct Location: Sendable, Equatable {
        /// Path of the file.
        public let path: String
        /// Why it was chosen.
        public let origin: Origin
    }

    /// File names that `Weights/fetch` gives to the official models, the preferred one first.
    package static let officialNames = ["deeplabv3_257_mv_gpu.safetensors", "DeepLabV3Int8LUT.safetensors"]

    /// The default model's file, in the checkout and where `scripts/install` puts it.
    package static let includedFile = "Weights/silhouette-deeplabv3.safetensors"

    private let files: InstalledFiles
    private let searchesCache: Bool
    private let environment: @Sendable (String) -> String?

    /// Looks into the environment of this process.
    ///
    /// - Parameter searchesCache: Whether a model in the user's cache is taken before the default model.
    public init(searchesCache: Bool = false) {
        self.init(InstalledFiles(), searchesCache: searchesCache) { name in getenv(name).map { String(cString: $0) } }
    }

    /// Looks into the given environment.
    package init(
        _ files: InstalledFiles, searchesCache: Bool, environment: @escaping @Sendable (String) -> String?
    ) {
        self.files = files
        self.searchesCache = searchesCache
        // An empty variable counts as none, as shells and the XDG specification have it.
        self.environment = { name in environment(name).flatMap { $0.isEmpty ? nil : $0 } }
    }

    /// Where `Weights/fetch` puts converted models. Nil where neither `XDG_CACHE_HOME` nor `HOME` is set.
    public var cacheFolder: String? {
        // The XDG specification: a relative path is invalid and to be ignored.
        if let cache = environment("XDG_CACHE_HOME"), cache.hasPrefix("/") { return cache + "/silhouette" }
        return environment("HOME").map { $0 + "/.cache/silhouette" }
    }

    /// Finds a model. Whether it can be used shows when it is loaded.
    ///
    /// - Parameter path: The file that the caller names, if any.
    public func locate(_ path: String?) throws(ImageSegmenterError) -> Location {
        if let path { return Location(path: path, origin: .named) }
        if let path = environment("SILHOUETTE_MODEL") {
            guard access(path, R_OK) == 0 else {
                throw .unusableModel(
                    path: path, reason: "SILHOUETTE_MODEL names this file, but it cannot be read: \(lastSystemError())")
            }
            return Location(path: path, origin: .environment)
        }
        if searchesCache, let path = cachedModel { return Location(path: path, origin: .cache) }
        if let path = files.path(of: Self.includedFile) { return Location(path: path, origin: .included) }
        let place = files.home.map { " in \($0), which SILHOUETTE_HOME names" } ?? ""
        let remedy =
            searchesCache
            ? "run Weights/fetch, or name a .safetensors file with --model or SILHOUETTE_MODEL"
            : "name a .safetensors file with modelAssetPath or SILHOUETTE_MODEL, or its folder with SILHOUETTE_HOME"
        throw .noModel("no model found, \(Self.includedFile) is missing\(place): \(remedy)")
    }

    private var cachedModel: String? {
        guard let cacheFolder else { return nil }
        let official = Self.officialNames.map { "\(cacheFolder)/\($0)" }
        if let path = official.first(where: { access($0, R_OK) == 0 }) { return path }
        guard let directory = opendir(cacheFolder) else { return nil }
        defer { closedir(directory) }
        var names: [String] = []
        while let entry = readdir(directory) {
            let name = withUnsafeBytes(of: &entry.pointee.d_name) { bytes in
                String(decoding: bytes.prefix { $0 != 0 }, as: UTF8.self)
            }
            if name.hasSuffix(".safetensors"), !name.hasPrefix(".") { names.append(name) }
        }
        return names.sorted().map { "\(cacheFolder)/\($0)" }.first { access($0, R_OK) == 0 }
    }
}
