import WebProtocol
import PreviewServer
import Testing

@Suite("Access rules")
struct AccessRulesTests {
    private func rules(
        _ host: String = "127.0.0.1", port: Int = 8420, tls: Bool = false, token: String? = nil, origins: [String] = []
    ) -> AccessRules {
        AccessRules(host: host, port: port, usesTLS: tls, token: token, allowedOrigins: origins)
    }

    @Test("A loopback server has its loopback names and its port, and no other")
    func loopback() {
        for host in ["127.0.0.1:8420", "localhost:8420", "LOCALHOST:8420", "[::1]:8420"] {
            #expect(rules().allows(host: host))
        }
        for host in [
            nil, "", "127.0.0.1", "127.0.0.1:8421", "evil.example:8420", "localhost.evil.example:8420",
            "127.0.0.1:8420.evil",
            "192.168.0.1:8420", "0.0.0.0:8420", "[::2]:8420", " 127.0.0.1:8420",
        ] {
            #expect(!rules().allows(host: host), "\(host ?? "none")")
        }
    }

    @Test("A server on all addresses goes by any number, which cannot be rebound, and by no name")
    func everywhere() {
        let rules = rules("0.0.0.0")
        for host in ["192.168.0.17:8420", "10.0.0.1:8420", "[fe80::1]:8420", "localhost:8420"] {
            #expect(rules.allows(host: host))
        }
        for host in [
            "evil.example:8420", "192.168.0.17", "192.168.0.17.evil.example:8420", "1.2.3:8420", "1.2.3.256:8420",
        ] {
            #expect(!rules.allows(host: host))
        }
    }

    @Test("An address counts however it is written")
    func spellings() {
        for (written, canonical, isLoopback) in [
            ("0:0:0:0:0:0:0:0", "::", false), ("::0", "::", false), ("0:0:0:0:0:0:0:1", "::1", true),
            ("::ffff:127.0.0.1", "127.0.0.1", true), ("FE80::0:1", "fe80::1", false), ("127.0.0.1", "127.0.0.1", true),
        ] {
            #expect(AccessRules.canonical(written) == canonical)
            #expect(AccessRules.isLoopback(written) == isLoopback, "\(written)")
            let name = canonical.contains(":") ? "[\(canonical)]" : canonical
            #expect(rules(written).allows(host: "\(name):8420"), "\(written)")
        }
        for written in ["0", "2130706433", "127.1", "localhost", "::g", ""] {
            #expect(AccessRules.canonical(written) == nil, "\(written)")
        }
        #expect(rules("::0").allows(host: "192.168.0.17:8420"))
    }

    @Test("The standard port may be left out")
    func standardPort() {
        #expect(rules(port: 443, tls: true).allows(host: "127.0.0.1"))
        #expect(!rules(port: 80, tls: true).allows(host: "127.0.0.1"))
        #expect(rules("192.168.0.2", port: 80).allows(host: "192.168.0.2"))
    }

    @Test("An origin is the server's own, exactly, or one that was allowed; programs have none")
    func origins() {
        let rules = rules(origins: ["https://demo.example"])
        let host = "localhost:8420"
        #expect(rules.allows(origin: nil, host: host))
        #expect(rules.allows(origin: "http://localhost:8420", host: host))
        #expect(rules.allows(origin: "https://demo.example", host: host))
        #expect(rules.allows(host: "demo.example"))
        for origin in [
            "null", "", "http://127.0.0.1:8420", "https://localhost:8420", "http://localhost", "http://localhost:84200",
            "http://evil.example", "http://demo.example", "file://",
        ] {
            #expect(!rules.allows(origin: origin, host: host), "\(origin)")
        }
    }

    @Test("The token comes by address, field or cookie")
    func tokens() {
        let rules = rules(token: "correct-horse")
        func request(_ change: (inout HTTPRequest) -> Void) -> AccessRules.Authorization {
            var request = HTTPRequest(method: "GET", path: "/")
            change(&request)
            return rules.authorization(of: request)
        }
        #expect(request { _ in } == .refused)
        #expect(request { $0.query = [("token", "correct-horse")] } == .grantedByAddress)
        #expect(request { $0.fields["authorization"] = "Bearer correct-horse" } == .granted)
        #expect(request { $0.fields["cookie"] = "a=b; silhouette-8420=correct-horse" } == .granted)
        for wrong in ["", "correct-hors", "correct-horsee", "Correct-horse", "correct-horse "] {
            #expect(request { $0.query = [("token", wrong)] } == .refused)
            #expect(request { $0.fields["authorization"] = "Bearer " + wrong + "x" } == .refused)
            #expect(request { $0.fields["cookie"] = "silhouette-8420=x" + wrong } == .refused)
        }
        #expect(request { $0.fields["cookie"] = "silhouette-8421=correct-horse" } == .refused)
        #expect(self.rules().authorization(of: HTTPRequest(method: "GET", path: "/")) == .granted)
    }

    @Test("The cookie is for this server's own pages only")
    func cookie() {
        #expect(rules().cookieField == nil)
        let field = rules(tls: true, token: "correct-horse").cookieField?.value ?? ""
        for word in ["silhouette-8420=correct-horse", "HttpOnly", "SameSite=Strict", "Secure", "Path=/"] {
            #expect(field.contains(word))
        }
    }
}
