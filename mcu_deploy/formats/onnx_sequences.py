"""Sequences and optionals that are known when the model is compiled: their elements instead.

What makes a sequence is looked through (SequenceConstruct, SequenceInsert, ...). What takes a
tensor from one, or asks about it, becomes what it gives: SequenceAt the element, ConcatFromSequence
a Concat, SequenceLength a constant. SplitToSequence becomes Slices, SequenceMap its body once for
each element, a Loop that carries sequences its rounds. An output of the model that is a sequence of
n tensors becomes n outputs: its name with _0, _1 and so on. An input becomes as many as are given
shapes under such names, as no file says how long it is. An optional input is always given.
"""

from __future__ import annotations

import copy
import itertools
from collections.abc import Callable, Collection, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import onnx
from onnx import helper, numpy_helper

from mcu_deploy.arithmetic import Array
from mcu_deploy.errors import ModelError
from mcu_deploy.formats.onnx_loops import cuts_by_round, trips
from mcu_deploy.formats.onnx_operators import domain_of, text_of
from mcu_deploy.formats.onnx_subgraphs import (
    put,
    rename,
    static_shapes,
    subgraphs_below,
    subgraphs_of,
)
from mcu_deploy.formats.onnx_types import declared_types

Elements = tuple[str, ...]
Nodes = list[onnx.NodeProto]

# Of a loop that carries sequences: it is written out.
_MOST_ROUNDS = 255


class _Unknown(Exception):
    """Something that a node depends on is not known when the model is compiled."""


def expand_sequences(graph: onnx.GraphProto, opset: int, *, cuts: bool = False) -> bool:
    """Rewrites what reads sequences and optionals that are known; whether there was something.

    The shapes of the graph's tensors are as far inferred as they can be. cuts: loops that cut
    pieces of other sizes in each round are written out, too, as nothing else gives these a shape.
    """
    known = _Known.of(graph, opset, cuts)
    nodes: Nodes = []
    changed = False
    for node in graph.node:
        made = None if domain_of(node.domain) else known.rewritten(node)
        changed = changed or made is not None
        nodes += [node] if made is None else made
    spread = [o for o in graph.output if known.sequences.get(o.name)]
    for output in spread:
        nodes += _spread(graph, output, known.sequences[output.name])
    if changed or spread:
        put(graph.node, nodes)
    return changed or bool(spread)


def take_inputs(graph: onnx.GraphProto, named: Collection[str]) -> None:
    """Makes tensors of the inputs that are sequences or optionals. named: those that are given
    shapes or values, elements of sequences among them. Raises ModelError where a name is taken."""
    for value in graph.output:
        if value.type.HasField("optional_type"):
            value.ClearField("type")  # that of what it is given
    for value in [*graph.input]:
        if value.type.HasField("optional_type"):
            value.type.CopyFrom(copy.deepcopy(value.type.optional_type.elem_type))
        if not value.type.HasField("sequence_type"):
            continue
        every = (f"{value.name}_{k}" for k in itertools.count())
        elements = [*itertools.takewhile(lambda name: text_of(name) in named, every)]
        if elements:
            name, type_ = value.name, copy.deepcopy(value.type.sequence_type.elem_type)
            for element in _in_its_place(graph, graph.input, name, elements):
                element.type.CopyFrom(type_)
                for dim in element.type.tensor_type.shape.dim:
                    dim.ClearField("dim_param")  # is another size in each element
            made = helper.make_node("SequenceConstruct", elements, [name], name)
            put(graph.node, [made, *graph.node])


def _in_its_place(
    graph: onnx.GraphProto, field: Any, sequence: str, names: Sequence[str]
) -> list[onnx.ValueInfoProto]:
    """Puts the elements of a sequence in its place, as inputs or outputs. Raises ModelError where
    the model has one of their names."""
    known = {n.name for n in (*graph.input, *graph.output, *graph.initializer)}
    for name in known.union(*(node.output for node in graph.node)).intersection(names):
        raise ModelError(
            f"{text_of(name)!r} is an element of the sequence {text_of(sequence)!r}, and the "
            "name of a tensor of the model too. Rename that."
        )
    place = [v.name for v in field].index(sequence)
    made = [onnx.ValueInfoProto(name=name) for name in names]
    put(field, [*field[:place], *made, *field[place + 1 :]])
    return [*field[place : place + len(made)]]


