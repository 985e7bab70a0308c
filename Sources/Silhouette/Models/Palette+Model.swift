import Imaging
import ModelGraph

extension Palette {
    /// The model's colours, or those of PASCAL VOC.
    package init(of model: Model) {
        if let colors = model.palette {
            self.init(colors.map { RGBColor(red: $0.red, green: $0.green, blue: $0.blue) })
        } else {
            self = .voc(count: model.labels.count)
        }
    }
}
