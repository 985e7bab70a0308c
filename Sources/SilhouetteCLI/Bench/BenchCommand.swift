import Glibc
import Imaging
import ModelGraph
import Silhouette

/// Runs `silhouette bench`.
func bench(_ settings: BenchSettings) throws -> ExitCode {
    // What can be wrong is found before anything takes long.
    let earlier = try settings.comparedFile.map { path throws(BenchError) in try EarlierResults(path: path) }
    if let path = settings.reportFile { try checkDestination(path, comparedFile: settings.comparedFile) }
    let modelPath = try ModelLocator().locate(settings.model).path
    let image = try settings.picture.map { try ImageFile.read(path: $0).image }
    let digest = try Model(path: modelPath).graph.weightsDigest
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

/// Refuses a report that could not be written in the end.
private func checkDestination(_ path: String, comparedFile: String?) throws {
    var status = stat()
    let exists = stat(path, &status) == 0
    var compared = stat()
    if exists, let comparedFile, stat(comparedFile, &compared) == 0, status.st_dev == compared.st_dev,
        status.st_ino == compared.st_ino
    {
        throw ImageError(path, .unwritable("is the file that --compare reads"))
    }
    if exists, status.st_mode & S_IFMT == S_IFDIR { throw ImageError(path, .unwritable("is a folder")) }
    let folder = path.lastIndex(of: "/").map { String(path[...$0]) } ?? "."
    guard access(exists ? path : folder, W_OK) == 0 else {
        throw ImageError(path, .unwritable(String(cString: strerror(errno))))
    }
}
