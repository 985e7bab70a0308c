import Base
import DeviceSupport
import Glibc
import Imaging
import PreviewProtocol
import PreviewServer
import Silhouette
import TestSupport
import Testing

@Suite("Server: the choice of a device")
struct DeviceChoiceTests {
    /// A server whose pages may choose, and the greeting of one.
    private func choice(_ devices: [UsableDevice]) throws -> (PreviewServer, TestClient, hello: [String: Any]) {
        let server = try TestServer.mini { $0.devices = devices }
        let client = try TestClient(port: server.port)
        guard try client.upgrade().status == 101 else { throw ClientError("no WebSocket") }
        return (server, client, try object(try client.message(.hello)))
    }

    /// The device that a frame was run on, for people.
    private func device(of client: TestClient, frame sequence: UInt32) throws -> String {
        client.send(TestServer.frame(sequence, width: 65, height: 65))
        let result = try client.message(.result)
        #expect(result.header.sequence == sequence)
        return try object(result)["device"] as? String ?? ""
    }

    private func refusal(of client: TestClient, _ settings: String) throws -> String {
        client.send(TestServer.settings(settings))
        let error = try object(try client.message(.error))
        #expect(error["code"] as? String == "bad-settings")
        #expect(error["fatal"] as? Bool == false)
        return error["message"] as? String ?? ""
    }

    @Test("The greeting names the devices, and the one in use; where there is one it is a text")
    func greeting() throws {
        let cpu = UsableDevice(id: "cpu", name: "CPU")
        let (server, _, hello) = try choice([cpu, UsableDevice(id: "vulkan:3", name: "a card")])
        defer { server.stop() }
        #expect(
            hello["devices"] as? [[String: String]] == [
                ["id": "cpu", "name": "CPU"], ["id": "vulkan:3", "name": "a card"],
            ])
        #expect(hello["device"] as? String == "cpu")
        for devices in [[], [cpu], [UsableDevice(id: "vulkan:3", name: "a card"), UsableDevice(id: "x", name: "x")]] {
            let (server, client, hello) = try choice(devices)
            defer { server.stop() }
            #expect(hello["devices"] == nil)
            #expect((hello["device"] as? String)?.hasPrefix("CPU (") == true)
            client.send(TestServer.settings("{}"))
            #expect(try object(try client.message(.settingsInForce))["device"] == nil)
            #expect(try refusal(of: client, #"{"device": "cpu"}"#).contains("cpu"))
        }
    }

    @Test("A device that is not there, or cannot be used, changes nothing")
    func unusable() throws {
        let (server, client, _) = try choice([
            UsableDevice(id: "cpu", name: "CPU"), UsableDevice(id: "vulkan:9999", name: "a card that was unplugged"),
        ])
        defer { server.stop() }
        #expect(try refusal(of: client, #"{"device": "vulkan:0", "outputs": ["alpha"]}"#).contains("vulkan:0"))
        for _ in 0..<2 {
            #expect(try refusal(of: client, #"{"device": "vulkan:9999", "outputs": ["alpha"]}"#).count > 20)
        }
        client.send(TestServer.settings("{}"))
        let inForce = try object(try client.message(.settingsInForce))
        #expect(inForce["device"] as? String == "cpu")
        #expect(inForce["outputs"] as? [String] == ["categories"])
        #expect(try device(of: client, frame: 1).hasPrefix("CPU ("))
    }

    @Test("While a device is prepared twenty settings wait, more are refused, and those that waited have their turn")
    func waitingSettings() throws {
        let output = ModelOutput(labels: ["a", "b"], channels: 2, size: PixelSize(width: 2, height: 1))
        let segmenter = try ImageSegmenter(
            options: ImageSegmenterOptions(), model: output, engine: FakeEngine(isGated: false), deviceID: "cpu")
        let isPrepared = Locked(false)
        let model = ServedModel(
            id: "fake", name: "fake", palette: .voc(count: 2), maskSize: output.size, segmenter: segmenter
        ) { _ throws(ImageSegmenterError) in
            isPrepared.wait { $0 ? () : nil }
            throw .unusableDevice("it was unplugged meanwhile")
        }
        let server = try TestServer.start([model]) {
            $0.devices = [UsableDevice(id: "cpu", name: "CPU"), UsableDevice(id: "vulkan:0", name: "a card")]
        }
        defer { server.stop() }
        // Also where the test fails before.
        defer { isPrepared.update { $0 = true } }
        let client = try TestClient.preview(port: server.port)
        client.send(TestServer.settings(#"{"device": "vulkan:0"}"#))
        // Slower than the rate limit, which would refuse them for another reason.
        for _ in 0..<23 {
            client.send(TestServer.settings(#"{"outputs": ["alpha"]}"#))
            usleep(70_000)
        }
        for _ in 0..<3 {
            let report = try object(try client.message())
            #expect(report["code"] as? String == "rate")
            #expect((report["message"] as? String)?.contains("wait for a device") == true)
        }
        isPrepared.update { $0 = true }
        #expect(try object(try client.message())["code"] as? String == "bad-settings")
        for _ in 0..<20 { #expect(try client.message().header.kind == .settingsInForce) }
    }

    @Test("A page goes to a Vulkan device and back, and no other page with it", .needsVulkan)
    func thereAndBack() throws {
        let devices = UsableDevice.all(besides: try #require(Device("vulkan")), threads: 1)
        let vulkan = try #require(devices.first { $0.id.hasPrefix("vulkan:") }).id
        let (server, client, _) = try choice(devices)
        defer { server.stop() }
        let other = try TestClient.preview(port: server.port)
        for round in 0..<2 as Range<UInt32> {
            client.send(TestServer.settings(#"{"device": "\#(vulkan)"}"#))
            // What comes while the device is prepared has its turn afterwards.
            client.send(TestServer.settings(#"{"outputs": ["alpha"]}"#))
            let first = try object(try client.message(.settingsInForce))
            #expect(first["device"] as? String == vulkan)
            let second = try object(try client.message(.settingsInForce))
            #expect(second["device"] as? String == vulkan)
            #expect(second["outputs"] as? [String] == ["alpha"])
            #expect(try device(of: client, frame: 10 * round + 1).contains("Vulkan"))
            #expect(try device(of: other, frame: 10 * round + 1).hasPrefix("CPU ("))
            client.send(TestServer.settings(#"{"device": "cpu", "outputs": ["categories"]}"#))
            #expect(try object(try client.message(.settingsInForce))["device"] as? String == "cpu")
            #expect(try device(of: client, frame: 10 * round + 2).hasPrefix("CPU ("))
        }
    }
}
