"""The C compiler and the linker: where they are, and what they make of a source, a set, a program.

An object depends on nothing but its source, the headers and the compiler: sources are named
relative to the folder that gcc runs in, the folders' own names are mapped away, and the
environment holds no include path and no date.
"""

from __future__ import annotations

import functools
import os
import re
import shutil
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from mcu_deploy import resources
from mcu_deploy.boards import Processor
from mcu_deploy.errors import ToolError
from mcu_deploy.files import cache
from mcu_deploy.processes import programs
from mcu_deploy.toolchain.firmware import (
    SourceSet,
    network_callgraph,
    network_object,
    runtime_sources,
)
from mcu_deploy.toolchain.flags import HEADERS, network_flags
from mcu_deploy.version import VERSION

_APT = "sudo apt install gcc-arm-none-eabi libnewlib-arm-none-eabi"
_APT_HOST = "sudo apt install gcc libc6-dev"

TRIED = ("12.2", "13.2")
"""The versions of gcc with which the tests ran: those of Debian 12 and of Ubuntu 24.04."""

_VERSION_SECONDS = 60.0

# What gcc reads from the environment and what could change an object by it (GCC 12 manual,
# "Environment Variables Affecting GCC").
_GCC_ENVIRONMENT = """
    CPATH C_INCLUDE_PATH COMPILER_PATH DEPENDENCIES_OUTPUT GCC_COMPARE_DEBUG GCC_EXEC_PREFIX LANG
    LC_CTYPE LC_MESSAGES LIBRARY_PATH SUNPRO_DEPENDENCIES
"""

# What gcc, as and ld say where there is no room for their output, or for what is on the way to it.
_NO_ROOM = ("No space left on device", "Disk quota exceeded")
_THREE_LINES = """#include <string.h>
char text[8];
int main(void) { return memcmp(text, memset(text + 4, 0, 4), 4); }
"""

_NO_REASON = "it gave no reason"
_LITTLE = 1 << 20  # bytes; an archive of the runtime is smaller

# What tells an error from the notes around it, in the messages of gcc and ld.
_ERRORS = ("error:", "undefined reference", "multiple definition", "cannot find -l")


def gcc_number(version: str) -> str:
    """12.2.1 of gcc's own line, or "unknown" where it has none."""
    found = re.search(r"\) (\d[\d.]*)", version)
    return found[1] if found else "unknown"


