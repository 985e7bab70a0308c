"""The page's edges beside those of a film, on the same frames."""

import subprocess
import sys

import numpy
import pytest
from conftest import CLIP, ROOT, ffmpeg
from PIL import Image

sys.path.insert(0, str(ROOT / "scripts"))
from edges import scores

FRAMES = 8
MODEL = ROOT / "Weights/silhouette-deeplabv3.safetensors"
# As the page's mattes are to be: levels within 16 pixels of the film's edge, and times the film's flicker.
REACH, LEVELS, FLICKER = 16, 6, 1.1


@pytest.fixture(scope="module")
def frames(files, clip):
    folder = files / "matte-frames"
    folder.mkdir()
    ffmpeg("-i", clip, "-frames:v", str(FRAMES), folder / "%05d.png")
    return sorted(folder.glob("*.png"))


@pytest.fixture(scope="module")
def film(binary, files, frames):
    """The opacities that `video` gives the frames."""
    folder = files / "matte-film"
    folder.mkdir()
    command = [binary, "video", frames[0].parent / "%05d.png", "-o", folder / "%05d.png", "--output", "cutout"]
    subprocess.run(
        [*map(str, command), "--classes", "person", "-m", str(MODEL), "-d", "cpu"],
        check=True,
        stdout=subprocess.DEVNULL,
    )
    return [numpy.asarray(Image.open(path))[..., 3] for path in sorted(folder.glob("*.png"))]


@pytest.mark.skipif(not CLIP.exists(), reason=f"somebody before a camera is needed: {CLIP} is not there")
@pytest.mark.parametrize("compositor", ["webgl", "2d"])
def test_edges_are_those_of_a_film(compositor, start_server, open_page, frames, film):
    page = open_page(f"?test=1&compositor={compositor}", address=start_server("-m", MODEL).address)
    labels = page.evaluate("silhouetteTest.labels()")
    page.set("classes", {label: {"shown": label == "person"} for label in labels})
    drawn = []
    for path in frames:
        page.step(path)
        drawn.append(page.drawn()[..., 3])
    errors = [scores.alpha_error(one, other, REACH) for one, other in zip(drawn, film, strict=True)]
    assert numpy.mean(errors) <= LEVELS, errors
    pictures = [numpy.asarray(Image.open(path).convert("RGB")) for path in frames]
    flicker, due = (scores.flicker(iter(mattes), iter(pictures), 4) for mattes in (drawn, film))
    assert flicker <= FLICKER * due, f"{flicker} beside {due} levels a frame"


@pytest.mark.skipif(not CLIP.exists(), reason=f"somebody before a camera is needed: {CLIP} is not there")
def test_both_compositors_draw_alike(start_server, open_page, frames):
    address = start_server("-m", MODEL).address
    drawn = []
    for compositor in ("webgl", "2d"):
        page = open_page(f"?test=1&compositor={compositor}", address=address)
        page.set("smoothing", 0)
        page.step(frames[-1])
        drawn.append(page.drawn().astype(int))
    difference = numpy.abs(drawn[0] - drawn[1])
    assert difference[..., 3].max() <= 1
    # Where little is left of a colour, a canvas keeps it coarsely.
    opaque = drawn[0][..., 3] > 100
    assert difference[opaque].max() <= 4


def test_smoothing_and_holes_are_asked_for(open_page):
    """What the settings say reaches the server."""
    page = open_page()
    page.evaluate(
        """() => silhouetteTest.connection.addEventListener("message", ({ message }) => {
            if (message.kind === "settingsInForce") {
                window.inForce = JSON.parse(new TextDecoder().decode(message.payload));
            }
        })"""
    )
    page.set("smoothing", 0.2)
    page.page.uncheck("#closeHoles", force=True)
    page.wait(lambda: page.evaluate("window.inForce?.closesHoles === false"), "settings in force")
    assert page.evaluate("inForce.smoothing") == 0.2
