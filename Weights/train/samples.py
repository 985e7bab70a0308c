"""Training samples: a random view of a picture, and what the network should say of it."""

import numpy as np
from degrade import degraded, relit
from PIL import Image
from store import CLASSES, GRID, LOG_STEPS, PERSON, TRUE_MASKS, VOID

# How much a true mask weighs beside the teacher's answer where there are both.
MASK_SHARE = 0.5

PROBABILITIES = np.exp(-np.arange(256) / LOG_STEPS).astype(np.float32)
WHOLE = ((0.0, 1.0),) * 2


class Samples:
    """Draws pictures, rare classes more often, and makes samples of them.

    - indices: the pictures to draw from
    - people: whether only people are told from all else
    - crop: the smallest share of a side that is cut out
    - pasted: the share of samples into which the objects of another picture are pasted
    - webcam: the share of views that show a person as a webcam does; half of all samples have its faults then
    - plain: the whole picture without any change, for tests
    """

    def __init__(self, store, indices, seed, people=False, crop=0.5, pasted=0.5, webcam=0.0, plain=False):
        self.store, self.indices, self.people = store, np.asarray(indices, int), people
        self.crop, self.pasting, self.webcam, self.plain = crop, pasted, webcam, plain
        self.random = np.random.default_rng(seed)
        self.presence = np.zeros((len(store), CLASSES), bool)
        self.boxes = np.zeros((len(store), 4), np.float32)  # of people: top, bottom, left, right, from 0 to 1
        self.looked = np.zeros(len(store), np.int8)  # 1: at its mask, 2: at the teacher's answer
        self.queue, self.persons = [], []

    def refresh(self):
        """Looks at what the teacher has answered by now, and sets how often each picture is drawn."""
        store, answered = self.store, self.usable_now()
        for index in self.indices:
            if not self.people and (store.truth_known(index) or (store.entries[index]["mask"] and not answered[index])):
                if not self.looked[index]:
                    self.look(index, store.mask(index)[::4, ::4])
                    self.looked[index] = 1
            elif answered[index] and self.looked[index] < 2:
                labels = store.teacher[index].argmin(0)
                if self.people:
                    labels = np.where(store.people(index)[::4, ::4] > 127, PERSON, 0)
                self.look(index, labels)
                self.looked[index] = 2
        usable = self.indices[self.looked[self.indices] > 0]
        if not len(usable):
            raise SystemExit("no picture has a mask or an answer of the teacher: run prepare.py --teacher")
        if self.people:
            weights = np.where(self.presence[usable, PERSON], 2.0, 1.0)
        else:
            there = self.presence[usable][:, 1:]
            rarity = np.sqrt(len(usable) / np.maximum(there.sum(0), 1))
            rarity[PERSON - 1] *= 1.5  # people are what most will cut out
            weights = np.clip(np.where(there, rarity, 0).max(1), 1, 10)
        # Street fashion: 1500 pictures of much the same.
        names = [store.entries[index]["name"] + store.entries[index]["kind"] for index in usable]
        weights *= [0.6 if "ccp" in name else 1 for name in names]
        self.usable, self.odds, self.answered = usable, weights / weights.sum(), answered
        self.inhabited = usable[self.presence[usable, PERSON]]

    def usable_now(self):
        """Which pictures have what a target is made of beside a mask: an answer, or the share of people."""
        store = self.store
        if (store.people_shares if self.people else store.done) is None:
            return np.zeros(len(store), bool)
        return store.done[:] >= (2 if self.people else 1)

    def look(self, index, labels):
        """Notes which classes there are, and where people are."""
        counts = np.bincount(labels.ravel(), minlength=256)[:CLASSES]
        self.presence[index] = counts > 0.01 * counts.sum()
        inside = labels == PERSON
        if inside.any():
            for axis in (0, 1):
                at, side = np.flatnonzero(inside.any(1 - axis)), labels.shape[axis]
                self.boxes[index, 2 * axis : 2 * axis + 2] = at[0] / side, (at[-1] + 1) / side

    def draw(self):
        """The next picture."""
        if not self.queue:
            self.refresh()
            self.queue = list(self.random.choice(self.usable, 2048, p=self.odds))
        return self.queue.pop()

    def view(self, index, filling=False):
        """A random part of the picture: for each axis (begin, end) in the picture and in the result, from 0 to 1.

        - filling: the result is filled
        """
        random = self.random
        if self.plain:
            return WHOLE, WHOLE
        if self.presence[index, PERSON] and random.random() < self.webcam:
            return self.portrait(index), WHOLE
        kind = random.random()
        if kind < 0.3:
            return WHOLE, WHOLE
        side = random.uniform(self.crop, 1)
        sides = [min(side * np.exp(random.uniform(-0.15, 0.15)), 1) for _ in range(2)]
        begins = [random.uniform(0, 1 - side) for side in sides]
        part = tuple((begin, begin + side) for begin, side in zip(begins, sides))
        # Mostly a part of the picture enlarged, sometimes the whole picture made smaller.
        return (part, WHOLE) if kind < 0.85 or filling else (WHOLE, part)

    def portrait(self, index):
        """The part of the picture that a camera before the person would show: head and shoulders, or some more."""
        random, entry = self.random, self.store.entries[index]
        top, _, left, right = self.boxes[index]
        width = (right - left) * random.uniform(0.9, 2.2)
        width = np.clip(width, min(80 / entry["width"], 1), 1)
        height = width * entry["width"] / entry["height"] / random.uniform(0.9, 1.8)
        height = np.clip(height, min(60 / entry["height"], 1), 1)
        x = (left + right - width) / 2 + random.uniform(-0.25, 0.25) * width
        y = top - random.uniform(-0.05, 0.3) * height
        return tuple((begin, begin + side) for begin, side in ((clip(y, height), height), (clip(x, width), width)))

    def sample(self, index, size, cells, filling=False):
        """(picture size x size x 3, distribution CLASSES or 2 x cells x cells, weight cells x cells), a view of it.

        Points outside of the picture weigh nothing; `cells` points go from corner to corner of the result.
        """
        store = self.store
        picture = store.picture(index)
        height, width = picture.shape[:2]
        source, target = self.view(index, filling)
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
        distribution, weight = (self.people_at if self.people else self.target)(index, rows, columns)
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

    def people_at(self, index, rows, columns):
        """The distribution over [all else, people] at each (row, column), and the weight of each point."""
        shares = self.store.people(index)
        across = interpolation(rows, shares.shape[0], centred=True) @ shares.astype(np.float32)
        people = across @ interpolation(columns, shares.shape[1], centred=True).T / 255
        return np.stack([1 - people, people]), np.ones_like(people)

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
        """A sample, perhaps with another one's objects in it, perhaps with a webcam's faults."""
        sample = self.sample(self.draw(), size, cells)
        if self.plain:
            return sample
        if self.random.random() < self.pasting:
            sample = self.pasted(sample, self.other(size, cells))
        if self.webcam and self.random.random() < 0.5:
            return degraded(sample[0], self.random), *sample[1:]
        return sample

    def other(self, size, cells):
        """The sample whose objects are pasted."""
        if not self.people or not len(self.inhabited):
            return self.sample(self.draw(), size, cells)
        picture, *rest = self.sample(self.random.choice(self.inhabited), size, cells, self.random.random() < 0.7)
        return relit(picture, self.random), *rest


def clip(begin, side):
    """Where a part of this side may begin."""
    return float(np.clip(begin, 0, 1 - side))


def interpolation(places, cells, centred=False):
    """A matrix (places x cells) that reads a grid between its points.

    - centred: 0 and 1 are the outer edges of the first and the last cell; else their points
    """
    at = np.clip(places * cells - 0.5, 0, cells - 1) if centred else places * (cells - 1)
    return np.maximum(1 - np.abs(at[:, None] - np.arange(cells)[None]), 0).astype(np.float32)
