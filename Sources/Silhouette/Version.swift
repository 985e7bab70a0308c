/// The release of this library and of the program that comes with it.
public enum SilhouetteVersion {
    /// Major, minor and patch number.
    public static let string = "0.1.0"
}
