import Base
import Silhouette

extension BackgroundSpecification {
    /// The background; a picture is read.
    func background(fit: PictureFit, limits: ImageLimits) throws -> Background {
        switch self {
        case .plain(let background, _): return background
        case .picture(let path):
            do throws(ImageError) {
                return .picture(try LoneMemory.read(path, limits: limits, isFlattened: true).flattened(), fit)
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
