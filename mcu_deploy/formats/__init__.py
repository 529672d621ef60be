"""Model files: one module a format.

A module of this package with `SUFFIXES` (a tuple of file name endings, in small letters) and
`read(path, shapes)`, which gives the `Graph` of a file, or an `Imported` where there is more to
say, is a format; adding a file is all that adding a format takes. It may say more:

    COMPILED = True        its files hold what the compiler made of a model, so that code generation
                           alone is left to do; the graph says what file it was made of
    data_files(path)       the files beside a model that it keeps its data in
    self_contained(path)   the bytes of a model with these taken into it

Formats that were switched off when the package was built are left out.
"""

from __future__ import annotations

import hashlib
import importlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from types import ModuleType

from mcu_deploy.configuration import formats_off
from mcu_deploy.discovery import names
from mcu_deploy.errors import ModelError, Refusal, one_line
from mcu_deploy.files.given import is_file, is_folder, why_no_file
from mcu_deploy.formats.imported import Imported
from mcu_deploy.ir import Graph, naming

_LONGEST = 1000
_LARGEST_FILE = 1 << 30


def _modules(first: str = "") -> Iterator[ModuleType]:
    """The modules of this package, imported one by one; the one of this name is the first."""
    off = formats_off()
    known = [name for name in names(__path__) if name not in off]
    for name in sorted(known, key=lambda name: (name != first, name)):
        yield importlib.import_module(f"{__name__}.{name}")


def _format(path: Path) -> ModuleType | None:
    """The format of a file, by its ending. Most are named like it, and to import all is slow."""
    suffix = path.suffix.lower()
    found = (m for m in _modules(suffix[1:]) if suffix in getattr(m, "SUFFIXES", ()))
    return next(found, None)


def suffixes(*, compiled: bool = True) -> tuple[str, ...]:
    """The endings of all model files; compiled: of those too that hold compiled models."""
    wanted = (m for m in _modules() if compiled or not _is_compiled(m))
    return tuple(sorted(suffix for m in wanted for suffix in getattr(m, "SUFFIXES", ())))


def load(path: str | Path, shapes: Mapping[str, Sequence[int]] | None = None) -> Graph:
    """As `read`, for the graph alone."""
    return read(path, shapes).graph


def read(path: str | Path, shapes: Mapping[str, Sequence[int]] | None = None) -> Imported:
    """Reads a model file into a graph with static shapes, each node with its short name.

    `shapes` binds the shape of inputs by name, for models with symbolic dimensions; an open first
    dimension that looks like a batch is taken as 1, and the answer says so. Raises
    ModelError with a sentence for a file that is missing, damaged or of no known format, and one
    that lists all that stands against a model that cannot be read as a whole.
    """
    found = attempt(path, shapes)
    if not found.is_whole:
        raise of_file(path, found.refusal())
    return found


def attempt(path: str | Path, shapes: Mapping[str, Sequence[int]] | None = None) -> Imported:
    """As `read`, but of a model that cannot be read as a whole the answer has what can be.

    So that backends are asked about that too, and one error lists everything.
    """
    file = Path(path)
    module = require_format(file)
    content = _content(file)
    try:
        read: Graph | Imported = module.read(file, dict(shapes or {}))
    except ModelError as error:
        raise of_file(file, error) from error.__cause__
    found = read if isinstance(read, Imported) else Imported(read)
    graph = naming.number(found.graph)
    if not _is_compiled(module):
        graph = replace(graph, source_sha256=hashlib.sha256(content).hexdigest())
    return replace(found, graph=graph)


def _content(path: Path) -> bytes:
    """A model file's bytes. Raises ModelError with a sentence where they cannot be read."""
    try:
        return path.read_bytes()
    except OSError as error:
        raise ModelError(
            f"The model file {path} cannot be read ({error.strerror}). Check who may read it, or "
            "give another copy."
        ) from error


def require_format(path: Path) -> ModuleType:
    """The format of a file. Raises ModelError with a sentence for what is no model file."""
    if is_folder(path):
        what = "a folder and no model file. Give the path of the model itself."
        if is_file(path / "report.json"):
            what = (
                "a build folder, which `run`, `validate` and `profile` take. Give the model file."
            )
        raise ModelError(f"{path} is {what}")
    if not is_file(path):
        raise ModelError(f"The model file {path} {why_no_file(path)}. Check the path.")
    if path.stat().st_size > _LARGEST_FILE:
        raise ModelError(
            f"The model file {path} has {path.stat().st_size:,} bytes, more than any "
            "microcontroller holds. Give a smaller model."
        )
    module = _format(path)
    if module is None:
        listed = ", ".join(suffixes()) or "every format is switched off"
        wrong = f"the ending {path.suffix!r}, which is no model format that mcu-deploy reads"
        if not path.suffix:
            wrong = "no ending, by which mcu-deploy knows the format of a model"
        raise ModelError(
            f"{path} has {wrong} ({listed}). Give the model file, or convert the model to ONNX."
        )
    return module


def of_file(path: str | Path, error: ModelError) -> ModelError:
    """The error with the file's name before it, if it does not have it."""
    # Names in a file may be of any length and hold anything.
    text = str(error) if isinstance(error, Refusal) else one_line(str(error), _LONGEST)
    error.args = (text if str(path) in text else f"{path}: {text}",)
    return error


def is_compiled(path: Path) -> bool:
    """Whether a file is, by its ending, of a format that holds compiled models."""
    return _is_compiled(_format(path))


def _is_compiled(module: ModuleType | None) -> bool:
    return bool(getattr(module, "COMPILED", False))


def data_files(path: Path) -> tuple[Path, ...]:
    """The files that a model file, which was read before, keeps its data in."""
    find = getattr(_format(path), "data_files", None)
    return () if find is None else tuple(find(path))


def self_contained(path: Path) -> bytes:
    """The bytes of a model file, which was read before, that needs no other file beside it."""
    own = getattr(_format(path), "self_contained", None)
    content: bytes = _content(path) if own is None else own(path)
    return content
