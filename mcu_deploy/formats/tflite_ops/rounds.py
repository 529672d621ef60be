"""What a WHILE does whose number of rounds is known, as TensorFlow's converter writes a loop over
time.

Its states are counters, values that no round changes, lists of which each round writes the element
of its number, and what goes from round to round. The converter knows no operator that writes one
element: a list is joined anew from what is in front of the element, the element, and the rest
(TensorListSetItem in TensorFlow's lower_static_tensor_list.cc).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

import numpy as np
import tflite

from mcu_deploy.formats.tflite_operation import Operation, Subgraph, TfliteTensor
from mcu_deploy.ir import DType


@dataclass(frozen=True)
class CountedRounds:
    """trips: how many rounds there are, one at least. By the number of a state: what the counters
    are in the first round, where each is one more in the next; which states stay as they are; the
    element, of size 1 along the first axis, that a round writes into a list, of as many elements as
    there are rounds. body: what a round does besides."""

    trips: int
    counters: Mapping[int, int]
    constant: frozenset[int]
    lists: Mapping[int, TfliteTensor]
    body: Subgraph


def counted(operation: Operation) -> CountedRounds | None:
    """What a WHILE with a known number of rounds does; None of any other."""
    ask, body = operation.subgraphs
    counters = dict(_counters(operation.given, _Operations(body)))
    limits = _limits(_Operations(ask))
    if not limits or any(place not in counters for place, _ in limits):
        return None
    trips = min(limit - counters[place] for place, limit in limits)
    if trips < 1:
        return None
    constant = frozenset(
        place
        for place, (before, after) in enumerate(zip(body.inputs, body.outputs, strict=True))
        if before.index == after.index
    )
    lists, left = _lists(_Operations(body), trips, [p for p, n in counters.items() if n == 0])
    return CountedRounds(trips, counters, constant, lists, left)


class _Operations:
    """A subgraph, and which of its operations writes a tensor."""

    def __init__(self, subgraph: Subgraph) -> None:
        self.subgraph = subgraph
        self._writers = {t.index: op for op in subgraph.operations for t in op.outputs}

    def writer(self, tensor: TfliteTensor | None, kind: str) -> Operation | None:
        """The operation of a kind that writes a tensor, all of whose inputs are there."""
        found = None if tensor is None else self._writers.get(tensor.index)
        return found if found and found.kind == kind and None not in found.inputs else None

    def is_next(self, after: TfliteTensor, before: TfliteTensor) -> bool:
        """Whether a tensor is one more than another."""
        add = self.writer(after, "ADD")
        if add is None or add.options(tflite.AddOptions).FusedActivationFunction():
            return False
        read = {t.index for t in add.given}
        return before.index in read and any(_is_all(t, 1) for t in add.given)

    def bound(self, tensor: TfliteTensor, rest: int) -> TfliteTensor | None:
        """The computed number of which a bound begins that is `rest` along all other axes."""
        join = self.writer(tensor, "CONCATENATION")
        if join is None or len(join.inputs) != 2 or not _is_all(join.input(1), rest):
            return None
        reshape = self.writer(join.input(0), "RESHAPE")
        return None if reshape is None else reshape.input(0)


def _counters(given: tuple[TfliteTensor, ...], body: _Operations) -> Iterator[tuple[int, int]]:
    states = zip(given, body.subgraph.inputs, body.subgraph.outputs, strict=True)
    for place, (first, before, after) in enumerate(states):
        is_whole = first.type.dtype in (DType.INT32, DType.INT64) and not first.type.rank
        if is_whole and first.value is not None and body.is_next(after, before):
            yield place, int(first.value)


def _limits(ask: _Operations) -> list[tuple[int, int]] | None:
    """The states that must all lie below a number, as a condition says, by their places; None where
    it says something else."""
    places = {tensor.index: place for place, tensor in enumerate(ask.subgraph.inputs)}
    limits: list[tuple[int, int]] = []
    conditions, seen = [ask.subgraph.outputs[0]], set[int]()
    while conditions:
        condition = conditions.pop()
        if condition.index in seen:
            continue
        seen.add(condition.index)
        if both := ask.writer(condition, "LOGICAL_AND"):
            conditions += both.given
            continue
        less = ask.writer(condition, "LESS")
        if less is None or less.input(0).index not in places or less.input(1).value is None:
            return None
        limits.append((places[less.input(0).index], less.number(1)))
    return limits


def _lists(
    body: _Operations, trips: int, counters: list[int]
) -> tuple[dict[int, TfliteTensor], Subgraph]:
    """The lists' elements, and the body without what joins them."""
    lists: dict[int, TfliteTensor] = {}
    gone: list[Operation] = []
    subgraph = body.subgraph
    for place, whole in enumerate(subgraph.inputs):
        join = body.writer(subgraph.outputs[place], "CONCATENATION")
        if join is None or whole.type.shape[:1] != (trips,):
            continue
        parts = _parts(body, join, whole, [subgraph.inputs[p] for p in counters])
        if parts and _readers(subgraph, whole) == len(parts):
            lists[place] = join.input(1)
            gone += [join, *parts]
    kept = tuple(op for op in subgraph.operations if all(op is not other for other in gone))
    return lists, Subgraph(subgraph.name, subgraph.inputs, subgraph.outputs, kept)


def _parts(
    body: _Operations, join: Operation, whole: TfliteTensor, counters: list[TfliteTensor]
) -> tuple[Operation, ...]:
    """The two SLICEs of a list between which a join puts the element of a counter's number; none
    where it does something else."""
    options = join.options(tflite.ConcatenationOptions)
    if len(join.inputs) != 3 or options.Axis() or options.FusedActivationFunction():
        return ()
    front, back = (body.writer(join.input(k), "SLICE") for k in (0, 2))
    if not (front and back and front.input(0).index == back.input(0).index == whole.index):
        return ()
    number, after = body.bound(front.input(2), -1), body.bound(back.input(1), 0)
    is_one = join.input(1).type.shape == (1, *whole.type.shape[1:])
    if not (is_one and number and after and _is_all(front.input(1), 0)):
        return ()
    is_counted = any(number.index == counter.index for counter in counters)
    if is_counted and body.is_next(after, number) and _is_all(back.input(2), -1):
        return front, back
    return ()


def _is_all(tensor: TfliteTensor, number: int) -> bool:
    return tensor.value is not None and bool(np.all(tensor.value == number))


def _readers(subgraph: Subgraph, tensor: TfliteTensor) -> int:
    """How often operations read a tensor, or the subgraph hands it on."""
    read = [t for op in subgraph.operations for t in op.inputs if t is not None]
    return sum(t.index == tensor.index for t in (*read, *subgraph.outputs))
