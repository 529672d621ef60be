"""C that reads and writes elements of narrow types (`DType.is_narrow`), as the types that compute.

The functions are made of the types' rows (`DType.format`), so that each is as short as its type.
"""

from __future__ import annotations

from dataclasses import dataclass

from mcu_deploy.backends.kit.c_files import function_of
from mcu_deploy.backends.workload import CFunction
from mcu_deploy.ir import DType

_UNION = """\
    union {
        float real;
        uint32_t bits;
    } """


@dataclass(frozen=True)
class Access:
    """An expression of type `ctype`, or a statement, and the helpers that it calls."""

    text: str
    ctype: str
    helpers: tuple[CFunction, ...] = ()


def plain(dtype: DType, array: str, index: str) -> Access:
    """What lies in an array at an index, as it is."""
    return Access(f"{array}[{index}]", dtype.c_type)


def read(dtype: DType, array: str, index: str) -> Access:
    """The element of an array at an index, widened where the type is narrow."""
    text = f"{array}[{index}]"
    helpers: tuple[CFunction, ...] = ()
    if not dtype.is_narrow:
        return plain(dtype, array, index)
    if dtype.is_packed:
        unpack = _unpack(dtype)
        text, helpers = f"${unpack.stem}({array}, {index})", (unpack,)
    if dtype.wide is not DType.FLOAT32:
        return Access(text, dtype.wide.c_type, helpers)
    widen = _widen(dtype)
    return Access(f"${widen.stem}({text})", "float", (*helpers, widen))


def write(
    dtype: DType, array: str, index: str, value: str, saturate: bool = True, mode: str = "up"
) -> Access:
    """A statement that stores a value: a float for a narrow float, else a whole number, of which
    a packed type takes the low bits. Elements of a packed type are written in their order.

    saturate, mode: as in `arithmetic.narrow.rounded`.
    """
    helpers: tuple[CFunction, ...] = ()
    if dtype is DType.FLOAT8_E8M0FNU:
        helpers = (_exponent(saturate, mode),)
    elif dtype.is_narrow and dtype.wide is DType.FLOAT32:
        helpers = (_round(dtype, saturate and dtype.bits == 8),)
    if helpers:
        value = f"${helpers[0].stem}({value})"
    elif dtype.is_packed:
        value = f"(uint32_t)({value})"
    if not dtype.is_packed:
        return Access(f"{array}[{index}] = {value};", dtype.c_type, helpers)
    pack = _pack(dtype)
    text = f"${pack.stem}({array}, {index}, {value});"
    return Access(text, dtype.c_type, (*helpers, pack))


def _hex(bits: int) -> str:
    return f"0x{bits:X}U"


def _unpack(dtype: DType) -> CFunction:
    """Of packed integers the value, of packed floats the bits."""
    each, mask = 8 // dtype.bits, (1 << dtype.bits) - 1
    bits = f"(uint32_t)x[i / {each}] >> (i % {each} * {dtype.bits}) & {mask}U"
    if dtype in (DType.INT4, DType.INT2):
        sign = 1 << (dtype.bits - 1)
        body = f"    return (int8_t)((int32_t)(({bits}) ^ {sign}U) - {sign});"
    else:
        body = f"    return (uint8_t)({bits});"
    result = "int8_t" if dtype.wide is DType.INT8 else "uint8_t"
    return function_of(f"{result} unpack_{dtype.value}(const uint8_t *x, int32_t i) {{\n{body}\n}}")


def _pack(dtype: DType) -> CFunction:
    each, mask = 8 // dtype.bits, (1 << dtype.bits) - 1
    return function_of(f"""\
void pack_{dtype.bits}_bits(uint8_t *y, int32_t i, uint32_t value) {{
    /* The first element of a byte clears the others. */
    const int32_t place = i % {each};
    const uint32_t before = place == 0 ? 0U : y[i / {each}];
    y[i / {each}] = (uint8_t)(before | (value & {mask}U) << (place * {dtype.bits}));
}}""")


