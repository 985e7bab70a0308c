import Glibc

/// The files that come with the program: the preview's page and the default model.
///
/// They are looked for in the folder that `SILHOUETTE_HOME` names, and nowhere else where it is set; then beside the program
/// as `scripts/install` lays them out, in the checkout that the program was built in, and in the checkout that this library
/// was built from: a package that depends on it has its programs elsewhere.
package struct InstalledFiles: Sendable {
    /// What `SILHOUETTE_HOME` names.
    package let home: String?
    private let folders: [String]

    /// Looks where this process would.
    package init() {
        let home = getenv("SILHOUETTE_HOME").map { String(cString: $0) } ?? ""
        var program: String?
        if let path = realpath("/proc/self/exe", nil) {
            program = String(cString: path)
            free(path)
        }
        self.init(home: home, program: program)
    }

    /// - Parameters:
    ///   - home: What `SILHOUETTE_HOME` names; empty counts as none.
    ///   - program: Path of the program that runs.
    ///   - source: A file of this folder of the checkout.
    package init(home: String, program: String?, source: String = #filePath) {
        self.home = home.isEmpty ? nil : home
        guard home.isEmpty else {
            folders = [home]
            return
        }
        var folders: [String] = []
        if let program {
            // The program is in PREFIX/bin, or in the checkout's .build/TARGET/release.
            folders.append(Self.folder(above: program, by: 2) + "/share/silhouette")
            for levels in 2...4 { folders.append(Self.folder(above: program, by: levels)) }
        }
        folders.append(Self.folder(above: source, by: 4))
        self.folders = folders
    }

    /// Path of a file, whose name is as in the checkout: `web/index.html`. Nil where it is nowhere.
    package func path(of name: String) -> String? {
        folders.lazy.map { "\($0)/\(name)" }.first { access($0, R_OK) == 0 }
    }

    private static func folder(above path: String, by levels: Int) -> String {
        var path = path[...]
        for _ in 0..<levels { path = path.lastIndex(of: "/").map { path[..<$0] } ?? "" }
        return String(path)
    }
}
