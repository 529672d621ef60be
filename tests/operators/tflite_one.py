"""A TFLite file of one operator, with inputs: what families of cases are made of."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from tflite_models import Array, Operator, Tensor, write


@dataclass(frozen=True)
class Case:
    """A file, by the name that a failure bears, and its inputs."""

    name: str
    content: bytes
    inputs: tuple[Array, ...]


def one(
    name: str,
    operator: Operator,
    tensors: Sequence[Tensor],
    rng: np.random.Generator,
) -> Case:
    """One operator whose computed inputs are the network's."""
    read = [t for t in tensors if t.name in operator.inputs and t.value is None]
    content = write(tensors, [operator], [t.name for t in read], operator.outputs)
    return Case(name, content, tuple(given(rng, t) for t in read))


def given(rng: np.random.Generator, tensor: Tensor) -> Array:
    if tensor.type == "FLOAT32":
        return rng.normal(0, 2, tensor.shape).astype(np.float32)
    limits = np.iinfo(tensor.type.lower())
    return rng.integers(limits.min, limits.max, tensor.shape, limits.dtype, endpoint=True)
