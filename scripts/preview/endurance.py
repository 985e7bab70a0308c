"""An ordinary long day of the live preview's server: a camera, a page that switches models and devices, large POSTs."""

import itertools
import json
import os
import threading
import time
from pathlib import Path

from preview.attacker import Socket, Unexpected, expect, page, png, post
from preview.client import (
    DROPPED,
    ERROR,
    FRAME,
    IN_FORCE,
    JPEG,
    JSON,
    PNG,
    RESULT,
    ROOT,
    SETTINGS,
    Closed,
    Server,
    fragment,
    packed,
    percentile,
)
from preview.observers import Camera, Memory

MODELS = [ROOT / "Tests/Fixtures/mini.safetensors", ROOT / "Weights/silhouette-deeplabv3.safetensors"]
# By how much the least memory and the fewest descriptors and threads of a minute may rise over those after the third.
MEMORY_SLACK, COUNT_SLACK = 16, 4
FRAMES_A_CHOICE = 20
QUERIES = [
    "?output=mask",
    "?output=overlay",
    "?output=cutout&feather=8&edges=guided",
    "?background=blur",
    "?background=gradient:45:navy,orange&edges=guided",
    "?output=confidence&class=person",
    "?output=mask&mask-size=model",
]


class Counts(threading.Thread):
    """Descriptors and threads of a process, looked at five times a second."""

    def __init__(self, pid):
        super().__init__(daemon=True)
        self.folder = Path(f"/proc/{pid}")
        self.samples = []
        self.has_ended = threading.Event()
        self.start()

    def run(self):
        while not self.has_ended.wait(0.2):
            try:
                counts = [len(os.listdir(self.folder / name)) for name in ("fd", "task")]
            except OSError:
                return
            self.samples.append((time.perf_counter(), *counts))

    def least(self, start, end):
        rows = [row[1:] for row in list(self.samples) if start <= row[0] < end]
        return tuple(min(column) for column in zip(*rows, strict=True)) if rows else (0, 0)


class Worker(threading.Thread):
    """Does one thing again and again until the end, and keeps what went wrong."""

    def __init__(self, work, *arguments):
        super().__init__(daemon=True)
        self.work, self.arguments = work, arguments
        self.moments, self.failure = [], None
        self.has_ended = threading.Event()
        self.start()

    def run(self):
        try:
            for _ in self.work(*self.arguments, self.has_ended):
                self.moments.append(time.perf_counter())
        except (Unexpected, Closed, OSError, ValueError, LookupError) as error:
            self.failure = f"{type(error).__name__}: {error}"

    def count(self, start, end):
        return sum(start <= moment < end for moment in list(self.moments))


def answer(socket, kinds, number=None):
    """The next message of these kinds, of this number where there is one."""
    while True:
        kind, sequence, payload = socket.message()
        expect(kind != ERROR, f"an error: {payload[:200]}")
        if kind in kinds and number in (None, sequence):
            return kind, payload


def switch(port, frames, has_ended):
    """A page that chooses a model and a device, looks at some frames, and chooses again; it is reloaded at times."""
    choice = 0
    while not has_ended.is_set():
        with page(port, 120) as viewer:
            hello = viewer.hello
            devices = [device["id"] for device in hello.get("devices") or []] or [None]
            choices = list(itertools.product([model["id"] for model in hello["models"]], devices))
            expect(len(choices) > 1, "there is nothing to switch between")
            number = 0
            for _ in range(10):
                if has_ended.is_set():
                    return
                model, device = choices[choice % len(choices)]
                choice += 1
                settings = {"model": model, "outputs": [("categories", "alpha", "overlay")[choice % 3]]}
                if device:
                    settings["device"] = device
                viewer.send(fragment(packed(SETTINGS, JSON, json.dumps(settings).encode())))
                _, payload = answer(viewer, {IN_FORCE})
                now = json.loads(payload)
                expect(now["model"] == model and (not device or now["device"] == device), f"in force: {payload[:200]}")
                for _ in range(FRAMES_A_CHOICE):
                    number += 1
                    frame = frames[number % len(frames)]
                    viewer.send(fragment(packed(FRAME, JPEG, frame, number, number, 640, 480)))
                    answer(viewer, {RESULT, DROPPED}, number)
                yield
            number += 1
            viewer.send(fragment(packed(FRAME, PNG, png(3000, 3000), number, number, 3000, 3000)))
            answer(viewer, {RESULT, DROPPED}, number)


