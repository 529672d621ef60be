"""Names of functions and constants in one network; equal ones are emitted once."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from types import MappingProxyType

import numpy as np

from mcu_deploy.backends.interface import CFunction, Constant, Parameter
from mcu_deploy.codegen import names
from mcu_deploy.codegen.text import wrap
from mcu_deploy.plan import hot_code

# Stems that the network's own template uses.
_OWN = (
    "weights",
    "layers",
    "run_func",
    "inputs",
    "outputs",
    "regions",
    "layer_infos",
    "memory",
    "acquire",
    "release",
    "partitions",
    "pools",
    "kepts",
    "hot",
    "states",
    "size",
    "extents",
)
_OWN_NUMBERED = re.compile(
    r"(?:lane|piece)\d+|part\d+_(?:run_func|inputs|outputs|(?:input|output)\d+_shape)"
)
_TOKEN = re.compile(r"\$([A-Za-z0-9_]+)")
_NONE: Mapping[str, str] = MappingProxyType({})


@dataclass(frozen=True)
class NamedFunction:
    """A C function with its final name; `text` is its definition."""

    symbol: str
    text: str
    naked: bool


@dataclass(frozen=True)
class NamedConstant:
    """A constant with its final name and its place in the weights file."""

    symbol: str
    ctype: str
    value: np.ndarray
    offset: int
    alignment: int

    @property
    def elements(self) -> int:
        return int(self.value.size)


class Symbols:
    """Gives every function and constant of a network its symbol, `_mcu_<network>_<stem>`.

    owners: by the symbol of a kernel or of its helper, the backends that have it. layers: by the
    symbol of a function or constant the layers that use it, by index. hot: the kernels, as
    `hot_code.anonymous` has them, that lie in a section of their own.
    """

    def __init__(self, network: str, hot: Collection[CFunction] = ()) -> None:
        self.prefix = f"_mcu_{network}_"
        self.functions: list[NamedFunction] = []
        self.constants: list[NamedConstant] = []
        self.weights = bytearray()
        self.alignment = 1
        self.owners: dict[str, set[str]] = {}
        self.layers: dict[str, list[int]] = {}
        self._functions: dict[CFunction, str] = {}
        self._hot = frozenset(hot)
        self._constants: dict[tuple[str, bytes], NamedConstant] = {}
        self._taken = {self.prefix + stem for stem in _OWN}

    def function(self, function: CFunction, helpers: Mapping[str, str] = _NONE) -> str:
        """The symbol of a function, which is emitted at its first use.

        helpers: by their stems the symbols of those that the function's `$words` mean.
        """
        function = hot_code.anonymous(function)
        if function in self._hot:
            section = f"section({hot_code.SECTION})"
            function = replace(function, attributes=(*function.attributes, section))
        body = _TOKEN.sub(lambda m: helpers.get(m[1], self.prefix + m[1]), function.body)
        final = replace(function, body=body)
        symbol = self._functions.get(final)
        if symbol is None:
            symbol = self._free(function.stem)
            self._functions[final] = symbol
            self.functions.append(
                NamedFunction(symbol, _definition(function, symbol, body), function.naked)
            )
        return symbol

    def kernel(
        self, helpers: Sequence[CFunction], function: CFunction, backend: str = "",
        layer: int | None = None,
    ) -> str:  # fmt: skip
        """The symbol of a function whose helpers, which may call each other, are emitted before it.

        Functions of different workloads may have different helpers of one stem. layer: the index of
        the one that it computes.
        """
        known: dict[str, str] = {}
        for helper in helpers:
            known[helper.stem] = self.function(helper, known)
        symbol = self.function(function, known)
        for owned in (*known.values(), symbol):
            self.owners.setdefault(owned, set()).update([backend] if backend else [])
            if layer is not None:
                self.layers.setdefault(owned, []).append(layer)
        return symbol

    def constant(self, constant: Constant, layer: str = "", index: int | None = None) -> str:
        """The symbol of a constant; arrays of equal type and bytes share one.

        layer, index: the short name and the number of the layer whose it is; empty: of none.
        """
        symbol = self._constant(constant, layer)
        if index is not None:
            self.layers.setdefault(symbol, []).append(index)
        return symbol

    def _constant(self, constant: Constant, layer: str) -> str:
        value = np.ascontiguousarray(constant.value)
        raw = value.astype(value.dtype.newbyteorder("<")).tobytes()
        alignment = max(constant.alignment, value.dtype.itemsize)
        shared = self._constants.get((constant.ctype, raw))
        if shared is not None and shared.alignment % alignment == 0:
            return shared.symbol
        owner = f"{names.identifier(layer)}_" if layer else ""
        symbol = self._free(f"{owner}{constant.stem}")
        self.alignment = max(self.alignment, alignment)
        self.weights += bytes(-len(self.weights) % alignment)
        named = NamedConstant(symbol, constant.ctype, value, len(self.weights), alignment)
        self._constants[constant.ctype, raw] = named
        self.constants.append(named)
        self.weights += raw
        return symbol

    def _free(self, stem: str) -> str:
        """A symbol made of a stem that no other function or constant has."""
        symbol = self.prefix + stem
        number = 1
        while symbol in self._taken or _OWN_NUMBERED.fullmatch(symbol.removeprefix(self.prefix)):
            number += 1
            symbol = f"{self.prefix}{stem}_{number}"
        self._taken.add(symbol)
        return symbol


def _definition(function: CFunction, symbol: str, body: str) -> str:
    kind = "MCU_KERNEL" if function.naked else "MCU_FUNCTION"
    if function.naked:  # names of places in it that computed jumps go to
        body = body.replace("$.", f"{symbol}.")
    qualifier = "static inline" if function.inline else kind
    if function.attributes:
        qualifier += f" __attribute__(({', '.join(function.attributes)}))"
    head = f"{qualifier} {Parameter(function.result, symbol)}("
    unused = " MCU_UNUSED" if function.naked else ""  # as far as a compiler can see
    parameters = [f"{p}{unused}" for p in function.parameters] or ["void"]
    opened = wrap(head, parameters, ") {", declaration=True)
    if function.comment:
        opened = "/* " + "\n * ".join(function.comment) + f" */\n{opened}"
    inside = body.strip().removeprefix("{")
    if function.naked:  # whose comments stand in columns
        off, on = ("    /* clang-format off */", "    /* clang-format on */")
        inside = f"\n{off}{inside.removesuffix('}')}{on}\n}}"
    return opened + inside


def headers(lists: Sequence[Sequence[str]]) -> list[str]:
    """The standard headers that the workloads need, each once, sorted."""
    return sorted({header for names in lists for header in names})
