"""Measured costs: the file beside a model, which builds read."""

from __future__ import annotations

import json
import shutil
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from command_line import call

from mcu_deploy import resources
from mcu_deploy.backends import measured
from mcu_deploy.backends.cost import Cost, Costs, Known, Unit
from mcu_deploy.backends.layer import Target
from mcu_deploy.backends.workload import CFunction, Workload
from mcu_deploy.boards import load_board
from mcu_deploy.compiler import compile_model
from mcu_deploy.errors import McuDeployError
from mcu_deploy.memory_timing import AT_ONCE, USUAL_FLASH

KWS = resources.examples() / "kws" / "model.onnx"
ONE = "0" * 63 + "1"
CYCLES = {"value": 400_000, "unit": "cycles", "known": "measured"}
COUNTED = {"value": 300_000, "unit": "instructions", "known": "counted"}


def _write(model: Path, cores: Any, **more: Any) -> Path:
    file = model.with_suffix(".costs.json")
    file.write_text(json.dumps({"format": measured.FORMAT, "cores": cores, **more}))
    return file


def test_the_costs_of_one_core_are_read(tmp_path: Path) -> None:
    model = tmp_path / "my.net.onnx"
    assert measured.beside(model, Target("cortex-m4")) is measured.NOT_MEASURED
    _write(model, {"cortex-m4": {ONE: CYCLES}, "cortex-m3": {ONE: COUNTED, "f" * 64: CYCLES}})
    assert measured.beside(model, Target("cortex-m4")).by_fingerprint == {
        ONE: Cost(400_000, Unit.CYCLES, Known.MEASURED)
    }
    assert measured.beside(model, Target("cortex-m3")).by_fingerprint[ONE] == Cost(
        300_000, Unit.INSTRUCTIONS, Known.COUNTED
    )
    assert measured.beside(model, Target("cortex-m7")).by_fingerprint == {}


def test_counted_costs_are_of_the_memory_that_they_were_counted_with(tmp_path: Path) -> None:
    """A chip's counter knows what it waits, a count for another memory does not."""
    model, file = tmp_path / "net.onnx", tmp_path / "net.costs.json"
    at_once, slow = Target("cortex-m4", memory=AT_ONCE), Target("cortex-m4", memory=USUAL_FLASH)
    slower = Target("cortex-m4", memory=replace(USUAL_FLASH, wait_states=7))
    two = "2" * 64
    _write(model, {"cortex-m4": {ONE: CYCLES, two: {**CYCLES, "known": "counted"}}})
    assert measured.beside(model, at_once).by_fingerprint.keys() == {ONE, two}
    assert measured.beside(model, slow).by_fingerprint.keys() == {ONE}
    counted = {f: Cost(500_000, Unit.CYCLES, Known.COUNTED) for f in (ONE, two)}
    written = measured.beside(model, slow).with_costs(file, slow, counted)
    file.write_bytes(written.content)
    assert measured.beside(model, slow).by_fingerprint == written.by_fingerprint == counted
    assert measured.beside(model, slower).by_fingerprint.keys() == {ONE}
    assert measured.beside(model, at_once).by_fingerprint[two].value == 400_000
    assert list(json.loads(written.content)["cores"]) == [
        "cortex-m4",
        "cortex-m4: 5 wait states, 16 bytes a read, "
        "64 lines of 16 bytes in 64 ways for code (lru), "
        "8 lines of 16 bytes in 8 ways for data (lru), prefetch",
    ]


