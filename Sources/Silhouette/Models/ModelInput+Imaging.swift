import ModelGraph

extension Normalization {
    /// What makes bytes a model's input.
    package init(_ input: ModelInput) {
        let order: Order =
            switch input.order {
            case .rgb: .rgb
            case .bgr: .bgr
            case .gray: .gray
            }
        self.init(order: order, scale: input.scale, bias: input.bias)
    }
}

extension Preprocessor {
    /// Brings pictures of one size to a model's size.
    package convenience init(for input: ModelInput, picture: PixelSize, fit: Fit = .stretch) {
        self.init(
            picture: picture, network: PixelSize(width: input.width, height: input.height), fit: fit,
            format: input.order == .gray ? .gray : .rgb)
    }
}
