"""The page under test: what it drew, sent and received, and what it complained about."""

import base64
import io
import time
from pathlib import Path
from urllib.parse import urlsplit

import numpy
from PIL import Image

WITHIN_SECONDS = 60

# Violations of the content-security policy reach the tests as console errors, whichever way the browser reports them.
REPORT_VIOLATIONS = """
document.addEventListener("securitypolicyviolation", (event) =>
    console.error(`policy violated: ${event.effectiveDirective} ${event.blockedURI}`));
"""


class PreviewPage:
    def __init__(self, context, address, script=None):
        self.context = context
        self.address = address
        self.complaints = []
        self.excused = ()
        self.page = context.new_page()
        self.page.set_default_timeout(WITHIN_SECONDS * 1000)
        self.page.add_init_script(REPORT_VIOLATIONS)
        if script:
            self.page.add_init_script(script)
        self.page.on("pageerror", lambda error: self.complaints.append(f"error: {error}"))
        self.page.on("console", lambda message: message.type == "error" and self.complaints.append(message.text))
        self.page.on("request", self._check_host)

    def _check_host(self, request):
        url = urlsplit(request.url)
        if url.scheme not in ("blob", "data") and url.netloc != urlsplit(self.address).netloc:
            self.complaints.append(f"request to another host: {request.url}")

    def open(self, query):
        self.page.goto(f"{self.address}/{query}")
        if "test=1" in query:
            self.wait_for_hook()

    def wait_for_hook(self):
        self.wait(lambda: self.evaluate("'silhouetteTest' in window"), "test hook")

    def close(self):
        self.context.close()
        return [text for text in self.complaints if not any(excuse in text for excuse in self.excused)]

    # What happens in the page

    def evaluate(self, script, *arguments):
        return self.page.evaluate(script, *arguments)

    def wait(self, condition, what, seconds=WITHIN_SECONDS):
        deadline = time.monotonic() + seconds
        while not (value := condition()):
            assert time.monotonic() < deadline, f"no {what} within {seconds} s; the page says: {self.notices()}"
            self.page.wait_for_timeout(50)
        return value

    def notices(self):
        return self.page.locator("#notices").inner_text()

    def start_camera(self):
        self.page.click("#start-camera")
        self.wait_for_answers(1)

    def upload(self, path):
        count = self.answer_count
        self.page.set_input_files("#file", path)
        self.wait(lambda: self.answer_count > count, "answer to the upload")

    def step(self, path):
        """Shows a picture as the next frame of a source, and waits until it is drawn."""
        self.evaluate("(text) => silhouetteTest.step(text)", base64.b64encode(Path(path).read_bytes()).decode())

    def drawn(self):
        """What the page has drawn, as pixels."""
        png = base64.b64decode(self.evaluate("silhouetteTest.drawn()"))
        return numpy.asarray(Image.open(io.BytesIO(png)).convert("RGBA"))

    @property
    def answer_count(self):
        return self.evaluate("silhouetteTest.answerCount")

    def wait_for_answers(self, count):
        """Waits for so many more answers."""
        until = self.answer_count + count
        self.wait(lambda: self.answer_count >= until, f"{count} answers")

    def wait_for_facts(self):
        """Waits for the line with the frames per second, which comes twice a second."""
        self.wait(lambda: "frames/s" in self.page.text_content("#status-detail"), "facts")

    def set(self, name, value):
        self.evaluate("([name, value]) => silhouetteTest.settings.set(name, value)", [name, value])
        self.settle()

    def choose_mode(self, mode):
        self.page.check(f"input[name=mode][value={mode}]", force=True)
        self.settle()

    def settle(self):
        """Lets the page draw what has just been asked for."""
        self.evaluate(
            """() => new Promise((done) =>
                requestAnimationFrame(() => requestAnimationFrame(() => setTimeout(done, 30))))"""
        )

    def newest(self):
        """The newest frame that was answered: bytes sent, masks received."""
        frame = self.evaluate("silhouetteTest.newest()")
        return frame and decoded(frame)

    def pixel(self, x, y):
        return self.evaluate("([x, y]) => silhouetteTest.pixel(x, y)", [x, y])

    def pixels(self, points):
        return numpy.array(self.evaluate("(points) => points.map(([x, y]) => silhouetteTest.pixel(x, y))", points))

    def screenshot(self, path, **options):
        self.page.screenshot(path=path, **options)


def decoded(frame):
    if frame.get("sent"):
        frame["sent"]["bytes"] = base64.b64decode(frame["sent"]["bytes"])
    for kind in ("categories", "matte"):
        mask = frame.get(kind)
        if mask:
            data = numpy.frombuffer(base64.b64decode(mask["bytes"]), numpy.uint8)
            frame[kind] = data.reshape(mask["height"], mask["width"])
    return frame
