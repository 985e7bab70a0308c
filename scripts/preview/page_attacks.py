"""Attacks on the live preview's server by what a page could send, each a function.

An attack gets the server's port and the seconds that it should go on. It returns what happened, in a few words, or
raises `Unexpected` where the server did anything else than web/protocol.md says.
"""

import json
import os
import socket
import struct
import time

from preview.attacker import TINY, Socket, expect, largest_side, page, png, post, times
from preview.client import (
    BINARY,
    CONTINUATION,
    DROPPED,
    ERROR,
    FRAME,
    IN_FORCE,
    JPEG,
    JSON,
    PING,
    PNG,
    PONG,
    RESULT,
    RGB,
    SETTINGS,
    TEXT,
    Closed,
    fragment,
    handshake,
    packed,
)


def one_byte_fragments(port, seconds):
    """1-byte fragments"""
    settings = packed(SETTINGS, JSON, b'{"outputs":["categories"]}')
    answered = 0
    with page(port) as attacker:
        for _ in times(seconds):
            for message, kind in (
                (settings, IN_FORCE),
                (
                    TINY[:8]
                    + struct.pack("<I", answered + 1)
                    + TINY[12:16]
                    + struct.pack("<Q", answered + 1)
                    + TINY[24:],
                    RESULT,
                ),
            ):
                for index, byte in enumerate(message):
                    opcode = CONTINUATION if index else BINARY
                    attacker.send(fragment(bytes([byte]), opcode, index == len(message) - 1))
                while True:
                    found, _, payload = attacker.message()
                    expect(found != ERROR, f"refused: {payload[:100]}")
                    if found == kind:
                        break
            answered += 1
            time.sleep(0.1)  # settings have a limit of their own
    return f"{answered} frames in pieces of a byte answered"


def huge_message(port, seconds):
    """a message of 100 MB"""
    count = 0
    for _ in times(seconds, 2):
        with page(port) as attacker:
            # Once its header says so, once it says 1000 bytes.
            announced, code = ((100_000_000, 1009), (1000, 1002))[count % 2]
            size = 100_000_000
            attacker.send(fragment(packed(FRAME, JPEG, b"", 1, 1, 640, 480, length=announced), length=size + 32))
            sent = 0
            while sent < size and attacker.send(bytes(1 << 20)):
                sent += 1 << 20
            found = attacker.close_code()
            expect(found in (code, None), f"closed with {found}, not {code}")
            count += 1
        time.sleep(0.2)
    return f"{count} times refused: 1009 by the header, 1002 where the header lies"


def garbage(port, seconds):
    """garbage before and after the handshake"""
    counts = [0, 0, 0]
    for count in times(seconds, 3):
        stage = count % 3
        noise = os.urandom(2000)
        if stage == 0:
            with Socket(port) as attacker:
                attacker.send(noise + b"\r\n\r\n")
                expect(attacker.is_hung_up(15), "garbage in place of a request was not hung up on")
        else:
            with page(port) as attacker:
                # As a WebSocket's frame of a kind that does not exist, and within a good frame.
                attacker.send(b"\x8f\xff" + noise if stage == 1 else fragment(b"JUNK" + noise))
                code = attacker.close_code()
                expect(code in (1002, None), f"garbage closed with {code}, not 1002")
        counts[stage] += 1
        time.sleep(0.02)
    return f"{counts[0]} requests hung up on, {counts[1]} + {counts[2]} pages closed with 1002"


def endless_frame(port, seconds):
    """a frame that claims 100000x100000"""
    count = 0
    with page(port) as attacker:
        for _ in times(seconds):
            sides = [(100_000, 100_000), (0xFFFFFFFF, 0xFFFFFFFF), (0x10000, 0x10000), (1, 100_000)][count % 4]
            encoding = [JPEG, PNG, RGB][count % 3]
            attacker.send(fragment(packed(FRAME, encoding, bytes(100), 1, 1, *sides)))
            code = attacker.error()
            expect(code == "too-large", f"{sides[0]}x{sides[1]}: {code}, not too-large")
            count += 1
            time.sleep(0.01)
        attacker.expect_answer(TINY, 1)
    return f"{count} times too-large, then a good frame answered"


def connect_and_drop(port, seconds):
    """connect and drop"""
    count = 0
    for index in times(seconds, 400):
        attacker = Socket(port)
        if index % 6 == 1:
            attacker.send(b"GET /preview HT")
        elif index % 6 == 2:
            attacker.send(handshake(port))
        elif index % 6 > 2:
            attacker.send(handshake(port))
            attacker.status()
        if index % 6 == 4:
            attacker.send(fragment(TINY)[: 6 + index % 30])
        elif index % 6 == 5:
            attacker.send(fragment(TINY))
        if index % 2:
            # Without a farewell: the server gets a reset.
            attacker.socket.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        attacker.socket.close()
        count += 1
        time.sleep(0.005)
    return f"{count} connections"


def unfinished_messages(port, seconds):
    """messages that never end, until no memory is left"""
    head = fragment(packed(FRAME, JPEG, b"", 1, 1, 640, 480, length=30 << 20), length=(30 << 20) + 32)
    connections = []
    size = 28 << 20
    while size >= 1 << 10 and len(connections) < 28:
        attacker = page(port)
        attacker.send(head + bytes(size))
        attacker.socket.settimeout(0.2)
        try:
            code = attacker.close_code()
            expect(code in (1013, None), f"closed with {code}, not 1013")
            attacker.socket.close()
            size //= 2
        except TimeoutError:
            attacker.socket.settimeout(10)
            connections.append(attacker)
    time.sleep(seconds)
    for attacker in connections:
        attacker.socket.close()
    return f"{len(connections)} held, then refused with 1013"


