"""Scenes whose every pixel is known to belong so much to the subject and so much to the ground behind it."""

import math
from dataclasses import dataclass

import numpy as np
from PIL import Image, ImageDraw, ImageFilter

SIZE = (480, 360)
FINE = 8  # drawn so many times larger: the share of small pixels is the opacity
KINDS = ("sharp", "soft", "faint", "clutter")
LETTERS = {
    "A": [[(0, 4), (1.5, 0), (3, 4)], [(0.6, 2.6), (2.4, 2.6)]],
    "E": [[(3, 0), (0, 0), (0, 4), (3, 4)], [(0, 2), (2.4, 2)]],
    "H": [[(0, 0), (0, 4)], [(3, 0), (3, 4)], [(0, 2), (3, 2)]],
    "K": [[(0, 0), (0, 4)], [(3, 0), (0, 2.2), (3, 4)]],
    "R": [[(0, 4), (0, 0), (2.6, 0), (2.6, 2), (0, 2)], [(1.2, 2), (3, 4)]],
    "W": [[(0, 0), (0.8, 4), (1.5, 1.2), (2.2, 4), (3, 0)]],
    "Z": [[(0, 0), (3, 0), (0, 4), (3, 4)]],
}


@dataclass
class Scene:
    """A rendered picture and its truth."""

    name: str
    kind: str
    picture: np.ndarray  # RGB, 8 bits
    alpha: np.ndarray  # opacities, 0 to 255
    cells: int  # columns and rows of the network's answer


def scenes(seed):
    """All scenes: each shape in each kind of picture, and before a finer and a coarser network."""
    for index, (cells, shape, kind) in enumerate((c, s, k) for c in (33, 17) for s in SHAPES for k in KINDS):
        random = np.random.default_rng([seed, index])
        yield render(shape, kind, cells, random)


def render(shape, kind, cells, random):
    """One scene.

    sharp: even colours that differ well, some texture. soft: out of focus. faint: colours that differ little.
    clutter: a ground of many things and a subject in several colours, some of them the ground's.
    """
    alpha = outline(shape, random)
    if kind == "soft":
        alpha = alpha.filter(ImageFilter.GaussianBlur(random.uniform(1.5, 4)))
    alpha = np.asarray(alpha)
    ground = random.uniform(40, 215, 3)
    away = random.normal(size=3)
    away *= (random.uniform(25, 40) if kind == "faint" else random.uniform(80, 140)) / np.linalg.norm(away)
    # Towards the middle: colours that are clipped would come too close.
    subject = ground + np.where((ground + away < 15) | (ground + away > 240), -away, away)
    strength = 6 if kind == "faint" else random.uniform(8, 25)
    if kind == "clutter":
        back = patches(random, random.uniform(20, 235, (14, 3)))
        front = patches(random, np.vstack([random.uniform(20, 235, (5, 3)), back[::120, ::160].reshape(-1, 3)[:2]]))
    else:
        back, front = np.broadcast_to(ground, (*SIZE[::-1], 3)), np.broadcast_to(subject, (*SIZE[::-1], 3))
    share = alpha[..., None] / 255
    picture = share * (front + texture(random, strength)) + (1 - share) * (back + texture(random, strength))
    picture += random.normal(0, random.uniform(1.5, 5), picture.shape)
    picture = np.clip(np.rint(picture), 0, 255).astype(np.uint8)
    return Scene(f"{shape}-{kind}-{cells}", kind, picture, alpha, cells)


def texture(random, strength):
    """Blotches of three sizes, in levels."""
    result = np.zeros((*SIZE[::-1], 3))
    for columns in (6, 24, 96):
        small = random.normal(0, strength / 1.7, (columns * 3 // 4, columns, 3)).astype(np.float32)
        for channel in range(3):
            plane = Image.fromarray(np.ascontiguousarray(small[..., channel]))
            result[..., channel] += np.asarray(plane.resize(SIZE, Image.Resampling.BICUBIC))
    return result


def patches(random, colors):
    """The picture in pieces: each pixel has the colour of the nearest of some points."""
    count = 3 * len(colors)
    points = random.uniform((0, 0), SIZE, (count, 2))
    x, y = np.meshgrid(np.arange(SIZE[0]), np.arange(SIZE[1]))
    nearest = np.argmin([(x - left) ** 2 + (y - top) ** 2 for left, top in points], axis=0)
    return colors[nearest % len(colors)]


def outline(shape, random):
    """The exact opacities of a shape somewhere in the picture: how much of each pixel it covers."""
    fine = Image.new("L", (SIZE[0] * FINE, SIZE[1] * FINE))
    draw = ImageDraw.Draw(fine)
    size = random.uniform(0.26, 0.4) * SIZE[1] * FINE
    middle = np.array(fine.size) * random.uniform(0.4, 0.6, 2)
    turn = random.uniform(0, 2 * math.pi)
    turned = np.array([[math.cos(turn), math.sin(turn)], [-math.sin(turn), math.cos(turn)]])
    place = lambda points, by=turned: [tuple(p) for p in np.asarray(points, float) * size @ by + middle]
    SHAPES[shape](draw, place, size, random)
    return fine.reduce(FINE)


def around(count, radii=(1, 1)):
    """Points on an ellipse."""
    angles = np.arange(count) * 2 * math.pi / count
    return np.stack([np.cos(angles) * radii[0], np.sin(angles) * radii[1]], axis=1)


def stroke(draw, points, width):
    """A line with round ends and corners."""
    draw.line(points, 255, round(width))
    for x, y in points:
        draw.ellipse((x - width / 2, y - width / 2, x + width / 2, y + width / 2), 255)


def draw_star(draw, place, size, random):
    count = int(random.integers(5, 9))
    points = around(2 * count)
    points[1::2] *= random.uniform(0.4, 0.6)
    draw.polygon(place(points), 255)


def draw_disc(draw, place, size, random):
    draw.polygon(place(around(720)), 255)


def draw_ellipse(draw, place, size, random):
    draw.polygon(place(around(720, (1.2, random.uniform(0.4, 0.7)))), 255)


def draw_bars(draw, place, size, random):
    for offset in np.arange(-2, 3) / 2:
        half = random.uniform(0.03, 0.12)
        draw.polygon(place([(-1, offset - half), (1, offset - half), (1, offset + half), (-1, offset + half)]), 255)


def draw_hand(draw, place, size, random):
    draw.polygon(place(around(180, (0.42, 0.5)) + np.array((0, 0.3))), 255)
    for index, length in enumerate((0.75, 1.0, 1.1, 0.95)):
        x = -0.33 + 0.22 * index
        tip = (x * (1.5 + random.uniform(0, 0.4)), -length + random.uniform(0, 0.15))
        stroke(draw, place([(x, 0.2), tip]), 0.16 * size)
    stroke(draw, place([(0.25, 0.5), (0.62, 0.15), (0.8, -0.2)]), 0.18 * size)
    stroke(draw, place([(0, 0.6), (0.05, 1.3)]), 0.5 * size)


def draw_letter(draw, place, size, random):
    width = random.uniform(0.16, 0.3) * size
    lean = np.array([[1, 0], [random.uniform(-0.3, 0.3), 1]])
    for line in LETTERS[str(random.choice(list(LETTERS)))]:
        stroke(draw, place((np.array(line, float) - (1.5, 2)) * (0.55, 0.45), lean), width)


SHAPES = {
    "star": draw_star,
    "disc": draw_disc,
    "ellipse": draw_ellipse,
    "bars": draw_bars,
    "hand": draw_hand,
    "letter": draw_letter,
}
