import Imaging
import Silhouette
import Video

/// The most memory that a film's frames take on their way through the stages, computed before the first is read.
struct FilmMemory {
    /// Frames in the stages and between them, and the one that is being decoded.
    private static let frameCount = 6
    /// Frames of a film behind the subject: the one that is seen, the next, and the one that is being decoded.
    private static let backgroundFrameCount = 3

    let size: PixelSize
    let byteCount: Int

    init(
        _ info: VideoInfo, _ effect: EffectOptions, fit: Fit, tileSide: Int?, hasBackgroundFilm: Bool,
        model: ModelOutput
    ) {
        size = PixelSize(width: info.width, height: info.height)
        let picture = PictureClaim(size: size, channelCount: 3, fileByteCount: 0)
        // What is drawn is handed on as it is, which takes less than a file of any format.
        let drawing = PictureMemory(
            .effect(effect), masks: .source, fit: fit, tileSide: tileSide, format: .png, model: model)
        let frames = Self.frameCount + (hasBackgroundFilm ? Self.backgroundFrameCount : 0)
        // Motion is followed on a small copy of two frames; each frame that waits has its classes, or its subject map.
        byteCount = drawing.byteCount(picture) + frames * picture.pictureByteCount + Self.frameCount * size.pixelCount
    }
}
