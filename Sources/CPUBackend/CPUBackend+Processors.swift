import CPUKernels

extension CPUBackend {
    /// Threads that a backend has where nobody says how many: one on each processor that the process may use.
    package static var processorCount: Int { min(Int(ck_processor_count()), mostThreads) }
}
