#!/usr/bin/env python3
"""Writes the pictures and tables that the Imaging tests read, next to this script.

usage: make.py          (needs numpy and pillow; made with Pillow 13.0.0 and numpy 2.4.6)

Synthetic content only, from one generator of pseudo-random bytes that the tests repeat. Written:
  png-*.png         PNG of every colour type, bit depth and interlacing, put together here chunk by chunk, so that no
                    encoder's habits are in them
  jpeg-*.jpg        JPEG by Pillow, and jpeg-*.png with what Pillow decodes from it, upright
  webp-*.webp       WebP by Pillow, and webp-*.png with what Pillow decodes from it
  decode.tsv        file, width, height, channels, CRC-32 of the pixels: what a lossless file must decode to
  resize.tsv        source width, height, channels, target width, height, CRC-32 of Pillow's BILINEAR resize
"""
import io
import os
import struct
import zlib

import numpy as np
from PIL import Image

HERE = os.path.dirname(os.path.abspath(__file__))


def noise(count, seed):
    """The top bytes of a linear congruential generator's states (Numerical Recipes' constants)."""
    state, out = seed & 0xFFFFFFFF, bytearray(count)
    for i in range(count):
        state = (state * 1664525 + 1013904223) & 0xFFFFFFFF
        out[i] = state >> 24
    return bytes(out)


def noise_array(height, width, channels, seed):
    return np.frombuffer(noise(height * width * channels, seed), np.uint8).reshape(height, width, channels)


# PNG, chunk by chunk

PASSES = [(0, 0, 8, 8), (4, 0, 8, 8), (0, 4, 4, 8), (2, 0, 4, 4), (0, 2, 2, 4), (1, 0, 2, 2), (0, 1, 1, 2)]  # x, y, dx, dy


def chunk(name, data):
    return struct.pack(">I", len(data)) + name + data + struct.pack(">I", zlib.crc32(name + data))


def pack(samples, depth):
    """Rows of samples (height x values) to PNG's scan lines, each with filter type 0."""
    lines = b""
    for row in samples:
        if depth == 16:
            data = row.astype(">u2").tobytes()
        elif depth == 8:
            data = row.astype(np.uint8).tobytes()
        else:
            bits = "".join(format(int(v), f"0{depth}b") for v in row)
            bits += "0" * (-len(bits) % 8)
            data = bytes(int(bits[i:i + 8], 2) for i in range(0, len(bits), 8))
        lines += b"\0" + data
    return lines


def png(samples, depth, color, interlaced=False, before=(), after=()):
    """samples: height x width x channels of integers; before, after: chunks around the picture data."""
    height, width, channels = samples.shape
    if interlaced:
        data = b""
        for x, y, dx, dy in PASSES:
            part = samples[y::dy, x::dx]
            if part.size:
                data += pack(part.reshape(part.shape[0], -1), depth)
    else:
        data = pack(samples.reshape(height, -1), depth)
    packed = zlib.compress(data, 9)
    half = len(packed) // 2
    return (b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", struct.pack(">IIBBBBB", width, height, depth, color, 0, 0, interlaced))
            + b"".join(before) + chunk(b"IDAT", packed[:half]) + chunk(b"IDAT", packed[half:]) + b"".join(after)
            + chunk(b"IEND", b""))


def write(name, data):
    with open(os.path.join(HERE, name), "wb") as file:
        file.write(data)


def save_png(name, pixels):
    Image.fromarray(pixels).save(os.path.join(HERE, name), optimize=True)