def _spread(graph: onnx.GraphProto, output: onnx.ValueInfoProto, elements: Elements) -> Nodes:
    """Makes outputs of the elements of one; the nodes that write them."""
    is_optional = output.type.HasField("optional_type")
    type_ = output.type.optional_type.elem_type if is_optional else output.type
    kind = type_.sequence_type.elem_type.tensor_type.elem_type
    names = [f"{output.name}_{k}" for k in range(len(elements))]
    for info in _in_its_place(graph, graph.output, output.name, names):
        info.type.tensor_type.elem_type = kind
    return [
        helper.make_node("Identity", [element], [name], name)
        for element, name in zip(elements, names, strict=True)
    ]


@dataclass(frozen=True)
class _Known:
    """What is known at a place of the graph. sequences: their elements' tensors, by name.
    tensors: what is neither a sequence nor an optional. absent: optionals without a value."""

    opset: int
    cuts: bool
    constants: Mapping[str, onnx.TensorProto]
    shapes: Mapping[str, Sequence[int]]
    tensors: frozenset[str]
    sequences: dict[str, Elements] = field(default_factory=dict)
    absent: set[str] = field(default_factory=set)
    same: dict[str, str] = field(default_factory=dict)

    @classmethod
    def of(cls, graph: onnx.GraphProto, opset: int, cuts: bool) -> _Known:
        constants = {t.name: t for t in graph.initializer}
        types = declared_types(graph).items()
        tensors = {name for name, type_ in types if type_.HasField("tensor_type")}
        return cls(opset, cuts, constants, static_shapes(graph), frozenset({*tensors, *constants}))

    def rewritten(self, node: onnx.NodeProto) -> Nodes | None:
        """What stands for a node; None where it stays. Learns what it writes."""
        if node.op_type in ("Identity", "Optional"):
            self._hand_on(node)
        with suppress(_Unknown):
            if node.op_type in _MAKERS:
                self.sequences[node.output[0]] = _MAKERS[node.op_type](self, node)
            if node.op_type in _READERS:
                return _READERS[node.op_type](self, node)
        return None

    def _hand_on(self, node: onnx.NodeProto) -> None:
        if not node.input or not node.input[0]:
            self.absent.add(node.output[0])
            return
        (given,), (written,) = node.input, node.output
        if given in self.sequences:
            self.sequences[written] = self.sequences[given]
        if given in self.absent:
            self.absent.add(written)
        self.same[written] = self.same.get(given, given)

    def elements(self, node: onnx.NodeProto) -> Elements:
        """Of the sequence that is a node's first input. Raises _Unknown."""
        given = next(iter(node.input), "")
        name = self.same.get(given, given)
        if name not in self.sequences:
            raise _Unknown
        return self.sequences[name]

    def value(self, node: onnx.NodeProto, place: int) -> Array:
        """Of an input. Raises _Unknown where it is computed."""
        if node.input[place] not in self.constants:
            raise _Unknown
        return numpy_helper.to_array(self.constants[node.input[place]])

    def position(self, node: onnx.NodeProto, place: int, default: int, last: int) -> int:
        """A position in a sequence, from 0 to the last one there may be. Raises _Unknown."""
        at = default
        if len(node.input) > place and node.input[place]:
            at = int(self.value(node, place).reshape(-1)[0])
            at += len(self.elements(node)) if at < 0 else 0
        if not 0 <= at <= last:
            raise _Unknown
        return at


def _insert(known: _Known, node: onnx.NodeProto) -> Elements:
    elements = known.elements(node)
    at = known.position(node, 2, len(elements), len(elements))
    return (*elements[:at], node.input[1], *elements[at:])


def _erase(known: _Known, node: onnx.NodeProto) -> Elements:
    elements = known.elements(node)
    last = len(elements) - 1
    at = known.position(node, 1, last, last)
    return (*elements[:at], *elements[at + 1 :])


