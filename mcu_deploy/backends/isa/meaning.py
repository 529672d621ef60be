"""What each instruction of a kernel does: which operands it reads and writes, and to what.

A row is read by the allocator (operands, flags) and by the interpreter, which runs its statement in
Python; the tests hold every row to QEMU. What has no row cannot be printed in a kernel.

Of the operands, one letter each: d a register that is written, u a value that is read, l one that
only r0 to r7 can hold, b a register that is both written and read, m memory, B the base of a list,
L a list that is loaded, S one that is stored, t a label, i a number, c a condition. In the
statement {0} is the first operand, an unsigned word; {0.s} it as a signed one, {0.lo} and {0.hi}
its signed halves; {A} is the address, {N} how many words a list has. n z c v q ge are the flags, M
is 2**32 - 1, B 2**31, m the memory; w, x, y are words of its own.

Source: the pseudocode of the Armv7-M Architecture Reference Manual (DDI 0403), chapter A7.
"""

from __future__ import annotations

import functools
from itertools import product
from typing import NamedTuple

_NZ = "n = w >> 31 & 1; z = w & M == 0"


class Meaning(NamedTuple):
    """roles: of the operands; statement: what it does."""

    roles: str
    statement: str


def _halves(low: str, high: str) -> str:
    return f"{{0}} = ({low}) & 0xFFFF | (({high}) & 0xFFFF) << 16"


_CARRY_ADD = "c = w >> 32 & 1; v = (({1} ^ w) & ({2} ^ w)) >> 31 & 1"
_CARRY_SUB = "c = {1} >= {2}; v = (({1} ^ {2}) & ({1} ^ w)) >> 31 & 1"
_WORD, _LONG = "{0} = w & M", "{0} = w & M; {1} = w >> 32 & M"
_Q = "; q |= not -B <= w < B"
_EXTEND8 = "(({1} & 0xFF) ^ 0x80) - 0x80"
_SXTB16 = ("(({N} & 0xFF) ^ 0x80) - 0x80", "(({N} >> 16 & 0xFF) ^ 0x80) - 0x80")


def _parallel() -> dict[str, Meaning]:
    """Sums and differences in halves or bytes: as they are, halved or saturated."""
    rows = {}
    for sign, (bits, op, signs, swaps) in product("su", _PARALLEL):
        mask, half = (1 << bits) - 1, 1 << bits - 1
        low, high = (-half, half - 1) if sign == "s" else (0, mask)
        lanes, flags = [], []
        for n, plus in enumerate(signs):
            at = bits * n
            first, second = _lane(1, at, bits, sign), _lane(2, at ^ 16 * swaps, bits, sign)
            lanes.append(f"{first} {plus} {second}")
            # Without a sign, a sum that carries sets GE, and a difference that does not borrow.
            least = mask + 1 if (sign, plus) == ("u", "+") else 0
            flags.append(f"(w[{n}] >= {least}) * {(1 << bits // 8) - 1 << at // 8}")
        for prefix, each in (
            (sign, "x"), (f"{sign}h", "x >> 1"),
            ("q" if sign == "s" else "uq", f"min(max(x, {low}), {high})"),
        ):  # fmt: skip
            ge = f"ge = {' | '.join(flags)}; " if prefix == sign else ""
            value = f"sum((({each}) & {mask}) << {bits} * k for k, x in enumerate(w))"
            rows[prefix + op] = Meaning("duu", f"w = [{', '.join(lanes)}]; {ge}{{0}} = {value}")
    return rows


def _lane(operand: int, at: int, bits: int, sign: str) -> str:
    """A half or byte of an operand, from the bit `at` on."""
    value, half = f"({{{operand}}} >> {at} & {(1 << bits) - 1})", 1 << bits - 1
    return f"(({value} ^ {half}) - {half})" if sign == "s" else value


# Bits of a lane, name, the sign of each lane, and whether the second operand's halves are swapped.
_PARALLEL = (
    (8, "add8", "++++", False), (8, "sub8", "----", False),
    (16, "add16", "++", False), (16, "sub16", "--", False),
    (16, "asx", "-+", True), (16, "sax", "+-", True),
)  # fmt: skip


def _alu(name: str, value: str, carry: str = "") -> dict[str, Meaning]:
    """A row, and its form that sets the flags."""
    flags = f"{_NZ}; {carry}; " if carry else f"{_NZ}; "
    uses = 2 if "{2}" in value or "{2" in value else 1
    return {
        name: Meaning("d" + "u" * uses, f"{{0}} = ({value}) & M"),
        f"{name}s": Meaning("d" + "u" * uses, f"w = {value}; {flags}{{0}} = w & M"),
    }


