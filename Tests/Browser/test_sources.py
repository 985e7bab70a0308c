"""Cameras, files, the clipboard and the server's own video."""

import base64

import numpy
import pytest
from PIL import Image

QUADRANTS = [(220, 30, 30), (30, 200, 40), (40, 60, 220), (230, 210, 40)]  # from the top left, by rows


def quadrants(width, height):
    picture = Image.new("RGB", (width, height))
    for index, color in enumerate(QUADRANTS):
        x, y = index % 2 * width // 2, index // 2 * height // 2
        picture.paste(color, (x, y, x + width // 2, y + height // 2))
    return picture


def assert_quadrants(page):
    page.set("comparePosition", 1)
    page.set("compare", True)
    pixels = page.pixels([[0.25, 0.25], [0.75, 0.25], [0.25, 0.75], [0.75, 0.75]])
    assert numpy.abs(pixels[:, :3] - numpy.array(QUADRANTS)).max() <= 8


def drop_or_paste(page, kind, path, mime):
    page.evaluate(
        """([kind, name, mime, text]) => {
            const bytes = Uint8Array.from(atob(text), (character) => character.charCodeAt(0));
            const data = new DataTransfer();
            data.items.add(new File([bytes], name, { type: mime }));
            const event = kind === "paste"
                ? new ClipboardEvent("paste", { clipboardData: data, bubbles: true, cancelable: true })
                : new DragEvent("drop", { dataTransfer: data, bubbles: true, cancelable: true });
            document.getElementById("stage").dispatchEvent(event);
        }""",
        [kind, path.name, mime, base64.b64encode(path.read_bytes()).decode()],
    )


def test_portrait_with_a_turned_sensor(open_page, tmp_path, screenshots):
    """The pixels of a phone's portrait lie on their side, and a tag says so."""
    exif = Image.Exif()
    exif[0x0112] = 6
    path = tmp_path / "portrait.jpg"
    quadrants(300, 400).transpose(Image.Transpose.ROTATE_90).save(path, exif=exif, quality=95)
    assert Image.open(path).size == (400, 300)
    page = open_page()
    page.upload(path)
    sent = page.newest()["sent"]
    assert (sent["width"], sent["height"]) == (300, 400)
    assert page.evaluate("[canvas.width, canvas.height]") == [300, 400]
    assert_quadrants(page)
    page.screenshot(screenshots / "portrait.png")


@pytest.mark.parametrize("kind", ["drop", "paste"])
def test_picture_comes_by(kind, open_page, tmp_path):
    path = tmp_path / "picture.png"
    quadrants(200, 120).save(path)
    page = open_page()
    drop_or_paste(page, kind, path, "image/png")
    page.wait(lambda: page.answer_count >= 1, "answer")
    assert_quadrants(page)


def test_transparent_picture_lies_on_white(open_page, tmp_path):
    Image.new("RGBA", (64, 64), (255, 0, 0, 0)).save(tmp_path / "nothing.png")
    page = open_page()
    page.upload(tmp_path / "nothing.png")
    page.set("comparePosition", 1)
    page.set("compare", True)
    assert page.pixel(0.5, 0.5) == [255, 255, 255, 255]


def test_large_picture_is_sent_small(open_page, tmp_path):
    quadrants(3000, 1500).save(tmp_path / "large.jpg")
    page = open_page()
    page.upload(tmp_path / "large.jpg")
    sent = page.newest()["sent"]
    assert (sent["width"], sent["height"]) == (640, 320)
    assert page.evaluate("[canvas.width, canvas.height]") == [2048, 1024]


def test_file_that_is_no_picture(open_page, tmp_path):
    (tmp_path / "text.png").write_text("no picture")
    page = open_page()
    page.page.set_input_files("#file", tmp_path / "text.png")
    page.wait(lambda: "text.png cannot be opened" in page.notices(), "notice")


def test_video_file_plays_and_pauses(open_page, clip, tmp_path):
    from conftest import ffmpeg

    video = tmp_path / "clip.webm"
    ffmpeg("-i", clip, "-c:v", "libvpx", "-deadline", "realtime", "-cpu-used", "8", video)
    page = open_page()
    page.upload(video)
    page.wait_for_answers(5)
    page.page.click("#play")
    page.page.wait_for_timeout(600)
    count = page.answer_count
    page.page.wait_for_timeout(600)
    assert page.answer_count <= count + 1
    page.page.click("#play")
    page.wait_for_answers(3)


def test_shutter_holds_the_picture(open_page):
    page = open_page()
    page.start_camera()
    page.wait_for_answers(3)
    take_photo(page)
    count = page.answer_count
    page.page.wait_for_timeout(700)
    assert page.answer_count == count
    page.page.click("#shutter")
    page.wait_for_answers(5)


def take_photo(page):
    page.page.click("#shutter")
    page.wait(lambda: page.evaluate("silhouetteTest.shownKind()") == "photo", "photo")
    page.settle()


def test_mirror_turns_only_the_camera(open_page, photo):
    page = open_page()
    page.upload(photo)
    page.set("compare", True)
    page.set("comparePosition", 1)
    columns = [(x + 0.5) / 640 for x in range(20, 620, 50)]
    row = [[x, 0.5] for x in columns]
    opposite = [[1 - x, 0.5] for x in columns]
    before = page.pixels(row)
    page.set("mirror", False)
    assert numpy.array_equal(page.pixels(row), before)
    page.page.click("#camera")
    page.wait(lambda: page.evaluate("silhouetteTest.shownKind()") == "camera", "camera")
    take_photo(page)
    before = page.pixels(row)
    page.set("mirror", True)
    assert numpy.abs(page.pixels(opposite) - before).max() <= 1


def test_several_cameras_can_be_chosen(launch, camera_file, open_page):
    two = launch("--use-fake-device-for-media-stream=device-count=2")
    page = open_page(browser=two)
    page.start_camera()
    page.wait(lambda: page.page.locator("#camera-list option").count() == 2, "two cameras")
    second = page.page.locator("#camera-list option").nth(1).get_attribute("value")
    page.page.select_option("#camera-list", second)
    page.wait(lambda: page.evaluate("silhouetteTest.settings.values.camera") == second, "choice")
    page.wait_for_answers(3)
    page.context.close()
    two.close()


def test_server_plays_the_video(start_server, open_page, clip, screenshots):
    server = start_server("--source", clip)
    page = open_page(address=server.address, camera=False)
    page.wait_for_answers(5)
    assert page.page.is_hidden("#camera") and page.page.is_hidden("#camera-card")
    assert page.newest()["sent"] is None
    page.wait_for_facts()
    page.screenshot(screenshots / "server-source.png")
