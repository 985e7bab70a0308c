extension Graph {
    /// The same network with less work: every pass that gives the same values, up to the order of summation.
    ///
    /// The order matters: a pool must be known as global and a broadcast must have been pushed behind what can be
    /// computed once before a branch is seen to be constant; an addition can be fused only when the layer before it
    /// has the activation that it will keep.
    package func optimized() -> Graph {
        removingDeadLayers()
            .recognizingGlobalPools()
            .droppingIdentities()
            .delayingBroadcasts()
            .delayingResizes()
            .fusingActivations()
            .foldingConstantBranches()
            .fusingResidualAdds()
    }
}
