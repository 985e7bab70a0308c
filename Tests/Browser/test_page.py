"""The page as people use it: by keyboard, on a phone, light and dark; what it keeps and what it saves."""

import numpy
import pytest
from conftest import ROOT
from PIL import Image


def test_works_by_keyboard(open_page):
    page = open_page()
    keyboard = page.page.keyboard
    for _ in range(20):
        keyboard.press("Tab")
        if page.evaluate("document.activeElement.id") == "start-camera":
            break
    keyboard.press("Enter")
    page.wait_for_answers(3)
    page.page.focus("input[name=mode][value=cutout]")
    keyboard.press("ArrowRight")
    assert page.evaluate("silhouetteTest.settings.values.mode") == "blur"
    page.page.focus("#compare-toggle")
    keyboard.press("Space")
    page.page.focus("#compare-range")
    before = page.evaluate("silhouetteTest.settings.values.comparePosition")
    keyboard.press("PageUp")
    assert page.evaluate("silhouetteTest.settings.values.comparePosition") > before
    page.wait(lambda: page.page.locator("#legend li").count() > 0 or page.page.is_visible("#legend-empty"), "legend")


def test_everything_has_a_name_and_a_focus(open_page):
    page = open_page()
    nameless = page.evaluate(
        """() => [...document.querySelectorAll("button, input, select")].filter((element) =>
            !(element.getAttribute("aria-label") || element.textContent.trim() || element.labels?.length))
            .map((element) => element.id)"""
    )
    assert nameless == []
    page.page.focus("#compare-toggle")
    page.page.keyboard.press("Tab")
    page.page.keyboard.press("Shift+Tab")
    assert page.evaluate("getComputedStyle(document.activeElement).outlineStyle") != "none"


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_fits_a_phone(scheme, open_page, screenshots):
    page = open_page(viewport={"width": 360, "height": 740}, color_scheme=scheme)
    page.start_camera()
    page.wait_for_answers(5)
    page.wait_for_facts()
    page.screenshot(screenshots / f"phone-{scheme}.png", full_page=True)
    assert page.evaluate("document.documentElement.scrollWidth") <= 360
    cut = page.evaluate(
        """() => [...document.querySelectorAll(".toolbar button, .tile")].filter((element) => element.offsetParent &&
            element.scrollWidth > element.clientWidth + 1).map((element) => element.textContent)"""
    )
    assert cut == []


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_words_can_be_read(scheme, open_page, screenshots):
    """Contrast of text to its ground, as WCAG counts it: 4.5 at least."""
    page = open_page(color_scheme=scheme)
    page.start_camera()
    page.wait_for_answers(5)
    page.wait_for_facts()
    page.screenshot(screenshots / f"desktop-{scheme}.png")
    faint = page.evaluate(
        """() => {
            const parse = (text) => text.match(/[\\d.]+/g).map(Number);
            const light = ([r, g, b]) => [r, g, b].map((c) => c / 255)
                .map((c) => (c <= 0.03928 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4))
                .reduce((sum, c, index) => sum + c * [0.2126, 0.7152, 0.0722][index], 0);
            const ground = (element) => {
                for (let at = element; at; at = at.parentElement) {
                    const color = parse(getComputedStyle(at).backgroundColor);
                    if (color.length === 3 || color[3] === 1) return color;
                }
                return [255, 255, 255];
            };
            const faint = [];
            for (const element of document.querySelectorAll(".panel *, .toolbar *, .top *")) {
                const own = [...element.childNodes].some((node) => node.nodeType === 3 && node.data.trim());
                if (!own || !element.offsetParent || element.closest(":disabled, .is-hidden, option")) continue;
                const [a, b] = [light(parse(getComputedStyle(element).color)), light(ground(element))];
                const contrast = (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05);
                if (contrast < 4.5) faint.push(`${element.textContent.trim()}: ${contrast.toFixed(2)}`);
            }
            return faint;
        }"""
    )
    assert faint == []


def test_choices_are_kept(open_page):
    page = open_page()
    page.choose_mode("gradient")
    page.set("gradientTop", "#123456")
    page.page.reload()
    page.wait_for_hook()
    values = page.evaluate("silhouetteTest.settings.values")
    assert (values["mode"], values["gradientTop"]) == ("gradient", "#123456")
    assert page.page.is_checked("input[name=mode][value=gradient]")


def test_camera_starts_by_itself_next_time(open_page):
    page = open_page()
    page.start_camera()
    page.page.reload()
    page.wait_for_hook()
    page.wait_for_answers(3)


def test_model_can_be_chosen(start_server, open_page, model, photo, files):
    second = files / "second.safetensors"
    second.write_bytes((ROOT / "Tests/Fixtures/mini.safetensors").read_bytes())
    page = open_page(address=start_server("-m", model, "-m", second).address)
    page.upload(photo)
    models = page.evaluate("silhouetteTest.connection.hello.models")
    assert [choice.inner_text() for choice in page.page.locator("#model option").all()] == [m["name"] for m in models]
    count = page.answer_count
    page.page.select_option("#model", models[1]["id"])
    page.wait(lambda: page.answer_count > count, "answer of the other model")
    assert page.newest()["categories"].shape == (models[1]["height"], models[1]["width"])
    assert page.notices() == ""


def test_legend_hides_and_recolors(open_page, photo):
    page = open_page()
    page.evaluate("silhouetteTest.fixMasks()")
    page.choose_mode("overlay")
    page.upload(photo)
    rows = page.page.locator("#legend li")
    assert rows.count() == 1
    assert "50 %" in rows.first.inner_text()
    name = rows.first.locator(".legend-name").inner_text().lower()
    rows.first.locator("button").click()
    assert rows.first.locator("button").get_attribute("aria-pressed") == "false"
    assert page.evaluate("silhouetteTest.settings.values.classes")[name]["shown"] is False
    rows.first.locator("input").fill("#abcdef")
    assert page.evaluate("silhouetteTest.settings.values.classes")[name]["color"] == "#abcdef"


def test_result_is_saved_as_png(open_page, photo, tmp_path):
    page = open_page()
    page.evaluate("silhouetteTest.fixMasks()")
    page.choose_mode("cutout")
    page.step(photo)
    page.set("comparePosition", 0.9)
    page.set("compare", True)  # the saved picture is whole all the same
    with page.page.expect_download() as download:
        page.page.click("#save")
    path = tmp_path / "result.png"
    download.value.save_as(path)
    assert download.value.suggested_filename.endswith(".png")
    saved = Image.open(path)
    assert (saved.mode, saved.size) == ("RGBA", (640, 480))
    alpha = numpy.asarray(saved)[..., 3]
    assert alpha[:, :300].min() == 255
    assert alpha[:, 340:].max() == 0


def test_recording_is_saved_as_webm(open_page, tmp_path):
    page = open_page()
    page.choose_mode("grey")  # all of the picture, so that there is something to be recorded
    page.start_camera()
    page.page.click("#record")
    page.wait(lambda: page.page.is_visible("#recording"), "sign of the recording")
    page.wait_for_answers(10)
    page.page.wait_for_timeout(1500)
    with page.page.expect_download() as download:
        page.page.click("#record")
    path = tmp_path / "result.webm"
    download.value.save_as(path)
    assert download.value.suggested_filename.endswith(".webm")
    assert path.read_bytes()[:4] == b"\x1aE\xdf\xa3"
    assert path.stat().st_size > 10_000
