import CPUBackend
import Imaging
import ModelGraph
import Silhouette
import Verification
import VulkanBackend
import VulkanCompute

/// Runs `silhouette verify`.
func verify(_ settings: VerifySettings) throws -> ExitCode {
    let path = try ModelLocator(searchesCache: true).locate(settings.model).path
    // Both devices have it, with the layers at its end that others do without.
    let model = try readModel(path, memoryLimit: settings.modelMemory, threads: settings.threads) { model in
        2 * ModelMemory(model.graph, fileByteCount: 0, threadCount: settings.threads, isWhole: true).byteCount()
    }
    let graph = model.graph.optimized()
    let input = try networkInput(of: model, settings.picture)
    let pair = try BackendPair(settings)

    var report = VerifyReport(
        model: model.name, device: pair.deviceName, driver: pair.driver, reference: pair.reference.deviceName,
        input: settings.picture.map { Input($0).displayName } ?? "drawn, \(model.input.width)x\(model.input.height)")
    let showsTable = !settings.printsJSON
    if showsTable { Console.print(report.heading) }

    for format in pair.formats {
        let start = ContinuousClock.now
        let verifier = Verifier(
            graph, model.outputKind, reference: pair.reference, candidate: try pair.candidate(format), storage: format)
        var run = VerifyReport.Run(precision: format.precisionName)
        let counter = LayerCounter(total: graph.layers.count, precision: run.precision, draws: settings.printsJSON)
        if showsTable {
            Console.print(
                "\n\(run.precision), each layer alone, error at most \(scientific(verifier.layerTolerance))\n"
                    + VerifyReport.columns)
        }
        defer { counter.end() }
        let rounded = try verifier.verifyLayers(on: input) { verdict in
            run.layers.append(verdict)
            if showsTable { Console.print(VerifyReport.line(verdict)) }
            counter.advance()
        }
        let network = try verifier.verifyNetwork(on: input, rounded: rounded)
        run.network = network
        run.seconds = (ContinuousClock.now - start) / .seconds(1)
        if showsTable { Console.print(VerifyReport.line(network)) }
        report.runs.append(run)
    }
    if showsTable {
        Console.print("")
        for run in report.runs { Console.print(VerifyReport.conclusion(run)) }
    } else {
        Console.print(report.json)
    }
    return report.passes ? .success : .failure
}

/// The two devices that are compared.
private struct BackendPair {
    let reference: CPUBackend
    /// What is verified, and what drives it.
    let deviceName, driver: String
    /// How it can store numbers, of the ways that were asked for.
    let formats: [Weights.Format]
    private let device: LogicalDevice?
    private let threads: Int?
    private let tuning: Tuning?

    init(_ settings: VerifySettings) throws {
        threads = settings.threads
        tuning = settings.tuning
        switch try DeviceChoice(settings.device).outcome {
        case .processor:
            if settings.precision == .fp16 { try Precision.float16.check(on: .cpu) }
            reference = try CPUBackend(threads: threads, instructionSet: .portable)
            (deviceName, driver) = (try CPUBackend(threads: threads).deviceName, "")
            formats = [.float32]
            device = nil
        case .vulkan(let physical, let instance):
            reference = try CPUBackend(threads: threads)
            device = try LogicalDevice(physical, instance: instance)
            formats = settings.precision.formats
            (deviceName, driver) = (physical.name, physical.driver)
        }
    }

    func candidate(_ format: Weights.Format) throws -> any InferenceBackend {
        guard let device else { return try CPUBackend(threads: threads) }
        return VulkanBackend(
            device, precision: format == .float32 ? .float32 : .float16,
            cacheFolder: BaseOptions().shaderCacheFolder, tuning: tuning ?? .standard(for: device.physical.kind))
    }
}

/// A photograph, or a drawn picture, as the network sees it.
private func networkInput(of model: Model, _ picture: String?) throws -> Tensor {
    let input = model.input
    var bytes: [UInt8]
    if let picture {
        let image = try LoneMemory.read(picture)
        bytes = [UInt8](repeating: 0, count: input.shape.elementCount)
        bytes.withUnsafeMutableBufferPointer { bytes in
            image.withView { Preprocessor(for: input, picture: image.size).prepare($0, into: bytes) }
        }
    } else {
        bytes = TestPicture(width: input.width, height: input.height, channelCount: input.order.channelCount).bytes
    }
    var tensor = Tensor(zeros: input.shape)
    bytes.withUnsafeBufferPointer { bytes in
        tensor.values.withUnsafeMutableBufferPointer { Normalization(input).apply(bytes, into: $0) }
    }
    return tensor
}

extension Weights.Format {
    /// As `--precision` calls it.
    fileprivate var precisionName: String { self == .float32 ? "fp32" : "fp16" }
}

/// On a terminal, one line that counts layers while nothing else is shown.
private final class LayerCounter {
    private let total: Int
    private let precision: String
    private let draws: Bool
    private var doneCount = 0

    init(total: Int, precision: String, draws: Bool) {
        self.total = total
        self.precision = precision
        self.draws = draws && Console.isTerminal
    }

    func advance() {
        doneCount += 1
        if draws { Console.reportRaw("\r\u{1B}[K\(precision): \(doneCount) of \(total) layers") }
    }

    func end() {
        if draws { Console.reportRaw("\r\u{1B}[K") }
    }
}
