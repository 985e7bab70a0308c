"""The figures of a segmentation: one confusion matrix over all pictures, and what is read from it."""

import numpy as np
from store import CLASSES

PERSON = 15
# person, cat, dog, horse, car, bus, train
MAIN = (15, 8, 12, 13, 7, 6, 19)


def confusion(truth, found) -> np.ndarray:
    """Pixels by (true class, found class); pixels whose truth is no class are not counted."""
    counted = truth < CLASSES
    pairs = truth[counted].astype(np.int64) * CLASSES + found[counted]
    return np.bincount(pairs, minlength=CLASSES * CLASSES).reshape(CLASSES, CLASSES)


def class_ious(matrix) -> np.ndarray:
    """The intersection over union of each class; not a number where the truth does not show it."""
    hits = np.diag(matrix)
    union = matrix.sum(0) + matrix.sum(1) - hits
    present = matrix.sum(1) > 0
    return np.where(present, hits / np.maximum(union, 1), np.nan)


def figures(matrix) -> dict:
    """Person IoU, pixel accuracy, mean IoU over MAIN and over every class that the truth shows."""
    ious = class_ious(matrix)
    mean = lambda values: float(np.nanmean(values)) if np.isfinite(values).any() else 0.0
    return {
        "person": float(np.nan_to_num(ious[PERSON])),
        "accuracy": float(np.diag(matrix).sum() / max(matrix.sum(), 1)),
        "main": mean(ious[list(MAIN)]),
        "miou": mean(ious),
    }


def to_source(labels, height, width) -> np.ndarray:
    """Labels of the network's size brought to the picture's by nearest neighbour, as Pillow does."""
    rows = ((np.arange(height) + 0.5) * labels.shape[0] / height).astype(np.int64)
    columns = ((np.arange(width) + 0.5) * labels.shape[1] / width).astype(np.int64)
    return labels[rows[:, None], columns[None]]
