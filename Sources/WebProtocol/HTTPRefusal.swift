/// Why a request is not understood or not allowed, as the answer to it.
package struct HTTPRefusal: Error, Equatable, Sendable {
    /// The status: 400.
    package let status: Int
    /// What is wrong, in one line.
    package let line: String
    /// Header fields of the answer.
    package let fields: [String: String]

    package init(_ status: Int, _ line: String, _ fields: [String: String] = [:]) {
        self.status = status
        self.line = line
        self.fields = fields
    }

    static let headTooLarge = HTTPRefusal(
        431, "the head has more than \(HTTPHeadReader.headLimit) bytes or \(HTTPHeadReader.fieldLimit) fields")
}
