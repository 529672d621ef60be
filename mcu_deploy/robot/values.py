"""What tests give as values, and whether outputs are as expected."""

from __future__ import annotations

import ast
import math
import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from mcu_deploy.agreement.made_up import random_samples
from mcu_deploy.agreement.rules import BITS, SHARE, STEP, Rule, rules
from mcu_deploy.agreement.runs import run_oracle
from mcu_deploy.compiled import Network
from mcu_deploy.errors import RequestError, one_line, shorten
from mcu_deploy.files.arrays import Array, ArrayFile
from mcu_deploy.files.given import is_file, why_no_file
from mcu_deploy.files.samples import Samples, load_samples
from mcu_deploy.ir import EdgeId

ORACLE, RANDOM = "oracle", "random"
_FILES = (".npz", ".npy")
_OUTPUT = re.compile("out[0-9]{1,9}", re.ASCII)


def samples_of(given: Any, network: Network, count: int | None) -> Samples:
    """Inputs for a network: a file of samples, `random`, or the numbers of its only input.

    count: the first samples only, or how many made-up ones (4 without it). Raises RequestError,
    also where there are not so many."""
    if count is not None and count < 1:
        raise RequestError(f"samples={count} makes no sense: give 1 or more, or leave it out.")
    if isinstance(given, (str, Path)):
        text = str(given).strip()
        if text == RANDOM:
            return random_samples(network.graph, count or 4, edges=network.inputs)
        if text.endswith(_FILES):
            return _first(load_samples(text, network.graph, network.inputs), count)
    if len(network.inputs) != 1:
        raise RequestError(
            f"The network {network.name!r} has {len(network.inputs)} inputs; give an .npz with "
            "in0, in1, ..."
        )
    value = _numbers(given, network, network.inputs[0], "input")
    return _first(Samples(((value,),), "the test"), count)


def _first(samples: Samples, count: int | None) -> Samples:
    if count is not None and count > len(samples):
        raise RequestError(
            f"{count} samples were asked for, and {samples.origin} has {len(samples)}; give "
            f"samples={len(samples)} or fewer, or leave it out for all."
        )
    return samples.first(count)


def expected_of(given: Any, network: Network, samples: Samples) -> list[list[Array]]:
    """What outputs should be, [sample][output]: of the oracle, of an .npz with out0, out1, ...
    whose first axis is the sample, or the numbers of the only output of one sample."""
    if isinstance(given, (str, Path)):
        text = str(given).strip()
        if text == ORACLE:
            found = run_oracle(network, samples)
            return [[values[edge] for edge in network.outputs] for values in found]
        if text.endswith(_FILES):
            return _from_file(Path(text), network, len(samples))
    if len(network.outputs) != 1 or len(samples) != 1:
        raise RequestError(
            f"{len(samples)} samples ran, and the network {network.name!r} has "
            f"{len(network.outputs)} outputs: numbers are for one output of one sample; give "
            "an .npz with out0, out1, ..., or `oracle`."
        )
    return [[_numbers(given, network, network.outputs[0], "output")]]


def _from_file(file: Path, network: Network, count: int) -> list[list[Array]]:
    if not is_file(file):
        raise RequestError(f"The file of expected outputs {file} {why_no_file(file)}.")
    arrays = ArrayFile(file)
    outputs = len(network.outputs)
    if any(_OUTPUT.fullmatch(n) and int(n[3:]) >= outputs for n in arrays.names or ()):
        raise RequestError(
            f"{file} has more outputs than the {outputs} of the network {network.name!r}; it holds "
            f"{one_line(', '.join(arrays.names or ()), 200)}."
        )
    stacked = []
    for number, edge in enumerate(network.outputs):
        name = "" if arrays.names is None else f"out{number}"
        if arrays.names is not None and name not in arrays.names:
            raise RequestError(f"{file} has no array {name}; name the outputs out0, out1, ...")
        value = arrays.read(name)
        shape = network.graph.type(edge).shape
        if count == 1 and value.shape == shape:
            value = value.reshape(1, *shape)
        if value.shape != (count, *shape):
            raise RequestError(
                f"{file} has an array of shape {list(value.shape)} for output {number}; {count} "
                f"samples ran, so it must be [{count}, {', '.join(map(str, shape))}]."
            )
        stacked.append(value)
    return [[value[sample] for value in stacked] for sample in range(count)]


def _numbers(given: Any, network: Network, edge: EdgeId, what: str) -> Array:
    """A list of numbers, or the text of one, in the shape and type of a tensor."""
    type_ = network.graph.type(edge)
    if isinstance(given, str):
        try:
            given = ast.literal_eval(given)
        except (ValueError, SyntaxError, MemoryError, RecursionError):
            raise RequestError(
                f"{shorten(given)!r} is neither a file (.npz, .npy) nor a list of numbers, such as "
                "[1, 2, 3]."
            ) from None
    try:
        value = np.asarray(given)
        if value.dtype.kind not in "biuf" or value.size != type_.elements:
            raise ValueError
    except ValueError:
        raise RequestError(
            f"The {what} of {network.name!r} has {type_.elements} numbers, of shape "
            f"{list(type_.shape)}; other values were given."
        ) from None
    wanted = value.astype(type_.dtype.numpy)
    if not type_.dtype.is_float and not np.array_equal(wanted, value):
        raise RequestError(
            f"The {what} of {network.name!r} is {type_.dtype.value}, and not all of the numbers "
            "given are; quantized tensors are given as integers."
        )
    return wanted.reshape(type_.shape)


def difference(
    network: Network,
    where: str,
    outputs: Sequence[Sequence[Array]],
    expected: Sequence[Sequence[Array]],
    tolerance: float | None,
) -> str | None:
    """The first value that is not as expected, as a sentence; None where all are.

    tolerance: the largest difference that is allowed; without one that of docs/arithmetic.md."""
    if tolerance is not None and not 0 <= tolerance < math.inf:
        raise RequestError(
            f"tolerance={tolerance:g} makes no sense: give the largest difference that is allowed, "
            "0 or more."
        )
    known = rules(network.graph)
    for sample, (ours, theirs) in enumerate(zip(outputs, expected, strict=True)):
        for number, edge in enumerate(network.outputs):
            rule = known.get(edge, Rule(BITS)) if tolerance is None else Rule(STEP, tolerance)
            a, b = ours[number], theirs[number]
            broken = rule.broken(a, b)
            if not broken.any():
                continue
            first = tuple(int(i) for i in np.argwhere(broken)[0])
            apart = np.abs(a.astype(np.float64) - b.astype(np.float64))[broken]
            count = int(broken.sum())
            return (
                f"{network.name} on {where}, sample {sample}, output {number} "
                f"({shorten(network.graph.edge_name(edge))!r}): value {list(first)} is "
                f"{a[first]:.9g}, expected {b[first]:.9g} (allowed: {_allowed(rule, tolerance)}); "
                f"{count} of {a.size} values differ, by up to {float(apart.max()):.9g}"
            )
    return None


def _allowed(rule: Rule, tolerance: float | None) -> str:
    if tolerance is not None:
        return f"a difference of {tolerance:g}"
    return f"{rule} of the tensor" if rule.kind == SHARE else str(rule)


def seconds(given: float, name: str) -> float:
    """A time-out. RequestError for what is none."""
    if not 0 < given < math.inf:
        raise RequestError(f"{name}={given:g} makes no sense: give seconds, more than 0.")
    return given