def _shift(name: str, value: str, carry: str) -> dict[str, Meaning]:
    """By a number, or by the low byte of a register."""
    by = "y = {2} & 0xFF; "
    flags = f"; {_NZ}; c = {carry} if y else c"
    return {
        name: Meaning("duu", f"{by}{{0}} = ({value}) & M"),
        f"{name}s": Meaning("duu", f"{by}w = {value}{flags}; {{0}} = w & M"),
    }


def _extend(first: str) -> tuple[str, str]:
    low, high = _SXTB16
    return low.replace("{N}", first), high.replace("{N}", first)


_MEANINGS: dict[str, Meaning] = {
    **_alu("mov", "{1}"), **_alu("mvn", "~{1}"),
    **_alu("add", "{1} + {2}", _CARRY_ADD), **_alu("sub", "{1} - {2}", _CARRY_SUB),
    **_alu("rsb", "{2} - {1}", "c = {2} >= {1}; v = (({1} ^ {2}) & ({2} ^ w)) >> 31 & 1"),
    **_alu("and", "{1} & {2}"), **_alu("orr", "{1} | {2}"), **_alu("eor", "{1} ^ {2}"),
    **_alu("bic", "{1} & ~{2}"), **_alu("mul", "{1} * {2}"),
    "udiv": Meaning("duu", "{0} = {1} // {2} if {2} else 0"),
    "sdiv": Meaning("duu", "w = abs({1.s}) // abs({2.s}) if {2} else 0; "
                    "{0} = (-w if ({1} ^ {2}) & B else w) & M"),
    "neg": Meaning("du", "{0} = -{1} & M"),
    "adc": Meaning("duu", "{0} = ({1} + {2} + c) & M"),
    "addw": Meaning("duu", "{0} = ({1} + {2}) & M"),
    "subw": Meaning("duu", "{0} = ({1} - {2}) & M"),
    "movw": Meaning("di", "{0} = {1}"), "movt": Meaning("bi", "{0} = {0} & 0xFFFF | {1} << 16"),
    **_shift("lsl", "{1} << min(y, 33)", "y <= 32 and {1} >> 32 - y & 1"),
    **_shift("lsr", "{1} >> min(y, 33)", "y <= 32 and {1} >> y - 1 & 1"),
    **_shift("asr", "{1.s} >> min(y, 32)", "{1.s} >> min(y, 32) - 1 & 1"),
    "ror": Meaning("duu", "y = {2} & 31; {0} = ({1} >> y | {1} << 32 - y) & M"),
    "cmp": Meaning("uu", f"w = {{0}} - {{1}}; {_NZ}; c = {{0}} >= {{1}}; "
                   "v = (({0} ^ {1}) & ({0} ^ w)) >> 31 & 1"),
    "cmn": Meaning("uu", f"w = {{0}} + {{1}}; {_NZ}; c = w >> 32 & 1; "
                   "v = (({0} ^ w) & ({1} ^ w)) >> 31 & 1"),
    "tst": Meaning("uu", f"w = {{0}} & {{1}}; {_NZ}"),
    "clz": Meaning("du", "{0} = 32 - {1}.bit_length()"),
    "rbit": Meaning("du", "{0} = int(f'{{{1}:032b}}'[::-1], 2)"),
    "rev": Meaning("du", "{0} = int.from_bytes({1}.to_bytes(4, 'little'), 'big')"),
    "bfi": Meaning("buii", "w = (1 << {3}) - 1; {0} = {0} & ~(w << {2}) | ({1} & w) << {2}"),
    "bfc": Meaning("bii", "{0} = {0} & ~((1 << {2}) - 1 << {1})"),
    "ubfx": Meaning("duii", "{0} = {1} >> {2} & (1 << {3}) - 1"),
    "sbfx": Meaning("duii", "w = 1 << {3} - 1; {0} = (({1} >> {2} & 2 * w - 1 ^ w) - w) & M"),
    "sxtb": Meaning("du", f"{{0}} = ({_EXTEND8}) & M"), "sxth": Meaning("du", "{0} = {1.lo} & M"),
    "uxtb": Meaning("du", "{0} = {1} & 0xFF"), "uxth": Meaning("du", "{0} = {1} & 0xFFFF"),
    "sxtab": Meaning("duu", f"{{0}} = ({{1}} + ({_EXTEND8.replace('{1}', '{2}')})) & M"),
    "uxtab": Meaning("duu", "{0} = ({1} + ({2} & 0xFF)) & M"),
    "sxtah": Meaning("duu", "{0} = ({1} + {2.lo}) & M"),
    "uxtah": Meaning("duu", "{0} = ({1} + ({2} & 0xFFFF)) & M"),
    "sxtb16": Meaning("du", _halves(*_extend("{1}"))),
    "uxtb16": Meaning("du", "{0} = {1} & 0xFF00FF"),
    "sxtab16": Meaning("duu", _halves(*(f"({{1}} >> {at}) + ({part})"
                                       for at, part in zip((0, 16), _extend("{2}"), strict=True)))),
    "uxtab16": Meaning("duu", _halves("{1} + ({2} & 0xFF)", "({1} >> 16) + ({2} >> 16 & 0xFF)")),
    "pkhbt": Meaning("duu", "{0} = {1} & 0xFFFF | {2} & 0xFFFF0000"),
    "pkhtb": Meaning("duu", "{0} = {1} & 0xFFFF0000 | {2} & 0xFFFF"),
    # Products. Of those that add, the sum's overflow sets Q.
    "mla": Meaning("duuu", "{0} = ({1} * {2} + {3}) & M"),
    "mls": Meaning("duuu", "{0} = ({3} - {1} * {2}) & M"),
    "smlad": Meaning("duuu", "w = {1.lo} * {2.lo} + {1.hi} * {2.hi} + {3.s}; {0} = w & M" + _Q),
    "smuad": Meaning("duu", "w = {1.lo} * {2.lo} + {1.hi} * {2.hi}; {0} = w & M" + _Q),
    **{
        f"smla{a}{b}": Meaning("duuu", f"w = {{1.{x}}} * {{2.{y}}} + {{3.s}}; {{0}} = w & M" + _Q)
        for a, x in (("b", "lo"), ("t", "hi")) for b, y in (("b", "lo"), ("t", "hi"))
    },
    **{
        f"smul{a}{b}": Meaning("duu", f"{{0}} = {{1.{x}}} * {{2.{y}}} & M")
        for a, x in (("b", "lo"), ("t", "hi")) for b, y in (("b", "lo"), ("t", "hi"))
    },
    **{
        f"smlaw{b}": Meaning("duuu", f"w = ({{1.s}} * {{2.{y}}} >> 16) + {{3.s}}; {_WORD}" + _Q)
        for b, y in (("b", "lo"), ("t", "hi"))
    },
    **{
        f"smulw{b}": Meaning("duu", f"{{0}} = {{1.s}} * {{2.{y}}} >> 16 & M")
        for b, y in (("b", "lo"), ("t", "hi"))
    },
    "smmul": Meaning("duu", "{0} = {1.s} * {2.s} >> 32 & M"),
    "smmulr": Meaning("duu", "{0} = {1.s} * {2.s} + B >> 32 & M"),
    "smmla": Meaning("duuu", "{0} = ({3.s} << 32) + {1.s} * {2.s} >> 32 & M"),
    "smmlar": Meaning("duuu", "{0} = ({3.s} << 32) + {1.s} * {2.s} + B >> 32 & M"),
    "umull": Meaning("dduu", "w = {2} * {3}; {0} = w & M; {1} = w >> 32"),
    "smull": Meaning("dduu", "w = {2.s} * {3.s}; {0} = w & M; {1} = w >> 32 & M"),
    "umlal": Meaning("bbuu", "w = {2} * {3} + ({1} << 32 | {0}); " + _LONG),
    "smlal": Meaning("bbuu", "w = {2.s} * {3.s} + ({1} << 32 | {0}); " + _LONG),
    # Sums that saturate, and sums in halves and bytes.
    "qadd": Meaning("duu", "w = {1.s} + {2.s}" + _Q + "; {0} = min(max(w, -B), B - 1) & M"),
    "qsub": Meaning("duu", "w = {1.s} - {2.s}" + _Q + "; {0} = min(max(w, -B), B - 1) & M"),
    "ssat": Meaning("diu", "y = 1 << {1} - 1; w = min(max({2.s}, -y), y - 1); "
                    "q |= w != {2.s}; {0} = w & M"),
    "usat": Meaning("diu", "w = min(max({2.s}, 0), (1 << {1}) - 1); q |= w != {2.s}; {0} = w"),
    "usat16": Meaning("diu", "w = min(max({2.lo}, 0), (1 << {1}) - 1); "
                      "x = min(max({2.hi}, 0), (1 << {1}) - 1); "
                      "q |= w != {2.lo} or x != {2.hi}; {0} = w | x << 16"),
    "ssat16": Meaning("diu", "y = 1 << {1} - 1; w = min(max({2.lo}, -y), y - 1); "
                      "x = min(max({2.hi}, -y), y - 1); "
                      "q |= w != {2.lo} or x != {2.hi}; " + _halves("w", "x")),
    **_parallel(),
    "sel": Meaning("duu", "w = sum((ge >> k & 1) * 255 << 8 * k for k in range(4)); "
                   "{0} = {1} & w | {2} & ~w"),
    # Memory.
    "ldr": Meaning("dm", "{0} = m.load({A}, 4)"), "str": Meaning("um", "m.store({A}, 4, {0})"),
    "ldrb": Meaning("dm", "{0} = m.load({A}, 1)"),
    "strb": Meaning("um", "m.store({A}, 1, {0} & 0xFF)"),
    "ldrh": Meaning("dm", "{0} = m.load({A}, 2)"),
    "strh": Meaning("um", "m.store({A}, 2, {0} & 0xFFFF)"),
    "ldrsb": Meaning("dm", "{0} = ((m.load({A}, 1) ^ 0x80) - 0x80) & M"),
    "ldrsh": Meaning("dm", "{0} = ((m.load({A}, 2) ^ 0x8000) - 0x8000) & M"),
    "ldrd": Meaning("ddm", "w, x = m.words({A}, 2); {0} = w; {1} = x"),
    "strd": Meaning("uum", "m.put({A}, {0}, {1})"),
    "vldr": Meaning("dm", "{0}, = m.words({A}, 1)"), "vstr": Meaning("um", "m.put({A}, {0})"),
    "ldmia": Meaning("BL", "{1} = m.words({0}, {N})"), "stmia": Meaning("BS", "m.put({0}, {1})"),
    "ldmdb": Meaning("BL", "{1} = m.words({0} - 4 * {N}, {N})"),
    "stmdb": Meaning("BS", "m.put({0} - 4 * {N}, {1})"),
    "vldmia": Meaning("BL", "{1} = m.words({0}, {N})"),
    "vstmia": Meaning("BS", "m.put({0}, {1})"),
    "push": Meaning("S", "sp -= 4 * {N}; m.put(sp, {0})"),
    "pop": Meaning("L", "{0} = m.words(sp, {N}); sp += 4 * {N}"),
    "vpush": Meaning("S", "sp -= 4 * {N}; m.put(sp, {0})"),
    "vpop": Meaning("L", "{0} = m.words(sp, {N}); sp += 4 * {N}"),
    # Control. A jump by a register states the labels that it may go to.
    "b": Meaning("t", ""), "bl": Meaning("t", ""), "bx": Meaning("u", ""),
    "cbz": Meaning("lt", ""), "cbnz": Meaning("lt", ""), "adr": Meaning("dt", "{0} = {1}"),
    "nop": Meaning("", "pass"),
    **{f"it{more}": Meaning("c", "") for more in
       ("", *(a + b for a in "te" for b in ("", *(c + d for c in "te" for d in ("", "t", "e")))))},
    # Floats. FPSCR rounds to nearest; no flush to zero.
    "vadd.f32": Meaning("duu", "{0} = f32.add({1}, {2})"),
    "vsub.f32": Meaning("duu", "{0} = f32.subtract({1}, {2})"),
    "vmul.f32": Meaning("duu", "{0} = f32.multiply({1}, {2})"),
    "vdiv.f32": Meaning("duu", "{0} = f32.divide({1}, {2})"),
    "vsqrt.f32": Meaning("du", "{0} = f32.root({1})"),
    "vfma.f32": Meaning("buu", "{0} = f32.fused({0}, {1}, {2})"),
    "vfms.f32": Meaning("buu", "{0} = f32.fused({0}, {1} ^ B, {2})"),
    "vcvt.f32.s32": Meaning("du", "{0} = f32.of({1.s})"),
    "vcvt.f32.u32": Meaning("du", "{0} = f32.of({1})"),
    "vcvtr.s32.f32": Meaning("du", "{0} = f32.nearest({1}, -B, B - 1) & M"),
    "vcvt.u32.f32": Meaning("dui", "{0} = f32.down({1}, {2}, 0, M)"),
    "vcvt.s16.f32": Meaning("dui", "{0} = f32.down({1}, {2}, -0x8000, 0x7FFF) & M"),
    "vcmp.f32": Meaning("uu", "fn, fz, fc, fv = f32.compare({0}, {1})"),
    "vmrs": Meaning("cc", "n, z, c, v = fn, fz, fc, fv"),
}  # fmt: skip

# Moves between files of registers, by the kinds of their operands, where l is a lane of a vector:
# how many of them are written.
_MOVED = {"sr": 1, "rs": 1, "ss": 1, "drr": 1, "rrd": 2, "ssrr": 2, "rrss": 2, "llrr": 2}


@functools.cache
def meaning_of(name: str, kinds: str) -> Meaning | None:
    """The row of an instruction by its name, with S where it sets the flags, types, and without
    its condition; None where it has none. kinds: of VMOV's operands."""
    if name == "vmov" and kinds in _MOVED:
        written = _MOVED[kinds]
        if kinds == "llrr":  # the higher lane stands in front, its source behind
            return Meaning("dduu", "{0} = {3}; {1} = {2}")
        return Meaning("d" * written + "u" * (len(kinds) - written), "{words} = {values}")
    return _MEANINGS.get(name)


def names() -> tuple[str, ...]:
    """All rows but VMOV's."""
    return tuple(_MEANINGS)
