"""Every output mode, pixel by pixel, drawn by WebGL2 and by the 2D canvas."""

import numpy
import pytest
from PIL import Image

COMPOSITORS = ["webgl", "2d"]
BACKDROP = (20, 190, 90)


@pytest.fixture(params=COMPOSITORS)
def page(request, open_page, photo):
    """A page whose source shows a picture, the left half of which is the subject."""
    page = open_page(f"?test=1&compositor={request.param}")
    assert page.evaluate("silhouetteTest.compositor") == ("WebGL2" if request.param == "webgl" else "2D canvas")
    page.evaluate("silhouetteTest.fixMasks()")
    page.step(photo)
    page.photo = photo
    return page


def show(page, mode):
    """Chooses a mode; the picture is segmented anew, for another mode another mask comes."""
    page.choose_mode(mode)
    page.step(page.photo)


# Places away from the line in the middle, where the edge runs.
HEIGHTS = [0.05, 0.2, 0.35, 0.5, 0.65, 0.8, 0.95]
SUBJECT = [[x, y] for x in (0.05, 0.2, 0.35, 0.45) for y in HEIGHTS]
BACKGROUND = [[x, y] for x in (0.55, 0.65, 0.8, 0.95) for y in HEIGHTS]


def originals(page, points):
    page.set("comparePosition", 1)
    page.set("compare", True)
    pixels = page.pixels(points)
    page.set("compare", False)
    return pixels


def assert_close(actual, expected, tolerance=2):
    difference = numpy.abs(numpy.asarray(actual, float) - numpy.asarray(expected, float))
    assert difference.max() <= tolerance, f"off by {difference.max()}: {actual} for {expected}"


def test_original_is_the_picture(page, photo):
    show(page, "cutout")
    picture = numpy.asarray(Image.open(photo).convert("RGB"))
    points = [[x / 10 + 0.05, y / 10 + 0.05] for x in range(10) for y in range(10)]
    height, width, _ = picture.shape
    expected = [picture[int(y * height), int(x * width)] for x, y in points]
    assert_close(originals(page, points)[:, :3], expected)


def test_cutout(page):
    show(page, "cutout")
    assert_close(page.pixels(SUBJECT), originals(page, SUBJECT))
    assert_close(page.pixels(BACKGROUND), numpy.zeros((len(BACKGROUND), 4)))


def test_color(page):
    show(page, "color")
    page.set("color", "#3366cc")
    assert_close(page.pixels(SUBJECT), originals(page, SUBJECT))
    assert_close(page.pixels(BACKGROUND), [[0x33, 0x66, 0xCC, 255]] * len(BACKGROUND))


def test_gradient(page):
    show(page, "gradient")
    page.set("gradientTop", "#ff0000")
    page.set("gradientBottom", "#0000ff")
    assert_close(page.pixels(SUBJECT), originals(page, SUBJECT))
    pixels = page.pixels(BACKGROUND).astype(int)
    assert_close(pixels[:, 0] + pixels[:, 2], [255] * len(pixels), 4)
    order = numpy.argsort([y for _, y in BACKGROUND], kind="stable")
    assert (numpy.diff(pixels[order, 2]) >= -2).all(), "blue grows towards the bottom"


def test_picture(page, tmp_path):
    Image.new("RGB", (300, 200), BACKDROP).save(tmp_path / "backdrop.png")
    show(page, "picture")
    page.page.set_input_files("#backdrop-file", tmp_path / "backdrop.png")
    page.wait(lambda: page.page.inner_text("#backdrop-name") == "backdrop.png", "background picture")
    page.settle()
    assert_close(page.pixels(SUBJECT), originals(page, SUBJECT))
    assert_close(page.pixels(BACKGROUND), [[*BACKDROP, 255]] * len(BACKGROUND))


def test_grey(page):
    show(page, "grey")
    assert_close(page.pixels(SUBJECT), originals(page, SUBJECT))
    luminance = originals(page, BACKGROUND)[:, :3] @ [0.2126, 0.7152, 0.0722]
    assert_close(page.pixels(BACKGROUND)[:, :3], numpy.stack([luminance] * 3, 1), 3)


def test_blur(page, tmp_path):
    """Black and white stripes become grey."""
    columns = numpy.where(numpy.arange(640) // 8 % 2, 255, 0).astype(numpy.uint8)
    Image.fromarray(numpy.tile(columns, (480, 1))).save(tmp_path / "stripes.png")
    show(page, "blur")
    page.set("blur", 1)
    page.step(tmp_path / "stripes.png")
    page.settle()
    assert_close(page.pixels(SUBJECT), originals(page, SUBJECT))
    assert_close(page.pixels(BACKGROUND)[:, :3], numpy.full((len(BACKGROUND), 3), 127.5), 20)


def test_blur_keeps_the_subject_out(open_page):
    """A red subject on blue: no red may come into the background, however strong the blur is."""
    reds = open_page().evaluate("silhouetteTest.redsOfBlurredBlue()")
    assert reds["background"] <= 3
    assert reds["subject"] >= 250


def test_overlay(page):
    show(page, "overlay")
    page.set("opacity", 0.5)
    label = page.evaluate("silhouetteTest.labels()")[1]
    page.set("classes", {label: {"color": "#00ffcc", "shown": True}})
    expected = originals(page, SUBJECT)[:, :3] * 0.5 + numpy.array([0, 255, 204]) * 0.5
    assert_close(page.pixels(SUBJECT)[:, :3], expected)
    assert_close(page.pixels(BACKGROUND), originals(page, BACKGROUND))
    page.set("classes", {label: {"color": "#00ffcc", "shown": False}})
    assert_close(page.pixels(SUBJECT), originals(page, SUBJECT))


def test_compare_shows_the_picture_on_its_left(page):
    show(page, "color")
    page.set("color", "#ff00ff")
    before = originals(page, BACKGROUND)
    page.set("comparePosition", 0.7)
    page.set("compare", True)
    pixels = page.pixels(BACKGROUND)
    left = numpy.array([x < 0.7 for x, _ in BACKGROUND])
    assert_close(pixels[left], before[left])
    assert_close(pixels[~left], [[255, 0, 255, 255]] * (~left).sum())


@pytest.mark.parametrize("mode", ["cutout", "blur", "color", "gradient", "picture", "grey", "overlay"])
def test_screenshot_of_each_mode(mode, open_page, screenshots):
    page = open_page()
    page.start_camera()
    page.choose_mode(mode)
    page.wait_for_answers(8)
    page.wait_for_facts()
    page.screenshot(screenshots / f"mode-{mode}.png")
