import Base
import Glibc

/// Counters of a server, for `/metrics`.
final class Metrics: Sendable {
    /// What is counted.
    struct Counters: Sendable {
        var connections = 0
        var connectionsTotal = 0
        var connectionsRefused = 0
        var sessions = 0
        var requests: [Int: Int] = [:]
        var framesReceived = 0
        var framesSegmented = 0
        var framesDropped = 0
        var errors: [String: Int] = [:]
        var bytesReceived = 0
        var bytesSent = 0
        var inferenceMilliseconds = 0.0
    }

    private let counters = Locked(Counters())

    /// Changes counters.
    func count(_ body: (inout Counters) -> Void) { counters.withLock { body(&$0) } }

    func framesSegmented(inferenceMilliseconds: Double) {
        count {
            $0.framesSegmented += 1
            $0.inferenceMilliseconds += inferenceMilliseconds
        }
    }

    /// All counters now.
    var now: Counters { counters.withLock { $0 } }

    /// The counters in Prometheus' text format, version 0.0.4.
    var text: String {
        let now = self.now
        var text = ""
        func add(_ name: String, _ type: String, _ help: String, _ values: [(labels: String, value: String)]) {
            text += "# HELP silhouette_\(name) \(help)\n# TYPE silhouette_\(name) \(type)\n"
            for (labels, value) in values { text += "silhouette_\(name)\(labels) \(value)\n" }
        }
        func add(_ name: String, _ type: String, _ help: String, _ value: Int) {
            add(name, type, help, [("", "\(value)")])
        }
        add("connections", "gauge", "Connections that are open.", now.connections)
        add("connections_total", "counter", "Connections that were accepted.", now.connectionsTotal)
        add("connections_refused_total", "counter", "Connections beyond a limit.", now.connectionsRefused)
        add("sessions", "gauge", "Previews that are open.", now.sessions)
        add(
            "http_responses_total", "counter", "Responses to HTTP requests by status.",
            now.requests.sorted { $0.key < $1.key }.map { ("{status=\"\($0.key)\"}", "\($0.value)") })
        add("frames_received_total", "counter", "Frames that came from pages.", now.framesReceived)
        add(
            "frames_segmented_total", "counter", "Frames whose masks were made, once for each viewer.",
            now.framesSegmented)
        add("frames_dropped_total", "counter", "Frames that a newer one replaced.", now.framesDropped)
        add(
            "errors_total", "counter", "Errors told to pages by code.",
            now.errors.sorted { $0.key < $1.key }.map { ("{code=\"\($0.key)\"}", "\($0.value)") })
        add("received_bytes_total", "counter", "Bytes of messages and bodies that came.", now.bytesReceived)
        add("sent_bytes_total", "counter", "Bytes of messages and responses that were sent.", now.bytesSent)
        add(
            "inference_seconds_total", "counter", "Time that masks took.",
            [("", "\(now.inferenceMilliseconds / 1000)")])
        add("process_cpu_seconds_total", "counter", "Processor time of the server.", [("", "\(Self.processorSeconds)")])
        add("process_resident_bytes", "gauge", "Memory of the server.", Self.residentByteCount)
        return text
    }

    /// Processor time of this process.
    static var processorSeconds: Double {
        var usage = rusage()
        getrusage(__rusage_who_t(RUSAGE_SELF.rawValue), &usage)
        func seconds(_ time: timeval) -> Double { Double(time.tv_sec) + Double(time.tv_usec) / 1e6 }
        return seconds(usage.ru_utime) + seconds(usage.ru_stime)
    }

    /// Memory of this process that is in use.
    static var residentByteCount: Int {
        guard let bytes = try? readFile("/proc/self/statm", limit: 4096) else { return 0 }
        let fields = String(decoding: bytes, as: UTF8.self).split(separator: " ")
        return fields.count > 1 ? (Int(fields[1]) ?? 0) * Int(sysconf(Int32(_SC_PAGESIZE))) : 0
    }
}
