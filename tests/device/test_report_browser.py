"""A report in a real browser: what a person reads, clicks, and reaches by the keyboard."""

from __future__ import annotations

import json
import re
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
import report_cases

from mcu_deploy.api import reporting

if TYPE_CHECKING:
    from selenium.webdriver import Chrome
    from selenium.webdriver.remote.webelement import WebElement

# What is in the page is read by tests/unit/test_report_page.py in the sample.
pytestmark = [
    pytest.mark.needs_chromium, pytest.mark.needs_arm_gcc, pytest.mark.needs_qemu,
    pytest.mark.matrix,
]  # fmt: skip

_FLAGS = (
    "--headless=new", "--no-sandbox", "--disable-gpu", "--no-first-run",
    "--disable-background-networking", "--disable-component-update", "--disable-sync",
)  # fmt: skip
PHONE = 390


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, reporting.Reported]:
    """The file of a report on a model of hostile names, beside another build of it."""
    folder = tmp_path_factory.mktemp("report")
    for goal in ("balanced", "size"):
        report_cases.build(folder, goal)
    path = folder / "report.html"
    return path, reporting.write_report(folder / "balanced", path, compare_with=folder / "size")


@pytest.fixture(scope="module")
def browser(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Chrome]:
    from selenium import webdriver
    from selenium.webdriver.chrome.service import Service

    options = webdriver.ChromeOptions()
    options.binary_location = str(shutil.which("chromium"))
    for flag in (*_FLAGS, f"--user-data-dir={tmp_path_factory.mktemp('browser')}"):
        options.add_argument(flag)
    options.set_capability("goog:loggingPrefs", {"browser": "ALL"})
    driver = webdriver.Chrome(options, Service(str(shutil.which("chromedriver"))))
    try:
        yield driver
    finally:
        driver.quit()


@pytest.fixture
def page(made: tuple[Path, reporting.Reported], browser: Chrome) -> Iterator[Chrome]:
    """The report, just opened on a wide screen; it says nothing on the browser's console."""
    _show(browser, 1400)
    browser.get("about:blank")
    browser.get(made[0].as_uri())
    yield browser
    assert browser.get_log("browser") == []


def _show(browser: Chrome, width: int, scheme: str = "light", media: str = "") -> None:
    metrics = {"width": width, "height": 900, "deviceScaleFactor": 1, "mobile": width == PHONE}
    browser.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", metrics)
    feature = {"name": "prefers-color-scheme", "value": scheme}
    browser.execute_cdp_cmd("Emulation.setEmulatedMedia", {"media": media, "features": [feature]})


def _find(page: Chrome, selector: str) -> WebElement:
    return page.find_element("css selector", selector)


def _all(page: Chrome, selector: str) -> list[WebElement]:
    return page.find_elements("css selector", selector)


def _number(text: str) -> int:
    return int(text.replace(",", ""))


def _keys(page: Chrome, *keys: str) -> None:
    from selenium.webdriver import ActionChains

    ActionChains(page).send_keys(*keys).perform()


def _peak(folder: Path) -> int:
    """The most bytes that hold something at one time, painted from report.json."""
    network = json.loads((folder / "report.json").read_text(encoding="utf-8"))["networks"][0]
    most = 0
    for at in range(-1, network["positions"] + 1):
        held = bytearray(network["arena_bytes"])
        for b in network["buffers"]:
            if b["first"] <= at <= b["last"]:
                held[b["offset"] : b["offset"] + b["bytes"]] = b"\1" * b["bytes"]
        most = max(most, sum(held))
    return most


def test_the_peak_is_marked_with_its_number(
    page: Chrome, made: tuple[Path, reporting.Reported]
) -> None:
    peak = _peak(made[0].parent / "balanced")
    assert peak > 0
    assert _number(_find(page, "#memory .peak-bytes").text) == peak
    marked = _all(page, "#memory .sums .peak-text")
    assert [_number(text.text) for text in marked] == [peak]
    band, row = (
        _find(page, "#memory .peak-band").rect,
        _find(page, "#memory .names .peak-text").rect,
    )
    assert band["y"] <= row["y"] + row["height"] / 2 <= band["y"] + band["height"]