def send_photographs(port, frames, has_ended):
    """POSTs of photographs, small and as large as may be, for answers of every kind."""
    pictures = [png(4000, 3000), frames[0], png(7000, 7000), frames[-1], png(1500, 1000)]
    for query, (number, picture) in zip(itertools.cycle(QUERIES), itertools.cycle(enumerate(pictures)), strict=False):
        if has_ended.is_set():
            return
        with Socket(port, 120) as poster:
            poster.send(post(port, picture, query=query))
            status = poster.status()
            expect(status in (200, 503), f"POST {query} of picture {number}: status {status}")
        yield
        has_ended.wait(0.5)


def endure(arguments, frames, complain):
    """Runs it, prints a row for each minute, and complains where something rises."""
    models = [path for path in MODELS if not arguments.model or Path(arguments.model) != path]
    server = Server(arguments, *itertools.chain.from_iterable(("-m", str(path)) for path in models))
    memory, counts = Memory(server), Counts(server.process.pid)
    camera = Camera(server.port, frames)
    workers = [Worker(switch, server.port, frames), Worker(send_photographs, server.port, frames)]
    print(f"\nA camera, a page that switches, and photographs, {arguments.endurance:.0f} s\n")
    print("| minute | camera's frames/s | p99 ms | switches | photographs | least MB | most | descriptors | threads |")
    print("|---:|---:|---:|---:|---:|---:|---:|---:|---:|", flush=True)
    rows = []
    began = time.perf_counter()
    while (start := time.perf_counter()) < began + arguments.endurance - 1:
        time.sleep(max(0, min(60, began + arguments.endurance - start)))
        end = time.perf_counter()
        if server.process.poll() is not None:
            complain(f"endurance: the server ended: exit code {server.process.returncode}")
            return
        try:
            latencies = camera.between(start, end)
        except Unexpected as error:
            complain(f"endurance: {error}")
            break
        sizes = memory.between(start, end)
        rows.append((min(sizes), *counts.least(start, end)))
        print(
            f"| {len(rows)} | {len(latencies) / (end - start):.1f} | {1000 * percentile(latencies, 0.99):.0f}"
            f" | {workers[0].count(start, end)} | {workers[1].count(start, end)} | {min(sizes):.0f} | {max(sizes):.0f}"
            f" | {rows[-1][1]} | {rows[-1][2]} |",
            flush=True,
        )
        for worker in workers:
            if worker.failure:
                complain(f"endurance: {worker.work.__name__}: {worker.failure}")
        if any(worker.failure for worker in workers):
            break
    for worker in workers:
        worker.has_ended.set()
    for worker in workers:
        worker.join(120)
        if not worker.moments:
            complain(f"endurance: {worker.work.__name__} came to nothing")
    camera.stop()
    counts.has_ended.set()
    memory.stop()
    # Where it does not rise, the later minutes are as the fourth to the sixth.
    names = (("memory", MEMORY_SLACK), ("descriptors", COUNT_SLACK), ("threads", COUNT_SLACK))
    for column, (name, slack) in enumerate(names):
        first, later = [row[column] for row in rows[3:6]], [row[column] for row in rows[6:]]
        if later and later[-1] > max(first) + slack:
            complain(f"endurance: {name} rose from {max(first):.0f} to {later[-1]:.0f}")
    server.stop()
