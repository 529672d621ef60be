"""The clamp of a layer's output by SSUB8 and SEL, for isa/clamps.py."""

from __future__ import annotations

from collections.abc import Sequence

from mcu_deploy.backends.isa import Assembly, Register
from mcu_deploy.ir import DType

_AT_ONCE = 16


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