@dataclass(frozen=True)
class Toolchain:
    """gcc and its companions for one board or core, as full paths; `version` is gcc's own line."""

    board: Processor
    gcc: str
    ar: str
    version: str

    @classmethod
    def for_board(cls, board: Processor) -> Toolchain:
        """Finds the compiler: arm-none-eabi-gcc, or the machine's own gcc for the host.

        Raises ToolError, with the command that installs it, where one is missing."""
        prefix = "" if board.is_host else "arm-none-eabi-"
        gcc, ar = (_find(prefix + tool, board) for tool in ("gcc", "ar"))
        version = _version(gcc, _stamp(Path(gcc)))
        if version is None:
            raise ToolError(
                f"{gcc} does not answer as gcc does; install gcc with: "
                f"{_APT_HOST if board.is_host else _APT}"
            )
        return cls(board, gcc, ar, version)

    def try_out(self) -> None:
        """Compiles and links three lines of C for the board. ToolError, with what the compiler
        said, where that fails or takes longer than a minute."""
        bare = ["-specs=nano.specs", "-nostartfiles", "-Wl,-emain"]
        libraries = [] if self.board.is_host else bare
        with tempfile.TemporaryDirectory(prefix="mcu-deploy-") as folder:
            place = Path(folder)
            (place / "try.c").write_text(_THREE_LINES)
            command = [self.gcc, *programs.gcc_wrapper(), *self.board.cflags, *libraries]
            ended = programs.run(
                [*command, "try.c", "-o", "try.elf"],
                cwd=place, environment=environment(place), seconds=_VERSION_SECONDS,
            )  # fmt: skip
        failing = f"three lines of C do not compile for {self.board.called}"
        if ended.exhausted:
            raise ToolError(f"{failing}: {self.gcc} {ended.exhausted}")
        if ended.returncode != 0:
            raise ToolError(_compile_message(failing, ended.stderr, self.board))

    def file(self, name: str) -> Path | None:
        """A file of the compiler's libraries for the board's core (nano.specs, libc.a), if any."""
        path = _library(self.gcc, _stamp(Path(self.gcc)), self.board.cflags, name)
        return path if path.is_absolute() and path.is_file() else None

    def compile_object(
        self,
        source: str,
        output: str | Path,
        *,
        cwd: Path,
        flags: Sequence[str],
        include: Sequence[Path] = (),
        callgraph: str | Path | None = None,
    ) -> Path:
        """Compiles `source` (relative to cwd) to the object `output` (relative to cwd or absolute).

        include: folders besides crt/include. callgraph: where gcc's call graph with the frames goes
        (the `.ci` file); by default beside the object. Each file appears under its name only when
        it is complete. Raises ToolError with the compiler's first messages."""
        cwd = cwd.resolve()
        target = cwd / output
        graph = cwd / callgraph if callgraph is not None else target.with_suffix(".ci")
        crt_include = (resources.crt() / "include").resolve()
        folders = {cwd: ".", crt_include: "crt/include"}
        for folder in include:
            folders.setdefault(folder.resolve(), folder.name)
        command = [self.gcc, *programs.gcc_wrapper(), *flags, "-fcallgraph-info=su"]
        command += [f"-I{folder}" for folder in folders if folder != cwd]
        # gcc applies the last map that fits: the inner folders' ones come last.
        ordered = sorted(folders.items(), key=lambda item: len(item[0].parts))
        command += [f"-ffile-prefix-map={folder}={name}" for folder, name in ordered]
        with writing(target):
            target.parent.mkdir(parents=True, exist_ok=True)
            graph.parent.mkdir(parents=True, exist_ok=True)
            with tempfile.TemporaryDirectory(prefix=".compile-", dir=target.parent) as scratch:
                made = Path(scratch) / target.name
                failing = f"{source} does not compile for {self.board.called}"
                command += ["-c", source, "-o", str(made)]
                result = run_tool(command, cwd, failing, target.parent)
                if result.returncode != 0:
                    raise ToolError(_compile_message(failing, result.stderr, self.board))
                made.with_suffix(".ci").replace(graph)
                made.replace(target)
        return target

    def compile_set(self, sources: SourceSet, directory: Path) -> tuple[Path, ...]:
        """Compiles the sources to their objects in a build, a few at a time, in the order given.

        They are of the package, not of a model: what is compiled once is kept (cache.py)."""
        library = self.file("libc.a")
        stamps = [_stamp(path) for path in (Path(self.gcc), library) if path is not None]
        headers = [path.read_bytes() for path in sources.headers]
        common: list[str | bytes] = [VERSION, self.version, *stamps, *headers]
        objects = sources.made(directory.resolve(), ".o")

        def compile_one(source: str, target: Path) -> None:
            flags = [*sources.flags, f"-frandom-seed={target.stem}"]
            graph = target.with_suffix(".ci")

            def compiled() -> bytes:
                self.compile_object(
                    source, target, cwd=sources.root, flags=flags, include=sources.include
                )
                made = target.read_bytes()
                return len(made).to_bytes(8, "little") + made + graph.read_bytes()

            text = (sources.root / source).read_bytes()
            content = cache.kept(cache.key([source, *flags, *common, text]), compiled)
            size = 8 + int.from_bytes(content[:8], "little")
            with writing(target):
                target.parent.mkdir(parents=True, exist_ok=True)
                graph.write_bytes(content[size:])
                target.write_bytes(content[8:size])

        with ThreadPoolExecutor(max_workers=max(2, os.cpu_count() or 1)) as pool:
            list(pool.map(compile_one, sources.sources, objects))
        return objects

    def link(
        self,
        inputs: Sequence[Path],
        output: Path,
        *,
        cwd: Path,
        script: Path | None,
        options: Sequence[str] = (),
        libraries: Sequence[str] = ("-lm",),
    ) -> programs.Ended:
        """Runs the linker, which writes a map beside `output`; its exit code is the caller's to
        check. script: the linker script; None: the linker's own."""
        command = [self.gcc, *self.board.cflags, "-Wl,--gc-sections", "-Wl,--build-id=none"]
        command += options
        if script is not None:
            command += ["-nostartfiles", "-T", _relative(script, cwd)]
            if self.file("nano.specs"):
                command.append("--specs=nano.specs")
        command.append(f"-Wl,-Map={_relative(output.with_suffix('.map'), cwd)}")
        command += [_relative(path, cwd) for path in inputs]
        command += [*libraries, "-o", _relative(output, cwd)]
        failing = f"{output.name} does not link for {self.board.called}"
        return run_tool(command, cwd, failing, cwd)


def compile_network(board: Processor, directory: Path, name: str, debug: bool = False) -> Path:
    """Compiles `directory`/network_<name>.c to network_<name>.o; its call graph goes to obj/.

    Raises ToolError with the compiler's first messages."""
    return Toolchain.for_board(board).compile_object(
        f"network_{name}.c",
        network_object(directory, name).name,
        cwd=directory,
        flags=network_flags(board, name, debug),
        include=(directory / HEADERS,),
        callgraph=network_callgraph(directory, name).resolve(),
    )


def build_crt(board: Processor, directory: Path) -> Path:
    """Compiles the runtime into `directory`/libmcu_crt.a, which is kept as its objects are.

    The archive holds no dates and no owners. Raises ToolError where gcc or ar is missing or
    fails."""
    toolchain = Toolchain.for_board(board)
    directory = directory.resolve()
    objects = toolchain.compile_set(runtime_sources(board), directory)
    archive = directory / "libmcu_crt.a"

    def archived() -> bytes:
        command = [toolchain.ar, "rcsD", str(archive), *map(str, objects)]
        result = run_tool(command, directory, output=directory)
        if result.returncode != 0:
            raise ToolError(f"{toolchain.ar} failed: {first_lines(result.stderr)}")
        return archive.read_bytes()

    members = [part for path in objects for part in (path.name, path.read_bytes())]
    content = cache.kept(cache.key([_stamp(Path(toolchain.ar)), *members]), archived)
    with writing(archive):
        archive.write_bytes(content)
    return archive


