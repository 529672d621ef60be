"""Clamps narrower than the type: a pass over what a kernel has written, in the kernel's function.

An element that was saturated to 8 bits and then clamped is the element clamped. So a layer whose
activation ends inside of the range of its output is proposed without it, with the pass behind it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from mcu_deploy.backends.interface import CFunction, Layer, Parameter, Proposal, Workload
from mcu_deploy.backends.isa import Assembly, Register, kernel
from mcu_deploy.backends.kit.arguments import pointer, scalar
from mcu_deploy.backends.quantized.layers import clamp
from mcu_deploy.ir import DType

_AT_ONCE = 16
# Of the call, and of what keeps the pointer to the output until then.
_CALL_CYCLES, _CALL_BYTES = 30, 24


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


def clamped(proposal: Proposal, layer: Layer) -> Proposal:
    """The proposal for an opened layer, with the clamp of the layer."""
    pass_, made, before = Pass(layer), proposal.make, proposal.price
    assert before.costs.cycles is not None
    cycles = before.costs.cycles + _CALL_CYCLES + pass_.code.time(layer.target)
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

    def __init__(self, layer: Layer) -> None:
        self._y, self._target = layer.output, layer.target
        dtype = self._y.type.dtype
        # The bounds that are not those of the type: in each byte of a word.
        self._bounds = {
            name: (bound & 0xFF) * 0x01010101
            for name, bound, end in zip(("low", "high"), clamp(layer), dtype.range, strict=True)
            if bound != end
        }
        self.stem = "_".join(("clamp", *self._bounds, dtype.value, "dsp"))
        self.code = assemble(dtype, self._y.type.elements, tuple(self._bounds))

    @property
    def _function(self) -> CFunction:
        names = ("elements", *self._bounds)
        parameters = (pointer(self._y, "y", const=False), *map(_word, names))
        return kernel(self.stem, parameters, self.code, self._target)

    def behind(self, workload: Workload) -> Workload:
        """The workload, with a function that calls its own and clamps what that wrote to `y`."""
        function = workload.function
        assert function is not None
        names = ("elements", *self._bounds)
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


def assemble(dtype: DType, elements: int, bounds: Sequence[str]) -> Assembly:
    """The pass, of no count of elements: these, their count, then a word for each bound.

    y[i] = min(max(y[i], low), high), in place. An output that is a part of another tensor may lie
    on any byte: LDR may be unaligned, LDM not.
    """
    code = Assembly()
    last, done = code.label(), code.label()
    y, count, *limits = code.arguments(" ".join(("y", "elements", *bounds)))
    words = code.registers("y0123 y4567 y89ab ycdef")
    rounds_left, difference = code.registers("rounds_left difference")
    rounds, rest = divmod(elements, _AT_ONCE)

    def clamp_bytes(word: Register) -> None:
        """The subtraction says of each byte whether it left something below zero."""
        for name, limit in zip(bounds, limits, strict=True):
            pair = (word, limit) if name == "low" else (limit, word)
            (code.ssub8 if dtype is DType.INT8 else code.usub8)(difference, *pair)
            code.sel(word, word, limit)

    formula = "y[i]"
    for bound in bounds:
        formula = f"{'max' if bound == 'low' else 'min'}({formula}, {bound})"
    code.note(f"y[i] = {formula}. {' and '.join(bounds)}: the bound in each byte of a word;")
    code.note("elements: how many y has, in place.")
    code.note("Four bytes at a time: what a subtraction leaves below zero is replaced (SEL).")
    code.lsrs(rounds_left, count, 4)
    code.beq(last)
    with code.times(rounds > 0), code.repeat(max(1, rounds)):
        for n, word in enumerate(words):
            code.ldr(word, y[4 * n])
        for word in words:
            clamp_bytes(word)
        for word in words:
            code.str(word, y.after(4))
        code.subs(rounds_left, rounds_left, 1)
    code.place(last)
    code.ands(count, count, _AT_ONCE - 1)
    code.beq(done)
    with code.times(rest > 0), code.repeat(max(1, rest)):
        code.ldrb(words[0], y[0])
        clamp_bytes(words[0])
        code.strb(words[0], y.after(1))
        code.subs(count, count, 1)
    code.place(done)
    return code
