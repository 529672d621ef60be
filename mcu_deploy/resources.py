"""Where the files lie that are not Python: crt/, boards/, cmake/, renode/, docs/.

In the repository they stand at its top; in an installed package the wheel carries them in
`mcu_deploy/_data/`.
"""

from __future__ import annotations

from pathlib import Path

_PACKAGE = Path(__file__).resolve().parent


def root() -> Path:
    """The folder that holds crt/, boards/, cmake/, renode/ and docs/."""
    installed = _PACKAGE / "_data"
    return installed if installed.is_dir() else _PACKAGE.parent


def crt() -> Path:
    """The C runtime: include/ and src/."""
    return root() / "crt"


def cmake() -> Path:
    """The folder of `find_package(mcu_deploy)` and of the toolchain file."""
    return root() / "cmake" / "package"


def copy_runtime(folder: Path, headers: str) -> None:
    """Copies the runtime's headers, its sources and the licence into a build, so that it can be
    compiled there with flags of one's own. headers: the folder for these in it.

    mcu_run.c lies beside the arena there, without which it does not link."""
    for part, name in (("include", headers), ("src", "src"), ("arena", "arena")):
        for file in sorted((crt() / part).rglob("*.*")):
            own = "arena" if file.name == "mcu_run.c" else name
            copy = folder / own / file.relative_to(crt() / part)
            copy.parent.mkdir(parents=True, exist_ok=True)
            copy.write_bytes(file.read_bytes())
    (folder / "LICENSE").write_bytes((root() / "LICENSE").read_bytes())


def boards() -> Path:
    """The boards that come with mcu-deploy, a folder each, and boards/common."""
    return root() / "boards"


def docs() -> Path:
    """The pages of the documentation, in Markdown."""
    return root() / "docs"


def page(name: str) -> Path:
    """A page of the documentation, for messages that name one: where it lies on this machine."""
    return docs() / f"{name}.md"


def examples() -> Path:
    """Models with labelled samples that ship with the package."""
    return _PACKAGE / "examples"
