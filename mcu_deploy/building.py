"""`build`: models to firmware, with everything measured and checked against the board."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from pathlib import Path

from mcu_deploy import codegen, compiler, formats, memory_pools, report, resources, toolchain
from mcu_deploy.backends.interface import CreationOptions
from mcu_deploy.boards import Board, load_board
from mcu_deploy.codegen import FirmwareModel
from mcu_deploy.codegen.names import network_name
from mcu_deploy.compiler import Network
from mcu_deploy.errors import (
    BackendFault,
    HygieneError,
    ToolError,
    UsageError,
)
from mcu_deploy.formats.imported import tell_assumed
from mcu_deploy.options import Options
from mcu_deploy.session import Session
from mcu_deploy.several import one_of, options_of
from mcu_deploy.toolchain import NetworkSizes, StackBound

_PRODUCTS = ("firmware.elf", "bench.elf", "report.json", "firmware_models.c", "libmcu_crt.a", "obj")
_NETWORK_FILES = ("c", "h", "o", "weights.bin")


@dataclass(frozen=True)
class BuiltNetwork:
    """A network in a build: its object, its sizes in bytes, the bound of its stack.

    second_stack: the bound of its lanes on a second core; None where it has none there.
    """

    network: Network
    object: Path
    sizes: NetworkSizes
    stack: StackBound
    second_stack: StackBound | None = None

    @property
    def name(self) -> str:
        return self.network.name


@dataclass(frozen=True)
class Build:
    """A build folder and what is in it."""

    directory: Path
    board: Board
    networks: tuple[BuiltNetwork, ...]
    report: dict[str, object]

    @property
    def firmware(self) -> Path:
        return self.directory / "firmware.elf"

    @property
    def bench(self) -> Path:
        return self.directory / "bench.elf"


def build(
    models: str | Path | Sequence[str | Path],
    board: str | Path | Board,
    output: str | Path,
    *,
    name: str | Sequence[str] | None = None,
    session: Session | None = None,
    options: Options | None = None,
) -> Build:
    """Compiles one model or several into one firmware for a board.

    name: of the network, or one name for each model; by default made of the file names. Raises an
    McuDeployError with a sentence for everything that can go wrong. An earlier build in the folder
    is replaced, as soon as the models are read and compiled to C; what fails after that leaves
    nothing of either build. report.json is written last.
    """
    chosen = options or Options()
    target = board if isinstance(board, Board) else load_board(board)
    paths = [models] if isinstance(models, (str, Path)) else list(models)
    if not paths:
        raise UsageError("There is no model to build; give at least one model file.")
    names = _names(name, len(paths))
    called = [network_name(n, Path(path)) for path, n in zip(paths, names, strict=True)]
    directory = Path(output).absolute()  # the tools run in folders of their own
    if session is None:
        with Session() as own:
            return build(paths, target, directory, name=name, session=own, options=chosen)
    told: set[Path] = set()
    while True:
        networks: list[Network] = []
        for path, n, known_as in zip(paths, names, called, strict=True):
            pools = memory_pools.with_taken(chosen.pools, target, [made.plan for made in networks])
            each = options_of(replace(chosen, pools=pools), known_as, called)
            with one_of(known_as, called):
                networks.append(
                    compiler.compile_model(path, target, name=n, session=session, options=each)
                )
        _require_distinct(networks)
        for network in networks:
            if network.model not in told:
                tell_assumed(network.model.name, network.assumed)
                told.add(network.model)
        try:
            return _write(target, directory, networks, chosen, session)
        except (ToolError, HygieneError):
            fault = _fault_behind(networks, target, session)
            if fault is None:
                raise
            session.drop(fault)
            for network in networks:
                session.unload_network(network.id)


def _write(
    board: Board, directory: Path, networks: Sequence[Network], options: Options, session: Session
) -> Build:
    # Read before anything is cleared: the model may be the copy that the earlier build kept.
    kept, board_file = _sources(board, networks)
    with _replacing(directory, [n.name for n in networks]):
        with ThreadPoolExecutor(max_workers=2) as pool:
            crt = pool.submit(toolchain.build_crt, board, directory)
            objects = [compiler.write_network(n, board, directory, options.debug) for n in networks]
            crt.result()
        for file, content in kept.items():
            compiler.write_file(directory / file, content)
        return _link(board, directory, networks, objects, options, session.options, board_file)


def _fault_behind(
    networks: Sequence[Network], board: Board, session: Session
) -> BackendFault | None:
    """The dynamic backend whose code is the reason why a network could not be built."""
    from mcu_deploy import blame
    from mcu_deploy.backends.registry import BUILTIN

    used = dict.fromkeys(s.choice.workload.backend for n in networks for s in n.plan.steps)
    origins = session.registry.origins
    suspects = [b for b in used if origins.get(b, BUILTIN) != BUILTIN]
    return blame.find(networks, board, suspects) if suspects else None


@contextmanager
def _replacing(directory: Path, names: Sequence[str]) -> Iterator[None]:
    """Clears the folder of an earlier build; where this one fails, nothing of it stays."""
    is_new = not os.path.lexists(directory)
    files = [f"network_{name}.{ending}" for name in names for ending in _NETWORK_FILES]
    products = [*_PRODUCTS, *files, *(f".{file}.tmp" for file in (*_PRODUCTS, *files))]
    compiler.clear(directory, [*products, *_left_by_earlier_build(directory)])
    try:
        yield
    except BaseException as error:
        with suppress(ToolError):
            compiler.clear(directory, products)
        if is_new:
            with suppress(OSError):  # it may hold something else by now
                directory.rmdir()
        if isinstance(error, OSError):
            raise ToolError(
                f"{error.filename or directory} cannot be written ({error.strerror}); choose "
                "another output folder with -o."
            ) from error
        raise


def _left_by_earlier_build(directory: Path) -> list[str]:
    """The files of the networks in its report, and scratch folders of a build that was killed."""
    names: list[str] = []
    with suppress(OSError, ValueError, LookupError, TypeError):
        content = json.loads((directory / "report.json").read_text(encoding="utf-8"))
        names = [str(network["name"]) for network in content["networks"]]
    safe = [name for name in names if re.fullmatch(r"[A-Za-z0-9_]+", name)]
    with suppress(OSError):
        names = [path.name for path in directory.glob(".compile-*")]
    return [*names, *(f"network_{name}.{ending}" for name in safe for ending in _NETWORK_FILES)]


def _link(
    board: Board,
    directory: Path,
    networks: Sequence[Network],
    objects: Sequence[Path],
    options: Options,
    creation: CreationOptions,
    board_file: str | None,
) -> Build:
    floats = any("float" in _weight_types(n) for n in networks)
    shared = options.arena == "shared"
    board = memory_pools.linked_board(board, [n.plan for n in networks])

    def table(stacks: Sequence[int]) -> None:
        rows = [
            FirmwareModel.of(n.name, n.graph, n.plan, compiler.sha256_of(o), s)
            for n, o, s in zip(networks, objects, stacks, strict=True)
        ]
        text = codegen.firmware_models(rows, shared=shared)
        compiler.write_file(directory / "firmware_models.c", text.encode())

    table([0] * len(networks))
    platform = toolchain.build_platform(board, directory)
    toolchain.link_firmware(
        board, directory, objects, "bench", platform=platform, float_weights=floats
    )
    built = []
    structs = toolchain.measure_structs(board, directory)
    for network, made in zip(networks, objects, strict=True):
        stack = toolchain.network_stack(board, directory, network.name)
        second = toolchain.second_lane_stack(board, directory, network.name)
        stacks = stack.bytes + (0 if second is None else second.bytes)
        sizes = toolchain.measure_network(
            board, directory, made, f"_mcu_network_{network.name}",
            arena_bytes=network.ram_bytes, stack_bytes=stacks,
            structs=structs, tensors=len(network.inputs) + len(network.outputs),
        )  # fmt: skip
        header = network.sources.with_stack(stack.bytes, None if second is None else second.bytes)
        compiler.write_file(directory / f"network_{network.name}.h", header.encode())
        built.append(BuiltNetwork(network, made, sizes, stack, second))
    table([b.stack.bytes for b in built])
    firmware = toolchain.link_firmware(
        board, directory, objects, "firmware", platform=platform, float_weights=floats
    )
    used = toolchain.measure_firmware(board, firmware)
    whole_stack, second_stacks = None, None
    if not board.is_host:
        names = [n.name for n in networks]
        whole_stack = toolchain.firmware_stack(board, directory, names)
        second_stacks = toolchain.second_core_stacks(board, directory, names)
        toolchain.check_fit(
            board, used.memories, what="the firmware", stack_bytes=whole_stack.bytes,
            more_stacks=() if second_stacks is None else second_stacks.uses(board),
            weights_bytes=sum(len(n.sources.weights) for n in networks),
            arena_bytes=report.joint_arena(networks, shared), float_weights=floats,
        )  # fmt: skip
    content = report.build_report(
        board, built, used, whole_stack, options, creation, board_file, second_stacks
    )
    text = json.dumps(content, indent=2, ensure_ascii=False) + "\n"
    compiler.write_file(directory / "report.json", text.encode())
    return Build(directory, board, tuple(built), json.loads(text))


def _sources(board: Board, networks: Sequence[Network]) -> tuple[Mapping[str, bytes], str | None]:
    """Copies of the models and of a user's board file, so that the folder stands on its own.

    By the names that they get in the folder; then the board file's name, None for our own boards.
    """
    kept = {report.kept_model(n): formats.self_contained(n.model) for n in networks}
    if board.path.resolve().is_relative_to(resources.boards().resolve()):
        return kept, None
    return kept | {"obj/board.toml": board.path.read_bytes()}, "obj/board.toml"


def _names(name: str | Sequence[str] | None, models: int) -> list[str | None]:
    if name is None:
        return [None] * models
    given = [name] if isinstance(name, str) else list(name)
    if len(given) != models:
        raise UsageError(
            f"--name was given {len(given)} times for {models} "
            f"{'model' if models == 1 else 'models'}; give it once for each model, or not at all."
        )
    return list(given)


def _require_distinct(networks: Sequence[Network]) -> None:
    seen: dict[str, Path] = {}
    for network in networks:
        key = network.name.upper()
        if key in seen:
            raise UsageError(
                f"{seen[key]} and {network.model} would both be called {network.name!r}; names "
                "must differ in more than case. Give each model its own --name."
            )
        seen[key] = network.model


def _weight_types(network: Network) -> set[str]:
    return {
        c.ctype
        for step in network.plan.steps
        for c in step.choice.workload.constants
        if c.stem == "weights"
    }
