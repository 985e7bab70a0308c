import Glibc
import WebProtocol

/// Who may connect, by what a browser says of itself and by a token.
///
/// A page of another site can make a browser connect to this machine, but not lie about where it comes from: `Origin`
/// names the page's site, and `Host` the name that was looked up, which under DNS rebinding is the other site's too.
package struct AccessRules: Sendable {
    /// `http` or `https`.
    package let scheme: String
    /// The port that is listened on.
    package let port: Int
    /// What pages must know. Nil: nothing.
    package let token: String?
    private let hosts: Set<String>
    private let takesAnyAddress: Bool
    private let origins: Set<String>

    /// Rules of a server.
    ///
    /// - Parameters:
    ///   - host: The address that is listened on.
    ///   - allowedOrigins: Origins besides the server's own; their hosts may stand in `Host`.
    package init(host: String, port: Int, usesTLS: Bool, token: String?, allowedOrigins: [String]) {
        scheme = usesTLS ? "https" : "http"
        self.port = port
        self.token = token
        let host = Self.canonical(host) ?? host
        let isEverywhere = host == "0.0.0.0" || host == "::"
        takesAnyAddress = isEverywhere
        var names = [host.contains(":") ? "[\(host)]" : host]
        if isEverywhere || Self.isLoopback(host) { names += ["localhost", "127.0.0.1", "[::1]"] }
        let standardPort = usesTLS ? 443 : 80
        var hosts = Set(names.map { "\($0.lowercased()):\(port)" })
        if port == standardPort { hosts.formUnion(names.map { $0.lowercased() }) }
        origins = Set(allowedOrigins.map { $0.lowercased() })
        for origin in origins {
            if let start = origin.firstRange(of: "://") { hosts.insert(String(origin[start.upperBound...])) }
        }
        self.hosts = hosts
    }

    /// Whether only this machine reaches an address.
    package static func isLoopback(_ host: String) -> Bool {
        let host = canonical(host) ?? host
        return host == "localhost" || host == "::1" || host.hasPrefix("127.")
    }

    /// An address as browsers write it: `::` for `0:0:0:0:0:0:0:0`, `127.0.0.1` for `::ffff:127.0.0.1`. Nil: it is none.
    package static func canonical(_ host: String) -> String? {
        // The system reads "0" and "2130706433" as addresses, too, and no browser does.
        var four = in_addr()
        if inet_pton(AF_INET, host, &four) == 1 { return host }
        var six = in6_addr()
        guard inet_pton(AF_INET6, host, &six) == 1 else { return nil }
        let bytes = withUnsafeBytes(of: &six) { Array($0) }
        if bytes.prefix(12) == [0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 255, 255] {
            return bytes.suffix(4).map { "\($0)" }.joined(separator: ".")
        }
        var text = [CChar](repeating: 0, count: Int(INET6_ADDRSTRLEN))
        guard inet_ntop(AF_INET6, &six, &text, socklen_t(text.count)) != nil else { return nil }
        return String(decoding: text.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
    }

    /// Whether `Host` is one of the server's own names.
    package func allows(host: String?) -> Bool {
        guard let host = host?.lowercased() else { return false }
        if hosts.contains(host) { return true }
        guard takesAnyAddress else { return false }
        // A number was not looked up anywhere, so nobody can have turned it to another machine.
        let suffix = ":\(port)"
        let isStandard = port == (scheme == "https" ? 443 : 80)
        guard host.hasSuffix(suffix) || isStandard else { return false }
        let name = host.hasSuffix(suffix) ? host.dropLast(suffix.count) : host[...]
        return isAddress(name)
    }

    private func isAddress(_ name: Substring) -> Bool {
        if name.first == "[", name.last == "]" {
            let inside = name.dropFirst().dropLast()
            return !inside.isEmpty && inside.allSatisfy { $0.isHexDigit || $0 == ":" || $0 == "." }
        }
        let parts = name.split(separator: ".", omittingEmptySubsequences: false)
        return parts.count == 4 && parts.allSatisfy { UInt8($0) != nil }
    }

    /// Whether a page of this origin may connect or post. Programs that are no browsers send none, and may.
    package func allows(origin: String?, host: String) -> Bool {
        guard let origin = origin?.lowercased() else { return true }
        return origin == "\(scheme)://\(host.lowercased())" || origins.contains(origin)
    }

    /// Name of the cookie that keeps the token. Cookies do not heed ports, so it names this one.
    package var cookieName: String { "silhouette-\(port)" }

    /// How a request shows the token.
    package enum Authorization: Equatable, Sendable {
        /// None is needed, or it has it.
        case granted
        /// It has it in its address: it should get the cookie and an address without.
        case grantedByAddress
        /// It does not have it.
        case refused
    }

    /// Whether a request knows the token.
    package func authorization(of request: HTTPRequest) -> Authorization {
        guard let token else { return .granted }
        if let shown = request.parameter("token") { return isToken(shown, token) ? .grantedByAddress : .refused }
        if let field = request.fields["authorization"], field.lowercased().hasPrefix("bearer ") {
            return isToken(String(field.dropFirst(7)), token) ? .granted : .refused
        }
        for cookie in (request.fields["cookie"] ?? "").split(separator: ";") {
            let parts = cookie.split(separator: "=", maxSplits: 1)
            guard parts.count == 2, parts[0].allSatisfy({ $0 != "\"" }) else { continue }
            let name = parts[0].drop { $0 == " " }
            if name == cookieName { return isToken(String(parts[1]), token) ? .granted : .refused }
        }
        return .refused
    }

    /// The field that gives a browser the token to keep.
    package var cookieField: (name: String, value: String)? {
        token.map { token in
            let secure = scheme == "https" ? "; Secure" : ""
            return ("Set-Cookie", "\(cookieName)=\(token); Path=/; HttpOnly; SameSite=Strict\(secure)")
        }
    }

    /// Compares all bytes whatever the first ones are, so that time says nothing of how many were right.
    private func isToken(_ shown: String, _ token: String) -> Bool {
        let (shown, token) = (Array(shown.utf8), Array(token.utf8))
        var difference: UInt8 = shown.count == token.count ? 0 : 1
        for (index, byte) in shown.enumerated() { difference |= byte ^ token[index % token.count] }
        return difference == 0
    }
}
