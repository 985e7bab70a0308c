import Base
import Glibc
import Imaging
import ModelGraph
import Silhouette

/// Runs `silhouette bench`.
func bench(_ settings: BenchSettings) throws -> ExitCode {
    // What can be wrong is found before anything takes long.
    let earlier = try settings.comparedFile.map { path throws(BenchError) in try EarlierResults(path: path) }
    let modelPath = try ModelLocator(searchesCache: true).locate(settings.model).path
    if let path = settings.reportFile {
        try checkDestination(
            path,
            others: [
                (settings.comparedFile, "that --compare reads"), (modelPath, "of the model"),
                (settings.picture, "of the photograph"),
            ])
    }
    let image = try settings.picture.map { try LoneMemory.read($0) }
    let batch = settings.batches.max() ?? 1
    let digest = try readModel(modelPath, memoryLimit: settings.modelMemory, threads: settings.threads) {
        $0.memory.byteCount(batch: batch)
    }.graph.weightsDigest
    var report = BenchReport(machine: try MachineFacts(BenchTarget(settings)))
    if let warning = report.machine.busyWarning { Console.report("silhouette bench: warning: \(warning)") }

    var rates: [Precision: DeviceRates] = [:]
    let pairs = settings.precisions.flatMap { precision in settings.batches.map { (precision, $0) } }
    for (index, (precision, batch)) in pairs.enumerated() {
        if pairs.count > 1 {
            showProgress("run \(index + 1) of \(pairs.count): \(precision.rawValue), batch \(batch)")
            if index > 0 { PeakMemory.forget() }
        }
        do {
            let run =
                if settings.scope == .call, let image {
                    try CallBenchmark(
                        settings: settings, modelPath: modelPath, weightsDigest: digest, image: image,
                        precision: precision
                    ).run()
                } else {
                    try NetworkBenchmark(
                        settings: settings, modelPath: modelPath, weightsDigest: digest, image: image,
                        precision: precision, batch: batch, knownRates: rates[precision]
                    ).run()
                }
            rates[precision] = run.rates
            report.outcomes.append(.run(run))
        } catch {
            guard pairs.count > 1 else { throw error }
            report.outcomes.append(
                .failure(BenchFailure(precision: precision, batch: batch, reason: singleLine("\(error)"))))
        }
    }
    if pairs.count > 1 { showProgress("") }
    report.machine.readClock()
    report.setFloors()
    guard !report.runs.isEmpty else {
        throw BenchError(
            "none of \(pairs.count) runs could be done; the first, \(pairs[0].0.rawValue), batch \(pairs[0].1): "
                + "\(report.failures[0].reason)")
    }
    report.comparison = earlier.map { ReportComparison(report.runs, with: $0, on: report.machine) }
    // The page first: it is not to be lost where nobody reads the table.
    if let path = settings.reportFile { try OutputFile.write(Array(report.page.utf8), to: path) }
    Console.print(settings.printsJSON ? report.json : report.table)
    return report.comparison?.hasSlowerRun == true ? .failure : .success
}

/// On a terminal, a line that says what is being timed; it is wiped by the next.
private func showProgress(_ text: String) {
    if Console.isTerminal { Console.reportRaw("\r\u{1B}[K\(text)") }
}

/// Refuses a report that could not be written in the end, or would replace what is read.
private func checkDestination(_ path: String, others: [(path: String?, words: String)]) throws {
    func refuse(_ reason: String) -> ImageError { ImageError(path, .unwritable(reason)) }
    let systemError: () -> ImageError = { refuse(lastSystemError()) }
    var status = stat()
    let exists = stat(path, &status) == 0
    guard exists || errno == ENOENT else { throw systemError() }
    var link = stat()
    guard exists || lstat(path, &link) != 0 else { throw refuse("is a link that leads nowhere") }
    for (other, words) in others where exists {
        var compared = stat()
        if let other, stat(other, &compared) == 0, status.st_dev == compared.st_dev, status.st_ino == compared.st_ino {
            throw refuse("is the file \(words)")
        }
    }
    if exists {
        switch status.st_mode & S_IFMT {
        case S_IFDIR: throw refuse("is a folder")
        case S_IFREG, S_IFCHR: break
        // To be opened for writing, it would have to be waited for.
        default: throw refuse("is a pipe or the like; a report needs the name of a file")
        }
    }
    let folder = path.lastIndex(of: "/").map { String(path[...$0]) } ?? "."
    guard access(exists ? path : folder, W_OK) == 0 else { throw systemError() }
}
