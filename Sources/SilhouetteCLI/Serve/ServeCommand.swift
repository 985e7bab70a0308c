import Base
import Glibc
import ModelGraph
import PreviewServer
import Silhouette

/// Runs `silhouette serve` until a signal ends it.
func serve(_ settings: ServeSettings) throws -> ExitCode {
    PreviewServer.returnFreedMemory()
    var options = ServerOptions()
    options.host = settings.host
    options.port = settings.port
    options.allowedOrigins = settings.origins
    options.limits = settings.limits
    if let certificate = settings.certificate, let key = settings.key { options.tls = (certificate, key) }
    options.token = try token(settings)
    options.webFolder = try settings.web ?? WebFolder.find()
    if let source = settings.source { options.source = .played(path: source) }

    // Before anything takes long, so that a signal that comes meanwhile ends the server as soon as it runs.
    EndSignals.listen()
    let (models, notes) = try load(settings)
    // Who names the processor means it.
    if settings.device != .cpu {
        options.devices = UsableDevice.all(besides: settings.device, threads: settings.threads)
    }
    let server = try PreviewServer(options, models: models)
    for note in notes { Console.report(singleLine(note)) }
    if options.tls == nil, !AccessRules.isLoopback(options.host) {
        Console.report(
            "silhouette serve: warning: without --tls-certificate and --tls-key, whoever is on the way reads the token and "
                + "the pictures, and browsers give pages no camera")
    }
    Console.print("open \(server.address) (Ctrl-C ends it)")
    EndSignals.wait()
    // The second one does not wait for anything.
    EndSignals.ignoreNoMore()
    server.stop()
    return .success
}

/// The models, and what there is to tell of them.
private func load(_ settings: ServeSettings) throws -> (models: [ServedModel], notes: [String]) {
    let paths: [String?] = settings.models.isEmpty ? [nil] : settings.models
    var models: [ServedModel] = []
    var notes: [String] = []
    for path in paths {
        let location = try ModelLocator(searchesCache: true).locate(path)
        let model = try readModel(
            location.path, memoryLimit: settings.modelMemory, threads: settings.threads)
        var options = BaseOptions()
        options.device = settings.device
        options.precision = settings.precision
        options.tuning = settings.tuning
        options.threadCount = settings.threads
        options.warningHandler = { Console.report(singleLine("silhouette: \($0)")) }
        // Names repeat where one network was converted twice; what pages choose by does not.
        var id = model.name
        var number = 2
        while models.contains(where: { $0.id == id }) {
            id = "\(model.name)-\(number)"
            number += 1
        }
        let served = try ServedModel(id: id, model: model, options: options)
        models.append(served)
        notes.append("model: \(model.name) (\(location.origin.explanation))")
        if settings.isVerbose {
            notes.append("file: \(location.path)")
            notes.append("device: \(served.deviceName) (\(served.deviceReason))")
            if let tuning = served.deviceTuning { notes.append("tuning: \(tuning)") }
        }
    }
    return (models, notes)
}

private func token(_ settings: ServeSettings) throws -> String? {
    if let file = settings.tokenFile {
        guard let handle = fopen(file, "r") else {
            throw ServerError("--token-file \(file): cannot be read: \(lastSystemError())")
        }
        defer { fclose(handle) }
        var line = [CChar](repeating: 0, count: 256)
        guard fgets(&line, Int32(line.count), handle) != nil else {
            throw ServerError("--token-file \(file): is empty")
        }
        let text = String(decoding: line.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
        do throws(UsageError) {
            return try checkedToken(String(text.prefix { !$0.isNewline }))
        } catch {
            throw ServerError("--token-file \(file): its first line \(error)")
        }
    }
    if let token = settings.token { return token }
    return AccessRules.isLoopback(settings.host) ? nil : randomToken()
}

/// 132 bits that nobody guesses.
private func randomToken() -> String {
    let letters = Array("abcdefghijkmnpqrstuvwxyzABCDEFGHJKLMNPQRSTUVWXYZ23456789")
    var generator = SystemRandomNumberGenerator()
    return String((0..<23).map { _ in letters[Int.random(in: 0..<letters.count, using: &generator)] })
}
