import Silhouette

/// A background as it is named on the command line; a picture is not read yet.
package enum BackgroundSpecification: Sendable, Equatable {
    /// One that needs no file, and the word it was named with.
    case plain(Background, String)
    /// A picture's file.
    case picture(String)

    /// Reads what `Background(text:)` does, or a path.
    package init(_ text: String) throws(UsageError) {
        do throws(WordError) {
            self = try Background(text: text).map { .plain($0, text) } ?? .picture(text)
        } catch {
            throw UsageError(error.description)
        }
    }

    /// Whether it is a picture.
    var isPicture: Bool { path != nil }

    /// The picture's file.
    var path: String? { if case .picture(let path) = self { path } else { nil } }

    /// As it was typed.
    var text: String {
        switch self {
        case .plain(_, let text), .picture(let text): text
        }
    }

    /// The background; a picture is read.
    func background(fit: PictureFit, limits: ImageLimits) throws -> Background {
        switch self {
        case .plain(let background, _): return background
        case .picture(let path):
            do throws(ImageError) {
                return .picture(try ImageFile.read(path: path, limits: limits).image.flattened(), fit)
            } catch {
                if case .unreadable = error.reason, !path.contains("/"), !path.contains(".") {
                    let hint = nearest(to: path, among: Background.words).map { "; did you mean \($0)?" } ?? ""
                    throw UsageError("--background: '\(path)' is neither a colour nor a picture\(hint)")
                }
                throw error
            }
        }
    }
}
