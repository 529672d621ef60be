"""What kernels of a compiled network read, found in its object, and what their heads say of it.

The words are those of the object's symbols that the generated C hands to a kernel; the head is the
comment over it. Nothing here knows how a stream is packed: the readers beside this module take the
head by its word.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from elftools.elf.elffile import ELFFile

from mcu_deploy import resources
from mcu_deploy.boards import load_board
from mcu_deploy.compiler import compile_model, write_network
from mcu_deploy.options import Options
from mcu_deploy.toolchain import HEADERS

_FUNCTION = re.compile(
    r"(?:/\*((?:(?!\*/).)*)\*/\n)?(MCU_KERNEL|MCU_FUNCTION) void (\w+)\(([^)]*)\) \{\n(.*?)\n\}\n",
    re.S,
)
_LAYER = re.compile(
    r"/\* \w+: \w+, ([^(:]*?)(?: \(|:)(?:(?!/\*).)*?MCU_LAYER\(\d+, (\w+)\((.*?)\)\);", re.S
)


@dataclass(frozen=True)
class Packed:
    """nodes: the model's, that the layer computes. symbol: the words' in the object. head: over the
    kernel that reads them, in one line."""

    nodes: tuple[str, ...]
    kernel: str
    head: str
    symbol: str
    words: np.ndarray


@dataclass(frozen=True)
class _Function:
    head: str
    is_kernel: bool
    parameters: tuple[str, ...]
    body: str


def packed(model: Path, board_name: str, goal: str, folder: Path) -> Iterator[Packed]:
    """Of the layers that kernels in assembly compute: constants with a head that describes them."""
    board = load_board(board_name)
    options = Options(optimize_for=goal, backends=("ArmDsp", "CpuRef"))
    network = compile_model(model, board, name="net", options=options)
    resources.copy_runtime(folder, HEADERS)
    symbols = _symbols(write_network(network, board, folder))
    text = network.sources.files["network_net.c"].decode()
    functions = {
        found[3]: _Function(_plain(found[1] or ""), found[2] == "MCU_KERNEL",
                            tuple(re.findall(r"(\w+)(?: MCU_UNUSED)?(?:,|$)", found[4])), found[5])
        for found in _FUNCTION.finditer(text)
    }  # fmt: skip
    for found in _LAYER.finditer(text):
        nodes, arguments = tuple(re.split(r"\s\+\s", found[1])), re.split(r",\s+", found[3])
        for position, argument in enumerate(arguments):
            reader = _reader(functions, found[2], position) if argument in symbols else None
            if reader is not None:
                words = np.frombuffer(symbols[argument], np.uint32)
                yield Packed(nodes, reader, functions[reader].head, argument, words)


def _plain(comment: str) -> str:
    return " ".join(re.sub(r"\n \* ?", " ", comment).split())


def _reader(functions: Mapping[str, _Function], name: str, position: int) -> tuple[str, str] | None:
    """The kernel that reads what a function is given, and what it calls it."""
    function = functions.get(name)
    if function is None:
        return None
    parameter = function.parameters[position]
    if function.is_kernel:
        return name
    calls = [(callee, re.split(r",\s+", arguments))
             for callee, arguments in re.findall(r"\b(\w+)\(([^;]*)\);", function.body)
             if callee in functions]  # fmt: skip
    for callee, given in calls:  # as it is, or moved on and called the same
        if parameter in given:
            return _reader(functions, callee, given.index(parameter))
    for callee, _ in calls:
        if parameter in functions[callee].parameters:
            return _reader(functions, callee, functions[callee].parameters.index(parameter))
    return None


def _symbols(path: Path) -> dict[str, bytes]:
    """Of the constants of an object, which are local to it."""
    with path.open("rb") as file:
        elf = ELFFile(file)
        found = {}
        for symbol in elf.get_section_by_name(".symtab").iter_symbols():
            index = symbol["st_shndx"]
            if symbol["st_info"]["bind"] == "STB_LOCAL" and isinstance(index, int):
                section = elf.get_section(index)
                if section.name.startswith(".rodata") and symbol["st_size"]:
                    begin = symbol["st_value"]
                    found[symbol.name] = section.data()[begin : begin + symbol["st_size"]]
        return found
