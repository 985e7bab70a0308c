import ModelGraph

/// Why a backend does not compute a row of the table.
package struct OperatorFailure: Sendable, CustomStringConvertible {
    /// The row.
    package let row: OperatorCase
    /// The backend and what it did.
    package let reason: String

    /// One line that begins with the row, ready to be pasted back.
    package var description: String { "\(row), // \(reason)" }
}

/// Runs every row on a backend and gives those that fail.
package func check(_ backend: any InferenceBackend, _ rows: [OperatorCase], _ precision: Precision = .float32)
    -> [OperatorFailure]
{
    rows.compactMap { row in
        do {
            return check(backend, try row.prepared(precision))
        } catch {
            return OperatorFailure(row: row, reason: "is no case: \(error)")
        }
    }
}

/// Runs one prepared row on a backend; nil where all is well.
///
/// The network runs twice, first on a picture of NaNs: what an earlier picture left in the backend's memory must not
/// reach a later one's result.
package func check(_ backend: any InferenceBackend, _ prepared: PreparedCase) -> OperatorFailure? {
    func fail(_ reason: String) -> OperatorFailure {
        OperatorFailure(row: prepared.row, reason: "\(backend.deviceName): \(reason)")
    }
    do {
        let compiled = try backend.compile(prepared.graph, batch: prepared.row.batch)
        let noise = prepared.inputs.map {
            Tensor(batch: $0.batch, shape: $0.shape, values: $0.values.map { _ in .nan })
        }
        _ = try compiled.runGuarded(noise)
        let result = try compiled.runGuarded(prepared.inputs)[0]
        return prepared.firstDifference(in: result).map(fail)
    } catch {
        return fail("\(error)")
    }
}

extension PreparedCase {
    /// The first value that is not what the reference says, in words; nil where there is none.
    ///
    /// A layer that ends in arg-max has integers to give and its inputs exactly, so there the result must be equal.
    package func firstDifference(in result: Tensor) -> String? {
        let shape = expected.shape
        let isExact = row.kind == .argMax && row.activation == .none && !row.residual && !row.pictureBias
        for (index, (value, reference)) in zip(result.values, expected.values).enumerated() {
            if isExact ? Double(value) == reference : precision.accepts(value, reference: reference) { continue }
            let (pixel, channel) = index.quotientAndRemainder(dividingBy: shape.channels)
            let (row, x) = pixel.quotientAndRemainder(dividingBy: shape.width)
            let (picture, y) = row.quotientAndRemainder(dividingBy: shape.height)
            return "at picture \(picture), row \(y), column \(x), channel \(channel) of \(shape): \(value), "
                + "expected \(reference) (\(precision))"
        }
        return nil
    }
}
