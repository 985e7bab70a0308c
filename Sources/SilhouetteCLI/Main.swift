import Base
import Glibc
import Silhouette

/// The program `silhouette`.
@main
struct Main {
    static func main() {
        Console.occupyStandardStreams()
        // A reader that goes away is then a failed write, which ends the program after it has tidied up.
        signal(SIGPIPE, SIG_IGN)
        // So is a file that grows past the user's limit.
        signal(SIGXFSZ, SIG_IGN)
        exit(run(Array(CommandLine.arguments.dropFirst())).rawValue)
    }

    private static func run(_ arguments: [String]) -> ExitCode {
        // Swift reads them there.
        guard !CommandLine.arguments.isEmpty else {
            Console.report("silhouette: the command line cannot be read: /proc is not mounted")
            return .failure
        }
        guard let name = arguments.first else {
            Console.report(overview)
            return .usage
        }
        let rest = Array(arguments.dropFirst())
        switch name {
        case "segment": return obey(.segment, rest, SegmentSettings(), segment)
        case "video": return obey(.video, rest, VideoSettings(), video)
        case "serve": return obey(.serve, rest, ServeSettings(), serve)
        case "model": return obey(.model, rest, ModelSettings(), showModel)
        case "devices": return obey(.devices, rest, DevicesSettings(), listDevices)
        case "verify": return obey(.verify, rest, VerifySettings(), verify)
        case "bench": return obey(.bench, rest, BenchSettings(), bench)
        case "help", "-h", "--help": return help(rest)
        case "--version":
            Console.print("silhouette \(SilhouetteVersion.string)")
            return .success
        default:
            let hint = nearest(to: name, among: commandNames).map { "; did you mean \($0)?" } ?? ""
            Console.report(singleLine("silhouette: unknown command '\(name)'\(hint) (silhouette help lists all)"))
            return .usage
        }
    }

    /// Parses a command line and runs the command.
    private static func obey<Settings>(
        _ command: Subcommand<Settings>, _ arguments: [String], _ defaults: Settings,
        _ body: (Settings) throws -> ExitCode
    ) -> ExitCode {
        do {
            switch try command.parse(arguments, into: defaults, repaired: repairedArguments) {
            case .help:
                Console.print(command.helpPage)
                return .success
            case .run(let settings): return try body(settings)
            }
        } catch let error as UsageError {
            Console.report(singleLine("silhouette \(command.name): \(error) (silhouette \(command.name) --help)"))
            return .usage
        } catch {
            Console.report(singleLine("silhouette \(command.name): \(error)"))
            return .failure
        }
    }

    /// Arguments that are not UTF-8, as they are after Swift has put replacement characters into them.
    private static var repairedArguments: Set<String> {
        var repaired: Set<String> = []
        for index in 1..<max(1, Int(CommandLine.argc)) {
            guard let bytes = CommandLine.unsafeArgv[index], String(validatingCString: bytes) == nil else { continue }
            repaired.insert(String(cString: bytes))
        }
        return repaired
    }

    private static func help(_ topics: [String]) -> ExitCode {
        guard let topic = topics.first else {
            Console.print(overview)
            return .success
        }
        guard let page = helpPage(of: topic) else {
            let hint = nearest(to: topic, among: commandNames).map { "; did you mean \($0)?" } ?? ""
            Console.report(singleLine("silhouette help: unknown command '\(topic)'\(hint) (silhouette help lists all)"))
            return .usage
        }
        Console.print(page)
        return .success
    }
}
