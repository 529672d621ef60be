"""Runs kernels of a compiled network on the interpreter, layer by layer, as C would call them."""

from __future__ import annotations

import functools
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import onnx
from any_order import any_order

from mcu_deploy.backends.interface import CFunction, InPlace, Role
from mcu_deploy.backends.isa.instruction import Item, parsed
from mcu_deploy.backends.isa.interpreter import Data, Fault, Program, call
from mcu_deploy.backends.isa.operands import Label
from mcu_deploy.boards import load_board
from mcu_deploy.compiler import compile_model
from mcu_deploy.interpreter import run_all
from mcu_deploy.ir import EdgeId, Graph, TensorType
from mcu_deploy.options import Options
from mcu_deploy.selection import Choice

_STRING = re.compile(r'^\s*"(.*)\\n"', re.MULTILINE)
_INPUT, _OUTPUT, _SCRATCH, _CONSTANT = 0x2000_0000, 0x2800_0000, 0x3000_0000, 0x0800_0000
_APART = 0x10_0000
_POISON = 0xA5
_QUICKEST = Options(backends=("ArmDsp", "CpuRef"), optimize_for="speed")


def items_of(function: CFunction) -> list[Item]:
    """The instructions that the compiler is given: those of the text."""
    found: list[Item] = []
    for line in _STRING.findall(function.body):
        text = line.strip()
        if text.startswith("."):
            continue
        found.append(Label(text[:-1]) if text.endswith(":") else parsed(text))
    return found


@dataclass(frozen=True)
class Run:
    """A layer that is one kernel: its workload and the values around it, as they lie in memory."""

    choice: Choice
    inputs: tuple[bytes, ...]
    output: bytes

    @property
    def name(self) -> str:
        function = self.choice.workload.function
        assert function is not None
        return f"{self.choice.layer.name} ({function.stem})"

    @functools.cached_property
    def _program(self) -> Program:
        function = self.choice.workload.function
        assert function is not None
        return Program(items_of(function))

    def result(self, place: InPlace | None = None, nearer: int = 0) -> bytes:
        """The output. place: with the input so far from the output, or the scratch, as this allows,
        and so many bytes nearer. Fault: the kernel touches what is not its own."""
        workload = self.choice.workload
        memory = Data()
        at = {Role.OUTPUT: _OUTPUT, Role.SCRATCH: _SCRATCH}
        sizes = {Role.OUTPUT: len(self.output), Role.SCRATCH: workload.scratch_bytes}
        inputs = [_INPUT + n * _APART for n in range(len(self.inputs))]
        shared: set[Role] = set()
        held: bytearray | None = None
        if place is not None:
            role = Role.OUTPUT if place.output is not None else Role.SCRATCH
            data, size = self.inputs[place.input], sizes[role]
            # The input begins so far behind what it shares memory with: at whole words, as the
            # planner places them.
            behind = -(-place.distance // 4) * 4 - nearer
            begin = min(0, behind)
            whole = bytearray([_POISON]) * (max(size, behind + len(data)) - begin)
            whole[behind - begin : behind - begin + len(data)] = data
            base = at[role] + begin
            inputs[place.input] = at[role] + behind
            held = memory.lay(base, whole)
            shared = {role}
            offset = -begin
        for n, data in enumerate(self.inputs):
            if place is None or n != place.input:
                memory.lay(inputs[n], data, is_constant=True)
        kept = {}
        for role, size in sizes.items():
            if role not in shared:
                kept[role] = memory.lay(at[role], bytes([_POISON]) * size)
        constants = []
        for n, constant in enumerate(workload.constants):
            constants.append(_CONSTANT + n * _APART)
            memory.lay(constants[-1], constant.value.tobytes(), is_constant=True)
        arguments = []
        for argument in workload.arguments:
            match argument.role:
                case Role.INPUT:
                    arguments.append(inputs[argument.index])
                case Role.CONSTANT:
                    arguments.append(constants[argument.index])
                case Role.SCALAR:
                    arguments.append(int(argument.value))
                case role:
                    arguments.append(at[role])
        call(self._program, arguments, memory)
        if Role.OUTPUT in shared and held is not None:
            return bytes(held[offset : offset + len(self.output)])
        return bytes(kept[Role.OUTPUT])

    def fails(self, place: InPlace, right: bytes, nearer: int = 4) -> bool:
        """Whether so many bytes nearer than a place allows, something else than right comes out, or
        the kernel touches what is not its own."""
        try:
            return self.result(place, nearer) != right
        except Fault:
            return True


def first_sample(path: Path, samples: Path) -> list[np.ndarray]:
    """Of each input of an ONNX file the first of the samples."""
    with np.load(samples) as rows:
        return [rows[value.name][0] for value in onnx.load(path).graph.input]


def runs(
    path: Path,
    inputs: Sequence[np.ndarray],
    board: str = "mps2-an386",
    options: Options = _QUICKEST,
) -> Iterator[Run]:
    """The layers of a model that are one kernel each, with the oracle's values around them."""
    with any_order():
        compiled = compile_model(path, load_board(board), options=options)
    graph = compiled.graph
    values = run_all(graph, inputs)
    for choice in compiled.selection.choices:
        if not isinstance(choice, Choice) or choice.workload.function is None:
            continue
        node = choice.layer.node
        is_one = choice.workload.function.naked and len(node.writes) == 1
        if not is_one or choice.workload.regions:
            continue
        yield Run(
            choice,
            tuple(_bytes(graph, values, e) for e in node.inputs if e is not None),
            _bytes(graph, values, node.writes[0]),
        )


def _bytes(graph: Graph, values: dict[EdgeId, np.ndarray], edge: EdgeId) -> bytes:
    type_: TensorType = graph.type(edge)
    return type_.to_memory(values[edge]).tobytes()
