"""Who looks on while a server of the live preview is attacked."""

import asyncio
import multiprocessing
import threading
import time

from preview.attacker import Unexpected
from preview.client import Closed, camera


class Memory:
    """A server's memory, looked at twenty times a second."""

    def __init__(self, server):
        self.server = server
        self.samples = []
        self.has_ended = threading.Event()
        self.thread = threading.Thread(target=self.watch, daemon=True)
        self.thread.start()

    def watch(self):
        while not self.has_ended.wait(0.05) and self.server.process.poll() is None:
            self.samples.append((time.perf_counter(), self.server.resident_megabytes()))

    def stop(self):
        self.has_ended.set()
        self.thread.join()

    def between(self, start, end):
        return [value for moment, value in self.samples if start <= moment <= end] or [self.samples[-1][1]]


class Camera:
    """The honest camera, in a process of its own so that an attack's own work does not keep it waiting."""

    def __init__(self, port, frames):
        self.samples = []
        context = multiprocessing.get_context("fork")
        self.results, results = context.Pipe(duplex=False)
        self.has_ended = context.Event()
        self.process = context.Process(target=self.run, args=(port, frames, results), daemon=True)
        self.process.start()
        results.close()
        # All the time: a camera that cannot tell what it saw stops, and an attack may take minutes.
        threading.Thread(target=self.collect, daemon=True).start()

    def collect(self):
        while True:
            try:
                self.samples.append(self.results.recv())
            except (EOFError, OSError):
                return

    def run(self, port, frames, results):
        start = time.perf_counter() + 0.2
        work = camera(
            port, frames, 30, "alpha", start, lambda now: self.has_ended.is_set(), lambda *sample: results.send(sample)
        )
        try:
            asyncio.run(work)
        except (Closed, OSError, EOFError, SystemExit) as error:
            results.send(str(error) or type(error).__name__)

    def between(self, start, end):
        """How long the frames took that were sent in this time. Raises `Unexpected` where the camera was cut off."""
        samples = list(self.samples)
        for sample in samples:
            if isinstance(sample, str):
                raise Unexpected(f"the camera was cut off: {sample}")
        return [latency for sent, latency in samples if start <= sent <= end]

    def stop(self):
        self.has_ended.set()
        self.process.join(5)
        if self.process.is_alive():
            self.process.kill()
