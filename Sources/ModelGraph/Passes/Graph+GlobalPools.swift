extension Graph {
    /// With average pools whose one window covers the whole map written as what they are.
    package func recognizingGlobalPools() -> Graph {
        var graph = self
        for (index, layer) in layers.enumerated() {
            guard case .averagePool(let pool) = layer.operation, shape(of: layer.output).extent == Extent(1) else {
                continue
            }
            let input = shape(of: layer.inputs[0])
            let covers =
                pool.kernel.height >= input.height + pool.padding.top
                && pool.kernel.width >= input.width + pool.padding.left
            // Counted padding makes the divisor larger than the map.
            let dividesByMap = !pool.countsPadding || pool.padding == Padding(0)
            if covers && dividesByMap { graph.layers[index].operation = .globalAveragePool }
        }
        return graph
    }
}
