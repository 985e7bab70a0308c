/// A place for one frame on a device: staging memory of its own, recorded commands and a fence.
///
/// A slot goes round: `stage`, `submit`, `results`, and its results are read before the next `stage`. `FrameScheduler` calls it
/// for one frame at a time. A slot that goes away while its frame is still running must keep alive what the device uses.
package protocol SchedulerSlot: AnyObject, Sendable {
    associatedtype Picture
    /// What comes out: where it lies until the next `stage`.
    associatedtype Results

    /// Copies a picture to where the device will read it.
    func stage(_ picture: Picture) throws

    /// Hands the staged frame to the device and returns at once. The device runs frames in the order of these calls.
    func submit() throws

    /// Waits until the frame is done.
    ///
    /// - Throws: When the device fails, or is not done after `nanoseconds`.
    func results(within nanoseconds: UInt64) throws -> Results
}