# A build asks the compiler a dozen times who it is and where its libraries are.
@functools.lru_cache(8)
def _version(gcc: str, stamp: str) -> str | None:
    """The first line of what gcc says of itself; None where that is no gcc."""
    root = resources.root()
    command = [gcc, "--version"]
    result = programs.run(
        command, cwd=root, environment=environment(root), seconds=_VERSION_SECONDS
    )
    if result.exhausted:
        raise ToolError(f"{gcc} --version {result.exhausted}.")
    lines = result.stdout.splitlines()
    if result.returncode != 0 or not lines or "clang" in result.stdout:
        return None
    return lines[0]


@functools.lru_cache(64)
def _library(gcc: str, stamp: str, cflags: Sequence[str], name: str) -> Path:
    """Where gcc has a file of its libraries for these flags; the name alone where it has none."""
    result = run_tool([gcc, *cflags, f"-print-file-name={name}"], resources.root())
    return Path(result.stdout.strip())


def _stamp(path: Path) -> str:
    """What changes when a file is replaced by another version."""
    found = path.stat()
    return f"{path.resolve()} {found.st_size} {found.st_mtime_ns}"


@contextmanager
def writing(target: Path) -> Iterator[None]:
    """Turns what the file system refuses into a ToolError that names the file."""
    try:
        yield
    except OSError as error:
        raise ToolError(
            f"{target} cannot be written ({error.strerror}); choose another output folder."
        ) from error


def environment(cwd: Path) -> Mapping[str, str]:
    """The environment that the tools run in: ours, without what could change their output."""
    kept = {key: value for key, value in os.environ.items() if key not in _GCC_ENVIRONMENT.split()}
    # gcc takes its working directory from PWD where that fits, be it through a symbolic link.
    return kept | {"LC_ALL": "C", "SOURCE_DATE_EPOCH": "0", "PWD": str(cwd)}


def run_tool(
    command: Sequence[str], cwd: Path, failing: str = "", output: Path | None = None
) -> programs.Ended:
    """Runs a tool of the compiler; its exit code is the caller's to check.

    output: the folder that it writes to, where its temporary files go, too. Raises ToolError where
    it ran out of time, memory or room there; failing: what to say before the reason."""
    variables = {} if output is None else {"TMPDIR": str(output)}
    ended = programs.run(command, cwd=cwd, environment={**environment(cwd), **variables})
    tool = Path(command[0]).name
    if ended.exhausted:
        raise ToolError(f"{failing or 'A tool failed'}: {tool} {ended.exhausted}.")
    if ended.returncode != 0 and output is not None and (full := _full(output, ended.stderr)):
        raise ToolError(
            f"{full} has no room for what {tool} writes (No space left on device); make room "
            "there, or choose another output folder."
        )
    return ended


def _full(output: Path, messages: str) -> Path | None:
    """The folder without room, where that is why a tool failed.

    ar does not say so, and what others say is lost where the folder of temporary files is full."""
    if any(sign in messages for sign in _NO_ROOM):
        return output
    if first_lines(messages) != _NO_REASON and "unable to copy" not in messages:
        return None
    for folder in (output, Path(tempfile.gettempdir())):
        disk = os.statvfs(folder)
        if disk.f_bavail * disk.f_frsize < _LITTLE:
            return folder
    return None


def first_lines(messages: str) -> str:
    """The first messages that tell what is wrong, in one line."""
    lines = [line.strip() for line in messages.splitlines() if line.strip()]
    lines = [line for line in lines if not line.startswith("collect2:")]
    errors = [line for line in lines if any(sign in line for sign in _ERRORS)]
    plain = [line for line in lines if "warning:" not in line]
    return "; ".join((errors or plain or lines)[:3]) or _NO_REASON


def _relative(path: Path, directory: Path) -> str:
    """`path` as the linker gets it: relative where it can be, so that equal builds have equal map
    files, and since gcc's -Wl, takes no path with a comma in it."""
    path = path.resolve()
    return path.relative_to(directory).as_posix() if path.is_relative_to(directory) else str(path)


def _find(tool: str, board: Processor) -> str:
    path = shutil.which(tool)
    if path is None:
        raise ToolError(
            f"{tool} was not found, and {board.called} is compiled with it; install it with: "
            f"{_APT_HOST if board.is_host else _APT}"
        )
    return path


def _compile_message(failing: str, messages: str, board: Processor) -> str:
    text = f"{failing}: {first_lines(messages)}"
    if "unrecognized -mcpu" in messages:
        return (
            f"{text}; this gcc is older than the core. Name one that it knows and whose code runs "
            "there (--cflags=-mcpu=cortex-m55, or cflags in the board.toml), or install a newer "
            "gcc."
        )
    for header in ("string.h", "math.h", "stdint.h"):
        if f"fatal error: {header}: No such file" in messages:
            apt = _APT_HOST if board.is_host else _APT
            return f"{text}; the C library is missing, install it with: {apt}"
    return text
