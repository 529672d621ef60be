"""The options of `build` that say who computes what, `--explain`, and `mcu-deploy backends`."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner, Result

from mcu_deploy.cli import create_app
from mcu_deploy.errors import McuDeployError

pytestmark = pytest.mark.needs_host_gcc


def call(*arguments: object) -> Result:
    return CliRunner().invoke(create_app(), [str(a) for a in arguments])


def built(kws_dir: Path, tmp_path: Path, *options: object) -> Result:
    model = kws_dir / "model.onnx"
    return call("build", model, "--board", "host", "-o", tmp_path / "b", "--name", "k", *options)


@pytest.fixture(scope="module")
def rows(kws_dir: Path, tmp_path_factory: pytest.TempPathFactory) -> list[dict[str, Any]]:
    """What a build without other options explains, a row for each node."""
    result = built(kws_dir, tmp_path_factory.mktemp("explained"), "--explain", "--json")
    assert result.exit_code == 0, result.output
    content = json.loads(result.stdout)
    goals = [(b["goal"], b["is_asked"]) for b in content["front"]["builds"]]
    assert goals == [("speed", False), ("balanced", True), ("size", False), ("ram", False)]
    found: list[dict[str, Any]] = content["explain"]
    return found


def test_explain_says_it_of_every_node(rows: list[dict[str, Any]]) -> None:
    assert [r["step"] for r in rows if r["step"] is not None] == list(range(12))
    assert {r["op"] for r in rows if r["step"] is None} == {"Reshape"}
    conv = next(r for r in rows if r["op"] == "Conv")
    assert (conv["backend"], conv["chosen_by"], conv["group"]) == ("CpuRef", "cost", 0)
    assert [c["backend"] for c in conv["candidates"]] == ["CpuRef"]
    assert conv["candidates"][0]["layout"] == "channels last"
    assert conv["candidates"][0]["cost"]["value"] > conv["candidates"][0]["macs"] > 0
    assert len(conv["nodes"]) > 5, "what was fused into it"
    inserted = [r for r in rows if r["chosen_by"] == "inserted"]
    assert all(r["op"] in ("Reorder", "Identity") and not r["candidates"] for r in inserted)


@pytest.mark.matrix
def test_explain_for_people_names_backend_and_cost(kws_dir: Path, tmp_path: Path) -> None:
    result = built(kws_dir, tmp_path, "--explain", "--strategy", "cost")
    assert result.exit_code == 0, result.output
    lines = [line for line in result.stdout.splitlines() if " Conv " in line]
    assert len(lines) == 9
    assert all("CpuRef" in line and " cost " in line for line in lines)


@pytest.mark.parametrize(
    ("options", "code", "text"),
    [
        (["--layer-backend", "nonsense"], 2, "is not of the form LAYER=ID"),
        (["--layer-backend", "x=Nobody"], 2, "There is no backend 'Nobody'"),
        (["--layer-backend", "x=CpuRef"], 1, "the model has no layer 'x'"),
        (["--layer-backend", "x=CpuRef", "--layer-backend", "x=B"], 2, "'x' twice"),
        (["--backend-option", "Only=1"], 2, "is not of the form ID.NAME=VALUE"),
        (["--strategy", "best"], 2, "best is not known; it is one of auto, cost, greedy"),
        (["--backend", "Nobody"], 2, "`mcu-deploy backends` lists what was found"),
        (["--dynamic-backends", "/x", "--no-dynamic-backends"], 2, "contradict each other"),
    ],
)
def test_mistakes_end_in_a_sentence(
    kws_dir: Path, tmp_path: Path, options: list[str], code: int, text: str
) -> None:
    result = built(kws_dir, tmp_path, *options)
    error = result.exception
    assert isinstance(error, McuDeployError), result.output
    assert error.exit_code == code
    assert text in str(error)
    assert not (tmp_path / "b").exists()


def test_an_override_by_a_source_nodes_name(
    rows: list[dict[str, Any]], kws_dir: Path, tmp_path: Path
) -> None:
    name = next(r for r in rows if r["op"] == "Conv")["nodes"][0]
    result = built(kws_dir, tmp_path, "--layer-backend", f"{name}=CpuRef", "--explain", "--json")
    assert result.exit_code == 0, result.exception
    row = next(r for r in json.loads(result.stdout)["explain"] if name in r["nodes"])
    assert row["chosen_by"] == "--layer-backend"


def test_backends_lists_what_there_is(tmp_path: Path) -> None:
    (tmp_path / "Vendor_Broken_backend.so").write_text("no shared object")
    (tmp_path / "Vendor_Broken.so").write_text("another name")
    result = call("backends", "--dynamic-backends", tmp_path, "--json")
    assert result.exit_code == 0, result.exception
    found = json.loads(result.stdout)
    (row,) = (b for b in found["backends"] if b["id"] == "CpuRef")
    assert (row["id"], row["version"], row["rank"], row["cores"]) == ("CpuRef", "1.2", 1000, [])
    assert "Conv" in row["operators"]
    assert row["origin"] == "mcu-deploy"
    skipped = {Path(s["origin"]).name: s["reason"] for s in found["skipped"]}
    assert set(skipped) == {"Vendor_Broken_backend.so", "Vendor_Broken.so"}
    assert "file too short" in skipped["Vendor_Broken_backend.so"]
    assert found["warnings"] == []
    people = call("backends", "--dynamic-backends", tmp_path)
    assert "CpuRef" in people.stdout
    assert "Vendor_Broken_backend.so" in people.stdout


def test_backends_shows_paths_that_make_no_sense(tmp_path: Path) -> None:
    result = call("backends", "--dynamic-backends", "relative/path", "--json")
    assert result.exit_code == 0, result.exception
    (warning,) = json.loads(result.stdout)["warnings"]
    assert "relative/path" in warning
    assert "absolute" in warning
