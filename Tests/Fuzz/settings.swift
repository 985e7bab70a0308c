// modules: PreviewProtocol JSONText
//
// Fuzzes the settings that a page sends.
//
// What is in force is echoed, and the echo read back must be the same settings; a patch that was taken may be sent again and
// changes nothing; what is refused leaves all as it was.
//
// An input is patches, one on each line; they are applied one after the other.

func fuzz(_ input: [UInt8]) {
    var settings = PreviewSettings()
    for patch in input.split(separator: 10) {
        do throws(ProtocolError) {
            let patched = try settings.patched(with: Array(patch))
            let again = try patched.patched(with: Array(patch))
            precondition(again == patched, "a patch does not hold when sent again")
            checkEcho(patched)
            settings = patched
        } catch {
            precondition(error.code == .badSettings && error.closeCode == nil)
            precondition(fault(inLine: error.message) == nil && fault(inLine: error.json) == nil)
        }
    }
}

private func checkEcho(_ settings: PreviewSettings) {
    precondition(!settings.outputs.isEmpty && (0...1).contains(settings.overlay.opacity))
    precondition(!settings.json.utf8.contains { $0 < 32 }, "control characters in the echo")
    // Null stands for what nobody has chosen, and cannot be sent.
    var full = settings
    full.model = settings.model ?? "m"
    full.classes = settings.classes ?? []
    full.maximumFramesPerSecond = settings.maximumFramesPerSecond ?? 30
    do throws(ProtocolError) {
        let again = try PreviewSettings().patched(with: Array(full.json.utf8))
        precondition(again == full, "the echo \(full.json) is read as \(again.json)")
    } catch {
        fatalError("the echo \(full.json) is refused: \(error)")
    }
}

private let patches: [String] = [
    #"{"model":"deeplabv3","device":"cpu","outputs":["categories","alpha","overlay"],"classes":[15,0,3]}"#,
    ##"{"overlay":{"opacity":0.25,"encoding":"webp","colors":{"15":"#ff8000","0":"#00FF0a"}}}"##
        + "\n" + #"{"maximumFramesPerSecond":0.1}"# + "\n" + #"{"model":"other"}"# + "\n"
        + #"{"overlay":{"opacity":1e-3}}"#,
    #"{"classes":[]}"# + "\n" + #"{"outputs":["overlay"],"device":"gpu\u00e9\ud83d\ude00\n\"\\"}"#,
    "{}\n[1]\n{\"classes\":[9007199254740992]}\n{\"maximumFramesPerSecond\":1000}",
]
let seeds: [[UInt8]] = patches.map { Array($0.utf8) }
