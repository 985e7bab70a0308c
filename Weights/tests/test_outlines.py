"""Weights/train without PyTorch's training: outlines measured, maps brought to edges, a webcam's faults."""

import sys

import numpy as np
import pytest
from conftest import WEIGHTS

torch = pytest.importorskip("torch", reason="PyTorch is absent; Weights/train/requirements.txt names it")

sys.path.insert(0, str(WEIGHTS / "train"))

from degrade import degraded, relit  # noqa: E402
from guided import guided  # noqa: E402
from metrics import People, confusion, filled, outline, outline_counts, outline_score  # noqa: E402
from store import PERSON, VOID  # noqa: E402


def square(begin, end, side=40):
    inside = np.zeros((side, side), bool)
    inside[begin:end, begin:end] = True
    return inside


def test_an_outline_is_the_rim_within_the_picture():
    assert outline(square(10, 20)).sum() == 36
    assert outline(np.ones((8, 8), bool)).sum() == 0  # the picture's border is no outline


@pytest.mark.parametrize("moved, score", [(0, 1.0), (3, 1.0), (4, 0.0)])
def test_the_score_falls_where_outlines_are_further_apart_than_reached(moved, score):
    rows = np.arange(30)[:, None].repeat(40, 1)
    counts = outline_counts(rows < 10, rows < 10 + moved)
    assert outline_score(counts) == score
    assert counts[3] == 40


def test_what_is_missed_and_what_is_made_up_lower_the_score():
    two = square(2, 10) | square(20, 28)
    assert outline_score(outline_counts(two, square(2, 10))) == pytest.approx(2 / 3)
    assert outline_score(outline_counts(square(2, 10), two)) == pytest.approx(2 / 3)
    assert outline_score(outline_counts(two, np.zeros_like(two))) == 0


def test_void_is_given_to_what_is_near():
    labels = np.full((9, 9), VOID)
    labels[:, :3], labels[:, 7:] = PERSON, 0
    result = filled(labels)
    assert (result[:, :5] == PERSON).all()
    assert (result[:, 5:] == 0).all()
    assert (filled(np.full((3, 3), VOID)) == VOID).all()


def test_figures_of_people_leave_out_pictures_where_they_are_small():
    people = People()
    for truth in (square(10, 30), square(0, 3)):
        truth = np.where(truth, PERSON, 0)
        found = np.where(square(10, 30), PERSON, 0)
        people.add(truth, found, confusion(truth, found))
    assert people.pictures == 1
    assert people.figures() == {"people": 1.0, "outline": 1.0}


def test_a_coarse_map_is_brought_to_the_pictures_edge():
    picture = torch.rand(60, 60, 3, generator=torch.Generator().manual_seed(0)) * 0.02 + 0.2
    picture[:, 30:] += torch.tensor([0.5, 0.3, 0.1])
    coarse = torch.linspace(-1, 2, 60).clamp(0, 1).expand(60, 60)  # a ramp of 20 pixels
    rise = lambda shares: float(shares[:, 32].mean() - shares[:, 27].mean())
    assert rise(guided(picture, coarse, 8, 3e-4)) > 1.8 * rise(coarse)
    # Without an edge there it is only smoothed.
    assert rise(guided(torch.full((60, 60, 3), 0.5), coarse, 8, 3e-4)) < 1.1 * rise(coarse)


def test_a_webcams_faults_keep_shape_and_content():
    random = np.random.default_rng(0)
    picture = np.zeros((65, 97, 3), np.uint8)
    picture[20:50, 30:70] = (200, 160, 120)
    changed = [degraded(picture, random) for _ in range(60)]
    assert all(one.shape == picture.shape and one.dtype == np.uint8 for one in changed)
    assert sum(not np.array_equal(one, picture) for one in changed) > 30
    for one in changed:  # the subject stays where it is
        assert one[22:48, 32:68].mean() > one[:15].mean() + 40
    assert np.array_equal(degraded(picture, np.random.default_rng(5)), degraded(picture, np.random.default_rng(5)))


def test_other_light_keeps_dark_dark():
    picture = np.arange(256, dtype=np.uint8)[None, :, None].repeat(3, 2)
    result = relit(picture, np.random.default_rng(0))
    assert (np.diff(result[0].astype(int), axis=0) >= 0).all()
    assert not np.array_equal(result, picture)