_MAKERS: Mapping[str, Callable[[_Known, onnx.NodeProto], Elements]] = {
    "SequenceConstruct": lambda known, node: tuple(node.input),
    "SequenceEmpty": lambda known, node: (),
    "SequenceErase": _erase,
    "SequenceInsert": _insert,
}


def _at(known: _Known, node: onnx.NodeProto) -> Nodes:
    elements = known.elements(node)
    at = known.position(node, 1, -1, len(elements) - 1)
    return [_in_place(node, "Identity", elements[at])]


def _length(known: _Known, node: onnx.NodeProto) -> Nodes:
    return [_constant(node.output[0], np.array(len(known.elements(node)), np.int64))]


def _get(known: _Known, node: onnx.NodeProto) -> Nodes:
    """OptionalGetElement: what the optional was made of."""
    source = known.same.get(node.input[0], node.input[0])
    if source not in known.tensors and source not in known.sequences:
        raise _Unknown
    return [_in_place(node, "Identity", source)]


def _has(known: _Known, node: onnx.NodeProto) -> Nodes:
    """OptionalHasElement: true of all but optionals without a value."""
    name = node.input[0] if node.input else ""
    source = known.same.get(name, name)
    is_there = bool(name) and name not in known.absent
    if is_there and source not in known.tensors and source not in known.sequences:
        raise _Unknown
    return [_constant(node.output[0], np.array(is_there))]


def _concat(known: _Known, node: onnx.NodeProto) -> Nodes:
    elements = known.elements(node)
    attributes = {a.name: a.i for a in node.attribute}
    axis, new_axis = int(attributes["axis"]), attributes.get("new_axis", 0)
    if not elements or (new_axis and not known.shapes.keys() >= {*elements}):
        raise _Unknown
    if not new_axis:
        return [_in_place(node, "Concat", *elements, axis=axis)]
    made, parts = [], [f"{node.output[0]} part {k}" for k in range(len(elements))]
    for element, part in zip(elements, parts, strict=True):
        shape = list(known.shapes[element])
        shape.insert(axis % (len(shape) + 1), 1)
        made += _reshape(element, shape, part)
    return [*made, _in_place(node, "Concat", *parts, axis=axis)]


def _split(known: _Known, node: onnx.NodeProto) -> Nodes:
    """SplitToSequence: by the sizes of the parts, or into parts of one size, the last one less."""
    shape = known.shapes.get(node.input[0])
    named = len(node.input) > 1 and bool(node.input[1])
    split = known.value(node, 1) if named else np.array(1)
    if not shape:
        raise _Unknown
    attributes = {a.name: a.i for a in node.attribute}
    axis = int(attributes.get("axis", 0)) % len(shape)
    sizes = [int(size) for size in split.reshape(-1)]
    if not split.ndim and sizes[0] > 0:
        step, end = sizes[0], shape[axis]
        sizes = [min(step, end - at) for at in range(0, end, step)]
    if sum(sizes) != shape[axis] or min(sizes, default=-1) < 0:
        raise _Unknown
    keeps = named or bool(attributes.get("keepdims", 1))
    made: Nodes = []
    parts = [f"{node.output[0]} part {k}" for k in range(len(sizes))]
    for part, end, size in zip(parts, np.cumsum(sizes), sizes, strict=True):
        cut = part if keeps else f"{part} cut"
        bounds = [f"{part} {side}" for side in ("start", "end", "axis")]
        for bound, value in zip(bounds, (end - size, end, axis), strict=True):
            made.append(_constant(bound, np.array([value], np.int64)))
        made.append(helper.make_node("Slice", [node.input[0], *bounds], [cut], cut))
        if not keeps:
            made += _reshape(cut, [*shape[:axis], *shape[axis + 1 :]], part)
    return [*made, _in_place(node, "SequenceConstruct", *parts)]


