"""Model files: one module a format.

A module of this package with `SUFFIXES` (a tuple of file name endings, in small letters) and
`read(path, shapes)`, which gives the `Graph` of a file, or an `Imported` where there is more to
say, is a format; adding a file is all that adding a format takes. It may say more:

    COMPILED = True        its files hold what the compiler made of a model, so that code generation
                           alone is left to do; they are opened elsewhere, and it has no `read`
    data_files(path)       the files beside a model that it keeps its data in
    self_contained(path)   the bytes of a model with these taken into it
    BINDS_INPUTS = True    `read` takes a third argument: arrays, of inputs that become constants

Formats that were switched off when the package was built are left out, and so are those whose
module cannot be imported: `skipped` says why. What a module raises that is not for users, and what
it gives that is no model, ends in a FormatFault, which names the format.
"""

from __future__ import annotations

import hashlib
import importlib
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from types import ModuleType

from mcu_deploy.configuration import formats_off
from mcu_deploy.discovery import names
from mcu_deploy.errors import (
    FormatFault,
    McuDeployError,
    ModelError,
    Refusal,
    RequestError,
    one_line,
    raised,
)
from mcu_deploy.files.arrays import Array
from mcu_deploy.files.given import is_file, is_folder, why_no_file
from mcu_deploy.formats.attributes import wrong_attribute
from mcu_deploy.formats.imported import Imported, checked
from mcu_deploy.ir import Graph, naming

_LONGEST = 1000
_LARGEST_FILE = 1 << 30


def _modules(first: str = "") -> Iterator[ModuleType]:
    """The modules of this package that can be imported, one by one; the one of this name first."""
    return (found for _, found in _tried(first) if isinstance(found, ModuleType))


def skipped() -> dict[str, str]:
    """The modules that cannot be imported, by their names, with the reasons, which are clauses."""
    return {name: found for name, found in _tried() if isinstance(found, str)}


def _tried(first: str = "") -> Iterator[tuple[str, ModuleType | str]]:
    """The modules of this package, imported one by one, or why they cannot be."""
    off = formats_off()
    known = [name for name in names(__path__) if name not in off]
    for name in sorted(known, key=lambda name: (name != first, name)):
        found: ModuleType | str
        try:
            found = importlib.import_module(f"{__name__}.{name}")
            found = _why_no_format(found) or found
        except (Exception, SystemExit) as error:
            found = raised(error)
        yield name, found


def _why_no_format(module: ModuleType) -> str:
    """Why a module that says it is a format is none, a clause; "" where nothing is wrong."""
    endings = getattr(module, "SUFFIXES", ())
    if not isinstance(endings, tuple) or not all(isinstance(e, str) for e in endings):
        return "its SUFFIXES are no tuple of texts"
    can_read = callable(getattr(module, "read", None)) or _is_compiled(module)
    return "" if not endings or can_read else "it has no read"


@contextmanager
def _blamed(module: ModuleType, path: Path) -> Iterator[None]:
    """What its module does wrong is the format's fault; what it says to users stays."""
    try:
        yield
    except (McuDeployError, OSError):
        raise
    except (Exception, SystemExit) as error:
        raise _fault(module, path, raised(error)) from error


def _fault(module: ModuleType, path: Path, what: str) -> FormatFault:
    name = module.__name__.rpartition(".")[2]
    return FormatFault(
        f"The module of the model format {name} failed on {path}: {what}. Mend {module.__file__} "
        "(with MCU_DEPLOY_DEBUG=1 in the environment it is said where), or give the model in "
        "another format."
    )


def _endings(module: ModuleType) -> tuple[str, ...]:
    return tuple(getattr(module, "SUFFIXES", ()))


def _format(path: Path) -> ModuleType | None:
    """The format of a file, by its ending. Most are named like it, and to import all is slow."""
    suffix = path.suffix.lower()
    found = (m for m in _modules(suffix[1:]) if suffix in _endings(m))
    return next(found, None)


def suffixes(*, compiled: bool = True) -> tuple[str, ...]:
    """The endings of all model files; compiled: of those too that hold compiled models."""
    wanted = (m for m in _modules() if compiled or not _is_compiled(m))
    return tuple(sorted(suffix for m in wanted for suffix in _endings(m)))


def load(path: str | Path, shapes: Mapping[str, Sequence[int]] | None = None) -> Graph:
    """As `read`, for the graph alone."""
    return read(path, shapes).graph


def read(
    path: str | Path, shapes: Mapping[str, Sequence[int]] | None = None,
    constants: Mapping[str, Array] | None = None,
) -> Imported:  # fmt: skip
    """Reads a model file into a graph with static shapes, each node with its short name.

    `shapes` binds the shape of inputs by name, for models with symbolic dimensions; an open first
    dimension that looks like a batch is taken as 1, and the answer says so. `constants` has the
    values of inputs that are none any more, by name. Raises
    ModelError with a sentence for a file that is missing, damaged or of no known format, and one
    that lists all that stands against a model that cannot be read as a whole.
    """
    found = attempt(path, shapes, constants)
    if not found.is_whole:
        raise of_file(path, found.refusal())
    return found


def attempt(
    path: str | Path, shapes: Mapping[str, Sequence[int]] | None = None,
    constants: Mapping[str, Array] | None = None,
) -> Imported:  # fmt: skip
    """As `read`, but of a model that cannot be read as a whole the answer has what can be.

    So that backends are asked about that too, and one error lists everything.
    """
    file = Path(path)
    module = require_format(file)
    if _is_compiled(module):
        raise RequestError(
            f"{file} is compiled already, and has no model in it any more. Give the model that it "
            "was made of."
        )
    if constants and not getattr(module, "BINDS_INPUTS", False):
        raise RequestError(
            f"--constant-input gives an input of {file} a value, and {file.suffix} files cannot "
            "be read with one. Put the value into the model where it is made."
        )
    content = _content(file)
    try:
        with _blamed(module, file):
            bound = (dict(constants),) if constants else ()
            read: object = module.read(file, dict(shapes or {}), *bound)
            wrong = wrong_attribute(read) if isinstance(read, Graph) else None
            if wrong:
                raise _fault(module, file, wrong)
            found = _imported(read)
            if found is None:
                what = f"its read gave a {type(read).__name__} and no Graph"
                raise _fault(module, file, what)
            graph = naming.number(found.graph)
    except ModelError as error:
        raise of_file(file, error) from error.__cause__
    graph = replace(graph, source_sha256=hashlib.sha256(content).hexdigest())
    return replace(found, graph=graph)


def _imported(read: object) -> Imported | None:
    """What a format's `read` gave, as an Imported. A graph alone was not looked at by anybody."""
    if isinstance(read, Graph):
        return checked(read, (), (), (), ())
    return read if isinstance(read, Imported) else None


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
        lacking = "".join(f" The format {n} was skipped: {why}." for n, why in skipped().items())
        raise ModelError(
            f"{path} has {wrong} ({listed}). Give the model file, or convert the model to ONNX."
            f"{lacking}"
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
    module = _format(path)
    if module is None or not hasattr(module, "data_files"):
        return ()
    with _blamed(module, path):
        return tuple(map(Path, module.data_files(path)))


def self_contained(path: Path) -> bytes:
    """The bytes of a model file, which was read before, that needs no other file beside it."""
    module = _format(path)
    if module is None or not hasattr(module, "self_contained"):
        return _content(path)
    with _blamed(module, path):
        content = module.self_contained(path)
        if not isinstance(content, bytes):
            what = f"its self_contained gave a {type(content).__name__} and no bytes"
            raise _fault(module, path, what)
        return content