def _entry(**change: Any) -> dict[str, Any]:
    return {"cortex-m3": {ONE: {**CYCLES, **change}}}


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("", "it is no JSON"),
        ("\xff", "it is no JSON"),
        ("[" * 100_000, "recursion"),
        ("[]", "it is no table"),
        ("{}", r"the keys 'format', \[cores\] are missing"),
        ('{"format": 1, "format": 2}', "'format' stands in it twice"),
        (
            {"format": "mcu-deploy costs 2", "cores": {}},
            "did you mean 'mcu-deploy costs 1'",
        ),
        ({"cores": []}, r"cores must be a table, not \[\]"),
        ({"cores": {"cortex-m3": 5}}, "cores: cortex-m3 must be a table, not 5"),
        ({"cores": {"cortex-m3": {"12": CYCLES}}}, "'12' is no fingerprint"),
        ({"cores": {"cortex-m3": {ONE: 5}}}, f"cores.cortex-m3: {ONE} must be a table"),
        ({"cores": _entry(more=1)}, r"'more' in .* \(known here: value, unit, known\)"),
        ({"cores": _entry(value=True)}, "value must be a whole number, not True"),
        ({"cores": _entry(value=-1)}, f"cores.cortex-m3.{ONE}: value = -1 is out of range"),
        ({"cores": _entry(value=1.5)}, "value must be a whole number, not 1.5"),
        (
            {"cores": _entry(unit="bytes")},
            "unit = 'bytes' is not known; known here: cycles,",
        ),
        ({"cores": _entry(unit=["cycles"])}, r"unit must be a text in quotes, not \['cycles'\]"),
        (
            {"cores": _entry(known="modelled")},
            "known = 'modelled' is not known; known",
        ),
    ],
)
def test_a_damaged_file_is_refused(tmp_path: Path, text: Any, reason: str) -> None:
    file = tmp_path / "net.costs.json"
    if not isinstance(text, str):
        text = json.dumps({"format": measured.FORMAT, **text})
    file.write_bytes(text.encode("latin-1"))
    with pytest.raises(McuDeployError, match=reason) as error:
        measured.beside(tmp_path / "net.onnx", Target("cortex-m4"))
    sentence = str(error.value)
    assert sentence.startswith(f"The measured costs {file} cannot be used: ")
    assert sentence.endswith("or to build with the backends' own estimates.")


def test_a_measured_cost_takes_the_place_of_what_is_modelled() -> None:
    def applied(own: Costs, cost: Cost) -> Costs:
        workload = Workload("Mine", CFunction("f", (), "{}"), costs=own)
        found = measured.MeasuredCosts(by_fingerprint={workload.fingerprint: cost})
        assert found.has(workload) and not found.has(replace(workload, headers=("math.h",)))
        return found.applied(workload).costs

    cycles = Cost(5, Unit.CYCLES, Known.MEASURED)
    few = Cost(5, Unit.INSTRUCTIONS, Known.COUNTED)
    assert applied(Costs(9, 1, 2, 3), cycles) == Costs(9, None, 5, 3, Known.MEASURED)
    assert applied(Costs(9, 1), cycles) == Costs(9, None, 5, None, Known.MEASURED)
    assert applied(Costs(9, 1), few) == Costs(9, 5, None, None, Known.COUNTED)
    # instructions say nothing of cycles
    assert applied(Costs(9, 1, 2, 3), few) == Costs(9, 1, 2, 3)


def _fingerprints(model: Path) -> list[str]:
    network = compile_model(model, load_board("host"))
    return [step.choice.workload.fingerprint for step in network.plan.steps]


@pytest.mark.needs_host_gcc
def test_a_build_says_what_was_measured_and_keeps_it(tmp_path: Path) -> None:
    model = tmp_path / "kws.onnx"
    shutil.copy(KWS, model)
    first, second, *_ = _fingerprints(model)
    plain = compile_model(model, load_board("host")).sources
    file = _write(model, {"host": {first: CYCLES, second: COUNTED, ONE: CYCLES}})
    done = call("build", model, "--board", "host", "-o", "built", "--explain", cwd=tmp_path)
    assert "kws: measured costs of 1 of 12 layers, from kws.costs.json" in done.stdout
    assert "400,000 measured cycles" in done.stdout
    report = json.loads((tmp_path / "built" / "report.json").read_text())
    assert report["networks"][0]["measured_costs"] == {"file": "kws.costs.json", "layers": 1}
    assert report["layers"][0]["fingerprint"] == first
    assert report["layers"][0]["cost"] == CYCLES
    assert report["layers"][1]["cost"]["known"] == "modelled"  # what was counted has another unit
    assert compile_model(model, load_board("host")).sources == plain
    kept = tmp_path / "built" / "obj" / "network_kws.costs.json"
    assert kept.read_bytes() == file.read_bytes()
    file.write_text("{")
    done = call("build", model, "--board", "host", "-o", "again", cwd=tmp_path)
    assert done.returncode == 1 and "kws.costs.json cannot be used: it is no JSON" in done.stderr
