"""A build as a page: what is on it, in a file that holds no more than text of ours."""

from __future__ import annotations

import base64
import hashlib
import itertools
import json
import re
import shutil
import subprocess
from collections.abc import Iterator
from html.parser import HTMLParser
from pathlib import Path
from typing import NoReturn

import onnx
import pytest
import report_cases
from branchy import residual
from command_line import call
from pmx_cases import small_model

import mcu_deploy
from mcu_deploy.api import building, reporting
from mcu_deploy.api.fronts import GOALS
from mcu_deploy.errors import RequestError, UsageError
from mcu_deploy.options import Options
from mcu_deploy.report.front import Front, GoalBuild, compared
from mcu_deploy.report.page.comparing import Difference
from mcu_deploy.report.page.scatter import scatter

pytestmark = pytest.mark.needs_host_gcc

_VOID = {"meta", "rect", "line", "path", "circle"}


class Read(HTMLParser):
    """A page's tags with their attributes; texts by the tag that they stand in."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.texts: dict[str, str] = {}
        self.open: list[str] = []
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        assert len(dict(attrs)) == len(attrs)
        self.tags.append((tag, dict(attrs)))
        if tag not in _VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        if self.open:
            self.texts[self.open[-1]] = self.texts.get(self.open[-1], "") + data

    def values(self, name: str) -> list[str]:
        return [v for _, attributes in self.tags if (v := attributes.get(name)) is not None]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    made = tmp_path_factory.mktemp("page")
    report_cases.build(made, "balanced", "host")
    report_cases.build(made, "size", "host")
    return made


@pytest.fixture(scope="module")
def reported(folder: Path) -> reporting.Reported:
    return reporting.make_report(folder / "balanced", compare_with=folder / "size")


@pytest.fixture(scope="module")
def page(reported: reporting.Reported) -> Read:
    return Read(reported.html)


def test_names_that_are_attacks_stay_text(reported: reporting.Reported, page: Read) -> None:
    assert page.open == [], "each tag is closed"
    assert {tag for tag, _ in page.tags} <= {
        "html", "head", "meta", "title", "style", "body", "div", "header", "h1", "h2", "h3", "h4",
        "p", "span", "nav", "a", "dl", "dt", "dd", "b", "small", "section", "svg", "rect", "text",
        "tspan", "line", "path", "g", "figure", "figcaption", "table", "thead", "tbody", "tfoot",
        "tr", "th", "td", "button", "details", "summary", "ul", "li", "code", "footer", "script",
        "circle",
    }  # fmt: skip
    assert [tag for tag, _ in page.tags].count("script") == 1
    attributes = {name for _, found in page.tags for name in found}
    assert not {a for a in attributes if a.startswith("on") or a in ("style", "src", "autofocus")}
    assert "window.attacked" not in page.texts["script"] and "attacked" not in page.texts["style"]
    assert "window.attacked = 1" in page.texts["code"], "the names are shown all the same"
    assert "{{ 7 * 7 }}" in page.texts["code"]
    assert "\u202e" not in reported.html and "\0" not in reported.html
    assert "\\u202e" in page.texts["code"]


def test_nothing_is_loaded_and_only_our_script_runs(
    reported: reporting.Reported, page: Read
) -> None:
    (policy,) = (v for v in page.values("content") if v.startswith("default-src"))
    rules = dict(rule.strip().split(" ", 1) for rule in policy.split(";"))
    assert rules["default-src"] == "'none'"
    for kind in ("style", "script"):
        raw = reported.html.split(f"<{kind}>")[1].split(f"</{kind}>")[0]
        digest = base64.b64encode(hashlib.sha256(raw.encode()).digest()).decode()
        assert rules[f"{kind}-src"] == f"'sha256-{digest}'"
    assert not re.search(r"(?:src|href)=\"(?!#)", reported.html)
    assert "url(" not in page.texts["style"] and "@import" not in page.texts["style"]


def test_what_is_pointed_to_is_there(page: Read) -> None:
    ids = page.values("id")
    assert len(ids) == len(set(ids))
    targets = {h.removeprefix("#") for h in page.values("href")} | set(page.values("aria-controls"))
    assert targets and targets <= set(ids)


def test_the_same_build_gives_the_same_page(folder: Path, reported: reporting.Reported) -> None:
    again = reporting.make_report(folder / "balanced", compare_with=folder / "size")
    assert again.html == reported.html


def test_the_figures_are_those_of_the_report(reported: reporting.Reported, page: Read) -> None:
    report = reported.folder.report
    shown = re.findall(r'<b id="(\w+)">([\d,]+)</b>', reported.html)
    assert dict(shown) == {
        "flash": f"{report.flash_bytes:,}", "ram": f"{report.ram_bytes:,}",
        "stack": f"{report.stack_bytes:,}", "macs": f"{report.macs:,}",
    }  # fmt: skip
    for text in (
        "No inference was counted: Nothing counts instructions on the host",
        "1 of 7 layers of net, which is quantized, compute real numbers",
        "the model has it in float: there is no QuantizeLinear behind it",
        "20 nodes of the model became 7 layers",
    ):
        assert text in reported.html


def test_all_nodes_of_the_model_are_in_the_graph(
    folder: Path, reported: reporting.Reported
) -> None:
    picture = reported.side.networks[0].fusion
    assert picture is not None
    model = onnx.load(folder / report_cases.FILE)
    assert picture.before == len(picture.nodes) == len(model.graph.node)
    assert {n.name for n in picture.nodes} == {n.name for n in model.graph.node}
    assert sorted(n.row for n in picture.nodes) == sorted({n.row for n in picture.nodes})
    ends = [(g.row, g.row + g.rows) for g in picture.groups]
    assert all(one[1] == two[0] for one, two in itertools.pairwise(ends))
    layers = [g for g in picture.groups if g.kind == "layer"]
    assert [g.layer for g in layers] == [layer.index for layer in reported.folder.report.layers]
    for group, layer in zip(layers, reported.folder.report.layers, strict=True):
        inside = {n.name for n in picture.nodes if group.row <= n.row < group.row + group.rows}
        assert inside <= set(layer.nodes), layer.short


def test_kernels_and_constants_are_what_the_object_has(reported: reporting.Reported) -> None:
    folder = reported.folder.directory
    lines = subprocess.run(
        ["nm", "-S", folder / "network_net.o"], capture_output=True, text=True, check=True
    ).stdout.splitlines()
    sizes = {f[3]: int(f[1], 16) for line in lines if len(f := line.split()) == 4}
    network = reported.folder.networks[0]
    assert network.kernels and network.constants
    for symbol in (*network.kernels, *network.constants):
        copies = [s for n, s in sizes.items() if n.partition(".")[0] == symbol.symbol]
        assert symbol.bytes == sum(copies) > 0
    assert {i for k in network.kernels for i in k.layers} == {x.index for x in network.layers}
    assert sum(network.flash_parts.values()) == network.flash_bytes
    for layer in network.layers:
        own = sum(c.bytes for c in network.constants if layer.index in c.layers)
        assert own == layer.constant_bytes, layer.short
    every = sum(s.bytes for s in (*network.kernels, *network.constants))
    assert reported.side.networks[0].layer_flash == every < network.flash_bytes


def test_all_that_could_have_computed_a_layer_is_named(reported: reporting.Reported) -> None:
    views = {v.layer.short: v for v in reported.side.networks[0].layers}
    assert all(v.why for v in views.values())
    assert views["input_1_reorder"].why == "converts between memory orders"


def test_a_notebook_shows_pictures_without_a_script(folder: Path) -> None:
    built = report_cases.build(folder, "balanced", "host")
    html = Read(built._repr_html_())
    assert html.open == [] and "script" not in {tag for tag, _ in html.tags}
    assert not html.values("id")
    assert {"svg", "table"} <= {tag for tag, _ in html.tags}
    assert f"in {built.directory}" in html.texts["p"]
    assert "conv_2" in html.texts["text"] and "conv_2" in html.texts["th"]
    assert Read(built.report._repr_html_()).texts["text"] == html.texts["text"]


def _variants(folder: Path) -> Iterator[tuple[str, mcu_deploy.Build, tuple[str, ...]]]:
    path = folder / "residual.onnx"
    path.write_bytes(residual().SerializeToString())
    managed = Options(memory="bestfit")
    yield "managed", mcu_deploy.build(path, "host", folder / "m", options=managed), (
        "buffers without a fixed place", "the memory manager",
    )  # fmt: skip
    both = mcu_deploy.build([path, path], "host", folder / "two", name=["a", "b"])
    yield "two", both, ("<h3>a</h3>", "<h3>b</h3>", "layer-1-0")
    mcu_deploy.optimize_model(path, "host", folder / "r.pmx")
    yield "pmx", mcu_deploy.build(folder / "r.pmx", "host", folder / "p"), (
        "A .pmx file holds what was chosen", "own edges are not in a .pmx file",
    )  # fmt: skip
    whole = mcu_deploy.build(small_model(folder), "host", folder / "f")
    yield "float", whole, ("is not a quantized model",)


def test_builds_of_all_kinds_have_a_page(tmp_path: Path) -> None:
    for kind, built, texts in _variants(tmp_path):
        made = reporting.make_report(built)
        assert Read(made.html).open == [], kind
        for text in texts:
            assert text in made.html, kind


# ---- Goals ----


def goal(name: str, cycles: int | None, flash: int, ram: int, refusal: str = "") -> GoalBuild:
    return GoalBuild(name, cycles, None, flash, ram, ram, refusal=refusal)


def test_the_front_is_what_nothing_else_beats() -> None:
    found = compared(
        [
            goal("speed", 10, 90, 50), goal("balanced", 12, 90, 50), goal("size", 99, 20, 50),
            goal("ram", 0, 0, 0, "it does not fit"),
        ]
    )  # fmt: skip
    assert [b.beaten_by for b in found] == ["", "speed", "", ""]
    assert [b.on_front for b in found] == [True, False, True, False]
    alike = compared([goal("speed", 10, 90, 50), goal("ram", 10, 90, 50)])
    assert all(b.on_front for b in alike), "neither is better"
    assert "beaten by speed" in str(Front("modelled", found).table())
    assert "it does not fit" in str(Front("modelled", found).table())


def test_goals_that_lie_together_share_a_label() -> None:
    builds = [goal("speed", 1000, 200, 1), goal("ram", 1001, 200, 1), goal("size", 9000, 100, 1)]
    picture = scatter(Front("modelled", compared(builds)))
    assert picture is not None
    assert {label.text for label in picture.labels} == {"speed, ram", "size"}
    fast, _, small = picture.points
    assert fast.x > small.x and fast.y > small.y, "flash to the right, cycles upward"
    assert scatter(Front("modelled", compared(builds[:1]))) is None
    assert scatter(Front("modelled", compared([goal("speed", None, 1, 1)]))) is None


def test_a_label_leaves_the_point_beside_it_to_be_seen() -> None:
    """Both are in the right half, whose labels stand to the left where nothing is in their way."""
    builds = [
        goal("speed", 1000, 300, 1), goal("balanced", 1010, 280, 1), goal("size", 9000, 100, 1),
    ]  # fmt: skip
    picture = scatter(Front("modelled", compared(builds)))
    assert picture is not None
    places = {label.text: label.is_left for label in picture.labels}
    assert places == {"speed": False, "balanced": True, "size": False}
    one = scatter(Front("modelled", compared([builds[0], goal("ram", 1005, 295, 1), builds[2]])))
    assert one is not None
    shared = next(label for label in one.labels if label.text == "speed, ram")
    assert shared.is_left and shared.x == min(p.x for p in one.points if p.x > 50)
    far = scatter(Front("modelled", compared([builds[0], builds[2]])))
    assert far is not None
    assert {label.text: label.is_left for label in far.labels} == {"speed": True, "size": False}


def test_labels_of_goals_do_not_lie_on_each_other_on_a_phone() -> None:
    """Those of a depthwise network: to the right of one point, to the left of the next."""
    figures = [("speed", 202192, 35180), ("balanced", 210489, 28292), ("size", 648675, 22324)]
    builds = [*(goal(name, cycles, flash, 1) for name, cycles, flash in figures),
              goal("ram", 244387, 34776, 1)]  # fmt: skip
    picture = scatter(Front("modelled", compared(builds)))
    assert picture is not None
    labels = {label.text: label for label in picture.labels}
    left, right = labels["balanced"], labels["speed, ram"]
    assert right.is_left and not left.is_left
    letters = 7 * (len(left.text) + len(right.text)) + 2 * 14
    assert (right.x - left.x) / 100 * 288 < letters, "they do not fit beside each other"
    assert abs(right.y - left.y) >= 15
    wide = [builds[0], builds[2]]
    picture = scatter(Front("modelled", compared(wide)))
    assert picture is not None
    points = [(p.x, p.y) for p in picture.points]
    assert all((label.x, label.y) in points for label in picture.labels), "none is moved in vain"


def test_the_goals_are_real_builds(folder: Path, reported: reporting.Reported) -> None:
    found = {b.goal: b for b in reported.front.builds}
    size = json.loads((folder / "size" / "report.json").read_text(encoding="utf-8"))
    assert found["size"].flash_bytes == size["flash_bytes"]
    assert found["size"].ram_bytes == size["ram_bytes"]
    assert found["balanced"].is_asked and list(found) == ["speed", "balanced", "size", "ram"]
    (row,) = (row for row in reported.front.table().rows if "this build" in row[-1])
    assert row[0] == "balanced"


def test_goals_that_choose_the_same_are_built_once(
    folder: Path, reported: reporting.Reported, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refused(*_: object) -> NoReturn:
        raise AssertionError("it is built again")

    monkeypatch.setattr(building, "write", refused)
    builds = reporting.make_report(folder / "balanced").front.builds
    assert builds == reported.front.builds
    assert {(b.goal, b.flash_bytes) for b in builds} == {(g, builds[1].flash_bytes) for g in GOALS}


# ---- Beside another build ----


def test_a_difference_has_a_sign_and_a_share() -> None:
    less = Difference("flash", 90, 120)
    assert (less.change, less.percent) == (-30, -25.0)
    assert Difference("flash", None, 120).change is None
    assert Difference("flash", 5, 0).percent is None


def test_builds_stand_beside_each_other(reported: reporting.Reported) -> None:
    comparison = reported.comparison
    assert comparison is not None
    (pair,) = comparison.networks
    assert {layer.where for layer in pair.layers} == {"both"} and len(pair.layers) == 7
    flash = next(t for t in comparison.totals if t.what == "flash")
    assert flash.this == reported.folder.report.flash_bytes
    assert flash.other == comparison.other.report.flash_bytes
    assert "<h2>Beside size</h2>" in reported.html
    scales = {a.scale for side in (pair.this, pair.other) for a in side.arenas}
    assert len(scales) == 1, "both pictures have one scale"


# ---- The command ----


def test_the_command_writes_one_file(folder: Path, tmp_path: Path) -> None:
    done = call("report", folder / "balanced", "--html", tmp_path / "r.html", "--json")
    assert done.returncode == 0, done.stderr
    told = json.loads(done.stdout)
    assert told["front"]["builds"][0]["goal"] == "speed" and told["model"] == "net"
    assert [p.name for p in tmp_path.iterdir()] == ["r.html"]
    assert (tmp_path / "r.html").read_text(encoding="utf-8").startswith("<!doctype html>")


@pytest.mark.parametrize(
    ("key", "value"),
    [("last", 10**12), ("first", 5), ("offset", -1), ("bytes", 10**400), ("pool", "elsewhere")],
)
def test_a_report_that_was_changed_is_refused(
    folder: Path, tmp_path: Path, key: str, value: object
) -> None:
    shutil.copytree(folder / "size", tmp_path / "size")
    file = tmp_path / "size" / "report.json"
    changed = json.loads(file.read_text(encoding="utf-8"))
    changed["networks"][0]["buffers"][0][key] = value
    file.write_text(json.dumps(changed), encoding="utf-8")
    with pytest.raises(RequestError, match=r"does not fit together.*Build again"):
        reporting.make_report(tmp_path / "size")


def test_refusals_are_sentences(folder: Path, tmp_path: Path) -> None:
    with pytest.raises(RequestError, match="cannot stand beside itself"):
        reporting.make_report(folder / "size", compare_with=folder / "size")
    with pytest.raises(RequestError, match="is no build folder"):
        reporting.make_report(tmp_path)
    with pytest.raises(UsageError, match="is a folder; give the name of a file"):
        reporting.write_report(folder / "size", tmp_path)
    with pytest.raises(UsageError):
        reporting.write_report(folder / "size", folder / "size" / "report.json")
