import Imaging

extension SegmentationSlot: SchedulerSlot {
    /// Copies a frame of one picture to where the device will read it.
    package func stage(_ picture: ImageView) throws { load(picture) }

    /// Waits until the slot's results can be copied.
    package func results(within nanoseconds: UInt64) throws -> SegmentationSlot {
        try wait(nanoseconds: nanoseconds)
        return self
    }
}
