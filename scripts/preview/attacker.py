"""What attacks on a server of the live preview are made of."""

import json
import math
import socket
import struct
import time
import zlib

from preview.client import (
    CLOSE,
    DROPPED,
    ERROR,
    FRAME,
    HEADER,
    PING,
    PONG,
    RESULT,
    RGB,
    Closed,
    fragment,
    handshake,
    packed,
)

# Two pixels, raw: the smallest frame that can be segmented.
TINY = packed(FRAME, RGB, bytes(6), sequence=1, timestamp=1, width=2, height=1)


class Unexpected(Exception):
    """The server did not do what it should."""


def expect(is_so, text):
    if not is_so:
        raise Unexpected(text)


class Socket:
    """A connection whose bytes are the attack's own."""

    def __init__(self, port, timeout=10):
        self.socket = socket.create_connection(("127.0.0.1", port), timeout)
        self.socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self.received = b""

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.socket.close()

    def send(self, data):
        """Sends; false where the server has hung up."""
        try:
            self.socket.sendall(data)
            return True
        except (BrokenPipeError, ConnectionError):
            return False

    def fill(self):
        """Receives more; false at the end."""
        try:
            data = self.socket.recv(1 << 16)
        except ConnectionError:
            return False
        self.received += data
        return bool(data)

    def take(self, count):
        while len(self.received) < count:
            if not self.fill():
                raise Closed(None)
        data, self.received = self.received[:count], self.received[count:]
        return data

    def is_hung_up(self, seconds):
        """Whether the server ends the connection within this time, whatever it says before."""
        self.socket.settimeout(seconds)
        try:
            while self.fill():
                pass
            return True
        except TimeoutError:
            return False

    def status(self):
        """The status of an HTTP answer; None where there is none."""
        while b"\r\n\r\n" not in self.received:
            if not self.fill():
                return None
        head, _, self.received = self.received.partition(b"\r\n\r\n")
        for line in head.split(b"\r\n")[1:]:
            name, _, value = line.partition(b":")
            if name.lower() == b"content-length":
                self.take(int(value))
        return int(head.split()[1])

    def message(self):
        """The next message's kind, sequence and payload; `Closed` at the end."""
        end = time.monotonic() + 30
        while True:
            if time.monotonic() > end:
                raise TimeoutError("nothing but pings came")
            first, length = self.take(2)
            if length == 126:
                (length,) = struct.unpack(">H", self.take(2))
            elif length == 127:
                (length,) = struct.unpack(">Q", self.take(8))
            data = self.take(length)
            if first & 15 == CLOSE:
                raise Closed(int.from_bytes(data[:2], "big") if len(data) > 1 else None)
            if first & 15 == PING:
                self.send(fragment(data, PONG))
            elif first & 15 != PONG:
                return data[5], HEADER.unpack_from(data)[5], data[HEADER.size :]

    def error(self):
        """The code of the next error."""
        while True:
            kind, _, payload = self.message()
            if kind == ERROR:
                return json.loads(payload)["code"]

    def close_code(self):
        """The code with which the server ends the connection."""
        try:
            while True:
                self.message()
        except Closed as closed:
            return closed.code

    def expect_answer(self, message, sequence):
        """Sends a good frame, for which a result must come."""
        self.send(fragment(message))
        while True:
            kind, found, payload = self.message()
            expect(kind != ERROR, f"a good frame was refused: {payload[:100]}")
            if found == sequence and kind == RESULT:
                return
            expect(kind != DROPPED, "a lone frame was dropped")


def page(port, timeout=10):
    """A connection that has been greeted."""
    connection = Socket(port, timeout)
    connection.send(handshake(port))
    status = connection.status()
    expect(status == 101, f"no WebSocket: status {status}")
    connection.hello = json.loads(connection.message()[2])
    return connection


def largest_side(connection):
    """The side of the largest square that a page may send."""
    return min(7000, math.isqrt(connection.hello["limits"]["pixels"]))


def post(port, body, length=None, query="", fields=""):
    length = len(body) if length is None else length
    head = f"POST /api/segment{query} HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\nContent-Length: {length}\r\n{fields}\r\n"
    return head.encode() + body


def png(width, height, rows=None):
    """A small PNG that says it is large: black, or broken off after some rows."""

    def chunk(kind, data):
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))

    rows = height if rows is None else rows
    packer = zlib.compressobj(9)
    row = bytes(1 + width * 3)
    data = b"".join([packer.compress(row) for _ in range(rows)] + [packer.flush()])
    header = struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", header) + chunk(b"IDAT", data) + chunk(b"IEND", b"")


def times(seconds, least=1):
    """Counts up until the time is over, at least so often."""
    end = time.monotonic() + seconds
    count = 0
    while count < least or time.monotonic() < end:
        yield count
        count += 1