def scale(samples, depth):
    """Samples of a depth to 8 bits: 16 keep their high byte, fewer are stretched to 0 ... 255."""
    return (samples >> 8 if depth == 16 else samples * 255 // ((1 << depth) - 1)).astype(np.uint8)


def png_files(table):
    height, width = 13, 11

    def add(name, data, pixels):
        write(name, data)
        table.append((name, pixels.shape[1], pixels.shape[0], pixels.shape[2], zlib.crc32(pixels.tobytes())))

    for color, channels, depths, title in [(0, 1, (1, 2, 4, 8, 16), "gray"), (2, 3, (8, 16), "rgb"),
                                           (4, 2, (8, 16), "graya"), (6, 4, (8, 16), "rgba")]:
        for depth in depths:
            raw = np.frombuffer(noise(height * width * channels * 2, depth * 8 + color), ">u2").astype(np.int64)
            samples = (raw.reshape(height, width, channels)) >> (16 - depth)
            shown = scale(samples, depth)
            if color == 0:
                shown = np.repeat(shown, 3, 2)
            if color == 4:
                shown = np.concatenate([np.repeat(shown[..., :1], 3, 2), shown[..., 1:]], 2)
            for interlaced in (False, True):
                add(f"png-{title}{depth}{'-interlaced' if interlaced else ''}.png", png(samples, depth, color, interlaced), shown)
            if color in (0, 2):
                # One colour is transparent: the one of the first pixel. With 16 bits all of it has to agree.
                key = samples[0, 0]
                alpha = np.where((samples == key).all(2), 0, 255).astype(np.uint8)[..., None]
                data = png(samples, depth, color, before=[chunk(b"tRNS", b"".join(struct.pack(">H", int(v)) for v in key))])
                add(f"png-{title}{depth}-key.png", data, np.concatenate([shown, alpha], 2))

    for depth in (1, 2, 4, 8):
        count = 1 << depth
        colors = noise_array(1, count, 3, 100 + depth)[0]
        opacities = np.frombuffer(noise(count // 2, 200 + depth), np.uint8)
        samples = (noise_array(height, width, 1, 300 + depth) >> (8 - depth)).astype(np.int64)
        plte = chunk(b"PLTE", colors.tobytes())
        shown = colors[samples[..., 0]]
        for interlaced in (False, True):
            add(f"png-palette{depth}{'-interlaced' if interlaced else ''}.png", png(samples, depth, 3, interlaced, [plte]), shown)
        # Fewer opacities than colours: the rest is opaque.
        alpha = np.concatenate([opacities, np.full(count - len(opacities), 255, np.uint8)])[samples[..., 0]][..., None]
        add(f"png-palette{depth}-alpha.png", png(samples, depth, 3, before=[plte, chunk(b"tRNS", opacities.tobytes())]),
            np.concatenate([shown, alpha], 2))

    # Chunks that must not change the pixels: gamma, chromaticities, a profile, text that expands to 4 MB, unknown ones.
    samples = noise_array(height, width, 3, 1).astype(np.int64)
    shown = samples.astype(np.uint8)
    before = [chunk(b"gAMA", struct.pack(">I", 100000)), chunk(b"cHRM", struct.pack(">8I", *[31270, 32900, 15000, 6000, 30000, 60000, 64000, 33000])),
              chunk(b"iCCP", b"nonsense\0\0" + zlib.compress(b"not a profile")), chunk(b"sBIT", bytes([5, 6, 5])),
              chunk(b"zTXt", b"long\0\0" + zlib.compress(b"x" * 4_000_000, 9)), chunk(b"prVt", b"private")]
    add("png-ancillary.png", png(samples, 8, 2, before=before, after=[chunk(b"tEXt", b"key\0value")]), shown)
    # Two frames by the animation chunk, the picture data being the first.
    second = chunk(b"fdAT", struct.pack(">I", 1) + zlib.compress(pack(samples.reshape(height, -1) ^ 255, 8)))
    control = chunk(b"acTL", struct.pack(">II", 2, 0))
    add("png-animated.png", png(samples, 8, 2, before=[control], after=[second]), shown)
    # Turned by its EXIF chunk, which may follow the picture: stored on its side.
    exif = b"MM\0*\0\0\0\x08\0\x01\x01\x12\0\x03\0\0\0\x01\0\x06\0\0\0\0\0\0"
    add("png-exif6.png", png(samples, 8, 2, after=[chunk(b"eXIf", exif)]), np.rot90(shown, -1))
    samples = np.arange(256).reshape(16, 16, 1)
    add("png-labels.png", png(samples, 8, 3, before=[chunk(b"PLTE", noise(768, 7))]),
        np.frombuffer(noise(768, 7), np.uint8).reshape(16, 16, 3))


# JPEG and WebP

def card(width, height):
    """Red, green, blue and white quarters with a soft gradient: survives lossy compression, shows turns and swaps."""
    picture = np.zeros((height, width, 3), np.uint8)
    picture[:height // 2, :width // 2] = (220, 30, 20)
    picture[:height // 2, width // 2:] = (30, 200, 40)
    picture[height // 2:, :width // 2] = (20, 40, 210)
    picture[height // 2:, width // 2:] = (240, 240, 235)
    return (picture * np.linspace(0.6, 1, width)[None, :, None]).astype(np.uint8)


def jpeg_files():
    picture = Image.fromarray(card(40, 24))
    for name, image, options in [
            ("baseline444", picture, {"subsampling": 0}), ("baseline420", picture, {"subsampling": 2}),
            ("baseline422", picture, {"subsampling": 1}), ("progressive", picture, {"progressive": True}),
            ("odd", picture.resize((37, 19)), {"subsampling": 2}), ("gray", picture.convert("L"), {}),
            ("restart", picture, {"restart_marker_blocks": 2}),
            ("cmyk", picture.convert("CMYK"), {"subsampling": 0})]:
        data = io.BytesIO()
        image.save(data, "JPEG", quality=90, **options)
        write(f"jpeg-{name}.jpg", data.getvalue())
        save_png(f"jpeg-{name}.png", np.asarray(Image.open(io.BytesIO(data.getvalue())).convert("RGB")))


def webp_files(table):
    colored = card(40, 24)
    alpha = np.concatenate([colored, np.tile(np.linspace(0, 255, 40).astype(np.uint8)[None, :, None], (24, 1, 1))], 2)
    for name, pixels, options in [("lossy", colored, {"quality": 80}), ("lossy-alpha", alpha, {"quality": 80}),
                                  ("lossless", colored, {"lossless": True}),
                                  ("lossless-alpha", alpha, {"lossless": True, "exact": True})]:
        data = io.BytesIO()
        Image.fromarray(pixels).save(data, "WEBP", **options)
        write(f"webp-{name}.webp", data.getvalue())
        save_png(f"webp-{name}.png", np.asarray(Image.open(io.BytesIO(data.getvalue()))))
    exif = Image.Exif()
    exif[0x0112] = 6
    Image.fromarray(colored).save(os.path.join(HERE, "webp-exif6.webp"), "WEBP", lossless=True, exif=exif)
    turned = np.ascontiguousarray(np.rot90(colored, -1))
    table.append(("webp-exif6.webp", turned.shape[1], turned.shape[0], 3, zlib.crc32(turned.tobytes())))
    frames = [Image.fromarray(alpha), Image.fromarray(255 - alpha)]
    frames[0].save(os.path.join(HERE, "webp-animated.webp"), "WEBP", lossless=True, exact=True, save_all=True,
                   append_images=frames[1:], duration=100)
    # The animation encoder clears what is under alpha 0, whatever it is asked for.
    first = np.where(alpha[..., 3:] == 0, 0, alpha)
    table.append(("webp-animated.webp", 40, 24, 4, zlib.crc32(first.astype(np.uint8).tobytes())))


# Resize

MODES = {1: "L", 3: "RGB", 4: "RGBA"}
SHAPES = [
    (1, 1, 1, 1), (1, 1, 5, 3), (5, 3, 1, 1), (1, 17, 1, 5), (17, 1, 5, 1), (1, 40, 7, 9), (40, 1, 9, 7), (2, 2, 3, 3),
    (3, 3, 2, 2), (7, 5, 7, 5), (7, 5, 7, 11), (7, 5, 11, 5), (7, 5, 3, 5), (7, 5, 7, 2), (64, 48, 33, 33), (64, 48, 257, 257),
    (64, 48, 65, 47), (65, 47, 64, 48), (100, 3, 33, 33), (3, 100, 33, 33), (127, 61, 13, 59), (33, 33, 257, 257),
    (257, 257, 33, 33), (300, 200, 257, 257), (257, 129, 256, 256), (451, 300, 65, 65), (513, 17, 257, 19), (640, 2, 257, 257),
    (1000, 10, 1, 1), (10, 1000, 3, 2), (2000, 1, 33, 33), (1, 2000, 33, 33), (31, 29, 129, 127), (129, 127, 31, 29),
    # Around the line where Pillow 13 starts to pass vertically first: the height shrinks by twice what the width does, one less, one more.
    (40, 60, 20, 20), (40, 61, 20, 20), (40, 59, 20, 20), (30, 90, 33, 33), (30, 90, 30, 33), (48, 64, 51, 51), (90, 30, 33, 33)]


def resize_table():
    rows = []
    for index, (width, height, to_width, to_height) in enumerate(SHAPES):
        for channels, mode in MODES.items():
            pixels = noise_array(height, width, channels, 1000 + index)
            if index % 4 == 3:  # extremes only: rounding and clamping at both ends
                pixels = np.where(pixels < 128, 0, 255).astype(np.uint8)
            image = Image.fromarray(pixels[..., 0] if channels == 1 else pixels, mode)
            result = image.resize((to_width, to_height), Image.BILINEAR)
            rows.append((width, height, channels, to_width, to_height, 1000 + index, int(index % 4 == 3), zlib.crc32(result.tobytes())))
    return rows


def save_table(name, heading, rows):
    with open(os.path.join(HERE, name), "w") as file:
        file.write("\t".join(heading) + "\n")
        for row in rows:
            file.write("\t".join(str(v) for v in row[:-1]) + f"\t{row[-1]:08x}\n")


def main():
    table = []
    png_files(table)
    jpeg_files()
    webp_files(table)
    save_table("decode.tsv", ("file", "width", "height", "channels", "crc32"), table)
    save_table("resize.tsv", ("width", "height", "channels", "to_width", "to_height", "seed", "extremes", "crc32"), resize_table())


if __name__ == "__main__":
    main()
