/// The files of a certificate and its key: what is wrong with them, before and after libwebsockets has read them.
struct TLSFiles {
    let certificate, key: String
    private static let byteLimit = 1 << 20

    /// Refuses what can be seen to be wrong: libwebsockets would say less, wait for a pipe, or ask for a passphrase.
    ///
    /// - Throws: `ServerError` that names the file.
    func check() throws(ServerError) {
        let certificateText = try text(certificate)
        let keyText = try text(key)
        guard certificateText.contains("-----BEGIN CERTIFICATE-----") else {
            throw ServerError(
                certificateText.contains("PRIVATE KEY-----")
                    ? "--tls-certificate \(certificate): holds a key and no certificate; are the two files swapped?"
                    : "--tls-certificate \(certificate): holds no certificate in PEM")
        }
        guard keyText.contains("PRIVATE KEY-----") else {
            throw ServerError(
                keyText.contains("-----BEGIN CERTIFICATE-----")
                    ? "--tls-key \(key): holds a certificate and no key; are the two files swapped?"
                    : "--tls-key \(key): holds no key in PEM")
        }
        guard !keyText.contains("ENCRYPTED") else {
            throw ServerError(
                "--tls-key \(key): is encrypted, and nobody is there to type the passphrase; "
                    + "openssl pkey -in FILE -out PLAIN writes a plain one")
        }
    }

    private func text(_ path: String) throws(ServerError) -> String {
        let bytes = try readFile(path, limit: Self.byteLimit)
        guard !bytes.isEmpty else { throw ServerError("\(path): is empty") }
        return String(decoding: bytes, as: UTF8.self)
    }

    /// What libwebsockets' complaints mean.
    ///
    /// Of "ssl problem getting key 'FILE' 92274804: error:05800074:x509 certificate routines::key values mismatch" it is the end.
    func refusal(_ complaints: [String]) -> ServerError {
        let reason = { (line: String) in
            line.split(separator: ":", omittingEmptySubsequences: true).last.map(String.init) ?? line
        }
        if let line = complaints.first(where: { $0.contains("problem getting key") }) {
            return ServerError(
                line.contains("mismatch")
                    ? "--tls-key \(key): is not the key of the certificate \(certificate)"
                    : "--tls-key \(key): cannot be used: \(reason(line))")
        }
        if let line = complaints.first(where: { $0.contains("problem getting cert") }) {
            return ServerError("--tls-certificate \(certificate): cannot be used: \(reason(line))")
        }
        return ServerError("TLS does not start: \(complaints.last ?? "no reason was given")")
    }
}
