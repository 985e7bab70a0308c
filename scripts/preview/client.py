"""A server of the live preview, and clients of it that are as cheap as can be: what load-test and soak share."""

import asyncio
import atexit
import json
import os
import signal
import struct
import subprocess
import sys
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent.parent
HEADER = struct.Struct("<4sBBBBIIQII")
FRAME, SETTINGS = 1, 2
HELLO, CATEGORIES, ALPHA, OVERLAY, PICTURE, RESULT, DROPPED, ERROR, IN_FORCE, MATTE = range(129, 139)
NO_PAYLOAD, JPEG, WEBP, PNG, RGB, RGBA, JSON = 0, 1, 2, 3, 4, 5, 16
CONTINUATION, TEXT, BINARY, CLOSE, PING, PONG = 0, 1, 2, 8, 9, 10


def fail(text):
    sys.exit(f"scripts/{Path(sys.argv[0]).name}: {text}")


def add_server_arguments(parser):
    parser.add_argument("--program", default=str(ROOT / ".build/release/silhouette"))
    parser.add_argument("-m", "--model")
    parser.add_argument("--web", help="the page's files")


def check_program(arguments):
    if not os.access(arguments.program, os.X_OK):
        fail(f"{arguments.program}: build it first: swift build -c release")


def frames_of(video):
    """The video's frames as JPEG files of 640x480."""
    command = ["ffmpeg", "-nostdin", "-v", "error", "-i", f"file:{video}", "-t", "20", "-vf", "scale=640:480"]
    command += ["-c:v", "mjpeg", "-q:v", "4", "-pix_fmt", "yuvj420p", "-f", "image2pipe", "-"]
    try:
        stream = subprocess.run(command, check=True, capture_output=True).stdout
    except (OSError, subprocess.CalledProcessError) as error:
        fail(f"{video}: {error}")
    return [b"\xff\xd8" + part for part in stream.split(b"\xff\xd8")[1:]]


def percentile(values, part):
    return sorted(values)[min(len(values) - 1, int(len(values) * part))] if values else float("nan")


class Server:
    """A server of its own for one measurement."""

    def __init__(self, arguments, *more):
        command = [arguments.program, "serve", "--port", "0", *more]
        if arguments.model:
            command += ["-m", arguments.model]
        if arguments.web:
            command += ["--web", arguments.web]
        self.process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
        atexit.register(self.process.kill)
        line = self.process.stdout.readline()
        if not line:
            fail("the server did not start")
        self.port = int(line.split()[1].rsplit(":", 1)[1].split("/")[0])

    def processor_seconds(self):
        fields = Path(f"/proc/{self.process.pid}/stat").read_text().rsplit(") ", 1)[1].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")

    def resident_megabytes(self):
        pages = int(Path(f"/proc/{self.process.pid}/statm").read_text().split()[1])
        return pages * os.sysconf("SC_PAGESIZE") / 1e6

    def stop(self):
        self.process.send_signal(signal.SIGTERM)
        try:
            code = self.process.wait(10)
        except subprocess.TimeoutExpired:
            self.process.kill()
            fail("the server did not end within 10 seconds of SIGTERM")
        if code != 0:
            fail(f"the server did not end well: exit code {code}")


def handshake(port, host=None, origin=None, protocol="silhouette.preview.1"):
    """The bytes that ask for the preview's WebSocket."""
    lines = ["GET /preview HTTP/1.1", f"Host: {host or f'127.0.0.1:{port}'}", "Upgrade: websocket"]
    lines += ["Connection: Upgrade", "Sec-WebSocket-Version: 13", "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ=="]
    lines += [f"Sec-WebSocket-Protocol: {protocol}"]
    lines += [f"Origin: {origin}"] if origin else []
    return "\r\n".join([*lines, "", ""]).encode()


def packed(kind, encoding, payload=b"", sequence=0, timestamp=0, width=0, height=0, length=None, version=1):
    """A message; `length` is what its header says where that is not so."""
    length = len(payload) if length is None else length
    return HEADER.pack(b"SLHP", version, kind, encoding, 0, sequence, length, timestamp, width, height) + payload


