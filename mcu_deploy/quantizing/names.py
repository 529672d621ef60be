"""Which tensor of a float model each tensor of its quantized model stands for, in the metadata.

Two texts of JSON: FLOAT_TENSORS, the names by the quantized model's own; FACTORS, of those whose
channels were equalised, one number a channel (the second axis) by which their values become the
float model's.
"""

from __future__ import annotations

import json
from collections.abc import Collection, Mapping
from dataclasses import dataclass

import numpy as np
import onnx

from mcu_deploy.errors import ModelError
from mcu_deploy.files.arrays import Array
from mcu_deploy.quantizing.net import Net

FLOAT_TENSORS = "mcu_deploy.float_tensors"
FACTORS = "mcu_deploy.float_factors"


@dataclass(frozen=True)
class FloatTensor:
    """A tensor of the float model. factors: see above; None where the values are its own."""

    name: str
    factors: tuple[float, ...] | None = None

    def of(self, value: Array) -> Array:
        """What a value of the quantized model's tensor, in real numbers, is of the float model's.

        Raises ModelError where it has not as many channels as there are factors.
        """
        if self.factors is None:
            return value
        if value.ndim < 2 or value.shape[1] != len(self.factors):
            raise ModelError(
                f"{FACTORS} in the model's metadata has {len(self.factors)} factors for the "
                f"tensor {self.name[:80]!r} of shape {list(value.shape)}. Quantize it again."
            )
        column = (1, -1) + (1,) * (value.ndim - 2)
        return value * np.asarray(self.factors, np.float64).reshape(column)


def tensors_of(net: Net) -> set[str]:
    """The names of a float model's tensors that are no constants."""
    return {name for node in net.nodes for name in node.output if name} | set(net.inputs)


def leave(model: onnx.ModelProto, source: Net, factors: Mapping[str, Array]) -> None:
    """Writes both. source: the float model; factors: by the names of its tensors."""
    pairs = _pairs(model, tensors_of(source))
    scaled = {a: factors[b].tolist() for a, b in pairs.items() if b in factors}
    for key, value in ((FLOAT_TENSORS, pairs), (FACTORS, scaled)):
        if value or key == FLOAT_TENSORS:
            text = json.dumps(value, sort_keys=True)
            model.metadata_props.append(onnx.StringStringEntryProto(key=key, value=text))


def read(model: onnx.ModelProto, known: Collection[str]) -> dict[str, FloatTensor]:
    """The float model's tensors by the names of a quantized model's; known: those that it has.

    Of a model that another tool quantized: what it quantizes and dequantizes by names of the float
    model. Raises ModelError where the metadata is damaged.
    """
    texts = {p.key: p.value for p in model.metadata_props}
    if FLOAT_TENSORS not in texts:
        return {a: FloatTensor(b) for a, b in _pairs(model, known).items()}
    try:
        pairs = dict(json.loads(texts[FLOAT_TENSORS]))
        factors = {
            str(name): tuple(map(float, of))
            for name, of in json.loads(texts.get(FACTORS, "{}")).items()
        }
        return {str(a): FloatTensor(str(b), factors.get(a)) for a, b in pairs.items() if b in known}
    except (ValueError, TypeError, AttributeError, RecursionError) as error:
        raise ModelError(
            f"{FLOAT_TENSORS} or {FACTORS} in the model's metadata is not what `quantize` writes. "
            "Quantize it again."
        ) from error


def _pairs(model: onnx.ModelProto, known: Collection[str]) -> dict[str, str]:
    nodes = model.graph.node
    borders = (v.name for v in (*model.graph.input, *model.graph.output))
    names = {name: name for node in nodes for name in node.output}
    names |= {n.output[0]: n.input[0] for n in nodes if n.op_type == "QuantizeLinear"}
    names |= {
        n.input[0]: n.output[0] for n in nodes
        if n.op_type == "DequantizeLinear" and n.output[0] in known
    }  # fmt: skip
    names |= {name: name for name in borders}
    return {a: b for a, b in names.items() if b in known}
