extension Graph {
    /// The same network with less work: every pass that gives the same values, up to the order of summation.
    ///
    /// The order matters. A branch is seen to be constant by its global pool and its broadcast, so those come first. An
    /// addition is fused into a layer without an activation, so activations have been fused before.
    package func optimized() -> Graph {
        rearranged()
            .foldingConstantBranches()
            .fusingResidualAdds()
    }

    /// The passes that read no weight.
    func rearranged() -> Graph {
        removingDeadLayers()
            .recognizingGlobalPools()
            .droppingIdentities()
            .delayingBroadcasts()
            .delayingResizes()
            .fusingActivations()
    }
}
