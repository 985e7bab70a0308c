"""How well masks and mattes fit the truth."""

import numpy as np

VOID = 255
PERSON = 15  # of the classes of PASCAL VOC


def grown(mask, radius):
    """The pixels that lie at most so far from one of the mask's."""
    height, width = mask.shape
    result = mask.copy()
    for y in range(-radius, radius + 1):
        for x in range(-radius, radius + 1):
            if 0 < x * x + y * y <= radius * radius and abs(y) < height and abs(x) < width:
                below, above = slice(max(y, 0), height + min(y, 0)), slice(max(-y, 0), height + min(-y, 0))
                right, left = slice(max(x, 0), width + min(x, 0)), slice(max(-x, 0), width + min(-x, 0))
                result[below, right] |= mask[above, left]
    return result


def boundary(mask):
    """The mask's pixels that have a neighbour above, below, left or right outside it; the picture's rim is none."""
    edge = np.zeros_like(mask)
    across, down = mask[:, 1:] != mask[:, :-1], mask[1:] != mask[:-1]
    edge[:, 1:] |= across
    edge[:, :-1] |= across
    edge[1:] |= down
    edge[:-1] |= down
    return edge & mask


def boundary_score(found, true, distance, counted=None):
    """F-score of the boundary: the harmonic mean of how much of the found one lies at most `distance` pixels from the
    true one, and of the true one from the found. 0 where nothing is found; None where there is no true boundary.

    Pixels that are not `counted`, and those within the distance of them, are left out.
    """
    found, true = boundary(found), boundary(true)
    # What is near is looked for everywhere: an edge that has moved to a place that does not count is no error.
    near_true, near_found = grown(true, distance), grown(found, distance)
    if counted is not None:
        away = ~grown(~counted, distance)
        found, true = found & away, true & away
    if not true.any():
        return None
    if not found.any():
        return 0.0
    precision, recall = near_true[found].mean(), near_found[true].mean()
    return float(2 * precision * recall / (precision + recall)) if precision + recall > 0 else 0.0


def confusion(found, true):
    """How many pixels of each true class (rows) were found to be of each class (columns); void does not count."""
    counted = true != VOID
    pairs = true[counted].astype(np.int64) * 256 + found[counted]
    return np.bincount(pairs, minlength=256 * 256).reshape(256, 256)


def overlaps(matrix):
    """IoU of each class of a confusion matrix; NaN for those that the truth does not have."""
    both = np.diag(matrix).astype(float)
    either = matrix.sum(0) + matrix.sum(1) - both
    return np.where(matrix.sum(1) > 0, both / np.maximum(either, 1), np.nan)


def subject_overlap(matrix):
    """IoU of all that is not background, whichever class it was taken for."""
    both = matrix[1:, 1:].sum()
    return float(both / max(matrix.sum() - matrix[0, 0], 1))


def summary(matrix, boundaries):
    """The figures of a set of pictures, in percent; None for what the truth does not have."""
    each = overlaps(matrix)
    has = ~np.isnan(each)
    figures = {
        "boundary_f_3px": np.mean(boundaries) if boundaries else None,
        "mean_iou": each[has].mean() if has.any() else None,
        "subject_iou": subject_overlap(matrix) if has[1:].any() else None,
        "person_iou": each[PERSON] if has[PERSON] else None,
    }
    return {name: None if value is None else float(100 * value) for name, value in figures.items()}


def alpha_error(found, true, distance):
    """Mean absolute error of opacities over the pixels at most `distance` from the edge, where the truth is half
    opaque. Both are levels, 0 to 255."""
    band = grown(boundary(true >= 128), distance)
    return float(np.abs(found.astype(float) - true)[band].mean()) if band.any() else 0.0


def flicker(mattes, pictures, still):
    """Mean absolute change of opacity from frame to frame, in levels, over the pixels whose colours all change by less
    than `still` levels; None where there are none. Both are iterables of one length."""
    total, count = 0.0, 0
    before = None
    for matte, picture in zip(mattes, pictures, strict=True):
        matte, picture = matte.astype(np.int16), picture.astype(np.int16)
        if before is not None:
            same = (np.abs(picture - before[1]) < still).all(axis=2)
            total += np.abs(matte - before[0])[same].sum()
            count += same.sum()
        before = matte, picture
    return float(total / count) if count else None
