import Silhouette
import TestSupport
import Testing

@Suite("Installed files")
struct InstalledFilesTests {
    @Test("They are beside the program, above it in its checkout, or in the checkout that the library was built from")
    func places() throws {
        try withScratchFolder { folder in
            let installed = "\(folder)/prefix/bin/silhouette"
            let built = "\(folder)/checkout/.build/x86_64/release/silhouette"
            let source = "\(folder)/library/Sources/Silhouette/Models/InstalledFiles.swift"
            func path(_ program: String?, home: String = "") -> String? {
                InstalledFiles(home: home, program: program, source: source).path(of: "web/index.html")
            }
            #expect(path(installed) == nil)
            #expect(path(built) == nil)
            try makeFile("\(folder)/library/web/index.html")
            for program in [installed, built, nil] { #expect(path(program) == "\(folder)/library/web/index.html") }
            try makeFile("\(folder)/checkout/web/index.html")
            try makeFile("\(folder)/prefix/share/silhouette/web/index.html")
            #expect(path(installed) == "\(folder)/prefix/share/silhouette/web/index.html")
            #expect(path(built) == "\(folder)/checkout/web/index.html")
            #expect(path(nil) == "\(folder)/library/web/index.html")
        }
    }

    @Test("SILHOUETTE_HOME comes before all of them, and alone")
    func home() throws {
        try withScratchFolder { folder in
            try makeFile("\(folder)/share/silhouette/web/index.html")
            let files = InstalledFiles(home: "\(folder)/home", program: "\(folder)/bin/silhouette")
            #expect(files.path(of: "web/index.html") == nil)
            try makeFile("\(folder)/home/web/index.html")
            #expect(files.path(of: "web/index.html") == "\(folder)/home/web/index.html")
        }
    }

    @Test("This very process finds the page and the default model")
    func here() {
        for name in ["web/index.html", ModelLocator.includedFile] {
            #expect(InstalledFiles().path(of: name) != nil, "\(name)")
        }
    }
}
