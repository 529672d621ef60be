"""The words an operator is written in: a call, and the operator itself."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from mcu_deploy.arithmetic import UNBOUNDED, Array, dequantize, quantize
from mcu_deploy.errors import ModelError, UnsupportedError
from mcu_deploy.ir import DType, TensorType
from mcu_deploy.processes.contained import no_fork

Subgraph = Callable[[Sequence[Array]], Sequence[Array]]


@dataclass(frozen=True)
class Call:
    """One evaluation of an operator: logical arrays (ONNX's order of axes) and their types.

    An absent optional input has the value and the type None. subgraphs: what computes the graphs
    that the operator holds, by attribute, from the inputs that the operator gives them.
    """

    op: str
    attributes: Mapping[str, Any]
    values: tuple[Array | None, ...]
    types: tuple[TensorType | None, ...]
    results: tuple[TensorType, ...]
    opset: int = 17
    subgraphs: Mapping[str, Subgraph] = field(default_factory=dict)

    def value(self, index: int) -> Array:
        """The value of an input that must be there."""
        value = self.values[index]
        assert value is not None, f"{self.op} needs input {index}"
        return value

    def optional(self, index: int) -> Array | None:
        return self.values[index] if index < len(self.values) else None

    def type(self, index: int) -> TensorType:
        type_ = self.types[index]
        assert type_ is not None, f"{self.op} needs input {index}"
        return type_

    def axis(self, default: int = 0) -> int:
        """The attribute `axis`, counted from the first one of the first input."""
        return int(self.attributes.get("axis", default)) % self.type(0).rank

    @property
    def is_quantized(self) -> bool:
        """Whether the first result lies on a quantized edge."""
        return self.results[0].is_quantized

    @property
    def activation(self) -> tuple[float, float]:
        """The clamp that an optimisation fused into the operator, as real numbers."""
        bounds = self.attributes.get("activation", UNBOUNDED)
        return float(bounds[0]), float(bounds[1])

    def dequantized(self) -> Call:
        """The same call on real numbers: quantized inputs dequantized in float32."""
        values: list[Array | None] = []
        types: list[TensorType | None] = []
        for value, type_ in zip(self.values, self.types, strict=True):
            if value is None or type_ is None or not type_.is_quantized:
                values.append(value)
                types.append(type_)
            else:
                values.append(dequantize(value, type_))
                types.append(TensorType(DType.FLOAT32, type_.shape))
        results = tuple(
            TensorType(DType.FLOAT32, r.shape) if r.is_quantized else r for r in self.results
        )
        return replace(self, values=tuple(values), types=tuple(types), results=results)


Evaluate = Callable[[Call], Sequence[Array]]
Macs = Callable[[Call], int]
Positions = Callable[[Call], int]


# For `Operator.moves`: the first input.
FIRST = slice(0, 1)


@dataclass(frozen=True)
class Operator:
    """An operator's meaning.

    `evaluate` computes real tensors and whatever integer forms it knows itself; `macs` counts the
    multiply-accumulates of that, from types and attributes alone. `quantized` says
    how a QDQ sandwich around the operator becomes one integer node: "native" (evaluate knows the
    integer form), "real" (dequantize, compute in float32, quantize), or None (it stays a float
    operator). moves: of an operator that moves elements and changes none, which of a node's inputs
    (`inputs[moves]`) the outputs' elements are from. It copies bytes, whatever scale they have, and
    is one integer node where these inputs and the outputs are quantized alike. copies: of one that
    besides reads none of these elements' values and writes no others.

    view: its result may be the bytes of its first input, seen otherwise. elementwise: each element
    of its result is made of that of the first input at the same place; broadcasts: of those of all
    inputs at the same place. monotone: as an input rises, the others fixed, each element of the
    result only rises or only falls. exact: each element is rounded by itself as IEEE 754 says, so
    float32 gives the same bits everywhere. takes_clamp: it has the attribute "activation".
    has_weights: products of its first two inputs are summed, in int32 where both are quantized.
    real_parameters: its inputs behind the first are parameters, which it reads as real numbers.
    converts: it is a border between integers and real numbers. positions: of one whose second
    input holds positions in its first one, how many the shortest axis has that they count along.
    """

    name: str
    evaluate: Evaluate
    macs: Macs = lambda call: 0
    quantized: str | None = None
    domain: str = ""
    moves: slice | None = None
    copies: bool = False
    view: bool = False
    elementwise: bool = False
    broadcasts: bool = False
    monotone: bool = False
    exact: bool = False
    takes_clamp: bool = False
    has_weights: bool = False
    real_parameters: bool = False
    converts: bool = False
    positions: Positions | None = None


def of_two(name: str, function: Callable[[Array, Array], Array]) -> Operator:
    """An operator that is a function of two arrays, which broadcast."""
    return Operator(name, lambda call: [np.asarray(function(call.value(0), call.value(1)))])


def evaluate(operator: Operator, call: Call) -> tuple[Array, ...]:
    """Runs an operator, through float32 where its integer form is defined that way.

    Infinities and NaN are results like others: numpy does not warn of them.
    """
    with np.errstate(all="ignore"), no_fork:
        if call.is_quantized and operator.quantized == "real":
            reals = operator.evaluate(call.dequantized())
            pairs = zip(reals, call.results, strict=False)
            results = [quantize(np.asarray(real), type_, call.activation) for real, type_ in pairs]
        else:
            results = list(operator.evaluate(call))
        return tuple(_declared(call, results))


def of_elements(operator: Operator, call: Call, given: Mapping[int, Array]) -> Array:
    """[n]: what an operator that computes element by element makes of elements [n] of some inputs.

    The other inputs are constant numbers.
    """
    size = len(next(iter(given.values())))
    types = [None if t is None else replace(t, shape=(), layout=None) for t in call.types]
    values: list[Array | None] = [None if v is None else v.reshape(()) for v in call.values]
    for index, elements in given.items():
        types[index] = replace(call.type(index), shape=(size,), layout=None)
        values[index] = elements
    results = tuple(replace(result, shape=(size,), layout=None) for result in call.results)
    (computed,) = evaluate(
        operator, replace(call, values=tuple(values), types=tuple(types), results=results)
    )
    return computed


def _declared(call: Call, results: Sequence[Array]) -> Iterator[Array]:
    """The results in the types and shapes that the graph gives them."""
    if len(results) != len(call.results):
        raise UnsupportedError(
            f"A {call.op} of the model has {len(call.results)} outputs, of which the first "
            f"{len(results)} can be computed. Leave the others out of the model."
        )
    for result, type_ in zip(results, call.results, strict=True):
        value = np.asarray(result, dtype=type_.dtype.numpy)
        if value.size != type_.elements:
            raise ModelError(
                f"A {call.op} of the model gives the shape {list(value.shape)}, and the model "
                f"declares {list(type_.shape)}. Export it again."
            )
        yield value.reshape(type_.shape)
