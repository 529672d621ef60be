"""Constants in C: a row of the weights file, or an array with its elements."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from mcu_deploy.backends.kit import literals
from mcu_deploy.codegen.symbols import NamedConstant
from mcu_deploy.codegen.text import fill, macro_lines, table


def file_macro(start: str) -> str:
    """The macro that declares one constant in the weights file, which begins at symbol `start`."""
    return macro_lines(
        [
            "#define MCU_CONSTANT(name, type, elements, offset, bytes)",
            "    extern const type name[elements];",
            f"""    __asm__(".set " #name ", {start} + " #offset "\\n\"""",
            """            ".type " #name ", %object\\n\"""",
            """            ".size " #name ", " #bytes)""",
        ]
    )


def file_rows(constants: Sequence[NamedConstant]) -> list[str]:
    """A call of MCU_CONSTANT for each constant, the columns aligned."""
    rows = [
        (
            f"MCU_CONSTANT({c.symbol},",
            f"{c.ctype},",
            f"{c.elements},",
            f"{c.offset},",
            f"{c.value.nbytes});",
        )
        for c in constants
    ]
    return table(rows, right=(2, 3, 4), gap=1)


def array(constant: NamedConstant) -> str:
    """The definition of a constant as a static C array with the same bytes."""
    alignment = ""
    if constant.alignment > constant.value.dtype.itemsize:
        alignment = f"MCU_ALIGNED({constant.alignment}) "
    head = f"{alignment}static const {constant.ctype} {constant.symbol}[{constant.elements}] = {{"
    return f"{head}\n{fill(elements(constant.value))}\n}};"


def float_literal(value: np.floating[Any]) -> str:
    """A float32 or float64 as a C constant expression of the same bits, for gcc."""
    single = value.dtype.itemsize == 4
    suffix = "F" if single else ""
    if np.isfinite(value):
        return np.format_float_scientific(value, trim="0", exp_digits=1) + suffix
    sign = "-" if np.signbit(value) else ""
    if np.isinf(value):
        return f"{sign}__builtin_inf{suffix.lower()}()"
    bits = int(value.view(np.uint32 if single else np.uint64))
    payload = bits & ((1 << (22 if single else 51)) - 1)
    return f'{sign}__builtin_nan{suffix.lower()}("{payload:#x}")'


def integer_literal(value: int) -> str:
    """An integer of up to 64 bits as a C constant expression.

    The smallest numbers of int32_t and int64_t cannot be written as the negation of a constant.
    """
    if value in (-(2**31), -(2**63)):
        return f"(-{-(value + 1)} - 1)"
    return f"{value}U" if value > 2**63 - 1 else str(value)


def scalar(ctype: str, value: float) -> str:
    """A number as an argument of type int32_t, uint32_t or float."""
    if ctype == "float":
        return literals.float_literal(value)
    return integer_literal(int(value)) + ("U" if ctype == "uint32_t" else "")


def elements(value: np.ndarray[Any, Any]) -> list[str]:
    """The elements of a tensor as C constants, in row-major order."""
    flat = value.reshape(-1)
    if flat.dtype.kind == "f":
        return [float_literal(v) for v in flat]
    unsigned = "U" if flat.dtype.kind == "u" and flat.dtype.itemsize >= 4 else ""
    return [integer_literal(int(v)).rstrip("U") + unsigned for v in flat.tolist()]
