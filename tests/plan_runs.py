"""Runs a plan in a memory of bytes: what the generated C does, by the oracle's arithmetic."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mcu_deploy.interpreter import run_node
from mcu_deploy.ir import EdgeId, Graph
from mcu_deploy.ir.nested import flat, graphs_within
from mcu_deploy.plan import Copy, Plan, Step
from mcu_deploy.plan.control import Branch, Count, Element, Repeat, blocks

Array = NDArray[Any]


class PlanRun:
    """A memory of one pool, and the program that works on it."""

    def __init__(self, graph: Graph, plan: Plan) -> None:
        self.plan, self.graph = plan, flat(graph)
        self.owners = {n.id: g for g in graphs_within(graph) for n in g.nodes}
        self.memory = np.full(plan.bytes, 0xA5, np.uint8)
        self.blocks = blocks(plan.program)
        self.rounds: dict[int, int] = {}

    def run(self, inputs: Sequence[Array]) -> list[Array]:
        for edge, value in zip(self.graph.inputs, inputs, strict=True):
            self.write(edge, value)
        self._do(0, len(self.plan.program))
        return [self.read(edge) for edge in self.graph.outputs]

    def bytes_of(self, edge: EdgeId) -> NDArray[np.uint8]:
        """Where an edge lies; a copy for a constant."""
        value = self.graph.constant(edge)
        if value is not None:
            return np.frombuffer(np.ascontiguousarray(value).tobytes(), np.uint8)
        start = self.plan.offset(edge)
        return self.memory[start : start + self.plan.tensors[edge].bytes]

    def read(self, edge: EdgeId) -> Array:
        type_ = self.graph.type(edge)
        memory = np.frombuffer(self.bytes_of(edge).tobytes(), type_.dtype.numpy)
        return type_.from_memory(memory)

    def write(self, edge: EdgeId, value: Array) -> None:
        type_ = self.graph.type(edge)
        raw = np.ascontiguousarray(type_.to_memory(value)).tobytes()
        self.bytes_of(edge)[:] = np.frombuffer(raw, np.uint8)

    def _do(self, begin: int, end: int) -> None:
        position = begin
        while position < end:
            block = self.blocks.get(position)
            item = self.plan.program[position]
            if block is None:
                self._plain(item)
                position += 1
                continue
            if isinstance(item, Branch):
                assert block.otherwise is not None
                holds = self.bytes_of(item.condition)[0] != 0
                way = (position + 1, block.otherwise) if holds else (block.otherwise + 1, block.end)
                self._do(*way)
            else:
                assert isinstance(item, Repeat)
                self._repeat(item, position + 1, block.end)
            position = block.end + 1

    def _repeat(self, item: Repeat, begin: int, end: int) -> None:
        most = item.most
        if item.trips is not None:
            most = int(self.read(item.trips).reshape(-1)[0])
        done = 0
        while (most is None or done < most) and (
            item.condition is None or self.bytes_of(item.condition)[0] != 0
        ):
            assert done != item.exactly, "a round too many"
            self.rounds[item.node] = done
            self._do(begin, end)
            done += 1
        assert item.exactly in (None, done), "a round too few"

    def _plain(self, item: object) -> None:
        if isinstance(item, Step):
            self._step(item)
        elif isinstance(item, Copy):
            self.bytes_of(item.target)[:] = self.bytes_of(item.source)
        elif isinstance(item, Count):
            self.write(item.edge, np.array(self.rounds[item.node], np.int64))
        else:
            assert isinstance(item, Element)
            index = self.rounds[item.node]
            index = item.count - 1 - index if item.backwards else index
            whole = self.bytes_of(item.whole).reshape(item.pieces, item.count, item.bytes)
            element = self.bytes_of(item.element).reshape(item.pieces, item.bytes)
            if item.into:
                whole[:, index] = element
            else:
                element[:] = whole[:, index]

    def _step(self, step: Step) -> None:
        layer = step.choice.layer
        values = {
            o.edge: self.read(o.edge) if o.constant is None else o.constant
            for o in layer.inputs
            if o is not None
        }
        results = run_node(self.owners[layer.node.id], layer.node, values)
        if step.scratch is not None:
            start = self.plan.places[step.scratch].offset  # type: ignore[union-attr]
            size = self.plan.buffers[step.scratch].bytes
            self.memory[start : start + size] = 0x5A
        for operand, value in zip(layer.outputs, results, strict=True):
            self.write(operand.edge, value)
