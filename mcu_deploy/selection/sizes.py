"""Workloads for any size up to a bound, made of those for some sizes.

A network whose size a run decides is compiled for its bound, and for some smaller sizes. What the
kernels of a layer have in common is its code; the numbers in which they differ become formulas of
the size, which the function gets as one more argument. A layer whose kernels differ in anything
else is refused by its name: so what is generated is, at the sizes that were compared, what a
compile for that size alone generates.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Protocol, TypeVar

import numpy as np

from mcu_deploy.backends.interface import (
    Argument,
    CFunction,
    Constant,
    InPlace,
    Layer,
    Parameter,
    Role,
    Workload,
)
from mcu_deploy.errors import ModelError, UnsupportedError, UsageError, shorten
from mcu_deploy.ir import EdgeId, Graph
from mcu_deploy.options import Options
from mcu_deploy.selection.choices import Choice, Chosen, Selection
from mcu_deploy.selection.formulas import SIZE, Formula, Size, SizedExtent, fit

# Whole numbers in C, alone or as a float literal, with a sign that is none of an operation; not
# parts of words or of other numbers.
_NUMBER = re.compile(
    r"(?<![\w.])((?:(?<=[<>=,?:*/+] )-|(?<=[(\[])-)?\d+)(\.0F|\.0|ULL|LL|U|)(?![\w.])"
)
_BYTES = re.compile(r"\bmem(?:cpy|move|set)\([^;]*$")
_ARRAY = re.compile(r"^\s*(?:static |const )*[a-z]\w* \**\w+\[[^;=]*$")
_CASTS = {".0F": "(float)", ".0": "(double)", "U": "(uint32_t)", "LL": "(int64_t)",
          "ULL": "(uint64_t)", "": ""}  # fmt: skip


@dataclass(frozen=True)
class Sized:
    """A network at one size, and what computes it. imported: the model as it was read."""

    imported: Graph
    graph: Graph
    selection: Selection
    inputs: tuple[EdgeId, ...]
    outputs: tuple[EdgeId, ...]
    states: tuple[EdgeId, ...]

    @property
    def edges(self) -> tuple[EdgeId, ...]:
        """The inputs, then the outputs."""
        return (*self.inputs, *self.outputs)


class _Differs(Exception):
    """Why kernels have no code in common, as a clause."""


# Who has kernels for any size: portable C, of which every number is seen.
_BACKEND = "CpuRef"
# How many sizes beside one another are compared, for strides up to half as many less one, and how
# many of the smallest.
_WINDOW = 9
_SMALLEST = 2


class _Read(Protocol):
    @property
    def imported(self) -> Graph: ...


Read = TypeVar("Read", bound=_Read)


def for_bound(options: Options) -> Options:
    """The options of a network whose runs decide a size: the same where there is none."""
    if options.bound is None:
        return options
    return replace(options, backends=options.backends or (_BACKEND,))


def require_possible(options: Options) -> None:
    """Raises UsageError where a bound meets what knows no sizes."""
    asked = {
        "--partition": bool(options.requests.partitions),
        "--split": options.half is not None,
        "--schedule": options.schedule != "sequential",
    }
    wrong = next((flag for flag, is_there in asked.items() if is_there), None)
    if wrong is not None:
        raise UsageError(
            f"--shape with a bound and {wrong} do not go together: the size is known where a whole "
            "run begins. Leave one of them out."
        )


def smaller(bound: int, largest: Graph, read: Callable[[int], Read]) -> dict[int, Read]:
    """The model at the sizes that are compared with the bound, and at the least one that it has.

    The largest ones beside one another tell strides apart; the smallest ones are where kernels like
    to be different. largest: the model at the bound. read: raises ModelError for a size that the
    model does not have, such as one below a kernel's.
    """
    found: dict[int, Read] = {}
    few = 0
    for size in range(1, bound):
        if few == _SMALLEST and size != bound // 2 and size <= bound - _WINDOW:
            continue
        try:
            at = read(size)
        except ModelError:
            if found:
                raise
            continue
        is_alike = not _has_new_ones(at.imported, largest)
        if is_alike or not found:
            found[size] = at
            few = min(few + is_alike, _SMALLEST)
    if not found:
        raise ModelError(
            f"The model has no size below {bound}, so --shape cannot give that as a bound. Give it "
            "as a number."
        )
    return found


def _has_new_ones(graph: Graph, largest: Graph) -> bool:
    """Whether a tensor has an extent of 1 that at the bound is larger: there kernels leave out the
    loop over it, and passes whole layers."""
    known = {largest.edge_name(e): largest.type(e).shape for n in largest.nodes for e in n.writes}
    known |= {largest.edge_name(e): largest.type(e).shape for e in largest.inputs}
    for edge in (*graph.inputs, *(e for n in graph.nodes for e in n.writes)):
        pairs = zip(graph.type(edge).shape, known.get(graph.edge_name(edge), ()), strict=False)
        if any(small == 1 != large for small, large in pairs):
            return True
    return False


def joined(bound: int, largest: Sized, others: Mapping[int, Sized]) -> Selection:
    """The selection of the largest size, with workloads for all sizes. Raises UnsupportedError with
    the name of a layer that has none."""
    alike = {n: at for n, at in others.items() if not _has_new_ones(at.imported, largest.imported)}
    sized = {**alike, bound: largest}
    _require_same_layers(sized)
    choices = []
    for index, choice in enumerate(largest.selection.choices):
        found = {size: at.selection.choices[index] for size, at in sized.items()}
        try:
            workload = _joined(
                {size: c.workload for size, c in found.items() if isinstance(c, Choice)}
            )
        except _Differs as why:
            raise _refusal(choice.layer, str(why)) from None
        choices.append(Choice(choice.layer, workload))
    size = _size({**others, bound: largest})
    return replace(largest.selection, choices=tuple(choices), size=size)


def _size(sized: Mapping[int, Sized]) -> Size:
    """How inputs and outputs follow the size. Raises UnsupportedError for one that does so in a way
    that cannot be said."""
    least, most = min(sized), max(sized)
    largest = sized[most]
    extents: list[SizedExtent] = []
    for number, edge in enumerate(largest.edges):
        shapes = {n: at.graph.type(at.edges[number]).shape for n, at in sized.items()}
        name = shorten(largest.graph.edge_name(edge))
        if len({len(shape) for shape in shapes.values()}) > 1:
            raise UnsupportedError(
                f"The tensor {name!r} has {len(shapes[most])} axes, and at the size {least} "
                f"{len(shapes[least])}, so that no run can decide the size. Name the axes of its "
                "Squeeze in the model, or build for one size."
            )
        for axis in range(len(shapes[most])):
            formula = fit({n: shape[axis] for n, shape in shapes.items()})
            if formula is None or formula.square:
                raise UnsupportedError(
                    f"The extent of the tensor {name!r} along axis {axis} follows from the size "
                    "that a run decides in a way that is not computed. Build for one size."
                )
            if not formula.is_constant:
                extents.append(SizedExtent(number, axis, formula))
    _require_static_states(sized)
    given = [e for e in extents if e.tensor < len(largest.inputs) and e.formula == Formula(1)]
    if not given:
        raise UnsupportedError(
            "No input of the network has the size that --shape bounds: nothing depends on it. Give "
            "a number for it."
        )
    return Size(least, most, given[0].tensor, given[0].axis, tuple(extents))


def _require_static_states(sized: Mapping[int, Sized]) -> None:
    largest = sized[max(sized)]
    for number, edge in enumerate(largest.states):
        if len({at.graph.type(at.states[number]).shape for at in sized.values()}) > 1:
            raise UnsupportedError(
                f"The state {shorten(largest.graph.edge_name(edge))!r} has the size that a run "
                "decides, and would be another one in the next run. Build for one size."
            )


def _require_same_layers(sized: Mapping[int, Sized]) -> None:
    most = sized[max(sized)]
    for size, at in sized.items():
        for choice in at.selection.choices:
            if not isinstance(choice, Choice):
                raise _refusal(choice.layer, "it has graphs inside of it")
        pairs = zip(most.selection.choices, at.selection.choices, strict=False)
        for one, other in pairs:
            if _what(one) != _what(other):
                raise _refusal(
                    one.layer, f"at the size {size} there is the {_called(other.layer)} instead"
                )
        if len(at.selection.choices) != len(most.selection.choices):
            raise UnsupportedError(
                f"The network has {len(most.selection.choices)} layers, and at the size {size} "
                f"{len(at.selection.choices)}, so --shape cannot give a bound. Build for one size."
            )


def _what(choice: Chosen) -> tuple[str, str, str]:
    return choice.layer.domain, choice.layer.op, choice.layer.name


def _called(layer: Layer) -> str:
    return f"{layer.op} {shorten(layer.name)!r}"


def _refusal(layer: Layer, why: str) -> UnsupportedError:
    return UnsupportedError(
        f"The {_called(layer)} cannot run for any size up to the bound: {why}. Build for one size, "
        "or change this layer in the model."
    )


# ---- Workloads ----


def _joined(workloads: Mapping[int, Workload]) -> Workload:
    most = workloads[max(workloads)]
    function = most.function
    if function is None or any(w.function is None for w in workloads.values()):
        if any(w.function is not None for w in workloads.values()):
            raise _Differs("it moves its elements at some sizes only")
        return most
    if len({(w.helpers, w.headers, w.arguments) for w in workloads.values()}) > 1:
        raise _Differs("it calls other functions at other sizes")
    constants = _constants({size: w.constants for size, w in workloads.items()})
    bodies = {s: w.function.body for s, w in workloads.items() if w.function is not None}
    body = _body(bodies)
    common = replace(most, constants=constants, in_place=tuple(_in_place(workloads)))
    scratch = max(w.scratch_bytes for w in workloads.values())
    if scratch > most.scratch_bytes:
        raise _Differs("at a smaller size it needs more memory")
    if body == function.body:
        return common
    return replace(
        common,
        function=_with_size(function, body),
        arguments=(*most.arguments, Argument(Role.SIZE)),
    )


def _with_size(function: CFunction, body: str) -> CFunction:
    if function.naked:
        raise _Differs("its kernel is in assembly; --backend CpuRef has it in C")
    if re.search(rf"\b{SIZE}\b", function.body):
        raise _Differs(f"its kernel has a variable {SIZE!r} of its own")
    return replace(
        function, body=body, parameters=(*function.parameters, Parameter("int32_t", SIZE))
    )


def _in_place(workloads: Mapping[int, Workload]) -> Iterator[InPlace]:
    """What is true of the largest size, as far as it is true of the others."""
    for fact in workloads[max(workloads)].in_place:
        if all(any(_implies(fact, other) for other in w.in_place) for w in workloads.values()):
            yield fact


def _implies(fact: InPlace, other: InPlace) -> bool:
    same = (fact.input, fact.output, fact.exactly) == (other.input, other.output, other.exactly)
    return same and other.distance <= fact.distance


def _constants(found: Mapping[int, tuple[Constant, ...]]) -> tuple[Constant, ...]:
    """Those of the largest size, where the others' are their beginnings."""
    most = found[max(found)]
    for constants in found.values():
        if len(constants) != len(most):
            raise _Differs("it has other constants at other sizes")
        for one, other in zip(most, constants, strict=True):
            whole, part = one.value.reshape(-1), other.value.reshape(-1)
            if one.stem != other.stem or whole.dtype != part.dtype:
                raise _Differs("it has other constants at other sizes")
            begin = whole[: part.size]
            if begin.tobytes() != np.ascontiguousarray(part).tobytes():
                raise _Differs(
                    f"its constant {one.stem!r} depends on the size; what the model computes of "
                    "the size alone is computed when it is compiled"
                )
    return most


