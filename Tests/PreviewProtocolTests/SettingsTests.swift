import PreviewProtocol
import Testing

@Suite("Settings")
struct SettingsTests {
    private func patch(_ json: String, _ settings: PreviewSettings = PreviewSettings()) throws -> PreviewSettings {
        try settings.patched(with: Array(json.utf8))
    }

    @Test("Every key is read")
    func keys() throws {
        let settings = try patch(
            """
            {"model": "größe", "device": "vulkan:1", "outputs": ["alpha", "overlay"], "classes": [15, 3, 15], "maximumFramesPerSecond": 12.5,
             "overlay": {"opacity": 0.25, "encoding": "webp", "colors": {"15": "#ff8000"}}}
            """)
        #expect(settings.model == "größe")
        #expect(settings.device == "vulkan:1")
        #expect(settings.outputs == [.alpha, .overlay])
        #expect(settings.classes == [3, 15])
        #expect(settings.overlay.opacity == 0.25)
        #expect(settings.overlay.encoding == .webp)
        #expect(settings.overlay.colors == [15: 0xff8000])
        #expect(settings.maximumFramesPerSecond == 12.5)
    }

    @Test("What is left out stays")
    func patches() throws {
        var settings = try patch(##"{"classes": [3], "overlay": {"opacity": 1, "colors": {"3": "#010203"}}}"##)
        settings = try patch(#"{"outputs": ["alpha"], "overlay": {"encoding": "webp"}}"#, settings)
        #expect(settings.classes == [3])
        #expect(settings.overlay.opacity == 1)
        #expect(settings.overlay.colors == [3: 0x010203])
        #expect(try patch("{}", settings) == settings)
    }

    @Test("No class at all may be chosen")
    func noClasses() throws { #expect(try patch(#"{"classes": []}"#).classes == []) }

    @Test("Another model has its own classes and colours")
    func model() throws {
        let settings = try patch(##"{"model": "a", "classes": [3], "overlay": {"colors": {"3": "#010203"}}}"##)
        #expect(try patch(#"{"model": "a"}"#, settings).overlay.colors == [3: 0x010203])
        #expect(try patch(#"{"model": "b"}"#, settings).overlay.colors == [:])
        #expect(
            try patch(##"{"overlay": {"opacity": 1, "colors": {"1": "#000001"}}, "model": "b"}"##, settings).overlay
                .colors == [1: 1])
        #expect(try patch(#"{"model": "a"}"#, settings).classes == [3])
        #expect(try patch(#"{"model": "b"}"#, settings).classes == nil)
        #expect(try patch(#"{"model": "b", "classes": [1]}"#, settings).classes == [1])
    }

    @Test("The echo is read as the settings that it tells")
    func echo() throws {
        let settings = try patch(
            #"""
            {"model": "a\"b", "device": "cpu", "outputs": ["categories", "alpha"], "classes": [0, 2], "maximumFramesPerSecond": 0.1,
             "overlay": {"opacity": 0.1, "colors": {"2": "#00000f"}}}
            """#)
        #expect(try patch(settings.json) == settings)
    }

    @Test(
        "Anything else is bad-settings, and the message names the key",
        arguments: [
            ("", "JSON"), ("[]", "list"), ("{", "JSON"), (#"{"modle": "a"}"#, "modle"), (#"{"model": 1}"#, "model"),
            (#"{"device": 0}"#, "device"),
            (#"{"model": "a", "model": "b"}"#, "twice"), (#"{"outputs": []}"#, "outputs"),
            (#"{"outputs": ["mask"]}"#, "outputs"), (#"{"outputs": "alpha"}"#, "outputs"),
            (#"{"classes": [-1]}"#, "classes"), (#"{"classes": [1.5]}"#, "classes"),
            (#"{"classes": [1e300]}"#, "classes"), (#"{"overlay": 1}"#, "overlay"),
            (#"{"overlay": {"alpha": 1}}"#, "alpha"), (#"{"overlay": {"opacity": 1.1}}"#, "opacity"),
            (#"{"overlay": {"opacity": "1"}}"#, "opacity"), (#"{"overlay": {"encoding": "png"}}"#, "encoding"),
            (##"{"overlay": {"colors": {"15": "red"}}}"##, "colors"),
            (##"{"overlay": {"colors": {"015": "#000000"}}}"##, "colors"),
            (##"{"overlay": {"colors": {"-1": "#000000"}}}"##, "colors"),
            (##"{"overlay": {"colors": {"1": "#+00000"}}}"##, "colors"),
            (#"{"maximumFramesPerSecond": 0}"#, "maximumFramesPerSecond"),
            (#"{"maximumFramesPerSecond": 1e9}"#, "maximumFramesPerSecond"),
            (#"{"maximumFramesPerSecond": null}"#, "maximumFramesPerSecond"),
        ])
    func refusals(json: String, word: String) throws {
        let error = #expect(throws: ProtocolError.self) { try patch(json) }
        #expect(error?.code == .badSettings)
        #expect(error?.closeCode == nil)
        #expect(error?.message.contains(word) == true, "\(error?.message ?? "")")
        #expect(error?.message.contains("\n") == false)
    }

    @Test("Settings longer than any sensible ones are not even parsed")
    func length() {
        let json = "{" + String(repeating: " ", count: PreviewSettings.byteLimit) + "}"
        #expect(throws: ProtocolError.self) { try patch(json) }
    }
}
