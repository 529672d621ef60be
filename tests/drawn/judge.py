"""Drawn graphs on the host, beside the oracle and onnxruntime: what is wrong with which."""

from __future__ import annotations

import re
import tempfile
import traceback
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import onnx
from drawn import numbers, places, windows
from drawn.graph import Array, Drawing
from operators.lab import (
    Case,
    Compiled,
    build_on_host,
    compile_case,
    relative_error,
    run_built,
    run_onnxruntime,
)
from sanitizers import SANITIZED

from mcu_deploy.api.building import build
from mcu_deploy.api.validating import validate
from mcu_deploy.errors import McuDeployError
from mcu_deploy.files.samples import Samples
from mcu_deploy.ir import DType

# Each family of operators is drawn by its share, and then one of its rules.
_FAMILIES = (*[numbers.RULES] * 4, *[places.RULES] * 3, *[windows.RULES] * 3)
_TRIES = 60
# Of float32 and float64, and of float16: relative to the tensor's largest magnitude.
_NEAR, _NEAR_OF_HALVES = 1e-5, 2e-3


@dataclass(frozen=True)
class Finding:
    """What is wrong with a graph."""

    number: int
    what: str
    model: onnx.ModelProto

    def __str__(self) -> str:
        ops = ", ".join(node.op_type for node in self.model.graph.node)
        return f"graph {self.number} ({ops}): {self.what}"


def draw(number: int) -> Case:
    """The graph of a number, one to seven operators or a few more, with inputs for it."""
    g = Drawing(number)
    wanted = g.int(1, 7)
    tries = 0
    # a graph of no operator is none, however long that takes
    while not g.nodes or (len(g.nodes) < wanted and tries < _TRIES):
        tries += 1
        with g.whole():
            g.one(*g.one(*_FAMILIES))(g)
    model, inputs = g.model()
    return Case(str(number), model, tuple(inputs))


def findings(given: Iterable[int], flags: Sequence[str] = SANITIZED) -> Iterator[Finding]:
    """What is wrong with the graphs of some numbers, which are built as one program."""
    compiled: list[Compiled] = []
    with tempfile.TemporaryDirectory(prefix="drawn-") as name:
        folder = Path(name)
        for number in given:
            case = draw(number)
            try:
                compiled.append(compile_case(case, folder, number))
            except McuDeployError as error:
                yield Finding(number, f"refused: {error}", case.model)
            except Exception:
                yield Finding(number, traceback.format_exc()[-1500:], case.model)
        yield from _wrong(compiled, folder, flags)


def _wrong(compiled: Sequence[Compiled], folder: Path, flags: Sequence[str]) -> Iterator[Finding]:
    """Where all of them do not build or end, each is asked alone."""
    if not compiled:
        return
    try:
        program = build_on_host(compiled, folder, flags)
        found = run_built(program, compiled, [item.case.inputs for item in compiled])
    except AssertionError as error:
        if len(compiled) == 1:
            yield _finding(compiled[0], str(error))
            return
        half = len(compiled) // 2
        yield from _wrong(compiled[:half], folder, flags)
        yield from _wrong(compiled[half:], folder, flags)
        return
    for item, (status, outputs) in zip(compiled, found, strict=True):
        if status:
            yield _finding(item, f"the run ended with {status}")
        elif (what := _apart(item, outputs)) and (verdict := _verdict(item.case, folder)):
            yield _finding(item, f"{what}; {verdict}")


def _finding(item: Compiled, what: str) -> Finding:
    return Finding(int(item.case.name), what, item.case.model)


def _apart(item: Compiled, outputs: Sequence[Array]) -> str:
    """Where the device is not near the oracle and onnxruntime in each output; "" where it is."""
    reference = run_onnxruntime(item.case.model, item.case.inputs, optimise=False)
    for whose, wanted in (("the oracle", item.expected), ("onnxruntime", reference)):
        for edge, ours, theirs in zip(item.case.model.graph.output, outputs, wanted, strict=True):
            if what := _differs(ours, theirs):
                return f"{edge.name} is not {whose}'s: {what}"
    return ""


def _differs(ours: Array, theirs: Array) -> str:
    if ours.dtype != theirs.dtype or ours.shape != theirs.shape:
        return f"{ours.dtype}{ours.shape} for {theirs.dtype}{theirs.shape}"
    type_ = DType.of(theirs.dtype)
    if type_.wide.is_float:
        try:
            error = relative_error(ours, theirs)
        except AssertionError as error_:
            return str(error_)
        near = _NEAR_OF_HALVES if type_.bits == 16 else _NEAR
        return "" if error <= near else f"relative error {error:g}"
    count = np.count_nonzero(ours != theirs)
    return f"{count} of {ours.size} integers" if count else ""


def _verdict(case: Case, folder: Path) -> str:
    """What `validate` says, which asks the layers where outputs are farther apart than rounding
    in one of them explains (docs/arithmetic.md, "Agreement"); "" where it passes."""
    path = folder / f"graph_{case.name}.onnx"
    onnx.save(case.model, path)
    samples = Samples((case.inputs,), "the drawing")
    try:
        found = validate(build(path, "host", folder / f"build_{case.name}"), samples)
    except McuDeployError as error:
        return str(error)
    return "" if found.passed else re.sub(r"\s*\n\s*", "; ", str(found))
