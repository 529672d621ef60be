"""Model files: one module a format.

A module of this package with `SUFFIXES` (a tuple of file name endings) and `load(path, shapes)` is
a format; adding a file is all that adding a format takes. Those that were switched off when the
package was built are left out.
"""

from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Mapping, Sequence
from pathlib import Path
from types import ModuleType

from mcu_deploy.configuration import formats_off
from mcu_deploy.errors import ModelError
from mcu_deploy.ir import Graph


def _formats() -> dict[str, ModuleType]:
    found: dict[str, ModuleType] = {}
    off = formats_off()
    for info in pkgutil.iter_modules(__path__):
        if info.name in off:
            continue
        module = importlib.import_module(f"{__name__}.{info.name}")
        for suffix in getattr(module, "SUFFIXES", ()):
            found[suffix] = module
    return found


def load(path: str | Path, shapes: Mapping[str, Sequence[int]] | None = None) -> Graph:
    """Reads a model file into a graph with static shapes.

    `shapes` binds the shape of inputs by name, for models with symbolic dimensions. Raises
    ModelError with a sentence for a file that is missing, damaged or of no known format.
    """
    file = Path(path)
    formats = _formats()
    module = formats.get(file.suffix.lower())
    if module is None:
        raise ModelError(
            f"{file} has the ending {file.suffix!r}, which is no model format that mcu-deploy "
            f"reads ({', '.join(sorted(formats)) or 'every format is switched off'}). Convert the "
            "model to ONNX."
        )
    if not file.is_file():
        reason = "is a folder" if file.is_dir() else "does not exist"
        raise ModelError(f"The model file {file} {reason}. Check the path.")
    graph: Graph = module.load(file, dict(shapes or {}))
    return graph


def self_contained(path: Path) -> bytes:
    """The bytes of a model file that needs no other file beside it."""
    content: bytes = _formats()[path.suffix.lower()].self_contained(path)
    return content
