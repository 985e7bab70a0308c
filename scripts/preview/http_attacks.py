"""Attacks on the live preview's server by HTTP, each a function.

An attack gets the server's port and the seconds that it should go on. It returns what happened, in a few words, or
raises `Unexpected` where the server did anything else than web/protocol.md says.
"""

import contextlib
import time

from preview.attacker import Socket, expect, png, post, times
from preview.client import handshake


def wrong_names(port, seconds):
    """wrong Origin, wrong Host"""
    count = 0
    own = f"127.0.0.1:{port}"
    cases = [
        (own, "http://evil.example"),
        (own, "null"),
        (own, f"http://127.0.0.1:{port}.evil.example"),
        (own, f"https://{own}"),
        (own, "http://127.0.0.1:1"),
        ("evil.example", None),
        (f"evil.example:{port}", f"http://evil.example:{port}"),
        ("127.0.0.1:1", None),
        (f"user@{own}", None),
    ]
    for index in times(seconds, len(cases)):
        host, origin = cases[index % len(cases)]
        with Socket(port) as attacker:
            attacker.send(handshake(port, host, origin))
            status = attacker.status()
            expect(status == 403, f"Host {host}, Origin {origin}: status {status}, not 403")
        count += 1
        time.sleep(0.01)
    return f"{count} times 403"


def slow_loris(port, seconds):
    """slow loris: heads a byte at a time"""
    head = f"GET / HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\nX: ".encode()
    connections = []
    start = time.monotonic()
    for _ in range(60):
        attacker = Socket(port)
        attacker.socket.setblocking(False)
        connections.append(attacker)
    ended = {}
    position = 0
    while len(ended) < len(connections) and time.monotonic() - start < 30:
        for index, attacker in enumerate(connections):
            if index in ended:
                continue
            try:
                byte = head[position : position + 1] or b"x"
                attacker.socket.send(byte)
                attacker.socket.recv(100)
                ended[index] = time.monotonic() - start
            except BlockingIOError:
                pass
            except OSError:
                ended[index] = time.monotonic() - start
        position += 1
        time.sleep(0.25)
    for attacker in connections:
        attacker.socket.close()
    refused = sum(value < 3 for value in ended.values())
    return f"{refused} of {len(connections)} turned away at once, the last hung up on after {max(ended.values()):.0f} s"


def slow_post(port, seconds):
    """slow POSTs that announce all the memory there is"""
    connections = []
    size = 32 << 20
    # Ever smaller ones, until nothing is left that could be announced.
    while size >= 1 << 10 and len(connections) < 28:
        attacker = Socket(port)
        attacker.send(post(port, b"", length=size))
        attacker.socket.settimeout(0.1)
        try:
            status = attacker.status()
            expect(status in (503, None), f"a POST of {size} bytes: status {status}")
            attacker.socket.close()
            size //= 2
        except TimeoutError:
            attacker.socket.setblocking(False)
            connections.append(attacker)
    for _ in times(seconds):
        for attacker in connections:
            with contextlib.suppress(OSError):
                attacker.socket.send(b"x")
        time.sleep(0.1)
    with Socket(port) as honest:
        honest.send(post(port, png(64, 64)))
        status = honest.status()
    for attacker in connections:
        attacker.socket.close()
    expect(status in (200, 503), f"an honest picture got status {status} meanwhile")
    return f"{len(connections)} held, then refused; an honest picture got {status}"


def huge_heads(port, seconds):
    """huge header lines"""
    counts = {}
    for index in times(seconds, 4):
        with Socket(port) as attacker:
            start = f"GET / HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\n".encode()
            head = [
                start + b"X-Long: " + b"x" * 1_000_000 + b"\r\n\r\n",
                b"GET /" + b"a" * 1_000_000 + b" HTTP/1.1\r\n\r\n",
                start + b"".join(b"X-%d: y\r\n" % number for number in range(20_000)) + b"\r\n",
                start + b"Cookie: " + b"c" * 1_000_000 + b"\r\n\r\n",
            ][index % 4]
            attacker.send(head)
            attacker.socket.settimeout(15)
            status = attacker.status()
            expect(status is None or status in (200, 400, 403, 404, 413, 414, 431), f"status {status}")
            counts[status] = counts.get(status, 0) + 1
        time.sleep(0.05)
    return ", ".join(f"{count} {status or 'hung up on'}" for status, count in sorted(counts.items(), key=str))


def large_posts(port, seconds):
    """POSTs of the largest picture, for each kind of answer"""
    picture = png(7000, 7000)
    statuses = {}
    for output in ("mask", "overlay", "cutout", "confidence"):
        with Socket(port, 60) as attacker:
            attacker.send(post(port, picture, query=f"?output={output}"))
            statuses[output] = attacker.status()
    expect(set(statuses.values()) <= {200, 413, 422}, f"statuses {statuses}")
    return ", ".join(f"{output} {status}" for output, status in statuses.items())


def post_flood(port, seconds):
    """a flood of POSTs"""
    picture = png(1000, 1000)
    statuses = {}
    for _ in times(seconds):
        connections = [Socket(port, 60) for _ in range(16)]
        for attacker in connections:
            attacker.send(post(port, picture, query="?output=confidence"))
        for attacker in connections:
            status = attacker.status()
            statuses[status] = statuses.get(status, 0) + 1
            attacker.socket.close()
    expect(set(statuses) <= {200, 503}, f"statuses {statuses}")
    return ", ".join(f"{count} times {status}" for status, count in sorted(statuses.items()))


def pipelined_posts(port, seconds):
    """POSTs sent without waiting for answers"""
    counts = {}
    for count in times(seconds, 3):
        with Socket(port, 5) as attacker:
            attacker.send(post(port, png(64, 64)) * (2 + count % 3))
            for _ in range(2 + count % 3):
                try:
                    status = attacker.status()
                except TimeoutError:
                    status = "not answered"
                counts[status] = counts.get(status, 0) + 1
                if status is None:
                    break
        time.sleep(0.05)
    expect(set(counts) <= {200, 503, None}, f"answers {counts}")
    return ", ".join(f"{count} {status or 'hung up on'}" for status, count in sorted(counts.items(), key=str))
