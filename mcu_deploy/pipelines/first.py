"""The first files of a pipeline in a user's repository: the provider's, and mcu-deploy.toml."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from importlib import metadata
from pathlib import Path

from mcu_deploy import formats
from mcu_deploy.boards import Board, load_board
from mcu_deploy.codegen.names import network_name, variable
from mcu_deploy.device.emulators import launchers_for
from mcu_deploy.errors import RequestError
from mcu_deploy.output import write_file
from mcu_deploy.pipelines.configuration import FILE, THRESHOLD, read_configuration
from mcu_deploy.pipelines.provider import Provider, pipeline_text
from mcu_deploy.version import VERSION

_BOARD = "mps2-an386"  # a Cortex-M4 in QEMU, with room for most models
_MOST_MODELS = 50
_OTHERS = ("build", "node_modules", "venv")
_WHEEL = f"tools/mcu_deploy-{VERSION}-py3-none-any.whl"


@dataclass(frozen=True)
class Source:
    """What pip installs on a runner. note: what the user has to do for it, or empty."""

    spec: str
    note: str = ""


@dataclass(frozen=True)
class Written:
    """The files that were written, and what the user has to know or do."""

    files: tuple[Path, ...]
    notes: tuple[str, ...]


def write_pipeline(provider: Provider, root: Path, source: str | None = None) -> Written:
    """Writes a provider's file into a repository, and mcu-deploy.toml where there is none.

    root: the top of the repository. source: what pip installs mcu-deploy from; by default what it
    was installed from here. Nothing is ever overwritten: where both files are there already, raises
    RequestError, and where mcu-deploy.toml is and cannot be read.
    """
    _require_top(root, provider)
    configuration = root / FILE
    target, notes = _place(provider, root, is_alone=configuration.exists())
    files = [] if target is None else [target]
    if configuration.exists():
        boards = [job.board for job in read_configuration(configuration).jobs]
    else:
        models = find_models(root)
        write_file(configuration, configuration_text(models, [_BOARD]).encode())
        boards = [load_board(_BOARD)]
        files.append(configuration)
        if not models:
            notes.append(f"Say in {FILE} where your models are.")
    if target is None:
        return Written(tuple(files), tuple(notes))
    installed = installed_from() if source is None else Source(source)
    if installed.note:
        notes.append(installed.note)
    text = pipeline_text(provider, installed.spec, renode=any(map(needs_renode, boards)))
    write_file(target, text.encode())
    return Written(tuple(files), tuple(notes))


def _require_top(root: Path, provider: Provider) -> None:
    """Raises RequestError inside of a repository, where no provider looks."""
    above = next((f for f in (root, *root.resolve().parents) if (f / ".git").exists()), None)
    if above is not None and above.resolve() != root.resolve():
        raise RequestError(
            f"{provider.title} reads {provider.file} at the top of the repository, which is "
            f"{above}: call this command there."
        )


def _place(provider: Provider, root: Path, *, is_alone: bool) -> tuple[Path | None, list[str]]:
    """Where the provider's file goes, and what the user has to do then. is_alone: nothing else is
    to be written; else a file that is there already stays as it is (None)."""
    target = root / provider.file
    if not os.path.lexists(target):
        return target, []
    beside = root / provider.beside if provider.beside else target
    if os.path.lexists(beside) and not is_alone:
        return None, [f"{beside} is there already, and stays as it is."]
    if os.path.lexists(beside):
        raise RequestError(
            f"{beside} is there already, and is not overwritten. Move it away to get a new one."
        )
    return beside, [provider.remedy]


def needs_renode(board: Board) -> bool:
    """Whether no other emulator has a board."""
    return {launcher.name for launcher in launchers_for(board)} == {"renode"}


def installed_from() -> Source:
    """What pip installs this very mcu-deploy from, as far as another machine can reach it.

    pip notes where a package came from that is from no index: PEP 610, direct_url.json.
    """
    try:
        noted = metadata.distribution("mcu-deploy").read_text("direct_url.json")
    except metadata.PackageNotFoundError:
        noted = "{}"
    if noted is None:
        return Source(f"mcu-deploy=={VERSION}")
    origin = json.loads(noted)
    url = str(origin.get("url", ""))
    if "://" in url and not url.startswith("file:"):
        git = origin.get("vcs_info")
        return Source(f"{git['vcs']}+{url}@{git['commit_id']}" if git else url)
    return Source(
        _WHEEL,
        f"This mcu-deploy {VERSION} comes from {url or 'no package'}, which no runner reaches: "
        f"commit its wheel as {_WHEEL} (`pip wheel --no-deps` makes it), or say what else pip can "
        "install as MCU_DEPLOY in the file (`mcu-deploy ci --init ... --source` writes it there).",
    )


def find_models(root: Path) -> dict[str, Path]:
    """The model files below a folder, relative to it, by the names that they get."""
    found: dict[str, Path] = {}
    taken: set[str] = set()
    suffixes = formats.suffixes(compiled=False)
    for path in _files(root):
        if path.suffix.lower() in suffixes and len(found) < _MOST_MODELS:
            found[variable(network_name(None, path), taken)] = path.relative_to(root)
    return found


def _files(folder: Path) -> Iterator[Path]:
    """All files below a folder, in the order of their names; not what is hidden or built."""
    for above, folders, names in os.walk(folder):
        folders[:] = sorted(f for f in folders if not f.startswith(".") and f not in _OTHERS)
        for name in sorted(names):
            if name.isprintable():
                yield Path(above, name)


def configuration_text(models: Mapping[str, Path], boards: Sequence[str]) -> str:
    """The text of a first mcu-deploy.toml. models: paths by name; none gives an example."""
    lines = [
        "# What `mcu-deploy ci` builds, checks, validates and counts (docs/ci.md of mcu-deploy).",
        f"boards = [{', '.join(map(_quoted, boards))}] # `mcu-deploy boards` lists them",
        f"threshold = {THRESHOLD:g} # percent by which flash, RAM, stack and cycles may grow",
    ]
    for name, path in (models or {"my_model": Path("models/my_model.onnx")}).items():
        samples = path.with_suffix(".npz")
        lines += ["", f"[models.{name}]", f"file = {_quoted(path.as_posix())}"]
        lines.append(
            f"# data = {_quoted(samples.as_posix())} # samples: in0, in1, ...; else made-up ones"
        )
    return "\n".join(lines) + "\n"


def _quoted(text: str) -> str:
    """A TOML string: JSON's escapes are TOML's, but for DEL, which printable text has not."""
    return json.dumps(text, ensure_ascii=False)
