#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif
import Testing

/// The folder of reference models and outputs, which is not part of the project.
///
/// It is looked for under `SILHOUETTE_SHARED`, then as `shared` beside the checkout. Tests that need it carry
/// `.needs(shared:)`, so that they are skipped with the reason where it is absent.
package enum SharedFiles {
    /// The folder, whether it is there or not.
    package static let folder =
        ProcessInfo.processInfo.environment["SILHOUETTE_SHARED"] ?? Checkout.folder + "/../shared"

    /// The path of a file in the folder.
    package static func path(_ name: String) -> String { folder + "/" + name }

    /// The bytes of a file in the folder.
    package static func bytes(_ name: String) throws -> [UInt8] {
        try [UInt8](Data(contentsOf: URL(filePath: path(name))))
    }

    /// Why a test that needs these files cannot run; nil where they are all there.
    static func absence(of names: [String]) -> String? {
        let missing = names.filter { !FileManager.default.fileExists(atPath: path($0)) }
        return missing.isEmpty
            ? nil : "\(missing.joined(separator: ", ")) not in \(folder) (set SILHOUETTE_SHARED to where it is)"
    }
}

/// The project's own folder.
package enum Checkout {
    /// Its path, without a slash at the end.
    package static let folder = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        .deletingLastPathComponent().path(percentEncoded: false).trimmingSuffix("/")

    /// The path of a file of the project.
    package static func path(_ name: String) -> String { folder + "/" + name }
}

extension String {
    fileprivate func trimmingSuffix(_ suffix: Character) -> String {
        last == suffix ? String(dropLast()) : self
    }
}

extension Trait where Self == ConditionTrait {
    /// Skips a test, with the reason, where files of the shared folder are absent.
    package static func needs(shared names: String...) -> Self {
        let absence = SharedFiles.absence(of: names)
        return .enabled(if: absence == nil, "\(absence ?? "")")
    }

    /// Skips a test that takes minutes unless `SILHOUETTE_TEST_FULL` is set.
    package static var takesMinutes: Self {
        .enabled(
            if: ProcessInfo.processInfo.environment["SILHOUETTE_TEST_FULL"] == "1",
            "takes minutes (set SILHOUETTE_TEST_FULL=1)")
    }
}