def fragment(payload, opcode=BINARY, is_last=True, is_masked=True, length=None):
    """A WebSocket's frame as a client sends it; `length` is what it announces where that is not so."""
    length = len(payload) if length is None else length
    mask = 0x80 if is_masked else 0
    head = bytes([opcode | (0x80 if is_last else 0)])
    if length < 126:
        head += bytes([mask | length])
    elif length < 65536:
        head += bytes([mask | 126]) + struct.pack(">H", length)
    else:
        head += bytes([mask | 127]) + struct.pack(">Q", length)
    # A mask of zeros is one, and costs this client nothing.
    return head + (bytes(4) if is_masked else b"") + payload


class Closed(Exception):
    """The server ended the connection; `code` is the WebSocket's, or None where it only hung up."""

    def __init__(self, code):
        super().__init__(f"the server closed the connection: {code or 'without a word'}")
        self.code = code


class Client:
    """A WebSocket of the preview."""

    def __init__(self, reader, writer, version):
        self.reader, self.writer, self.version = reader, writer, version
        self.sent = self.received = 0

    @classmethod
    async def connect(cls, port, version=1):
        reader, writer = await asyncio.open_connection("127.0.0.1", port, limit=1 << 22)
        writer.write(handshake(port, protocol=f"silhouette.preview.{version}"))
        answer = await reader.readuntil(b"\r\n\r\n")
        if b" 101 " not in answer:
            fail(f"no WebSocket: {answer.splitlines()[0].decode()}")
        client = cls(reader, writer, version)
        await client.message()
        return client

    def send(self, kind, encoding, payload, sequence=0, timestamp=0, width=0, height=0):
        data = fragment(packed(kind, encoding, payload, sequence, timestamp, width, height, version=self.version))
        self.writer.write(data)
        self.sent += len(data)

    async def message(self):
        """The next message: its kind, sequence and payload."""
        while True:
            first, length = await self.reader.readexactly(2)
            if length == 126:
                (length,) = struct.unpack(">H", await self.reader.readexactly(2))
            elif length == 127:
                (length,) = struct.unpack(">Q", await self.reader.readexactly(8))
            data = await self.reader.readexactly(length)
            self.received += length + 4
            if first & 15 == PING:
                self.writer.write(fragment(data, PONG))
            elif first & 15 == CLOSE:
                raise Closed(int.from_bytes(data[:2], "big"))
            else:
                _, _, kind, _, _, sequence, _, _, _, _ = HEADER.unpack_from(data)
                return kind, sequence, data[HEADER.size :]


def version_of(output):
    """The version of the protocol that has an output."""
    return 2 if output == "matte" else 1


async def camera(port, frames, rate, output, start, is_over, tell=lambda sent, latency: None):
    """Sends frames at a rate as a page does, at most two in flight, until `is_over(now)`.

    `tell` gets each frame's time and how long its mask took, as they come.
    """
    client = await Client.connect(port, version_of(output))
    client.send(SETTINGS, JSON, json.dumps({"outputs": [output]}).encode())
    await client.message()
    times, latencies, dropped, skipped, count = {}, [], 0, 0, 0
    mask_kind = {"alpha": ALPHA, "categories": CATEGORIES, "matte": MATTE}[output]
    has_ended = asyncio.Event()

    async def read():
        nonlocal dropped
        while not has_ended.is_set() or times:
            kind, sequence, payload = await client.message()
            if kind == mask_kind:
                latencies.append(time.perf_counter() - times[sequence])
                tell(times[sequence], latencies[-1])
            elif kind in (RESULT, DROPPED):
                times.pop(sequence, None)
                dropped += kind == DROPPED
            elif kind == ERROR:
                fail(payload.decode())

    reader = asyncio.ensure_future(read())
    base = client.sent, client.received
    due = start
    while not is_over(due) and not reader.done():
        await asyncio.sleep(max(0, due - time.perf_counter()))
        due += 1 / rate
        if len(times) >= 2:
            skipped += 1
            continue
        count += 1
        times[count] = time.perf_counter()
        client.send(FRAME, JPEG, frames[count % len(frames)], count, int(times[count] * 1e6), 640, 480)
    has_ended.set()
    try:
        await asyncio.wait_for(reader, 3)
    except TimeoutError:
        if times:
            fail(f"{len(times)} frames were never answered")
    client.writer.close()
    frames_sent = max(1, count)
    return {
        "latencies": latencies,
        "dropped": dropped,
        "skipped": skipped,
        "bytes_up": (client.sent - base[0]) / frames_sent,
        "bytes_down": (client.received - base[1]) / max(1, len(latencies)),
    }
