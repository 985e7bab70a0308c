"""Still pictures: the page shows and saves what `POST /api/segment` gives, at the picture's own size."""

import io
import urllib.parse
import urllib.request

import numpy
import pytest
from conftest import PORTRAIT
from PIL import Image


@pytest.fixture(scope="session")
def large(files):
    """A photograph that is larger than what the page keeps on its canvas."""
    path = files / "large-photo.jpg"
    random = numpy.random.default_rng(3)
    if PORTRAIT.exists():
        Image.open(PORTRAIT).convert("RGB").resize((2560, 3000)).save(path, quality=92)
    else:
        Image.fromarray(random.integers(0, 255, (30, 26, 3), numpy.uint8)).resize((2600, 3000)).save(path, quality=92)
    return path


def wait_for_still(page):
    page.wait(lambda: page.page.is_visible("#still"), "result of the still picture")


def posted(address, path, query):
    url = f"{address}/api/segment?{urllib.parse.urlencode(query)}"
    request = urllib.request.Request(url, path.read_bytes(), {"Accept": "image/png"})
    with urllib.request.urlopen(request, timeout=120) as response:
        return response.read()


def saved(page, tmp_path):
    with page.page.expect_download() as download:
        page.page.click("#save")
    path = tmp_path / "saved.png"
    download.value.save_as(path)
    assert download.value.suggested_filename.endswith(".png")
    return path.read_bytes()


def shown_classes(page):
    return ",".join(str(one["index"]) for one in page.evaluate("silhouetteTest.classes()") if one["isShown"])


MODES = {
    "cutout": {"output": "cutout"},
    "grey": {"output": "composite", "background": "gray"},
    "color": {"output": "composite", "background": "#3366cc"},
    "gradient": {"output": "composite", "background": "gradient:180:#ff0000,#0000ff"},
    "blur": {"output": "composite", "background": "blur:48.0"},
}


@pytest.mark.parametrize("mode", MODES)
def test_saved_bytes_are_those_of_the_post(mode, open_page, server, large, tmp_path):
    page = open_page()
    page.set("color", "#3366cc")
    page.set("gradientTop", "#ff0000")
    page.set("gradientBottom", "#0000ff")
    page.set("blur", 0.5 * 640 * 48 / (24 * 0.5 * 3000))
    page.choose_mode(mode)
    page.upload(large)
    wait_for_still(page)
    size = page.evaluate(
        "[document.getElementById('still').naturalWidth, document.getElementById('still').naturalHeight]"
    )
    assert tuple(size) == Image.open(large).size
    model = page.evaluate("silhouetteTest.connection.hello.models[0].id")
    due = posted(server.address, large, {"model": model, "class": shown_classes(page), **MODES[mode]})
    assert saved(page, tmp_path) == due


def test_overlay_has_outlines_and_chosen_colours(open_page, server, large, tmp_path):
    page = open_page()
    page.choose_mode("overlay")
    page.set("opacity", 0.4)
    page.upload(large)
    wait_for_still(page)
    model = page.evaluate("silhouetteTest.connection.hello.models[0].id")
    query = {"model": model, "class": shown_classes(page), "output": "overlay", "opacity": "0.4", "outline": "9"}
    assert saved(page, tmp_path) == posted(server.address, large, {**query, "edges": "guided"})


def test_own_background_lies_behind_the_post_s_cutout(open_page, server, large, tmp_path):
    Image.new("RGB", (300, 200), (20, 190, 90)).save(tmp_path / "backdrop.png")
    page = open_page()
    page.choose_mode("picture")
    page.upload(large)
    page.page.set_input_files("#backdrop-file", tmp_path / "backdrop.png")
    page.wait(lambda: page.page.inner_text("#backdrop-name") == "backdrop.png", "background picture")
    wait_for_still(page)
    model = page.evaluate("silhouetteTest.connection.hello.models[0].id")
    query = {"model": model, "class": shown_classes(page), "output": "cutout"}
    cutout = numpy.asarray(Image.open(io.BytesIO(posted(server.address, large, query)))).astype(float)
    found = numpy.asarray(Image.open(io.BytesIO(saved(page, tmp_path))).convert("RGB")).astype(float)
    alpha = cutout[..., 3:] / 255
    due = cutout[..., :3] * alpha + numpy.array([20, 190, 90]) * (1 - alpha)
    assert numpy.abs(found - due).max() <= 2


def test_another_look_is_another_result(open_page, large, tmp_path):
    page = open_page()
    page.choose_mode("cutout")
    page.upload(large)
    wait_for_still(page)
    first = saved(page, tmp_path)
    page.choose_mode("color")
    page.set("color", "#00ff00")
    wait_for_still(page)
    second = Image.open(io.BytesIO(saved(page, tmp_path)))
    assert second.mode == "RGB" and second.size == Image.open(io.BytesIO(first)).size
    page.set("tightness", 0.9)
    page.choose_mode("cutout")
    wait_for_still(page)
    third = numpy.asarray(Image.open(io.BytesIO(saved(page, tmp_path))))
    assert third[..., 3].sum() < numpy.asarray(Image.open(io.BytesIO(first)))[..., 3].sum()


def test_compare_shows_the_picture_beside_the_result(open_page, large, tmp_path):
    page = open_page()
    page.choose_mode("color")
    page.set("color", "#00ff00")
    page.upload(large)
    wait_for_still(page)
    page.set("comparePosition", 0.5)
    page.set("compare", True)
    page.settle()
    path = tmp_path / "compare.png"
    page.page.locator("#picture").screenshot(path=path)
    shown = numpy.asarray(Image.open(path).convert("RGB")).astype(int)
    height, width, _ = shown.shape
    picture = numpy.asarray(Image.open(large).resize((width, height))).astype(int)
    left = slice(8, width // 2 - 30)
    assert numpy.abs(shown[:, left] - picture[:, left])[height // 3 :].mean() < 6
    # And it is the whole result that is saved.
    assert Image.open(io.BytesIO(saved(page, tmp_path))).size == Image.open(large).size


def test_photo_of_the_shutter_is_posted_as_it_is_seen(open_page, tmp_path):
    page = open_page()
    page.choose_mode("color")
    page.start_camera()
    page.wait_for_answers(3)
    page.page.click("#shutter")
    page.wait(lambda: page.evaluate("silhouetteTest.shownKind()") == "photo", "photo")
    wait_for_still(page)
    mirrored = Image.open(io.BytesIO(saved(page, tmp_path)))
    assert mirrored.size == (640, 480)
    page.page.click("#shutter")
    page.wait(lambda: page.page.is_hidden("#still"), "camera")
    page.wait_for_answers(2)


def test_file_that_only_the_browser_knows(open_page, tmp_path):
    Image.new("RGB", (700, 500), (200, 60, 30)).save(tmp_path / "picture.gif")
    page = open_page()
    page.excused = ("415",)
    page.choose_mode("cutout")
    page.upload(tmp_path / "picture.gif")
    wait_for_still(page)
    assert Image.open(io.BytesIO(saved(page, tmp_path))).size == (700, 500)


def test_camera_comes_back_after_a_picture(open_page, photo):
    page = open_page()
    page.upload(photo)
    wait_for_still(page)
    page.page.click("#camera")
    page.wait(lambda: page.evaluate("silhouetteTest.shownKind()") == "camera", "camera")
    assert page.page.is_hidden("#still")
