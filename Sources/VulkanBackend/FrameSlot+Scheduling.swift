import Imaging

extension FrameSlot: SchedulerSlot {
    /// Copies a frame of one picture to where the device will read it.
    public func stage(_ picture: ImageView) throws { load(picture) }

    /// Waits until the slot's results can be copied.
    public func results(within nanoseconds: UInt64) throws -> FrameSlot {
        try wait(nanoseconds: nanoseconds)
        return self
    }
}
