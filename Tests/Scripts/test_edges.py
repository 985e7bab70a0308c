"""What scripts/measure-edges computes, on masks small enough to count by hand, and what it says when it cannot."""

import itertools
import json
import struct
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

ROOT = Path(__file__).resolve().parent.parent.parent
sys.path.insert(0, str(ROOT / "scripts"))

from edges import network, scores, shapes  # noqa: E402

SCRIPT = ROOT / "scripts" / "measure-edges"


def square(left, top, side=10, size=40):
    mask = np.zeros((size, size), bool)
    mask[top : top + side, left : left + side] = True
    return mask


def test_grown_is_a_disc():
    mask = np.zeros((9, 9), bool)
    mask[4, 4] = True
    y, x = np.mgrid[-4:5, -4:5]
    for radius in range(6):
        assert np.array_equal(scores.grown(mask, radius), x * x + y * y <= radius * radius)
    assert not mask[4, 5]


def test_grown_at_the_rim():
    mask = np.zeros((2, 3), bool)
    mask[0, 0] = True
    assert np.array_equal(scores.grown(mask, 1), [[True, True, False], [True, False, False]])
    assert scores.grown(mask, 40).all()


def test_boundary():
    assert scores.boundary(square(5, 5, 4)).sum() == 12
    assert np.array_equal(scores.boundary(square(5, 5, 4)), square(5, 5, 4) & ~square(6, 6, 2))
    # The picture's rim is no boundary.
    assert not scores.boundary(np.ones((5, 5), bool)).any()
    assert scores.boundary(square(0, 0, 4)).sum() == 7


def test_boundary_score():
    true = square(10, 10)
    assert scores.boundary_score(true, true, 0) == 1
    assert scores.boundary_score(square(13, 10), true, 3) == 1
    # Most of what is above and below still lies on the true boundary; what is left and right is too far away.
    assert 0 < scores.boundary_score(square(14, 10), true, 3) < 1
    assert scores.boundary_score(square(28, 28), true, 3) == 0
    assert scores.boundary_score(np.zeros_like(true), true, 3) == 0
    assert scores.boundary_score(true, np.zeros_like(true), 3) is None


def test_boundary_score_is_the_harmonic_mean():
    true, found = square(10, 10), square(10, 10) | square(25, 25, 5)
    # 36 of the 36 + 16 pixels found are right, and all of the true ones are found.
    precision = 36 / 52
    assert scores.boundary_score(found, true, 3) == pytest.approx(2 * precision / (precision + 1))


def test_void_and_its_neighbourhood_do_not_count():
    true, found = square(10, 10), square(10, 10) | square(25, 25, 5)
    counted = np.ones_like(true)
    counted[23:32, 23:32] = False
    assert scores.boundary_score(found, true, 3, counted) == 1
    assert scores.boundary_score(found, true, 3, ~scores.grown(true, 1)) is None


def test_overlaps():
    true = np.array([[0, 0, 1, 1], [15, 15, 255, 255]], np.uint8)
    found = np.array([[0, 1, 1, 1], [15, 1, 7, 0]], np.uint8)
    matrix = scores.confusion(found, true)
    assert matrix.sum() == 6
    each = scores.overlaps(matrix)
    assert each[0] == 1 / 2 and each[1] == 2 / 4 and each[15] == 1 / 2
    assert np.isnan(each[7])
    # Which class the subject was taken for is not asked: 4 of the 5 pixels that one of the two calls subject.
    assert scores.subject_overlap(matrix) == 4 / 5
    figures = scores.summary(matrix, [0.25, 0.75])
    assert figures == {"boundary_f_3px": 50, "mean_iou": 50, "subject_iou": 80, "person_iou": 50}
    nothing = scores.summary(scores.confusion(found * 0, found * 0), [])
    assert nothing == {"boundary_f_3px": None, "mean_iou": 100, "subject_iou": None, "person_iou": None}


def test_alpha_error():
    true = square(10, 10).astype(np.uint8) * 255
    assert scores.alpha_error(true, true, 10) == 0
    near = true.copy()
    near[near == 0] = 10
    band = scores.grown(scores.boundary(true > 0), 2)
    assert scores.alpha_error(near, true, 2) == pytest.approx(10 * (band & (true == 0)).sum() / band.sum())


