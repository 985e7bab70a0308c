"""What the page says and does when something is wrong."""

import pytest


def test_camera_denied(open_page, screenshots):
    page = open_page(camera=False)
    page.page.click("#start-camera")
    page.wait(lambda: "The camera is blocked" in page.notices(), "notice")
    assert page.page.is_visible("#welcome")
    page.screenshot(screenshots / "camera-denied.png")


def test_camera_allowed_after_all(open_page):
    page = open_page(
        script="""
        const ask = navigator.mediaDevices.getUserMedia.bind(navigator.mediaDevices);
        let times = 0;
        navigator.mediaDevices.getUserMedia = async (wish) => {
            if (times++ === 0) throw new DOMException("", "NotAllowedError");
            return ask(wish);
        };
        """
    )
    page.page.click("#start-camera")
    page.wait(lambda: "The camera is blocked" in page.notices(), "notice")
    page.page.click("#notices button:text-is('Try again')")
    page.wait_for_answers(3)
    assert page.notices() == ""


def test_no_camera(launch, open_page):
    bare = launch()
    page = open_page(browser=bare)
    page.page.click("#start-camera")
    page.wait(lambda: "No camera found" in page.notices(), "notice")
    page.context.close()
    bare.close()


def test_insecure_origin(open_page):
    page = open_page(
        script="""
        Object.defineProperty(window, "isSecureContext", { value: false });
        Object.defineProperty(navigator, "mediaDevices", { value: undefined });
        """
    )
    page.page.click("#start-camera")
    page.wait(lambda: "needs a secure address" in page.notices(), "notice")


@pytest.mark.parametrize("name, words", [("NotReadableError", "does not start"), ("OverconstrainedError", "No camera")])
def test_camera_in_use(name, words, open_page):
    page = open_page(
        script=f"navigator.mediaDevices.getUserMedia = async () => {{ throw new DOMException('', '{name}'); }};"
    )
    page.page.click("#start-camera")
    page.wait(lambda: words in page.notices(), "notice")


def test_camera_unplugged_and_back(open_page):
    page = open_page(
        script="""
        const ask = navigator.mediaDevices.getUserMedia.bind(navigator.mediaDevices);
        navigator.mediaDevices.getUserMedia = async (wish) => (window.lastStream = await ask(wish));
        """
    )
    page.start_camera()
    page.wait_for_answers(3)
    page.evaluate("lastStream.getVideoTracks()[0].dispatchEvent(new Event('ended'))")
    page.wait(lambda: "The camera is gone" in page.notices(), "notice")
    page.evaluate("navigator.mediaDevices.dispatchEvent(new Event('devicechange'))")
    page.wait_for_answers(3)
    assert page.notices() == ""


def test_server_killed_and_restarted(start_server, open_page, screenshots):
    server = start_server()
    page = open_page(address=server.address)
    page.excused = ("ERR_CONNECTION_REFUSED", "ERR_CONNECTION_RESET", "WebSocket connection to")
    page.start_camera()
    page.choose_mode("grey")
    page.wait_for_answers(5)
    server.kill()
    page.wait(lambda: "The server is gone" in page.notices(), "notice")
    page.page.wait_for_timeout(500)
    page.screenshot(screenshots / "server-gone.png")
    assert "Not connected" in page.page.inner_text("#status") or "Connecting" in page.page.inner_text("#status")
    server.start()
    page.wait_for_answers(5)
    assert page.notices() == ""
    assert page.evaluate("silhouetteTest.settings.values.mode") == "grey"
    assert page.evaluate("silhouetteTest.flight.count") <= 2


def test_still_picture_survives_a_restart(start_server, open_page, photo):
    server = start_server()
    page = open_page(address=server.address)
    page.excused = ("ERR_CONNECTION_REFUSED", "ERR_CONNECTION_RESET", "WebSocket connection to")
    page.upload(photo)
    server.kill()
    page.wait(lambda: "The server is gone" in page.notices(), "notice")
    server.start()
    page.wait_for_answers(1)


def test_token_opens_the_page(start_server, open_page, photo):
    server = start_server("--token", "a-token-of-letters")
    page = open_page("?token=a-token-of-letters", address=server.address)
    assert "token" not in page.page.url
    page.page.goto(f"{server.address}/?test=1")
    page.wait_for_hook()
    page.upload(photo)


def test_page_that_was_left_without_its_token(start_server, open_page):
    server = start_server("--token", "a-token-of-letters")
    page = open_page("?token=a-token-of-letters", address=server.address)
    page.excused = ("WebSocket connection to", "401")
    page.wait(lambda: "Connected" in page.page.inner_text("#status"), "connection")
    page.context.clear_cookies()
    server.kill()
    server.start()
    page.wait(lambda: "The server refuses this page" in page.notices(), "notice")


def test_idle_page_stays_connected(start_server, open_page, photo):
    """A still picture is sent once; nothing else is said for as long as somebody looks at it."""
    page = open_page(address=start_server("--idle-timeout", "2").address)
    page.upload(photo)
    opened = []
    page.page.on("websocket", lambda socket: opened.append(socket.url))
    page.page.wait_for_timeout(5000)
    assert opened == []


def test_page_without_webgl(open_page):
    page = open_page(
        script="""
        const get = HTMLCanvasElement.prototype.getContext;
        HTMLCanvasElement.prototype.getContext = function (kind, ...more) {
            return kind.startsWith("webgl") ? null : get.call(this, kind, ...more);
        };
        """
    )
    assert page.evaluate("silhouetteTest.compositor") == "2D canvas"
    page.start_camera()
    page.wait_for_answers(3)


def test_storage_forbidden(open_page):
    page = open_page(
        script="""Object.defineProperty(window, "localStorage",
            { get() { throw new DOMException("", "SecurityError"); } });"""
    )
    page.start_camera()
    page.choose_mode("blur")
    page.wait_for_answers(3)


def test_storage_with_rubbish(open_page):
    page = open_page(
        script="""localStorage.setItem("silhouette.settings.1",
            '{"mode": "none", "opacity": 7, "classes": [1], "color": "red", "blur": 0.25}');"""
    )
    values = page.evaluate("silhouetteTest.settings.values")
    assert (values["mode"], values["blur"], values["classes"]) == ("cutout", 0.25, {})
