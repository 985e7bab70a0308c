import Glibc
import PreviewServer

/// Where the page's files are.
enum WebFolder {
    /// Looks under `SILHOUETTE_HOME`, then beside the program as `scripts/install` lays it out, then in the checkout that the
    /// program was built in.
    static func find() throws(ServerError) -> String {
        if let home = getenv("SILHOUETTE_HOME").map({ String(cString: $0) }), !home.isEmpty {
            guard isPage("\(home)/web") else {
                throw ServerError("SILHOUETTE_HOME is \(home), but there is no \(home)/web/index.html")
            }
            return "\(home)/web"
        }
        guard let program = realpath("/proc/self/exe", nil) else {
            throw ServerError("the page's files are not found; name their folder with --web")
        }
        defer { free(program) }
        // The program is in PREFIX/bin, or in the checkout's .build/TARGET/release.
        var folder = String(cString: program)
        var candidates: [String] = []
        func goUp() { folder = folder.lastIndex(of: "/").map { String(folder[..<$0]) } ?? "" }
        goUp()
        goUp()
        candidates.append("\(folder)/share/silhouette/web")
        for _ in 0..<3 {
            candidates.append("\(folder)/web")
            goUp()
        }
        guard let found = candidates.first(where: isPage) else {
            throw ServerError(
                "the page's files are neither beside the program (../share/silhouette/web) nor in its checkout; "
                    + "name their folder with --web")
        }
        return found
    }

    private static func isPage(_ folder: String) -> Bool { access("\(folder)/index.html", R_OK) == 0 }
}
