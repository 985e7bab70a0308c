import PreviewServer
import Silhouette

/// Where the page's files are.
enum WebFolder {
    static func find(_ files: InstalledFiles = InstalledFiles()) throws(ServerError) -> String {
        if let page = files.path(of: "web/index.html") { return String(page.dropLast("/index.html".count)) }
        if let home = files.home {
            throw ServerError("SILHOUETTE_HOME is \(home), but there is no \(home)/web/index.html")
        }
        throw ServerError(
            "the page's files are neither beside the program (../share/silhouette/web) nor in its checkout; "
                + "name their folder with --web")
    }
}