def _map(known: _Known, node: onnx.NodeProto) -> Nodes:
    """SequenceMap: the body once for each element."""
    count = len(known.elements(node))
    given = [known.sequences.get(known.same.get(name, name)) for name in node.input]
    for name, elements in zip(node.input, given, strict=True):
        if name not in known.tensors if elements is None else len(elements) != count:
            raise _Unknown
    made: Nodes = []
    written: list[list[str]] = [[] for _ in node.output]
    for k in range(count):
        taken = [
            name if elements is None else elements[k]
            for name, elements in zip(node.input, given, strict=True)
        ]  # fmt: skip
        nodes, results = _round(node, k, taken)
        made += nodes
        for names, result in zip(written, results, strict=True):
            names.append(result)
    for output, names in zip(node.output, written, strict=True):
        made.append(helper.make_node("SequenceConstruct", names, [output], output))
    return made


def _loop(known: _Known, node: onnx.NodeProto) -> Nodes:
    """A Loop that carries sequences or optionals, or that cuts pieces of other sizes in each round:
    its rounds, where it is known how many."""
    states = [*node.input[2:]]
    held = any(not name or known.same.get(name, name) in known.sequences for name in states)
    body = subgraphs_of(node)["body"]
    count = trips(node, body, known.constants, known.opset)
    scans = node.output[len(states) :]
    if count is None or count > _MOST_ROUNDS or (scans and not count):
        raise _Unknown
    if not held and not (known.cuts and cuts_by_round(body, known.constants)):
        raise _Unknown
    again = f"{node.output[0]} again"
    made = [_constant(again, np.array(True))]
    rows: list[list[str]] = [[] for _ in scans]
    for k in range(count):
        counter = f"{node.output[0]} {k}"
        nodes, (_, *results) = _round(node, k, [counter, again, *states])
        made += [_constant(counter, np.array(k, np.int64)), *nodes]
        states = results[: len(states)]
        for parts, result in zip(rows, results[len(states) :], strict=True):
            parts.append(result)
    for state, output in zip(states, node.output, strict=False):
        made.append(helper.make_node("Identity", [state], [output], output))
    for parts, output in zip(rows, scans, strict=True):
        pieces = f"{output} rounds"
        made.append(helper.make_node("SequenceConstruct", parts, [pieces], pieces))
        made.append(
            helper.make_node("ConcatFromSequence", [pieces], [output], output, axis=0, new_axis=1)
        )
    return made


def _round(node: onnx.NodeProto, k: int, given: Sequence[str]) -> tuple[Nodes, list[str]]:
    """The body's nodes once more, under names of round k, and what they make of what is given."""
    body = copy.deepcopy(subgraphs_of(node)["body"])
    scopes = (body, *subgraphs_below(body))
    own = {n for scope in scopes for inner in scope.node for n in inner.output if n}
    own |= {n.name for scope in scopes for n in (*scope.input, *scope.initializer)}
    rename(body, {name: f"{node.output[0]} {k}/{name}" for name in own})
    rename(body, {i.name: name for i, name in zip(body.input, given, strict=True)})
    constants = [_constant(t.name, numpy_helper.to_array(t)) for t in body.initializer]
    return [*constants, *body.node], [output.name for output in body.output]


_READERS: Mapping[str, Callable[[_Known, onnx.NodeProto], Nodes]] = {
    "ConcatFromSequence": _concat,
    "Loop": _loop,
    "OptionalGetElement": _get,
    "OptionalHasElement": _has,
    "SequenceAt": _at,
    "SequenceLength": _length,
    "SequenceMap": _map,
    "SplitToSequence": _split,
}


def _in_place(node: onnx.NodeProto, op: str, *inputs: str, **attributes: Any) -> onnx.NodeProto:
    """A node that writes what another one wrote."""
    return helper.make_node(op, list(inputs), [node.output[0]], node.name, **attributes)


def _constant(name: str, value: Array) -> onnx.NodeProto:
    return helper.make_node("Constant", [], [name], name, value=numpy_helper.from_array(value))


def _reshape(x: str, shape: Sequence[int], name: str) -> Nodes:
    sizes = f"{name} shape"
    made = _constant(sizes, np.array(shape, np.int64))
    return [made, helper.make_node("Reshape", [x, sizes], [name], name)]
