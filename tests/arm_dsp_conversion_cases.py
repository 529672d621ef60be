"""Conversions for ArmDsp between float32 and bytes: scales of all sizes, with every rest."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import onnx
from arm_dsp_tflite_cases import LayersFile
from onnx import helper, numpy_helper
from sampling import examples
from tflite_models import Tensor


@dataclass(frozen=True)
class Conversion:
    """From float32, or to it where `is_back`. is_refused: the reciprocal is no way to divide."""

    elements: int
    scale: float
    zero: int = 0
    dtype: str = "int8"
    is_back: bool = False
    is_refused: bool = False

    @property
    def integers(self) -> np.ndarray:
        low, high = np.iinfo(self.dtype).min, np.iinfo(self.dtype).max
        return np.arange(low, high + 1)

    def samples(self, random: np.random.Generator) -> np.ndarray:
        """Three rows, in the sample the first: where integers change, random ones, and numbers that
        are hardly any."""
        if self.is_back:
            rows = [random.choice(self.integers, self.elements) for _ in range(3)]
            rows[0] = np.resize(self.integers, self.elements)
            return np.stack(rows[: examples(3, 1)]).astype(self.dtype)
        s = np.float32(self.scale)
        halves = (self.integers - self.zero + 0.5).astype(np.float32) * s
        steps = [np.nextafter(halves, np.float32(end)) for end in (-np.inf, np.inf)]
        near = random.permutation(np.concatenate([halves, *steps]))
        odd = [np.nan, np.inf, -np.inf, 3e38, -3e38, 1e-44, -0.0, s, -s, 9e9 * s, -9e9 * s]
        odd += [0.49999997 * s, -0.49999997 * s]
        rows = [
            np.resize(near, self.elements), random.normal(0, 90, self.elements) * s,
            random.permutation(np.resize(odd, self.elements)),
        ]  # fmt: skip
        return np.stack(rows[: examples(3, 1)]).astype(np.float32)


# A model has 16 inputs and outputs at most. Of the first of each the instructions are asserted.
MODELS = {
    "quantize.onnx": (
        Conversion(4096, 2 / 255, -1),
        Conversion(1600, 0.00392157, -128),
        Conversion(1601, 1.0, 127),
        Conversion(1602, 3.3e-9, 5),
        Conversion(1603, 7.7e11, 0, "uint8"),
        Conversion(1604, 0.0178, 255, "uint8"),
        Conversion(3, 0.11, 128, "uint8"),
        Conversion(8, 2e20, is_refused=True),
    ),
    "dequantize.onnx": (
        Conversion(4096, 0.037, -5, is_back=True),
        Conversion(263, 1 / 256, 128, "uint8", is_back=True),
        Conversion(5, 0.7, 127, is_back=True),
        Conversion(264, 3.1e-7, -128, is_back=True),
    ),
    "quantize.tflite": (
        Conversion(4096, 2 / 255, -1),
        Conversion(1601, 0.0471, 127),
        Conversion(1602, 5.1e9, 0, "uint8"),
        Conversion(2, 0.3, -128),
    ),
}
# Instructions of an element of the first layer, the largest: what there must be, what is at most.
INSTRUCTIONS = {
    "quantize.onnx": (6, 9.8),
    "quantize.tflite": (7, 10.8),
    "dequantize.onnx": (3, 4.1),
}


def model(cases: Sequence[Conversion], path: Path) -> Path:
    """Each layer has an input and an output, called by the numbers of the cases."""
    return (_tflite if path.suffix == ".tflite" else _onnx)(cases, path)


def _onnx(cases: Sequence[Conversion], path: Path) -> Path:
    nodes, constants, inputs, outputs = [], [], [], []
    for n, case in enumerate(cases):
        parts = [np.array(case.scale, np.float32), np.array(case.zero, case.dtype)]
        names = [f"scale{n}", f"zero{n}"]
        constants += [numpy_helper.from_array(v, k) for v, k in zip(parts, names, strict=True)]
        op = "DequantizeLinear" if case.is_back else "QuantizeLinear"
        nodes.append(helper.make_node(op, [f"x{n}", *names], [f"y{n}"], f"layer{n}"))
        types = [np.dtype(np.float32), np.dtype(case.dtype)]
        for ends, name, dtype in zip(
            (inputs, outputs), ("x", "y"), types[::-1] if case.is_back else types, strict=True
        ):
            element = helper.np_dtype_to_tensor_dtype(dtype)
            ends.append(helper.make_tensor_value_info(f"{name}{n}", element, (1, case.elements)))
    graph = helper.make_graph(nodes, "conversions", inputs, outputs, constants)
    opset = [helper.make_opsetid("", 17)]
    onnx.save_model(helper.make_model(graph, opset_imports=opset, ir_version=8), path)
    return path


def _tflite(cases: Sequence[Conversion], path: Path) -> Path:
    file = LayersFile()
    for n, case in enumerate(cases):
        shape = (1, case.elements)
        names = (f"y{n}", f"x{n}") if case.is_back else (f"x{n}", f"y{n}")
        file.tensors.append(Tensor(names[0], shape, "FLOAT32"))
        file.tensor(names[1], shape, case.scale, case.zero, case.dtype)
        kind = "Dequantize" if case.is_back else "Quantize"
        file.layer(kind.upper(), [f"x{n}"], f"y{n}", f"{kind}Options", {})
    return file.save(path)


def samples(cases: Sequence[Conversion], path: Path) -> Path:
    """The samples of such a model, beside it."""
    random = np.random.default_rng(7)
    arrays: Mapping[str, np.ndarray] = {
        f"x{n}": c.samples(random)[:, None] for n, c in enumerate(cases)
    }
    np.savez(beside := path.with_suffix(".npz"), **arrays)
    return beside
