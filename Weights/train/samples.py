"""Training samples: a random view of a picture, and what the network should say of it."""

import numpy as np
from PIL import Image
from store import CLASSES, GRID, LOG_STEPS, TRUE_MASKS, VOID

# How much a true mask weighs beside the teacher's answer where there are both.
MASK_SHARE = 0.5
PERSON = 15

PROBABILITIES = np.exp(-np.arange(256) / LOG_STEPS).astype(np.float32)


class Samples:
    """Draws pictures, rare classes more often, and makes samples of them.

    - indices: the pictures to draw from
    - crop: the smallest share of a side that is cut out
    - pasted: the share of samples into which the objects of another picture are pasted
    - plain: the whole picture without any change, for tests
    """

    def __init__(self, store, indices, seed, crop=0.5, pasted=0.5, plain=False):
        self.store, self.indices = store, np.asarray(indices, int)
        self.crop, self.pasting, self.plain = crop, pasted, plain
        self.random = np.random.default_rng(seed)
        self.presence = np.zeros((len(store), CLASSES), bool)
        self.looked = np.zeros(len(store), np.int8)  # 1: at its mask, 2: at the teacher's answer
        self.queue = []

    def refresh(self):
        """Looks at what the teacher has answered by now, and sets how often each picture is drawn."""
        store = self.store
        answered = np.zeros(len(store), bool) if store.done is None else store.done[:] > 0
        for index in self.indices:
            if store.truth_known(index) or (store.entries[index]["mask"] and not answered[index]):
                if not self.looked[index]:
                    counts = np.bincount(store.mask(index)[::4, ::4].ravel(), minlength=256)[:CLASSES]
                    self.presence[index] = counts > 0.01 * counts.sum()
                    self.looked[index] = 1
            elif answered[index] and self.looked[index] < 2:
                counts = np.bincount(store.teacher[index].argmin(0).ravel(), minlength=CLASSES)
                self.presence[index] = counts > 0.01 * counts.sum()
                self.looked[index] = 2
        usable = self.indices[self.looked[self.indices] > 0]
        if not len(usable):
            raise SystemExit("no picture has a mask or an answer of the teacher: run prepare.py --teacher")
        there = self.presence[usable][:, 1:]
        rarity = np.sqrt(len(usable) / np.maximum(there.sum(0), 1))
        rarity[PERSON - 1] *= 1.5  # people are what most will cut out
        weights = np.clip(np.where(there, rarity, 0).max(1), 1, 10)
        # Street fashion: 1500 pictures of much the same.
        names = [store.entries[index]["name"] + store.entries[index]["kind"] for index in usable]
        weights *= [0.6 if "ccp" in name else 1 for name in names]
        self.usable, self.odds, self.answered = usable, weights / weights.sum(), answered

    def draw(self):
        """The next picture."""
        if not self.queue:
            self.refresh()
            self.queue = list(self.random.choice(self.usable, 2048, p=self.odds))
        return self.queue.pop()

    def view(self):
        """A random part of the picture: for each axis (begin, end) in the picture and in the result, from 0 to 1."""
        random, kind, whole = self.random, self.random.random(), ((0.0, 1.0),) * 2
        if self.plain or kind < 0.3:
            return whole, whole
        side = random.uniform(self.crop, 1)
        sides = [min(side * np.exp(random.uniform(-0.15, 0.15)), 1) for _ in range(2)]
        begins = [random.uniform(0, 1 - side) for side in sides]
        part = tuple((begin, begin + side) for begin, side in zip(begins, sides))
        # Mostly a part of the picture enlarged, sometimes the whole picture made smaller.
        return (part, whole) if kind < 0.85 else (whole, part)

    def sample(self, index, size, cells):
        """(picture size x size x 3, target CLASSES x cells x cells, weight cells x cells).

        The target is a distribution over the classes at points from corner to corner of the result.
        """
        store = self.store
        picture = store.picture(index)
        height, width = picture.shape[:2]
        source, target = self.view()
        mirrored = not self.plain and self.random.random() < 0.5

        (y0, y1), (x0, x1) = [
            (round(begin * size), max(round(end * size), round(begin * size) + 1)) for begin, end in target
        ]
        box = (source[1][0] * width, source[0][0] * height, source[1][1] * width, source[0][1] * height)
        part = Image.fromarray(picture).resize((x1 - x0, y1 - y0), Image.BILINEAR, box=box)
        result = np.full((size, size, 3), 127, np.uint8)
        result[y0:y1, x0:x1] = np.asarray(part)

        # For each axis, where in the picture (0 ... 1) the points of the target's grid lie, and which do.
        points, places = np.arange(cells) * (size - 1) / (cells - 1) + 0.5, []
        for (begin, end), (low, high) in zip(source, ((y0, y1), (x0, x1))):
            at = (points - low) / (high - low)
            places.append((np.clip(begin + at * (end - begin), 0, 1 - 1e-6), (at >= 0) & (at < 1)))
        (rows, in_rows), (columns, in_columns) = places
        distribution, weight = self.target(index, rows, columns)
        weight = weight * (in_rows[:, None] & in_columns[None])
        if mirrored:
            return result[:, ::-1], distribution[..., ::-1], weight[:, ::-1]
        return result, distribution, weight

    def pasted(self, below, above):
        """A sample with the objects of another one, cut out by its target, in front of its own.

        With few pictures the network otherwise learns what stands behind an object instead of the object.
        """
        result, target, weight = below
        objects = (1 - above[1][0]) * (above[2] > 0)
        if not 0.02 < objects.mean() < 0.8:  # nothing, or nothing would be left of the one below
            return below

        def resized(count):
            matrix = interpolation(np.arange(count) / (count - 1), len(objects))
            return np.clip(2 * (matrix @ objects @ matrix.T) - 0.5, 0, 1)

        alpha, share = resized(len(result))[..., None], resized(len(objects))
        result = (alpha * above[0] + (1 - alpha) * result + 0.5).astype(np.uint8)
        return result, share * above[1] + (1 - share) * target, share * above[2] + (1 - share) * weight

    def target(self, index, rows, columns):
        """The distribution over the classes at each (row, column), and the weight of each point."""
        store, entry = self.store, self.store.entries[index]
        soft = hard = None
        if self.answered[index]:
            soft = PROBABILITIES[store.teacher[index]]
            soft = interpolation(rows, GRID) @ soft @ interpolation(columns, GRID).T
            soft /= soft.sum(0)
        if entry["mask"]:
            mask = store.mask(index)
            labels = mask[(rows * entry["height"]).astype(int)[:, None], (columns * entry["width"]).astype(int)[None]]
            if entry["kind"] not in TRUE_MASKS:
                labels = np.where(labels == PERSON, labels, VOID)  # nobody else is labelled
            hard = (np.arange(CLASSES)[:, None, None] == labels).astype(np.float32)
            known = (labels != VOID).astype(np.float32)
        if hard is None:
            return soft, np.ones(soft.shape[1:], np.float32)
        if soft is None:
            return hard, known
        share = MASK_SHARE * known
        return share * hard + (1 - share) * soft, np.ones_like(known)

    def batch(self, count, size, cells):
        """Arrays of `count` samples."""
        return [np.stack(part) for part in zip(*(self.mixed(size, cells) for _ in range(count)))]

    def mixed(self, size, cells):
        """A sample, perhaps with another one's objects in it."""
        sample = self.sample(self.draw(), size, cells)
        if self.plain or self.random.random() >= self.pasting:
            return sample
        return self.pasted(sample, self.sample(self.draw(), size, cells))


def interpolation(places, cells):
    """A matrix (places x cells) that reads a grid, whose ends lie at 0 and 1, between its points."""
    at = places * (cells - 1)
    return np.maximum(1 - np.abs(at[:, None] - np.arange(cells)[None]), 0).astype(np.float32)
