"""The figures of a segmentation: one confusion matrix over all pictures, and what is read from it."""

import numpy as np
from store import CLASSES, PERSON, VOID

# The least share of a picture that people fill where they are its subject.
PEOPLE_SHARE = 0.05
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


def filled(labels) -> np.ndarray:
    """The labels with void given to the nearest class: a border drawn as void has its middle for the outline then."""
    labels = labels.copy()
    while (void := labels >= CLASSES).any() and not void.all():
        for axis, step in ((0, 1), (0, -1), (1, 1), (1, -1)):
            near = np.roll(labels, step, axis)
            edge = [slice(None)] * 2
            edge[axis] = 0 if step > 0 else -1
            near[tuple(edge)] = VOID  # what is rolled in from the other side
            take = void & (near < CLASSES) & (labels >= CLASSES)
            labels[take] = near[take]
    return labels


def outline(inside) -> np.ndarray:
    """The points of a region that have a neighbour outside it, to the side or above or below, within the picture."""
    padded = np.pad(inside, 1, mode="edge")
    return inside & ~(padded[:-2, 1:-1] & padded[2:, 1:-1] & padded[1:-1, :-2] & padded[1:-1, 2:])


def within(points, reach) -> np.ndarray:
    """The points that are at most `reach` away from one of these."""
    height, width = points.shape
    padded, result = np.pad(points, reach), np.zeros_like(points)
    for y in range(-reach, reach + 1):
        for x in range(-reach, reach + 1):
            if x * x + y * y <= reach * reach:
                result |= padded[reach + y : reach + y + height, reach + x : reach + x + width]
    return result


def outline_counts(truth, found, reach=3) -> np.ndarray:
    """Of the outlines of two regions: (found points near the true outline, all found points, true points near the found
    outline, all true points)."""
    true, seen = outline(truth), outline(found)
    return np.array([(seen & within(true, reach)).sum(), seen.sum(), (true & within(seen, reach)).sum(), true.sum()])


def outline_score(counts) -> float:
    """The F score of such counts, summed over pictures."""
    precision, recall = counts[0] / max(counts[1], 1), counts[2] / max(counts[3], 1)
    return float(2 * precision * recall / max(precision + recall, 1e-9))


class People:
    """Figures over the pictures whose subject people are: person IoU, and the F score of their outlines."""

    def __init__(self):
        self.pictures, self.matrix, self.counts = 0, np.zeros((CLASSES, CLASSES), np.int64), np.zeros(4, np.int64)

    def add(self, truth, found, matrix):
        """Labels of one picture, and their confusion matrix."""
        if (truth == PERSON).sum() >= PEOPLE_SHARE * truth.size:
            self.pictures += 1
            self.matrix += matrix
            self.counts += outline_counts(filled(truth) == PERSON, found == PERSON)

    def figures(self) -> dict:
        return {"people": figures(self.matrix)["person"], "outline": outline_score(self.counts)}


def to_source(labels, height, width) -> np.ndarray:
    """Labels of the network's size brought to the picture's by nearest neighbour, as Pillow does."""
    rows = ((np.arange(height) + 0.5) * labels.shape[0] / height).astype(np.int64)
    columns = ((np.arange(width) + 0.5) * labels.shape[1] / width).astype(np.int64)
    return labels[rows[:, None], columns[None]]
