"""A no_std Rust crate with a safe interface to each network; cc compiles the C in it.

Sources: the Cargo Book ("Build Scripts", "The Manifest Format"), the documentation of the crate cc,
and rustc's list of targets (thumbv7em-none-eabihf and the like, "Platform Support").
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

import numpy as np

from mcu_deploy.errors import RequestError
from mcu_deploy.exports import parts
from mcu_deploy.exports.model import Exported, ExportedNetwork, Value
from mcu_deploy.exports.rendering import render
from mcu_deploy.plan.alignment import aligned
from mcu_deploy.report.places import PoolReport

NAME = "rust"
ARCHIVE = None

_TARGETS = {
    "armv6s-m": "thumbv6m-none-eabi",
    "armv7-m": "thumbv7m-none-eabi",
    "armv7e-m": "thumbv7em-none-eabi",
    "armv8-m.main": "thumbv8m.main-none-eabi",
    "armv8.1-m.main": "thumbv8m.main-none-eabi",
}
# Assembly, and what a source asks of the core that it was compiled for.
_NOT_PORTABLE = ("__asm__", "__ARM_FEATURE_DSP", "__ARM_FP")
_CALLERS_ALIGNMENT = 16  # of buffers that the network leaves to the caller
# Names that no module of lib.rs can have: strict and reserved keywords in lower case (The Rust
# Reference, "Keywords"), what lib.rs uses, and the devices of Windows, which are no files there.
_TAKEN = frozenset({
    "Keywords", "abstract", "as", "async", "await", "become", "box", "break", "const", "continue",
    "crate", "do", "dyn", "else", "enum", "extern", "false", "final", "fn", "for", "gen", "if",
    "impl", "in", "let", "loop", "macro", "match", "mod", "move", "mut", "override", "priv", "pub",
    "ref", "return", "self", "static", "struct", "super", "trait", "true", "try", "type", "typeof",
    "unsafe", "unsized", "use", "virtual", "where", "while", "yield", "alloc", "core", "fmt",
    "slice", "std", "str", "aux", "con", "nul", "prn",
})  # fmt: skip
_PORT = re.compile(r"(?:com|lpt)[0-9]")


def files(exported: Exported) -> Mapping[str, bytes]:
    """The content of each file by its path. RequestError where two modules would be one."""
    parts.require_largest(exported, NAME)
    modules = {n.name: _module(n.name) for n in exported.networks}
    if len(set(modules.values())) < len(modules):
        raise RequestError(
            f"The networks {', '.join(modules)} would be the modules {', '.join(modules.values())} "
            "of a Rust crate, and two of them the same. Build with other --name."
        )
    values: dict[str, Any] = {
        "crate": f"mcu_network_{_snake(exported.name)}",
        "target": _target(exported),
        "portable": not any(word in n.source for n in exported.networks for word in _NOT_PORTABLE),
        "modules": modules,
        "pool_name": lambda pool: f"pool_{pool.name.lower()}",
        "pool_type": _pool_type,
        "rust_type": _rust_type,
        "literal": _literal,
        "literals": _literals,
    }

    def text(name: str, **more: Any) -> bytes:
        return render(f"rust/{name}.j2", exported, **values, **more)

    result = {
        "Cargo.toml": text("Cargo.toml"),
        "build.rs": text("build.rs"),
        "src/lib.rs": text("lib.rs"),
        "examples/answer.rs": text("answer.rs"),
        "README.md": text("README.md"),
        **parts.library(exported, "csrc/include", "csrc", "csrc/runtime"),
    }
    for n in exported.networks:
        own = {"n": n, **_memory(n)}
        result[f"src/{modules[n.name]}.rs"] = text("network.rs", **own)
        result[f"csrc/shim_{n.name}.c"] = text("shim.c", **own)
    return result


def _target(exported: Exported) -> str:
    processor = exported.processor
    hard = "hf" if processor.float_abi == "hard" else ""
    return _TARGETS[processor.architecture] + hard


def _snake(name: str) -> str:
    """A name as Rust's compiler wants those of crates and modules."""
    return re.sub("_+", "_", name.lower()).strip("_")


def _module(name: str) -> str:
    """The module of a network: its name, where Rust leaves that to it."""
    plain = _snake(name)
    is_free = plain[:1].isalpha() and plain not in _TAKEN and not _PORT.fullmatch(plain)
    return plain if is_free else f"network_{plain}"


def _memory(network: ExportedNetwork) -> dict[str, Any]:
    """What the Workspace of a network holds: its tensors, then inputs and outputs that it leaves
    to the caller, each aligned. alignment and workspace_bytes are those of the whole."""
    sides = (("input", network.inputs), ("output", network.outputs))
    callers = [(what, value) for what, values in sides for value in values if value.is_callers]
    alignment = max(network.alignment, _CALLERS_ALIGNMENT if callers else 1)
    size = network.report.pools[0].bytes
    for _, value in callers:
        size = aligned(size, _CALLERS_ALIGNMENT) + value.array.nbytes
    return {"callers": callers, "alignment": alignment, "workspace_bytes": aligned(size, alignment)}


def _pool_type(pool: PoolReport) -> str:
    return "Pool" + "".join(word.capitalize() for word in pool.name.split("_"))


def _rust_type(value: Value) -> str:
    name = value.ctype.removesuffix("_t")
    known = {"float": "f32", "double": "f64"}
    return known.get(name) or name[0] + name.lstrip("uint")


def _literal(value: Value, number: Any) -> str:
    """A number of the value's type, written in Rust."""
    if not value.is_float:
        return str(int(number))
    number = value.array.dtype.type(number)
    if not np.isfinite(number):
        name = "NAN" if np.isnan(number) else "INFINITY" if number > 0 else "NEG_INFINITY"
        return f"{_rust_type(value)}::{name}"
    return np.format_float_scientific(number, unique=True, trim="0")


def _literals(value: Value) -> list[str]:
    return [_literal(value, number) for number in value.array.reshape(-1)]