def test_a_layer_that_is_clicked_opens(page: Chrome, made: tuple[Path, reporting.Reported]) -> None:
    view = next(v for v in made[1].side.networks[0].layers if v.layer.short == "conv_2")
    button = _find(page, "#layer-0-2 button")
    more = _find(page, "#layer-0-2-more")
    assert button.text == "conv_2" and not more.is_displayed()
    button.click()
    assert button.get_attribute("aria-expanded") == "true" and more.is_displayed()
    counted = view.counted
    assert counted is not None and counted.cycles and view.kernels and view.offers
    assert f"{counted.cost:,} instructions for {view.layer.macs:,} MACs" in more.text
    assert f"{counted.cycles:,} cycles without wait states" in more.text
    assert f"{counted.floor:,} cycles for its MACs" in more.text
    for piece in (*view.kernels, *view.constants):
        assert f"{piece.symbol}, {piece.bytes:,} bytes" in more.text
    lost = [row.text for row in more.find_elements("css selector", ".offers tbody tr")]
    assert len(lost) == len(view.offers)
    assert any(text.startswith("CpuRef") and "modelled cycles" in text for text in lost)
    button.click()
    assert not more.is_displayed()


def test_the_rows_are_what_was_counted(page: Chrome, made: tuple[Path, reporting.Reported]) -> None:
    views = made[1].side.networks[0].layers
    head = [cell.text for cell in _all(page, "#layers .layers > thead th")]
    assert head == [
        "#", "layer", "MACs", "instructions", "cycles", "floor", "above it", "ms", "flash",
        "backend", "why",
    ]  # fmt: skip
    for view in views:
        cells = _all(page, f"#layer-0-{view.layer.index} > *")
        counted = view.counted
        assert counted is not None and counted.cycles is not None
        assert _number(cells[3].text) == counted.cost and _number(cells[4].text) == counted.cycles
        assert _number(cells[8].text) == view.flash and cells[9].text == view.layer.backend
        assert cells[10].text == view.why
        if counted.floor:
            assert _number(cells[5].text) == counted.floor == (view.layer.macs + 1) // 2
            assert _number(cells[6].text) == counted.cycles - counted.floor


def test_buffers_are_named_under_the_pointer_and_by_keys(page: Chrome) -> None:
    from selenium.webdriver import ActionChains, Keys

    readout = _find(page, "#memory .readout")
    boxes = _all(page, "#memory .box[role=img]")
    scratch = next(b for b in boxes if "scratch of conv_2" in str(b.get_attribute("aria-label")))
    ActionChains(page).move_to_element(scratch).perform()
    assert re.match(r"scratch: [\d,]+ bytes, [\d,]+ to [\d,]+, at conv_2", readout.text)
    assert [b.get_attribute("tabindex") for b in boxes].count("0") == 1, "one stop for the Tab key"
    page.execute_script("arguments[0].focus()", boxes[0])
    assert "from before to" in readout.text
    for box in boxes[1:]:
        _keys(page, Keys.ARROW_DOWN)
        assert page.switch_to.active_element == box
        assert readout.text == " ".join(str(box.get_attribute("aria-label")).split())
    _keys(page, Keys.ARROW_DOWN)
    assert page.switch_to.active_element == boxes[-1], "the last is the end"
    _keys(page, Keys.HOME)
    assert page.switch_to.active_element == boxes[0]


def test_all_of_it_is_reached_by_the_keyboard(page: Chrome) -> None:
    from selenium.webdriver import Keys

    reached = []
    for _ in range(80):
        _keys(page, Keys.TAB)
        element = page.switch_to.active_element
        reached.append(str(element.get_attribute("aria-controls")))
        if reached[-1] == "layer-0-1-more":
            break
    more = _find(page, "#layer-0-1-more")
    _keys(page, Keys.ENTER)
    assert more.is_displayed()
    _keys(page, Keys.SPACE)
    assert not more.is_displayed()
    style = page.execute_script(
        "const s = getComputedStyle(document.activeElement); return s.outlineStyle + s.outlineWidth"
    )
    assert style == "solid2px", "where the keyboard is can be seen"


def test_a_link_of_a_picture_opens_the_layer(page: Chrome) -> None:
    link = next(a for a in _all(page, "#memory .names a") if a.text == "add_1")
    link.click()
    assert _find(page, "#layer-0-3-more").is_displayed()
    assert page.switch_to.active_element.text == "add_1"


def test_no_name_becomes_more_than_text(
    page: Chrome, made: tuple[Path, reporting.Reported]
) -> None:
    _find(page, "button.all").click()
    assert page.execute_script("return window.attacked") is None
    assert page.execute_script("return document.scripts.length") == 1
    assert _all(page, "img, iframe, object, embed, link, [onload], [onerror], [onfocus]") == []
    shown = " ".join(code.text for code in _all(page, ".detail code"))
    for attack in report_cases.ATTACKS[:-1]:
        assert " ".join(attack.split()) in shown, "names are shown as they are"
    assert all(row.is_displayed() for row in _all(page, ".detail"))
    assert (
        page.title == made[1].side.networks[0].report.name + " on Arm MPS2, image AN386: Cortex-M4F"
    )


