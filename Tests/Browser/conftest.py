"""A server, a browser whose camera plays a video, and pages that complain about all that a page must not do.

Environment:
    SILHOUETTE_BINARY        the program, .build/release/silhouette if not set
    SILHOUETTE_MODEL         the model, Tests/Fixtures/mini.safetensors if not set
    SILHOUETTE_CHROMIUM      the browser, /usr/bin/chromium if not set
    SILHOUETTE_SCREENSHOTS   where screenshots go; a temporary folder if not set
"""

import os
import shutil
import subprocess
from pathlib import Path

import pytest
from playwright.sync_api import sync_playwright
from preview_page import PreviewPage
from preview_server import PreviewServer

ROOT = Path(__file__).resolve().parents[2]
# What the camera sees: the first of these that is there.
CLIP = ROOT.parent / "shared" / "video" / "want.mkv"
PORTRAIT = Path("/usr/share/matplotlib/mpl-data/sample_data/grace_hopper.jpg")


@pytest.fixture(scope="session")
def binary():
    path = Path(os.environ.get("SILHOUETTE_BINARY", ROOT / ".build/release/silhouette"))
    if not path.exists():
        pytest.fail(f"{path} is missing; build it with: swift build -c release")
    return path


@pytest.fixture(scope="session", autouse=True)
def model():
    path = os.environ.setdefault("SILHOUETTE_MODEL", str(ROOT / "Tests/Fixtures/mini.safetensors"))
    if not Path(path).exists():
        pytest.fail(f"SILHOUETTE_MODEL is {path}, which does not exist")
    return Path(path)


@pytest.fixture(scope="session")
def files(tmp_path_factory):
    """A folder for what the tests make."""
    return tmp_path_factory.mktemp("files")


def ffmpeg(*arguments):
    subprocess.run(["ffmpeg", "-v", "error", "-y", *map(str, arguments)], check=True)


@pytest.fixture(scope="session")
def clip(files):
    """A second and a half of somebody before a camera; of a portrait or a test pattern where that is not there."""
    path = files / "clip.mkv"
    shape = "scale=640:480:force_original_aspect_ratio=decrease,pad=640:480:-1:-1:gray"
    if CLIP.exists():
        source = ["-i", CLIP]
    elif PORTRAIT.exists():
        source = ["-loop", "1", "-framerate", "30", "-i", PORTRAIT]
    else:
        source = ["-f", "lavfi", "-i", "testsrc2=size=640x480:rate=30"]
    ffmpeg(*source, "-t", "1.5", "-vf", shape, "-pix_fmt", "yuv420p", "-c:v", "libx264", path)
    return path


@pytest.fixture(scope="session")
def camera_file(files, clip):
    path = files / "camera.y4m"
    ffmpeg("-i", clip, "-pix_fmt", "yuv420p", path)
    return path


@pytest.fixture(scope="session")
def photo(files, clip):
    """A still of the clip."""
    path = files / "photo.png"
    ffmpeg("-ss", "1", "-i", clip, "-frames:v", "1", path)
    return path


@pytest.fixture(scope="session")
def screenshots(tmp_path_factory):
    folder = os.environ.get("SILHOUETTE_SCREENSHOTS")
    path = Path(folder) if folder else tmp_path_factory.mktemp("screenshots")
    path.mkdir(parents=True, exist_ok=True)
    return path


@pytest.fixture(scope="session")
def server(binary):
    with PreviewServer(binary) as server:
        yield server


@pytest.fixture
def start_server(binary):
    """Starts servers of a test's own."""
    servers = []

    def start(*arguments):
        servers.append(PreviewServer(binary, *arguments))
        return servers[-1].start()

    yield start
    for server in servers:
        server.stop()


@pytest.fixture(scope="session")
def playwright():
    with sync_playwright() as playwright:
        yield playwright


@pytest.fixture(scope="session")
def launch(playwright):
    executable = os.environ.get("SILHOUETTE_CHROMIUM", "/usr/bin/chromium")
    if not shutil.which(executable):
        pytest.fail(f"{executable} is missing; install the package chromium")

    def launch(*arguments):
        return playwright.chromium.launch(executable_path=executable, args=["--no-sandbox", *arguments])

    return launch


@pytest.fixture(scope="session")
def browser(launch, camera_file):
    browser = launch("--use-fake-device-for-media-stream", f"--use-file-for-fake-video-capture={camera_file}")
    yield browser
    browser.close()


@pytest.fixture
def open_page(browser, server):
    """Opens pages; whatever they complained about fails the test, unless it is in `page.excused`."""
    pages = []

    def open_page(query="?test=1", *, address=None, camera=True, browser=browser, script=None, **context_options):
        address = address or server.address
        context = browser.new_context(**{"viewport": {"width": 1280, "height": 800}, **context_options})
        if camera:
            context.grant_permissions(["camera"], origin=address)
        page = PreviewPage(context, address, script)
        pages.append(page)
        page.open(query)
        return page

    yield open_page
    complaints = [complaint for page in pages for complaint in page.close()]
    assert complaints == []
