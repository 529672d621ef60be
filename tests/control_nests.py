"""Random nests of If, Loop and Scan over vectors of three."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
import onnx
from control_cases import BOOL, FLOAT, INT, graph_of, node
from onnx import helper
from operators.control_models import OPSETS, number, random
from operators.lab import Array

SHAPE = [3]
Draw = Callable[[int, int], int]  # a number from the first to the second, both included


class Nest:
    """Makes graphs of vectors of three, of which each reads what is there around it."""

    def __init__(self, draw: Draw) -> None:
        self.draw = draw
        self.count = 0

    def name(self, stem: str) -> str:
        self.count += 1
        return f"{stem}{self.count}"

    def pick(self, known: Sequence[str]) -> str:
        return known[self.draw(0, len(known) - 1)]

    def nodes(self, known: list[str], depth: int) -> list[onnx.NodeProto]:
        """Some nodes; what they compute is added to `known`."""
        made = []
        for _ in range(self.draw(1, 3)):
            kind = self.draw(0, 7 if depth else 4)
            makers = {5: self.branch, 6: self.loop, 7: self.scan}
            make = makers.get(kind)
            made += [self.plain(known, kind)] if make is None else make(known, depth - 1)
        return made

    def plain(self, known: list[str], kind: int) -> onnx.NodeProto:
        result = self.name("t")
        operators = [("Add", 2), ("Neg", 1), ("Relu", 1), ("Identity", 1), ("Sub", 2)]
        op, arity = operators[kind]
        inputs = [self.pick(known) for _ in range(arity)]
        known.append(result)
        return helper.make_node(op, inputs, [result])

    def results(self, known: list[str], count: int) -> tuple[list[onnx.NodeProto], list[str]]:
        """Outputs of a graph: any values, those from outside too, under names of their own."""
        names = [self.name("r") for _ in range(count)]
        return [helper.make_node("Identity", [self.pick(known)], [n]) for n in names], names

    def branch(self, known: list[str], depth: int) -> list[onnx.NodeProto]:
        outputs = [self.name("if") for _ in range(self.draw(1, 2))]
        branches = []
        for _ in range(2):
            inside = list(known)
            nodes = self.nodes(inside, depth)
            copies, names = self.results(inside, len(outputs))
            types = dict.fromkeys(names, (FLOAT, SHAPE))
            branches.append(graph_of([*nodes, *copies], {}, types, name=self.name("branch")))
        sign, total = self.name("sign"), self.name("sum")
        chosen = self.pick(known)
        known += outputs
        return [
            node("ReduceSum", chosen, total, keepdims=0),
            node("Greater", f"{total} zero", sign),
            helper.make_node(
                "If", [sign], outputs, then_branch=branches[0], else_branch=branches[1]
            ),
        ]

    def loop(self, known: list[str], depth: int) -> list[onnx.NodeProto]:
        states = [self.name("s") for _ in range(self.draw(1, 3))]
        i, go, more = self.name("i"), self.name("go"), self.name("more")
        inside = [*known, *states]
        nodes = self.nodes(inside, depth)
        copies, names = self.results(inside, len(states))
        body = graph_of(
            [node("Identity", go, more), *nodes, *copies],
            {i: (INT, []), go: (BOOL, []), **dict.fromkeys(states, (FLOAT, SHAPE))},
            {more: (BOOL, []), **dict.fromkeys(names, (FLOAT, SHAPE))},
            name=self.name("body"),
        )
        outputs = [self.name("loop") for _ in states]
        inputs = [self.pick(["none", "three"]), "", *(self.pick(known) for _ in states)]
        known += outputs
        return [helper.make_node("Loop", inputs, outputs, body=body)]

    def scan(self, known: list[str], depth: int) -> list[onnx.NodeProto]:
        """Over a matrix of outside; the sum of what it collects goes on."""
        state, element = self.name("s"), self.name("e")
        inside = [*known, state, element]
        nodes = self.nodes(inside, depth)
        copies, (after, row) = self.results(inside, 2)
        types = {state: (FLOAT, SHAPE), element: (FLOAT, SHAPE)}
        body = graph_of(
            [*nodes, *copies], types, {after: (FLOAT, SHAPE), row: (FLOAT, SHAPE)},
            name=self.name("body"),
        )  # fmt: skip
        final, rows, summed = self.name("scan"), self.name("rows"), self.name("t")
        axes = {"scan_input_axes": [self.draw(0, 1)]}
        axes["scan_output_axes"] = [self.draw(0, 1)]
        axes["scan_input_directions"] = [self.draw(0, 1)]
        made = helper.make_node(
            "Scan", [self.pick(known), "square"], [final, rows], body=body, num_scan_inputs=1,
            **axes,
        )  # fmt: skip
        known += [final, summed]
        return [made, node("ReduceSum", f"{rows} first", summed, keepdims=0)]


def nest_of(draw: Draw) -> onnx.ModelProto:
    """A model whose inputs are x, y and square; some may be gone."""
    nest = Nest(draw)
    known = ["x", "y"]
    nodes = [*nest.nodes(known, 2), *nest.branch(known, 1), *nest.loop(known, 1)]
    copies, outputs = nest.results(known[2:], 2)
    graph = graph_of(
        [*nodes, *copies],
        {"x": (FLOAT, SHAPE), "y": (FLOAT, SHAPE), "square": (FLOAT, [3, 3])},
        dict.fromkeys(outputs, (FLOAT, SHAPE)),
        {"zero": np.float32(0), "first": np.array([0]), "none": number(0), "three": number(3)},
    )
    return helper.make_model(graph, opset_imports=OPSETS, ir_version=8)


def inputs_of(names: Sequence[str]) -> tuple[Array, ...]:
    values = {"x": random(1, 3), "y": random(2, 3), "square": random(3, 3, 3)}
    return tuple(values[name] for name in names)
