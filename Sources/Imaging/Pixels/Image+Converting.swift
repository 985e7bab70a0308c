extension Image {
    /// The picture in RGB, alpha put over a colour: `(color * alpha + background * (255 - alpha)) / 255`, rounded
    /// half up.
    ///
    /// What is stored under alpha 0 does not show.
    public func flattened(over background: RGBColor = .white) -> Image { converted(to: .rgb, over: background) }

    /// The picture in another layout, without row padding.
    ///
    /// Gray becomes three equal channels; colour becomes gray by ITU-R BT.601; missing alpha is opaque; alpha that
    /// the new layout lacks is put over `background` as `flattened(over:)` does.
    public func converted(to result: PixelFormat, over background: RGBColor = .white) -> Image {
        if result == format, rowStride == width * format.channelCount { return self }
        let (red, green, blue) = format.colorOffsets
        let (redOut, greenOut, blueOut) = result.colorOffsets
        let (channels, channelsOut) = (format.channelCount, result.channelCount)
        let flattens = format.hasAlpha && !result.hasAlpha
        return withView { view in
            Image(size, result) { buffer in
                guard var to = buffer.baseAddress else { return }
                for y in 0..<height {
                    var from = view.row(y)
                    for _ in 0..<width {
                        var color = (red: from[red], green: from[green], blue: from[blue])
                        if flattens {
                            let alpha = from[3]
                            color.red = blend(color.red, over: background.red, alpha: alpha)
                            color.green = blend(color.green, over: background.green, alpha: alpha)
                            color.blue = blend(color.blue, over: background.blue, alpha: alpha)
                        }
                        if channelsOut == 1 {
                            to[0] = luminance(color.red, color.green, color.blue)
                        } else {
                            to[redOut] = color.red
                            to[greenOut] = color.green
                            to[blueOut] = color.blue
                            if channelsOut == 4 { to[3] = channels == 4 ? from[3] : 255 }
                        }
                        from += channels
                        to += channelsOut
                    }
                }
            }
        }
    }
}
