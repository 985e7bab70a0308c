"""Every output mode, pixel by pixel, drawn by WebGL2 and by the 2D canvas."""

import numpy
import pytest
from PIL import Image

COMPOSITORS = ["webgl", "2d"]
BACKDROP = (20, 190, 90)


@pytest.fixture(params=COMPOSITORS)
def page(request, open_page, photo):
    """A page with a still picture: all masks of it are there, and it holds still."""
    page = open_page(f"?test=1&compositor={request.param}")
    assert page.evaluate("silhouetteTest.compositor") == ("WebGL2" if request.param == "webgl" else "2D canvas")
    page.upload(photo)
    page.set("tightness", 0.5)
    return page


def spots(mask, isolated, count=40):
    """Places, from 0 to 1, around which all of a mask is as `isolated` says."""
    good = isolated(mask)
    margin = 3
    whole = good.copy()
    for dy in range(-margin, margin + 1):
        for dx in range(-margin, margin + 1):
            whole &= numpy.roll(good, (dy, dx), (0, 1))
    whole[:margin] = whole[-margin:] = False
    whole[:, :margin] = whole[:, -margin:] = False
    ys, xs = numpy.nonzero(whole)
    if len(ys) == 0:
        pytest.skip("this model finds no such place in this picture")
    picked = numpy.linspace(0, len(ys) - 1, min(count, len(ys))).astype(int)
    height, width = mask.shape
    return [[float((xs[i] + 0.5) / width), float((ys[i] + 0.5) / height)] for i in picked]


def subject_and_background(page):
    alpha = page.newest()["alpha"]
    # Between these the edge runs; outside a place is wholly the one or the other.
    return spots(alpha, lambda mask: mask > 215), spots(alpha, lambda mask: mask < 40)


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
    page.choose_mode("cutout")
    picture = numpy.asarray(Image.open(photo).convert("RGB"))
    points = [[x / 10 + 0.05, y / 10 + 0.05] for x in range(10) for y in range(10)]
    height, width, _ = picture.shape
    expected = [picture[int(y * height), int(x * width)] for x, y in points]
    assert_close(originals(page, points)[:, :3], expected)


def test_cutout(page):
    page.choose_mode("cutout")
    subject, background = subject_and_background(page)
    assert_close(page.pixels(subject), originals(page, subject))
    assert_close(page.pixels(background), numpy.zeros((len(background), 4)))


def test_color(page):
    page.choose_mode("color")
    page.set("color", "#3366cc")
    subject, background = subject_and_background(page)
    assert_close(page.pixels(subject), originals(page, subject))
    assert_close(page.pixels(background), [[0x33, 0x66, 0xCC, 255]] * len(background))


def test_gradient(page):
    page.choose_mode("gradient")
    page.set("gradientTop", "#ff0000")
    page.set("gradientBottom", "#0000ff")
    subject, background = subject_and_background(page)
    assert_close(page.pixels(subject), originals(page, subject))
    pixels = page.pixels(background).astype(int)
    assert_close(pixels[:, 0] + pixels[:, 2], [255] * len(pixels), 4)
    order = numpy.argsort([y for _, y in background], kind="stable")
    assert (numpy.diff(pixels[order, 2]) >= -2).all(), "blue grows towards the bottom"


def test_picture(page, tmp_path):
    Image.new("RGB", (300, 200), BACKDROP).save(tmp_path / "backdrop.png")
    page.choose_mode("picture")
    page.page.set_input_files("#backdrop-file", tmp_path / "backdrop.png")
    page.wait(lambda: page.page.inner_text("#backdrop-name") == "backdrop.png", "background picture")
    page.settle()
    subject, background = subject_and_background(page)
    assert_close(page.pixels(subject), originals(page, subject))
    assert_close(page.pixels(background), [[*BACKDROP, 255]] * len(background))


def test_grey(page):
    page.choose_mode("grey")
    subject, background = subject_and_background(page)
    assert_close(page.pixels(subject), originals(page, subject))
    luminance = originals(page, background)[:, :3] @ [0.2126, 0.7152, 0.0722]
    assert_close(page.pixels(background)[:, :3], numpy.stack([luminance] * 3, 1), 3)


def test_blur(page):
    page.choose_mode("blur")
    page.set("blur", 1)
    subject, background = subject_and_background(page)
    assert_close(page.pixels(subject), originals(page, subject))
    beside = [[x + 3 / 640, y] for x, y in background]
    before = numpy.abs(originals(page, background) - originals(page, beside)).mean()
    after = numpy.abs(page.pixels(background) - page.pixels(beside)).mean()
    assert after < 2 and after <= before


def test_blur_keeps_the_subject_out(open_page):
    """A red subject on blue: no red may come into the background, however strong the blur is."""
    reds = open_page().evaluate("silhouetteTest.redsOfBlurredBlue()")
    assert reds["background"] <= 3
    assert reds["subject"] >= 250


def test_overlay(page):
    page.choose_mode("overlay")
    page.set("opacity", 0.5)
    frame = page.newest()
    labels = page.evaluate("silhouetteTest.labels()")
    seen = [index for index, _ in frame["result"]["shares"] if index > 0]
    if not seen:
        pytest.skip("this model finds no class in this picture")
    page.set("classes", {labels[seen[0]]: {"color": "#00ffcc", "shown": True}})
    inside = spots(frame["categories"], lambda mask: mask == seen[0])
    expected = originals(page, inside)[:, :3] * 0.5 + numpy.array([0, 255, 204]) * 0.5
    assert_close(page.pixels(inside)[:, :3], expected)
    page.set("classes", {labels[seen[0]]: {"color": "#00ffcc", "shown": False}})
    assert_close(page.pixels(inside), originals(page, inside))


def test_compare_shows_the_picture_on_its_left(page):
    page.choose_mode("color")
    page.set("color", "#ff00ff")
    _, background = subject_and_background(page)
    before = originals(page, background)
    page.set("comparePosition", 0.5)
    page.set("compare", True)
    pixels = page.pixels(background)
    left = numpy.array([x < 0.49 for x, _ in background])
    right = numpy.array([x > 0.51 for x, _ in background])
    assert_close(pixels[left], before[left]) if left.any() else None
    assert_close(pixels[right], [[255, 0, 255, 255]] * right.sum()) if right.any() else None


@pytest.mark.parametrize("mode", ["cutout", "blur", "color", "gradient", "picture", "grey", "overlay"])
def test_screenshot_of_each_mode(mode, open_page, screenshots):
    page = open_page()
    page.start_camera()
    page.choose_mode(mode)
    page.wait_for_answers(8)
    page.page.wait_for_timeout(600)
    page.screenshot(screenshots / f"mode-{mode}.png")
