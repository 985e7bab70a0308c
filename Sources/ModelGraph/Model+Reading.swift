extension Model {
    /// Opens a model file: maps it into memory and checks everything that is in it.
    ///
    /// The format is described in `Weights/FORMAT.md`. Do not cut the file short in place while the model is in use;
    /// rename a new one over it instead.
    ///
    /// - Parameters:
    ///   - memoryLimit: Bytes that it may take to be run.
    ///   - threadCount: Threads that run it. Nil: one for each core.
    /// - Throws: `ModelError` when the file cannot be opened, or is not a model that can be run.
    package init(
        path: String, memoryLimit: Int = ModelLimits.memoryByteCount, threadCount: Int? = nil
    ) throws(ModelError) {
        do throws(ModelFault) {
            try self.init(MappedFile(path: path, byteLimit: memoryLimit), memoryLimit, threadCount: threadCount)
        } catch {
            throw ModelError(file: path, error.reason, isPastMemoryLimit: error.isPastMemoryLimit)
        }
    }

    /// Reads a model file that is already in memory.
    ///
    /// - Parameters:
    ///   - bytes: The file's contents, copied.
    ///   - name: What errors call it.
    ///   - memoryLimit: Bytes that it may take to be run.
    /// - Throws: `ModelError` when the bytes are not a model that can be run.
    package init(
        bytes: [UInt8], name: String, memoryLimit: Int = ModelLimits.memoryByteCount
    ) throws(ModelError) {
        do throws(ModelFault) {
            guard bytes.count <= memoryLimit else { throw ModelFault(memory: bytes.count, limit: memoryLimit) }
            try self.init(OwnedBytes(bytes), memoryLimit)
        } catch {
            throw ModelError(file: name, error.reason, isPastMemoryLimit: error.isPastMemoryLimit)
        }
    }

    private init(
        _ storage: any Weights.Storage, _ memoryLimit: Int, threadCount: Int? = nil
    ) throws(ModelFault) {
        let file = try SafetensorsFile(storage)
        guard case .string(let text)? = file.metadata["silhouette"] else {
            throw ModelFault(
                "holds tensors but no network: __metadata__ has no key silhouette; Weights/convert.py writes such files"
            )
        }
        let document = try Fields(parseJSON(Array(text.utf8), "document"), "document")
        try document.allow(only: [
            "version", "name", "input", "output", "labels", "palette", "layers", "source", "digest",
        ])
        let version = try document.integer("version")
        guard version == 1 else { throw document.fault("has version \(version), this program reads version 1") }

        name = try document.string("name")
        let inputFields = try Fields(document.value("input"), "input")
        input = try ModelInput(inputFields)
        let outputFields = try Fields(document.value("output"), "output")
        try outputFields.allow(only: ["name", "kind"])
        outputKind = try outputFields.choice("kind")
        source = try document.has("source") ? ModelSource(Fields(document.value("source"), "source")) : ModelSource()

        var builder = GraphBuilder(name: name, file: file)
        try builder.addInput(inputFields, shape: input.shape)
        for (index, layer) in try document.list("layers").enumerated() { try builder.append(layer, index: index) }
        graph = try builder.finish(outputFields)
        memory = ModelMemory(graph, fileByteCount: storage.bytes.count, threadCount: threadCount)
        self.memoryLimit = memoryLimit
        guard memory.byteCount() <= memoryLimit else {
            throw ModelFault(memory: memory.byteCount(), limit: memoryLimit)
        }
        // From here on weights are read.
        if let digest = try document.stringIfPresent("digest") { try file.check(digest: digest) }
        try builder.checkValues()

        labels = try document.strings("labels")
        let channels = graph.shape(of: graph.outputs[0]).channels
        let expected = channels == 1 ? 2 : channels
        guard labels.count == expected else {
            throw document.fault(
                "has \(labels.count) labels, expected \(expected) for an output of \(channels) channels")
        }
        palette = try document.has("palette") ? Self.palette(document, count: expected) : nil
    }

    private static func palette(_ document: Fields, count: Int) throws(ModelFault) -> [PaletteColor] {
        var colors: [PaletteColor] = []
        for value in try document.list("palette") {
            guard case .array(let parts) = value, parts.count == 3 else {
                throw document.fault("palette: expected [red, green, blue] for each label")
            }
            let bytes = parts.compactMap(\.integer).compactMap(UInt8.init(exactly:))
            guard bytes.count == 3 else { throw document.fault("palette: expected whole numbers from 0 to 255") }
            colors.append(PaletteColor(red: bytes[0], green: bytes[1], blue: bytes[2]))
        }
        guard colors.count == count else {
            throw document.fault("palette: has \(colors.count) colours, expected one for each of \(count) labels")
        }
        return colors
    }
}

extension ModelInput {
    fileprivate init(_ fields: Fields) throws(ModelFault) {
        try fields.allow(only: ["name", "width", "height", "order", "scale", "bias"])
        let order: ChannelOrder = try fields.choice("order")
        let width = try fields.integer("width")
        let height = try fields.integer("height")
        guard (1...ModelLimits.side).contains(width), (1...ModelLimits.side).contains(height),
            width * height * order.channelCount <= ModelLimits.elements
        else { throw fields.fault("the size \(height)x\(width) is empty or past the limits") }
        self.init(
            width: width, height: height, order: order,
            scale: try fields.floats("scale", count: order.channelCount),
            bias: try fields.floats("bias", count: order.channelCount))
    }
}

extension ModelSource {
    fileprivate init(_ fields: Fields) throws(ModelFault) {
        try fields.allow(only: ["file", "sha256", "licence", "upstream"])
        self.init(
            file: try fields.stringIfPresent("file"), sha256: try fields.stringIfPresent("sha256"),
            licence: try fields.stringIfPresent("licence"), upstream: try fields.stringIfPresent("upstream"))
    }
}

/// A file's contents in memory of our own.
private final class OwnedBytes: Weights.Storage {
    // Never written after init, freed in deinit: safe to read from any thread.
    nonisolated(unsafe) let bytes: UnsafeRawBufferPointer

    init(_ contents: [UInt8]) {
        let copy = UnsafeMutableRawBufferPointer.allocate(byteCount: contents.count, alignment: 64)
        copy.copyBytes(from: contents)
        bytes = UnsafeRawBufferPointer(copy)
    }

    deinit { bytes.deallocate() }
}