def test_flicker():
    picture = np.zeros((2, 2, 3), np.uint8)
    moved = picture.copy()
    moved[0, 0, 1] = 4
    mattes = [np.full((2, 2), 10, np.uint8), np.array([[255, 10], [10, 16]], np.uint8)]
    assert scores.flicker(mattes, [picture, moved], 4) == 2
    assert scores.flicker(mattes, [picture, picture + 9], 4) is None
    assert scores.flicker(mattes[:1], [picture], 4) is None


def test_scenes():
    """Each is the same whenever it is drawn, and has opaque, transparent and, at edges, other pixels."""
    first, second = (list(itertools.islice(shapes.scenes(3), 8)) for _ in range(2))
    for scene, again in zip(first, second):
        assert np.array_equal(scene.picture, again.picture) and np.array_equal(scene.alpha, again.alpha)
        assert scene.picture.shape == (*scene.alpha.shape, 3)
        assert {0, 255} < set(np.unique(scene.alpha).tolist())
        # Edges are thin where nothing is out of focus.
        between = (scene.alpha > 0) & (scene.alpha < 255)
        assert between.mean() < (0.2 if scene.kind == "soft" else 0.02)


def test_an_outline_covers_what_it_should():
    """A disc's opacities add up to its area."""
    for seed in range(5):
        alpha = np.asarray(shapes.outline("disc", np.random.default_rng(seed)), float) / 255
        radius = np.random.default_rng(seed).uniform(0.26, 0.4) * shapes.SIZE[1]
        assert alpha.sum() == pytest.approx(np.pi * radius**2, rel=0.01)


@pytest.mark.parametrize("cells", [17, 33])
def test_the_network_knows_where_the_subject_is(cells):
    alpha = np.zeros((360, 480), np.uint8)
    alpha[:, :240] = 255
    logits = network.coarse(alpha, cells, np.random.default_rng(0))
    assert logits.shape == (cells, cells)
    middle = cells // 2
    assert (logits[:, : middle - 1] > 3).all() and (logits[:, middle + 2 :] < -3).all()
    assert abs(logits[:, middle].mean()) < 1


def test_the_model_file_is_one():
    logits = np.arange(9.0).reshape(3, 3)
    data = network.model_file(logits)
    (length,) = struct.unpack("<Q", data[:8])
    header = json.loads(data[8 : 8 + length])
    layers = json.loads(header["__metadata__"]["silhouette"])["layers"]
    assert layers[-1]["output"] == "answer"
    begin, end = header["map"]["data_offsets"]
    assert np.array_equal(np.frombuffer(data[8 + length :][begin:end], "<f4")[9:], np.arange(9))
    assert len(data) == 8 + length + end


def run(*arguments):
    done = subprocess.run([sys.executable, SCRIPT, *arguments], capture_output=True, text=True)
    assert "Traceback" not in done.stderr
    return done


def test_faults_are_one_line(tmp_path):
    pairs = tmp_path / "pairs"
    (pairs / "images").mkdir(parents=True)
    cases = [
        (["--program", "absent"], "absent is missing: swift build -c release"),
        (["-m", "absent"], "absent is missing"),
        (["--pairs", f"{tmp_path}/absent"], "absent/list.txt: No such file or directory"),
        (["--pairs", str(pairs)], "images/one.jpg is missing"),
        (["--frames", str(pairs), "--clip", str(pairs)], "needs the PNG files of two frames at least"),
        ([], "false segment --edges plain: exit code 1"),
    ]
    (pairs / "list.txt").write_text("one\n")
    for arguments, expected in cases:
        done = run("--program", "/bin/false", *arguments)
        assert done.returncode == 1 and done.stdout == ""
        assert len(done.stderr.splitlines()) == 1 and expected in done.stderr, arguments
    assert run("--frames", "a").returncode == 2


def test_frames_must_fit(tmp_path):
    for folder, count, size in (("clip", 2, 4), ("short", 3, 4), ("small", 2, 3)):
        (tmp_path / folder).mkdir()
        for index in range(count):
            Image.new("RGB" if folder == "clip" else "L", (size, size)).save(tmp_path / folder / f"{index}.png")
    for folder, expected in (("short", "has 3 frames"), ("small", "of another size")):
        done = run("--program", "/bin/false", "--clip", str(tmp_path / "clip"), "--frames", str(tmp_path / folder))
        assert done.returncode == 1 and expected in done.stderr