def test_a_script_that_got_in_would_not_run(page: Chrome) -> None:
    page.execute_script(
        "const s = document.createElement('script'); s.textContent = 'window.attacked = 2';"
        "document.body.append(s); document.body.setAttribute('onclick', 'window.attacked = 3');"
        "document.body.click()"
    )
    assert page.execute_script("return window.attacked") is None
    refused = page.get_log("browser")
    assert len(refused) == 2 and all("Content Security Policy" in e["message"] for e in refused)


def test_nothing_is_fetched(page: Chrome) -> None:
    assert page.execute_script("return performance.getEntriesByType('resource').length") == 0


@pytest.mark.parametrize("width", [PHONE, 900, 1400])
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_it_is_readable_at_each_width(page: Chrome, width: int, scheme: str) -> None:
    _show(page, width, scheme)
    _find(page, "button.all").click()
    wide, over = page.execute_script(
        "const edge = document.documentElement.clientWidth;"
        "return [document.documentElement.scrollWidth - edge,"
        " [...document.querySelectorAll('body *:not(svg *)')].filter("
        "  e => e.getClientRects().length && e.getBoundingClientRect().right > edge + 1"
        " ).map(e => e.outerHTML.slice(0, 120))]"
    )
    assert wide <= 0 and over == []
    sizes = page.execute_script(
        "return [...document.querySelectorAll('body *')].filter(e => e.getClientRects().length &&"
        " [...e.childNodes].some(n => n.nodeType == 3 && n.data.trim())).map("
        " e => parseFloat(getComputedStyle(e).fontSize))"
    )
    assert min(sizes) >= 11
    assert _contrast(page) >= 4.5


def _contrast(page: Chrome) -> float:
    """The least contrast (WCAG 2.2, 1.4.3) of text of the page's own colours with its paper."""
    colours = page.execute_script(
        "const s = getComputedStyle(document.body);"
        "return ['--paper', '--ink', '--soft', '--faint', '--accent', '--good', '--bad', '--peak']"
        ".map(name => s.getPropertyValue(name).trim())"
    )
    paper, *inks = map(_luminance, colours)
    return min((max(paper, ink) + 0.05) / (min(paper, ink) + 0.05) for ink in inks)


def _luminance(colour: str) -> float:
    parts = [int(colour[i : i + 2], 16) / 255 for i in (1, 3, 5)]
    linear = [p / 12.92 if p <= 0.04045 else ((p + 0.055) / 1.055) ** 2.4 for p in parts]
    return sum(w * p for w, p in zip((0.2126, 0.7152, 0.0722), linear, strict=True))


def test_names_in_boxes_are_whole_or_left_out(page: Chrome) -> None:
    for width in (PHONE, 1400):
        _show(page, width)
        page.execute_script("window.dispatchEvent(new Event('resize'))")
        cut = page.execute_script(
            "return [...document.querySelectorAll('text.fit')].filter(t =>"
            " t.getAttribute('visibility') != 'hidden' && t.getComputedTextLength() + 6 >"
            " t.ownerSVGElement.querySelector('rect').getBoundingClientRect().width"
            ").map(t => t.textContent)"
        )
        assert cut == []


def test_it_prints_on_white(page: Chrome) -> None:
    _show(page, 1400, "dark", media="print")
    paper = page.execute_script("return getComputedStyle(document.body).backgroundColor")
    assert paper == "rgb(255, 255, 255)"
    assert not _find(page, "nav").is_displayed() and _find(page, "#memory .map").is_displayed()
    pdf: Any = page.execute_cdp_cmd("Page.printToPDF", {})
    assert len(pdf["data"]) > 10_000


def test_goals_and_the_other_build_are_compared(
    page: Chrome, made: tuple[Path, reporting.Reported]
) -> None:
    rows = [row.text.split() for row in _all(page, "#goals tbody tr")]
    builds = made[1].front.builds
    assert [row[0] for row in rows] == [b.goal for b in builds]
    for row, build in zip(rows, builds, strict=True):
        assert {f"{build.cycles:,}", f"{build.flash_bytes:,}", f"{build.ram_bytes:,}"} <= set(row)
    assert len(_all(page, "#goals circle.dot")) == 4
    assert len(_all(page, "#goals circle.dot-ring")) == 1
    sizes = [
        json.loads((made[0].parent / goal / "report.json").read_text(encoding="utf-8"))
        for goal in ("balanced", "size")
    ]
    flash = next(row.text for row in _all(page, "#beside .totals tbody tr") if "flash" in row.text)
    this, other = (s["flash_bytes"] for s in sizes)
    assert [f"{this:,}", f"{other:,}", f"+{this - other:,}"] == flash.split()[3:6]
