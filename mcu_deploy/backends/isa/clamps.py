"""Clamps narrower than the type: a pass over what a kernel has written, in the kernel's function.

An element that was saturated to 8 bits and then clamped is the element clamped. So a layer whose
activation ends inside of the range of its output is proposed without it, with the pass behind it.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

from mcu_deploy.backends.interface import (
    CFunction,
    Layer,
    Parameter,
    Proposal,
    SubgraphView,
    Workload,
)
from mcu_deploy.backends.isa import Assembly, kernel
from mcu_deploy.backends.kit import families
from mcu_deploy.backends.kit.arguments import pointer, scalar
from mcu_deploy.backends.quantized.layers import clamp
from mcu_deploy.ir import DType

# Of what keeps the pointer to the output until the call.
_KEPT_CYCLES, _CALL_BYTES = 10, 24


# A pass, of no count of elements: y, their count, then a word for each bound, which has it in each
# byte. Of: the type, how many elements it is priced for, "low", "high" or both.
Writer = Callable[[DType, int, Sequence[str]], Assembly]


def is_narrower(layer: Layer) -> bool:
    """Whether the activation of a layer ends inside of the range of its output's bytes."""
    y = layer.output.type
    if "activation" not in layer.attributes or y.quantization is None or y.dtype.is_float:
        return False
    (low, high), (least, most) = clamp(layer), y.dtype.range
    return (low, high) != (least, most) and least <= low <= high <= most


def opened(layer: Layer) -> Layer:
    """The layer without its activation."""
    rest = {key: value for key, value in layer.attributes.items() if key != "activation"}
    return replace(layer, attributes=rest)


def asking(write: Writer, end: str) -> families.Asking:
    """As `families.ask`; a layer that no kernel clamps as narrowly as it wants is computed in the
    whole range, and clamped behind. end: of the function's name."""

    def ask(
        found_in: Sequence[families.Family], view: SubgraphView, layer: Layer
    ) -> tuple[list[Proposal], str]:
        found, reason = families.ask(found_in, view, layer)
        if found or not is_narrower(layer):
            return found, reason
        more, reason = families.ask(found_in, view, opened(layer))
        # Chains need what is clamped in their middle.
        of_one = [one for one in more if len(one.nodes) == 1]
        return [clamped(one, layer, Pass(layer, write, end)) for one in of_one], reason

    return ask


def clamped(proposal: Proposal, layer: Layer, pass_: Pass) -> Proposal:
    """The proposal for an opened layer, with the clamp of the layer."""
    made, before = proposal.make, proposal.price
    assert before.costs.cycles is not None
    cycles = before.costs.cycles + _KEPT_CYCLES + pass_.code.time(layer.target)
    code = {f"{key}, clamped": size + _CALL_BYTES for key, size in before.code.items()}
    price = replace(
        before,
        costs=replace(before.costs, cycles=cycles),
        code={**code, f"{pass_.stem} {pass_.code.digest}": pass_.code.bytes},
    )

    def make(layers: Sequence[Layer], memory: Any) -> tuple[Workload, ...]:
        workloads = made([opened(of) for of in layers], memory)
        return tuple(replace(pass_.behind(w), costs=price.costs) for w in workloads)

    return replace(proposal, price=price, make=make, title=f"{proposal.title}, clamped")


class Pass:
    """The clamp of a layer's output."""

    def __init__(self, layer: Layer, write: Writer, end: str) -> None:
        self._y, self._target = layer.output, layer.target
        dtype = self._y.type.dtype
        # The bounds that are not those of the type: in each byte of a word.
        self._bounds = {
            name: (bound & 0xFF) * 0x01010101
            for name, bound, end in zip(("low", "high"), clamp(layer), dtype.range, strict=True)
            if bound != end
        }
        self.stem = "_".join(("clamp", *self._bounds, dtype.value, end))
        self.code = write(dtype, self._y.type.elements, tuple(self._bounds))

    @property
    def _function(self) -> CFunction:
        names = ("elements", *self._bounds)
        parameters = (pointer(self._y, "y", const=False), *map(_word, names))
        return kernel(self.stem, parameters, self.code, self._target)

    def behind(self, workload: Workload) -> Workload:
        """The workload, with a function that calls its own and clamps what that wrote to `y`."""
        function = workload.function
        assert function is not None
        # The function may have elements of its own.
        names = ("all_elements", *self._bounds)
        given = ", ".join(parameter.name for parameter in function.parameters)
        body = f"{{\n    ${function.stem}({given});\n    ${self.stem}(y, {', '.join(names)});\n}}"
        parameters = (*function.parameters, *map(_word, names))
        values = (self._y.type.elements, *self._bounds.values())
        return replace(
            workload,
            function=CFunction(f"{function.stem}_clamped", parameters, body),
            arguments=(*workload.arguments, *map(scalar, values)),
            helpers=(*workload.helpers, function, self._function),
        )


def _word(name: str) -> Parameter:
    return Parameter("uint32_t", name)