def bomb(port, seconds):
    """bomb pictures: small PNG files of huge sizes"""
    with page(port) as attacker:
        side = largest_side(attacker)
    huge, broken, large = png(60_000, 60_000, 20), png(side, side, 20), png(side, side)
    count = 0
    for _ in times(seconds):
        for picture, wanted in ((huge, 413), (broken, 422)):
            with Socket(port, 60) as attacker:
                attacker.send(post(port, picture))
                status = attacker.status()
                expect(status == wanted, f"POST: status {status}, not {wanted}")
        with page(port, 60) as attacker:
            for number, (picture, sides, wanted) in enumerate(
                (
                    (huge, (640, 480), "size-mismatch"),
                    (huge, (60_000, 60_000), "too-large"),
                    (large, (640, 480), "size-mismatch"),
                    (broken, (side, side), "bad-picture"),
                ),
                1,
            ):
                attacker.send(fragment(packed(FRAME, PNG, picture, number, number, *sides)))
                code = attacker.error()
                expect(code == wanted, f"a frame of {sides[0]}x{sides[1]}: {code}, not {wanted}")
        count += 1
    return f"{count} rounds: 413, 422, too-large, size-mismatch, bad-picture"


def too_many_frames(port, seconds):
    """frames faster than allowed"""
    count = 0
    for _ in times(seconds):
        with page(port) as attacker:
            attacker.socket.settimeout(0.001)
            codes = set()
            code = None
            for number in range(1, 20_000):
                message = packed(FRAME, RGB, bytes(6), number, number, 2, 1)
                try:
                    attacker.socket.settimeout(10)
                    if not attacker.send(fragment(message)):
                        break
                    attacker.socket.settimeout(0.0005)
                    while True:
                        kind, _, payload = attacker.message()
                        if kind == ERROR:
                            codes.add(json.loads(payload)["code"])
                except TimeoutError:
                    pass
                except Closed as closed:
                    code = closed.code
                    break
            expect(codes <= {"rate"} and code in (1008, None), f"errors {codes}, closed with {code}, not 1008")
            count += 1
    return f"{count} times rate, then closed with 1008"


def settings_flood(port, seconds):
    """a flood of settings"""
    changed = refused = 0
    start = time.monotonic()
    with page(port) as attacker:
        for count in times(seconds):
            text = json.dumps({"outputs": ["alpha", "overlay"], "classes": [count % 2]}).encode()
            attacker.send(fragment(packed(SETTINGS, JSON, text)))
            kind, _, payload = attacker.message()
            changed += kind == IN_FORCE
            refused += kind == ERROR and json.loads(payload)["code"] == "rate"
        allowed = 21 + 20 * (time.monotonic() - start)
        expect(
            changed <= allowed and changed + refused == count + 1, f"{changed} taken, {refused} refused of {count + 1}"
        )
    return f"{refused} of {changed + refused} refused, {changed} taken"


def unmasked(port, seconds):
    """client frames without a mask"""
    closed = answered = 0
    for _ in times(seconds, 5):
        with page(port) as attacker:
            attacker.send(fragment(TINY, is_masked=False))
            try:
                # RFC 6455 wants them refused; libwebsockets 4.1 takes them, which harms nobody here.
                kind, _, payload = attacker.message()
                expect(kind != ERROR, f"refused: {payload[:100]}")
                answered += 1
            except Closed as error:
                expect(error.code in (1002, None), f"closed with {error.code}, not 1002")
                closed += 1
        time.sleep(0.02)
    return f"{closed} times closed, {answered} times answered"


def half_open(port, seconds, idle_seconds):
    """connections that say nothing any more"""
    start = time.monotonic()
    silent = [Socket(port) for _ in range(5)]
    pages = [page(port) for _ in range(5)]
    for attacker in pages:
        attacker.send(fragment(TINY)[:20])
    for attacker in silent + pages:
        expect(attacker.is_hung_up(2 * idle_seconds + 15), "a silent connection was not hung up on")
        attacker.socket.close()
    return f"all hung up on after {time.monotonic() - start:.0f} s"


def text_messages(port, seconds):
    """text, and control frames of all kinds"""
    count = 0
    for _ in times(seconds, 3):
        with page(port) as attacker:
            attacker.send(fragment(b"", PING) * 200 + fragment(b"x" * 125, PONG) * 200)
            attacker.send(fragment(b"hello", TEXT))
            code = attacker.close_code()
            expect(code == 1003, f"text closed with {code}, not 1003")
        count += 1
        time.sleep(0.05)
    return f"{count} times closed with 1003"


def large_pictures(port, seconds):
    """two pages that send the largest pictures"""
    pages = [page(port, 60) for _ in range(2)]
    side = largest_side(pages[0])
    picture = png(side, side)
    answered = 0
    for attacker in pages:
        attacker.send(fragment(packed(SETTINGS, JSON, b'{"outputs":["categories"]}')))
    for number in times(seconds, 3):
        if number == 0:
            continue
        for attacker in pages:
            attacker.send(fragment(packed(FRAME, PNG, picture, number, number, side, side)))
        for attacker in pages:
            while True:
                kind, found, payload = attacker.message()
                expect(kind != ERROR, f"refused: {payload[:100]}")
                if found == number and kind in (RESULT, DROPPED):
                    break
            answered += kind == RESULT
    for attacker in pages:
        attacker.socket.close()
    return f"{answered} frames of {side}x{side} answered"
