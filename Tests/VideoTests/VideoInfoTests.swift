import Testing
import Video

@Suite("What ffprobe tells")
struct VideoInfoTests {
    /// A phone's film: turned, with sound, a cover and subtitles.
    private let phone = """
        streams.stream.0.index=0
        streams.stream.0.codec_name="mjpeg"
        streams.stream.0.codec_type="video"
        streams.stream.0.width=500
        streams.stream.0.height=500
        streams.stream.0.disposition.attached_pic=1
        streams.stream.1.index=1
        streams.stream.1.codec_name="h264"
        streams.stream.1.codec_type="video"
        streams.stream.1.width=1920
        streams.stream.1.height=1080
        streams.stream.1.pix_fmt="yuvj420p"
        streams.stream.1.sample_aspect_ratio="4:3"
        streams.stream.1.time_base="1/90000"
        streams.stream.1.r_frame_rate="30/1"
        streams.stream.1.avg_frame_rate="2997/100"
        streams.stream.1.nb_frames="300"
        streams.stream.1.duration="10.01"
        streams.stream.1.color_space="bt709"
        streams.stream.1.color_primaries="unknown"
        streams.stream.1.disposition.attached_pic=0
        streams.stream.1.side_data_list.side_data.0.rotation=-90
        streams.stream.2.index=2
        streams.stream.2.codec_name="aac"
        streams.stream.2.codec_type="audio"
        streams.stream.3.index=3
        streams.stream.3.codec_name="mov_text"
        streams.stream.3.codec_type="subtitle"
        format.duration="10.5"
        """

    @Test("Of several rotations the first one counts", arguments: [0, 90])
    func rotations(first: Int) throws {
        let others = (1..<8).map { "streams.stream.1.side_data_list.side_data.\($0).rotation=\(90 - first)\n" }
        let told = phone.replacing("rotation=-90", with: "rotation=\(first)") + "\n" + others.joined()
        let info = try #require(VideoInfo(probed: told))
        let plain = try #require(VideoInfo(probed: phone.replacing("rotation=-90", with: "rotation=0")))
        #expect((info.width == plain.width) == (first == 0))
    }

    @Test("The upright size, times, sound and colours of a phone's film")
    func phoneFilm() throws {
        let info = try #require(VideoInfo(probed: phone))
        #expect(info.streamIndex == 1 && info.codec == "h264")
        #expect(info.width == 1080 && info.height == 1920)
        #expect(info.pixelAspect == Rational(3, 4))
        #expect(info.timeBase == Rational(1, 90_000) && info.rate == Rational(30, 1))
        #expect(info.frameCount == 300 && info.duration == 10.01)
        #expect(info.colors.matrix == "bt709" && info.colors.primaries.isEmpty)
        #expect(info.sounds == [VideoInfo.Sound(index: 2, codec: "aac")])
        #expect(info.subtitleCount == 1 && info.otherVideoCount == 0)
        #expect(!info.hasAlpha)
        #expect(info.expectedFrameCount() == 300)
        #expect(info.expectedFrameCount(start: 5, limit: 2) == 60)
        #expect(info.expectedFrameCount(start: 20) == 1)
    }

    @Test(
        "A film without pictures, and nonsense, are none",
        arguments: ["", "x", "streams.stream.", "a=b\nstreams.stream.x.y=1"])
    func none(text: String) {
        #expect(VideoInfo(probed: text) == nil)
    }

    @Test("Missing and impossible values are left out")
    func impossible() throws {
        let info = try #require(
            VideoInfo(
                probed: """
                    streams.stream.0.index=0
                    streams.stream.0.codec_type="video"
                    streams.stream.0.width=8
                    streams.stream.0.height=6
                    streams.stream.0.pix_fmt="yuva420p"
                    streams.stream.0.sample_aspect_ratio="0:1"
                    streams.stream.0.r_frame_rate="0/0"
                    streams.stream.0.avg_frame_rate="-1/0"
                    streams.stream.0.nb_frames="N/A"
                    format.duration="N/A"
                    """))
        #expect(info.rate == nil && info.averageRate == nil && info.pixelAspect == nil && info.hasAlpha)
        #expect(info.expectedFrameCount() == nil)
        #expect(info.expectedFrameCount(limit: 3) == nil)
    }
}
