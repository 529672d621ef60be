"""Numbers in the text of C."""

from __future__ import annotations

import numpy as np


def float_literal(value: float) -> str:
    """A float32 as a C constant expression of the same value, for gcc. A NaN has no sign."""
    with np.errstate(over="ignore"):
        number = np.float32(value)
    if not np.isfinite(number):
        sign = "-" if number < 0 else ""
        return '__builtin_nanf("")' if np.isnan(number) else f"{sign}__builtin_inff()"
    if number == 0 or 1e-4 <= abs(number) < 1e7:
        text = np.format_float_positional(number, unique=True, trim="0")
    else:
        text = np.format_float_scientific(number, unique=True, trim="0", exp_digits=1)
    return f"{text}F"


def literal(number: np.generic) -> str:
    """A number as a C constant expression of the same value and type, as `float_literal`."""
    if not isinstance(number, np.floating):
        ending = {4: "U", 8: "ULL"} if isinstance(number, np.unsignedinteger) else {}
        return f"{int(number)}{ending.get(number.itemsize, '')}"
    if isinstance(number, np.float32) or not np.isfinite(number):
        return float_literal(float(number))
    return repr(float(number))


def signed(number: int) -> str:
    """ " + 3", " - 128" or nothing: a constant at the end of a C sum."""
    if number == 0:
        return ""
    return f" + {number}" if number > 0 else f" - {-number}"
