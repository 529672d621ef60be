"""The activations that LSTM, GRU and RNN name in their attributes."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from mcu_deploy.arithmetic import Array
from mcu_deploy.operators.elementwise import UNARY


class NotComputed(ValueError):
    """What keeps a recurrent node from being computed, as a clause."""


@dataclass(frozen=True)
class Activation:
    """An activation by ONNX's name of it, and the parameters that it takes."""

    name: str
    alpha: float = 0.0
    beta: float = 0.0

    def __call__(self, x: Array) -> Array:
        """Its values in float64."""
        parameters = {"alpha": self.alpha, "beta": self.beta}
        if self.name in _OWN:
            return np.array([_OWN[self.name](float(v), self) for v in x])
        return np.array([UNARY[self.name](float(v), parameters) for v in x])


_OWN: Mapping[str, Callable[[float, Activation], float]] = {
    "Affine": lambda x, a: a.alpha * x + a.beta,
    "ScaledTanh": lambda x, a: a.alpha * math.tanh(a.beta * x),
    "ThresholdedRelu": lambda x, a: x if x > a.alpha else 0.0,
}

# The parameters that each takes, with ONNX's defaults. None: ONNX names no default.
PARAMETERS: Mapping[str, tuple[float | None, ...]] = {
    "Affine": (None, None),
    "Elu": (1.0,),
    "HardSigmoid": (0.2, 0.5),
    "LeakyRelu": (0.01,),
    "Relu": (),
    "ScaledTanh": (None, None),
    "Sigmoid": (),
    "Softplus": (),
    "Softsign": (),
    "Tanh": (),
    "ThresholdedRelu": (1.0,),
}


def activations(
    names: Iterable[str], alphas: Sequence[float], betas: Sequence[float]
) -> list[Activation]:
    """The activations of a node. Raises NotComputed where one of them cannot be had.

    As ONNX has it, an activation that takes a parameter takes the next one of the list, and its
    default where the list is at its end. Names may be written in any case.
    """
    known = {name.lower(): name for name in PARAMETERS}
    lists = iter(alphas), iter(betas)
    found = []
    for given in names:
        name = known.get(given.lower())
        if name is None:
            raise NotComputed(f"it has no activation {given!r}")
        values = [
            next(rest, default) for rest, default in zip(lists, PARAMETERS[name], strict=False)
        ]
        taken = [float(np.float32(v)) for v in values if v is not None]
        if len(taken) < len(values):
            raise NotComputed(
                f"its activation {name} lacks alpha or beta, for which ONNX has no default"
            )
        found.append(Activation(name, *taken))
    return found
