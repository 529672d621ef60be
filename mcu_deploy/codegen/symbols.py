"""Names of functions and constants in one network; equal ones are emitted once."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from mcu_deploy.backends.interface import CFunction, Constant
from mcu_deploy.select import Choice

_TOKEN = re.compile(r"\$([A-Za-z0-9_]+)")


@dataclass(frozen=True)
class NamedFunction:
    """A C function with its final name; `text` is its definition."""

    symbol: str
    text: str


@dataclass(frozen=True)
class NamedConstant:
    """A constant with its final name and its place in the weights file."""

    symbol: str
    ctype: str
    value: np.ndarray
    offset: int

    @property
    def elements(self) -> int:
        return int(self.value.size)


class Symbols:
    """Gives every function and constant of a network its symbol, `_mcu_<network>_<stem>`."""

    def __init__(self, network: str) -> None:
        self.prefix = f"_mcu_{network}_"
        self.functions: list[NamedFunction] = []
        self.constants: list[NamedConstant] = []
        self.weights = bytearray()
        self._functions: dict[CFunction, str] = {}
        self._constants: dict[tuple[str, bytes], str] = {}
        self._stems: dict[str, int] = {}

    def function(self, function: CFunction) -> str:
        """The symbol of a function, which is emitted at its first use."""
        if function in self._functions:
            return self._functions[function]
        count = self._stems.get(function.stem, 0)
        self._stems[function.stem] = count + 1
        # A helper is called by its stem from other functions' text, so it keeps it.
        stem = function.stem if function.inline else f"{function.stem}_{count}"
        symbol = f"{self.prefix}{stem}"
        body = _TOKEN.sub(lambda m: self.prefix + m[1], function.body)
        self._functions[function] = symbol
        self.functions.append(NamedFunction(symbol, _definition(function, symbol, body)))
        return symbol

    def constant(self, constant: Constant, layer: int) -> str:
        """The symbol of a constant; arrays of equal type and bytes share one."""
        value = np.ascontiguousarray(constant.value)
        little = value.astype(value.dtype.newbyteorder("<"))
        raw = little.tobytes()
        key = (constant.ctype, raw)
        if key in self._constants:
            return self._constants[key]
        alignment = max(constant.alignment, value.dtype.itemsize)
        self.weights += bytes(-len(self.weights) % alignment)
        symbol = f"{self.prefix}layer{layer}_{constant.stem}"
        self._constants[key] = symbol
        self.constants.append(NamedConstant(symbol, constant.ctype, value, len(self.weights)))
        self.weights += raw
        return symbol


def _definition(function: CFunction, symbol: str, body: str) -> str:
    qualifier = "static inline" if function.inline else "static"
    head = f"{qualifier} {function.result} {symbol}("
    parameters = [str(p) for p in function.parameters]
    lines = [head]
    for index, parameter in enumerate(parameters):
        last = index == len(parameters) - 1
        text = parameter + (")" if last else ", ")
        if len(lines[-1]) + len(text.rstrip()) > 98 and index:
            lines[-1] = lines[-1].rstrip()
            lines.append(" " * len(head))
        lines[-1] += text
    return "\n".join(lines) + " " + body.strip()


def headers(choices: Sequence[Choice]) -> list[str]:
    """The standard headers that the workloads need, sorted."""
    return sorted({h for c in choices for h in c.workload.headers})
