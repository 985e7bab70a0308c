/// What is wrong with a word, as the rest of a sentence.
package struct WordError: Error, Equatable, CustomStringConvertible {
    package let description: String

    package init(_ description: String) { self.description = description }
}
