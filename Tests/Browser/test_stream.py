"""The camera's pictures go out, masks come back, and they are the right ones."""

import subprocess

import numpy
from PIL import Image


def segment(binary, picture, result, *arguments):
    command = [binary, "segment", picture, "-o", result, "-d", "cpu", "--mask-size", "model", *arguments]
    subprocess.run(list(map(str, command)), check=True, stdout=subprocess.DEVNULL)
    return numpy.asarray(Image.open(result))


def test_frames_flow(open_page, screenshots):
    page = open_page()
    page.screenshot(screenshots / "welcome.png")
    page.start_camera()
    page.wait_for_answers(20)
    assert page.evaluate("silhouetteTest.shownSequence()") >= 20
    assert page.evaluate("silhouetteTest.flight.count") <= 2
    summary = page.evaluate("silhouetteTest.statistics.summary()")
    assert summary["framesPerSecond"] > 1
    assert 0 < summary["roundTrip"] < 5000
    assert 0 < summary["receivedBytes"] < 40_000
    assert summary["receivedBytes"] < summary["sentBytes"]
    page.wait_for_facts()
    assert "frames/s" in page.page.inner_text("#status-detail")
    print(f"\nin the browser, on the processor of this machine: {summary}")


def test_mask_is_that_of_the_bytes_sent(open_page, binary, tmp_path):
    page = open_page()
    page.choose_mode("overlay")
    page.start_camera()
    for number in range(3):
        page.wait_for_answers(5)
        frame = page.newest()
        sent = frame["sent"]
        # As it is, unless this machine does not keep up.
        picture = tmp_path / f"frame-{number}.{'png' if sent['encoding'] == 'rgb' else 'jpg'}"
        if sent["encoding"] == "rgb":
            Image.frombytes("RGB", (sent["width"], sent["height"]), sent["bytes"]).save(picture)
        else:
            picture.write_bytes(sent["bytes"])
        expected = segment(binary, picture, tmp_path / "mask.png", "--output", "mask")
        assert numpy.array_equal(frame["categories"], expected)


def test_jpeg_where_the_server_is_elsewhere(open_page, binary, tmp_path):
    """A page that cannot be sure of its machine sends files."""
    page = open_page("?test=1&encoding=jpeg")
    page.choose_mode("overlay")
    page.start_camera()
    page.wait_for_answers(3)
    frame = page.newest()
    picture = tmp_path / "frame.jpg"
    picture.write_bytes(frame["sent"]["bytes"])
    assert Image.open(picture).size == (frame["sent"]["width"], frame["sent"]["height"])
    expected = segment(binary, picture, tmp_path / "mask.png", "--output", "mask")
    assert numpy.array_equal(frame["categories"], expected)


def test_hiding_every_class(open_page):
    page = open_page()
    page.choose_mode("cutout")
    page.start_camera()
    page.set("classes", {name: {"shown": False} for name in page.evaluate("silhouetteTest.labels()")})
    page.wait_for_answers(5)
    assert page.newest()["matte"].max() == 0
    assert page.notices() == ""


def test_shares_are_those_of_the_mask(open_page):
    page = open_page()
    page.choose_mode("overlay")
    page.start_camera()
    page.wait_for_answers(5)
    frame = page.newest()
    counts = numpy.bincount(frame["categories"].ravel(), minlength=256) / frame["categories"].size
    shares = {index: share for index, share in frame["result"]["shares"]}
    assert set(shares) == set(numpy.flatnonzero(counts))
    for index, share in shares.items():
        assert abs(share - counts[index]) < 0.001


def test_hidden_tab_sends_nothing(open_page):
    page = open_page()
    page.start_camera()
    page.wait_for_answers(3)
    hide = "(isHidden) => { Object.defineProperty(document, 'hidden', { value: isHidden, configurable: true }); \
            document.dispatchEvent(new Event('visibilitychange')); }"
    page.evaluate(hide, True)
    page.page.wait_for_timeout(500)
    count = page.answer_count
    page.page.wait_for_timeout(1000)
    assert page.answer_count == count
    page.evaluate(hide, False)
    page.wait_for_answers(3)


def test_protocol_vectors_hold_in_the_browser(open_page):
    from conftest import ROOT

    vectors = (ROOT / "Tests/Fixtures/protocol/vectors.json").read_text()
    page = open_page()
    failures = page.evaluate(
        """async (text) => {
            const { decodeMask, decodeMessage, encodeMessage } = await import("/protocol.js");
            const vectors = JSON.parse(text);
            const bytes = (hex) => Uint8Array.from(hex.match(/../g) ?? [], (digits) => Number.parseInt(digits, 16));
            const hex = (array) => [...array].map((byte) => byte.toString(16).padStart(2, "0")).join("");
            const failures = [];
            for (const vector of vectors.messages) {
                const message = { ...vector, timestamp: BigInt(vector.timestamp), payload: bytes(vector.payload) };
                if (hex(encodeMessage(message)) !== vector.message) failures.push(vector.name);
            }
            for (const vector of vectors.malformedMessages) {
                try {
                    decodeMessage(bytes(vector.message), 1);
                    failures.push(vector.name);
                } catch (error) {
                    if (error.code !== vector.error) failures.push(vector.name);
                }
            }
            for (const mask of vectors.masks) {
                for (const encoding of ["plain", "runLength", "deflate"]) {
                    const payload = bytes(encoding === "plain" ? mask.data : mask[encoding]);
                    const decoded = await decodeMask({ ...mask, encoding, payload });
                    if (hex(decoded) !== mask.data) failures.push(`${mask.name}, ${encoding}`);
                }
            }
            for (const mask of vectors.malformedMasks) {
                const error = await decodeMask({ ...mask, payload: bytes(mask.payload) }).catch((error) => error);
                if (error.code !== "malformed") failures.push(mask.name);
            }
            return failures;
        }""",
        vectors,
    )
    assert failures == []
