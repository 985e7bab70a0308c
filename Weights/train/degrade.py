"""Pictures made as webcams make them: light from one side or too little of it, blur, noise, few bytes."""

import io

import numpy as np
from PIL import Image, ImageFilter

NOISE = np.random.default_rng(0).standard_normal(1 << 20).astype(np.float32)


def relit(picture, random):
    """Another exposure and colour of the light."""
    gamma, gains = np.exp(random.uniform(-0.5, 0.5)), random.uniform(0.7, 1.2) * random.uniform(0.9, 1.1, 3)
    curve = (np.arange(256) / 255) ** gamma * 255
    tables = np.clip(curve[:, None] * gains + 0.5, 0, 255).astype(np.uint8)
    return np.stack([tables[:, channel][picture[..., channel]] for channel in range(3)], -1)


def degraded(picture, random):
    """Some of what cameras do to a picture, each now and then."""
    chance = lambda share: random.random() < share
    size = picture.shape[:2]
    if chance(0.4):
        picture = relit(picture, random)
    if chance(0.25):  # a window or a screen at one side
        y, x = [np.linspace(-1, 1, side, dtype=np.float32) for side in size]
        angle, strength = random.uniform(0, 2 * np.pi), random.uniform(0.2, 0.6)
        light = 1 + strength * (np.sin(angle) * y[:, None] + np.cos(angle) * x[None])
        picture = np.clip(picture * light[..., None], 0, 255).astype(np.uint8)
    if chance(0.3):
        image = Image.fromarray(picture)
        if chance(0.5):
            image = image.filter(ImageFilter.GaussianBlur(random.uniform(0.4, 1.6)))
        else:
            share = random.uniform(0.35, 0.8)
            image = image.resize([max(round(side * share), 1) for side in size[::-1]], Image.BILINEAR)
            image = image.resize(size[::-1], Image.BILINEAR)
        picture = np.asarray(image)
    if chance(0.3):
        begin = random.integers(len(NOISE) - picture.size)
        noise = NOISE[begin : begin + picture.size].reshape(picture.shape)
        picture = np.clip(picture + random.uniform(2, 16) * noise, 0, 255).astype(np.uint8)
    if chance(0.3):
        file = io.BytesIO()
        Image.fromarray(picture).save(file, "JPEG", quality=int(random.integers(20, 80)))
        picture = np.asarray(Image.open(file))
    return picture
