"""`silhouette serve` on a free port."""

import signal
import socket
import subprocess
import time
import urllib.error
import urllib.request

STARTS_WITHIN_SECONDS = 60


def free_port():
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        return listener.getsockname()[1]


class PreviewServer:
    def __init__(self, binary, *arguments):
        self.binary = binary
        self.port = free_port()
        self.arguments = arguments
        self.process = None

    @property
    def address(self):
        return f"http://127.0.0.1:{self.port}"

    def start(self):
        command = [self.binary, "serve", "--port", str(self.port), "-d", "cpu", *map(str, self.arguments)]
        self.process = subprocess.Popen(command, stdout=subprocess.DEVNULL)
        deadline = time.monotonic() + STARTS_WITHIN_SECONDS
        while not self.answers():
            assert self.process.poll() is None, f"the server ended with {self.process.returncode}"
            assert time.monotonic() < deadline, f"the server does not answer at {self.address}"
            time.sleep(0.05)
        return self

    def answers(self):
        try:
            with urllib.request.urlopen(f"{self.address}/healthz", timeout=2) as response:
                return response.status == 200
        except (OSError, urllib.error.URLError):
            return False

    def kill(self):
        """As a crash would: nothing is said to the pages."""
        self.process.kill()
        self.process.wait()

    def stop(self):
        if self.process is None or self.process.poll() is not None:
            return
        self.process.send_signal(signal.SIGTERM)
        try:
            self.process.wait(timeout=10)
        except subprocess.TimeoutExpired:
            self.kill()

    def __enter__(self):
        return self.start()

    def __exit__(self, *_):
        self.stop()