def _body(bodies: Mapping[int, str]) -> str:
    """The text that all have in common, with formulas where they have other numbers."""
    if len(set(bodies.values())) == 1:
        return next(iter(bodies.values()))
    parts = {size: _NUMBER.split(body) for size, body in bodies.items()}
    most = parts[max(parts)]
    for size, other in parts.items():
        same = len(other) == len(most) and all(
            a == b for k, (a, b) in enumerate(zip(most, other, strict=True)) if k % 3 != 1
        )
        if not same:
            raise _Differs(f"at the size {size} its code is another one")
    text = ""
    for k in range(0, len(most) - 1, 3):
        text += most[k]
        values = {size: int(other[k + 1]) for size, other in parts.items()}
        text += _number(values, most[k + 1], most[k + 2], text)
    return text + most[-1]


def _number(values: Mapping[int, int], literal: str, suffix: str, before: str) -> str:
    """C for a number of which these are the values."""
    formula = fit(values)
    if formula is None:
        raise _Differs(f"a number in its code ({_listed(values)}) follows no formula")
    if formula.is_constant:
        return literal + suffix
    line = before.rpartition("\n")[2]
    if _ARRAY.match(line):
        raise _Differs("it has an array on the stack that grows with the size")
    cast = "(size_t)" if _BYTES.search(line) else _CASTS[suffix]
    return f"{cast}{formula}"


def _listed(values: Mapping[int, int]) -> str:
    return ", ".join(f"{value} at {size}" for size, value in sorted(values.items())[-3:])
