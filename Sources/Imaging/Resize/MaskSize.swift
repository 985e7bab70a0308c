/// The size of masks.
public enum MaskSize: String, Sendable, CaseIterable {
    /// The picture's size. Computed from the network's scores, never from resized labels.
    case source
    /// The size of the network's own output.
    case model
}