def _widen(dtype: DType) -> CFunction:
    """A narrow float's bits as float32, exactly."""
    if dtype is DType.FLOAT8_E8M0FNU:
        lines = """\
    /* 2 ** (bits - 127): an exponent, and the only power of two that is no normal number. */
    found.bits = bits == 255U ? 0x7FC00000U : bits == 0U ? 0x00400000U : (uint32_t)bits << 23;"""
    elif dtype is DType.BFLOAT16:
        lines = "    found.bits = (uint32_t)bits << 16;"
    else:
        lines = _widening(dtype)
    name = "found, scale" if "scale." in lines else "found"
    return function_of(
        f"float from_{dtype.value}({dtype.c_type} bits) {{\n{_UNION}{name};\n{lines}\n"
        "    return found.real;\n}"
    )


def _widening(dtype: DType) -> str:
    form, sign = dtype.format, 1 << (dtype.bits - 1)
    special = ""
    if form.one_zero:
        special = f"    if (bits == {_hex(sign)}) {{\n        found.bits = 0x7FC00000U;\n    }}\n"
    elif form.nan > form.largest and form.nan < sign:
        least = min(form.beyond, form.nan)
        special = (
            f"    if ((bits & {_hex(sign - 1)}) >= {_hex(least)}) {{\n"
            "        found.bits |= 0x7F800000U;\n    }\n"
        )
    return f"""\
    /* The fraction where float32 has it; then the difference of the exponents' biases. */
    found.bits = (bits & {_hex(sign - 1)}) << {23 - form.fraction};
    scale.bits = {_hex(254 - form.bias)} << 23;
    found.real *= scale.real;
{special}    found.bits |= (bits & {_hex(sign)}) << {32 - dtype.bits};"""


def _round(dtype: DType, saturate: bool) -> CFunction:
    """float32 as a narrow float, half to even."""
    form, sign = dtype.format, 1 << (dtype.bits - 1)
    shift, difference = 23 - form.fraction, 127 - form.bias
    half = (1 << (shift - 1)) - 1
    if difference:
        tiny = f"""\
    if (magnitude < {_hex(difference + 1)} << 23) {{
        /* Less than the smallest normal number: the sum has but the bits that are kept. */
        sum.bits = magnitude;
        small.bits = {_hex(difference + 1 + shift)} << 23;
        sum.real += small.real;
        found = sum.bits - small.bits;
    }} else {{
        const uint32_t even = {_hex(half)} + (magnitude >> {shift} & 1U);
        found = (magnitude - ({_hex(difference)} << 23) + even) >> {shift};
    }}
"""
        names = "given, sum, small"
    else:
        tiny = f"    found = (magnitude + {_hex(half)} + (magnitude >> {shift} & 1U)) >> {shift};\n"
        names = "given"
    beyond = form.largest if saturate else form.beyond
    finish = f"    return ({dtype.c_type})(found | sign);"
    if form.one_zero:
        finish = (
            f"    return ({dtype.c_type})(found == 0U || found == {_hex(sign)} ? found : "
            "found | sign);"
        )
    nan = _hex(form.nan)
    stem = f"to_{dtype.value}" + ("_saturated" if saturate else "")
    return function_of(f"""\
{dtype.c_type} {stem}(float value) {{
{_UNION}{names};
    given.real = value;
    const uint32_t magnitude = given.bits & 0x7FFFFFFFU;
    const uint32_t sign = given.bits >> 31 << {dtype.bits - 1};
    uint32_t found;
    if (magnitude > 0x7F800000U) {{
        return {nan};
    }}
{tiny}    if (found > {_hex(form.largest)}) {{
        found = {_hex(beyond)};
    }}
{finish}
}}""")


def _exponent(saturate: bool, mode: str) -> CFunction:
    """float32 as float8_e8m0fnu: its exponent, without the sign."""
    up = {
        "up": "fraction > 0U",
        "nearest": "fraction + (exponent > 0U ? 1U : 0U) > 0x400000U",
    }.get(mode)
    lines = ""
    if up is not None:
        least = f"exponent < {254 if saturate else 255}U"
        lines = f"    if ({least} && {up}) {{\n        exponent += 1U;\n    }}\n"
    fraction = "    const uint32_t fraction = given.bits & 0x7FFFFFU;\n" if up else ""
    stem = f"to_float8_e8m0fnu_{mode}" + ("_saturated" if saturate else "")
    return function_of(f"""\
uint8_t {stem}(float value) {{
{_UNION}given;
    given.real = value;
    uint32_t exponent = given.bits >> 23 & 0xFFU;
{fraction}{lines}    return (uint8_t)exponent;
}}""")
