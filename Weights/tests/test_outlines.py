"""Outlines, and how well they are met."""

import sys

import numpy as np
import pytest
from conftest import WEIGHTS

sys.path.insert(0, str(WEIGHTS / "train"))

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
