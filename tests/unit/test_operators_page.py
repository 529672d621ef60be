"""docs/operators.md, `mcu-deploy operators` and its JSON say what the code has."""

from __future__ import annotations

import importlib.util
import json
from pathlib import Path

from command_line import call

from mcu_deploy.api.listing import BY_TFLITE, MOVED, NATIVE, NOT, REAL, operators
from mcu_deploy.backends.registry import Registry

REPOSITORY = Path(__file__).resolve().parents[2]


def test_the_page_is_what_the_code_has() -> None:
    path = REPOSITORY / "scripts" / "operators_page.py"
    spec = importlib.util.spec_from_file_location("operators_page", path)
    assert spec is not None and spec.loader is not None
    script = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(script)
    assert script.PAGE.read_text(encoding="utf-8") == script.text(), (
        "docs/operators.md is out of date: scripts/operators_page.py (or `make docs`) renews it"
    )
    of_onnx, _, of_tflite = script.text().partition("## TFLite")
    assert "\n| ai.onnx.ml::TreeEnsemble |" in of_onnx, "it has a domain, and is no TFLite's"
    assert "::" not in of_tflite
    for page in ("README.md", "docs/index.md"):
        assert "operators.md)" in (REPOSITORY / page).read_text(encoding="utf-8")


def test_each_operator_has_who_computes_it_and_how() -> None:
    found = operators(Registry.builtin())
    rows = {row.operator: row for row in found.rows}
    assert {rows[name].quantized for name in ("Conv", "Add", "Reshape", "And", "tflite::Add")} == {
        NATIVE, REAL, MOVED, NOT, BY_TFLITE,
    }  # fmt: skip
    assert rows["Conv"].backends == ("ArmDsp", "ArmMul", "ArmMve", "CpuRef")
    assert [row.operator for row in found.rows if row.in_compiler] == ["If", "Loop", "Scan"]
    assert all(row.backends or row.in_compiler for row in found.rows)
    assert "CONV_2D" in found.tflite and "QLinearConv" in found.forms
    assert "RMSNormalization" in found.functions and "Softmax" not in found.functions


def test_the_command_lists_the_same() -> None:
    listed = json.loads(call("operators", "--json").stdout)
    found = operators(Registry.builtin())
    assert [row["operator"] for row in listed["operators"]] == [r.operator for r in found.rows]
    assert listed["tflite"] == list(found.tflite)
    assert listed["functions"] == list(found.functions)
    shown = call("operators").stdout
    assert "Conv " in shown and "CONV_2D" in shown and "QLinearConv" in shown
