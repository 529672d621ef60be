"""Facts of overlap against what compiled kernels do: by their accesses, and by their results."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import numpy.typing as npt
from operators.overlap_lab import Library, Watched, computed

from mcu_deploy.backends.interface import InPlace, Layer
from mcu_deploy.ir import DType, EdgeId, TensorType
from mcu_deploy.selection import Choice

Bytes = npt.NDArray[np.uint8]


def random_bytes(type_: TensorType, rng: np.random.Generator) -> Bytes:
    if type_.dtype.is_float:
        values = rng.standard_normal(type_.elements).astype(type_.dtype.numpy)
    elif type_.dtype is DType.BOOL:
        values = rng.integers(0, 2, type_.elements).astype(np.uint8)
    elif type_.dtype.bytes == 8:
        low, high = type_.dtype.range
        values = rng.integers(low, high, type_.elements, type_.dtype.numpy, endpoint=True)
    else:
        low, high = type_.dtype.range
        values = rng.integers(low, high + 1, type_.elements).astype(type_.dtype.numpy)
    return values.view(np.uint8)


@dataclass
class Tensors:
    """A layer's computed inputs and its outputs, each in memory of its own."""

    inputs: dict[int, Bytes]
    outputs: list[Bytes]

    @classmethod
    def of(cls, layer: Layer) -> Tensors:
        """Inputs that are one edge have one value."""
        inputs = {
            i: random_bytes(layer.input(i).type, np.random.default_rng(layer.input(i).edge))
            for i in computed(layer)
        }
        return cls(inputs, [np.zeros(max(o.type.bytes, 1), np.uint8) for o in layer.outputs])

    @property
    def input_places(self) -> dict[int, int]:
        return {i: memory.ctypes.data for i, memory in self.inputs.items()}

    @property
    def output_places(self) -> list[int]:
        return [memory.ctypes.data for memory in self.outputs]


def label(choice: Choice) -> str:
    layer = choice.layer
    shapes = [str(o.type) for o in (*layer.inputs, *layer.outputs) if o is not None]
    return f"{layer.op} {dict(layer.attributes)} of {', '.join(shapes)}"


def true_facts(layer: Layer, index: int, library: Watched) -> set[InPlace]:
    """The facts that follow by definition from the accesses of the compiled kernel."""
    tensors = Tensors.of(layer)
    found = set()
    for i, memory in tensors.inputs.items():
        for o, operand in enumerate(layer.outputs):
            x, y = layer.input(i).type, operand.type
            distance = library.distance(
                index, tensors.input_places, tensors.output_places,
                (memory.ctypes.data, x.bytes), (tensors.output_places[o], y.bytes),
            )  # fmt: skip
            alike = x.dtype is y.dtype or 1 in (x.dtype.bytes, y.dtype.bytes)
            if alike and x.elements and distance < y.bytes:
                found.add(InPlace(i, o, max(distance, -x.bytes)))
    return found


def check_facts(made: Sequence[Choice], folder: Path, exact: bool = True) -> None:
    """Not a byte less than what the accesses of the compiled kernels demand; where exact, not a
    byte more either, and no fact is missing."""
    library = Watched(made, folder)
    wrong = []
    for index, choice in enumerate(made):
        stated = choice.workload.in_place
        true = true_facts(choice.layer, index, library)
        demands = {(f.input, f.output): f.distance for f in true}
        safe = all(f.distance >= demands.get((f.input, f.output), f.distance + 1) for f in stated)
        if not safe or (exact and (len(stated) != len(true) or set(stated) != true)):
            wrong.append(f"{label(choice)}: stated {stated}, true {true}")
    assert not wrong, f"{len(wrong)} of {len(made)} layers:\n" + "\n".join(wrong[:10])


def close_behind(layer: Layer, facts: Sequence[InPlace]) -> tuple[dict[int, int], int, int]:
    """Where inputs lie, as close behind the output of these facts as these allow.

    Offsets in bytes: of the inputs, of the output, and of the end. Elements are aligned, the inputs
    do not overlap, but those that are one edge are at one place.
    """
    assert facts[0].output is not None, "these checks know no scratch"
    y = layer.outputs[facts[0].output].type
    output = sum(layer.input(f.input).type.bytes for f in facts) // 16 * 16 + 16
    places: dict[EdgeId, int] = {}
    end = 0
    for edge in dict.fromkeys(layer.input(f.input).edge for f in facts):
        same = [f for f in facts if layer.input(f.input).edge == edge]
        type_ = layer.input(same[0].input).type
        grain = max(type_.dtype.bytes, y.dtype.bytes)
        start = max(end, output + max(f.distance for f in same))
        places[edge] = -(-start // grain) * grain
        end = places[edge] + type_.bytes
    inputs = {f.input: places[layer.input(f.input).edge] for f in facts}
    return inputs, output, max(end, output + y.bytes)


def runs_alike(layer: Layer, index: int, library: Library, facts: Sequence[InPlace]) -> bool:
    """Whether a kernel gives the same bits where an output lies in the memory of its inputs."""
    apart = Tensors.of(layer)
    library.run(index, apart.input_places, apart.output_places)
    close = Tensors.of(layer)
    inputs, outputs = close.input_places, close.output_places
    places, output, size = close_behind(layer, facts)
    memory = np.full(size + 16, 0x55, np.uint8)
    memory = memory[-memory.ctypes.data % 16 :][:size]
    for i, at in places.items():
        memory[at : at + close.inputs[i].size] = close.inputs[i]
        inputs[i] = memory.ctypes.data + at
    number = facts[0].output
    assert number is not None
    outputs[number] = memory.ctypes.data + output
    library.run(index, inputs, outputs)
    wanted = apart.outputs[number][: layer.outputs[number].type.bytes]
    return np.array_equal(memory[output : output + wanted.size], wanted)


def check_runs(made: Sequence[Choice], folder: Path) -> int:
    """Each fact used to its limit, and those of one output at once. How often."""
    library = Library(made, folder)
    wrong, runs = [], 0
    for index, choice in enumerate(made):
        facts = choice.workload.in_place
        groups: list[Sequence[InPlace]] = [[fact] for fact in facts]
        for output in range(len(choice.layer.outputs)):
            together = [fact for fact in facts if fact.output == output]
            groups += [together, together[::-1]] if len(together) > 1 else []
        for group in groups:
            runs += 1
            if not runs_alike(choice.layer, index, library, group):
                wrong.append(f"{label(choice)} by {group}")
    assert not wrong, f"{len(wrong)} of {runs} runs:\n" + "\n".join(wrong[:10])
    return runs
