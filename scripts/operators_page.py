#!/usr/bin/env python3
"""Writes docs/operators.md from the code: what `mcu-deploy operators` lists, of the backends that
come with mcu-deploy. `make docs` calls it; tests/unit/test_operators_page.py compares."""

from __future__ import annotations

import textwrap
from collections.abc import Iterator
from pathlib import Path

from mcu_deploy.api.listing import WHAT_QUANTIZED, OperatorRow, operators
from mcu_deploy.backends.registry import Registry

PAGE = Path(__file__).resolve().parent.parent / "docs" / "operators.md"


def text() -> str:
    """The page."""
    return "\n".join(_lines()) + "\n"


def _lines() -> Iterator[str]:
    backends = Registry.builtin()
    found = operators(backends)
    titles = sorted(backends.ids, reverse=True)
    onnx = [row for row in found.rows if not row.operator.startswith("tflite::")]
    own = [row for row in found.rows if row.operator.startswith("tflite::")]
    yield "# Which operators there are"
    yield ""
    yield "<!-- scripts/operators_page.py writes this page, `make docs` calls it. -->"
    yield ""
    yield (
        "`mcu-deploy operators` prints this list, with the backends that you have beside those that"
        " come with\nmcu-deploy. A backend that has an operator need not compute all of its forms: "
        "`build` names each node\nthat nobody computes and the reason, all in one answer, and "
        "`build --explain` says who computes what.\n[arithmetic.md](arithmetic.md) says what each "
        "operator computes, to the bit."
    )
    yield ""
    yield f"{len(onnx)} operators of ONNX, from opset 7 on:"
    yield ""
    yield from _table(onnx, titles)
    yield ""
    yield "Quantized, that is where inputs and outputs have scales:"
    yield ""
    for word, meaning in WHAT_QUANTIZED.items():
        yield f"- *{word}*: {meaning}."
    yield ""
    yield (
        "Beside these, some are resolved when the model is read: Constant, Shape, Size, Dropout "
        "(of a model that\nis exported for inference), Upsample (which is a Resize), what has "
        "constant inputs alone (MelWeightMatrix),\nfunctions that the model brings along, and "
        "sequences and optionals that are made of tensors in the model:\ntheir elements stand for "
        "them, in outputs too; and in inputs,\nwhere "
        "[their shapes are given](pipeline.md#shapes-of-inputs)."
    )
    yield ""
    yield (
        f"{len(found.functions)} more are read as what ONNX defines them to be made of, by the "
        "bodies that the onnx package\nships. A node of a body bears the name of the node that it "
        "was in."
    )
    yield ""
    yield from textwrap.wrap(", ".join(found.functions) + ".", 100)
    yield ""
    yield "## Quantized forms"
    yield ""
    yield (
        "A model may be quantized in the QDQ format, with QuantizeLinear and DequantizeLinear "
        "around operators of\nreal numbers, or in the QOperator format, whose operators are read "
        "as the same:"
    )
    yield ""
    yield from (f"- {name}" for name in found.forms)
    yield ""
    yield "[quantizing.md](quantizing.md) shows how such a model is made."
    yield ""
    yield "## TFLite"
    yield ""
    yield f"{len(found.tflite)} operators are read from TFLite files, in float32, in int8, or both:"
    yield ""
    yield ", ".join(f"`{name}`" for name in found.tflite) + "."
    yield ""
    yield (
        "What only moves elements becomes ONNX's operator, as what is of float32 does. Quantized "
        "arithmetic is\nTFLite-Micro's own, by operators that reports call so:"
    )
    yield ""
    yield from _table(own, titles)


def _table(rows: list[OperatorRow], titles: list[str]) -> Iterator[str]:
    yield f"| operator | {' | '.join(titles)} | quantized |"
    yield f"|---|{'---|' * len(titles)}---|"
    for row in rows:
        marks = ["yes" if title in row.backends else "" for title in titles]
        if not any(marks):
            marks[0] = "the compiler" if row.in_compiler else "when compiled"
        name = row.operator.removeprefix("tflite::")
        yield f"| {name} | {' | '.join(marks)} | {row.quantized} |"


if __name__ == "__main__":
    PAGE.write_text(text(), encoding="utf-8")
