"""`build`: models to firmware, with everything measured and checked against the board."""

from __future__ import annotations

import json
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

from mcu_deploy import codegen, compiler, formats, report, resources, toolchain
from mcu_deploy.boards import Board, load_board
from mcu_deploy.codegen import FirmwareModel
from mcu_deploy.compiler import Network, Options
from mcu_deploy.errors import UsageError
from mcu_deploy.session import Session
from mcu_deploy.toolchain import NetworkSizes, StackBound

_PRODUCTS = ("firmware.elf", "bench.elf", "report.json", "firmware_models.c", "libmcu_crt.a", "obj")


@dataclass(frozen=True)
class BuiltNetwork:
    """A network in a build: its object, its sizes in bytes, the bound of its stack."""

    network: Network
    object: Path
    sizes: NetworkSizes
    stack: StackBound

    @property
    def name(self) -> str:
        return self.network.name

    @property
    def graph_inputs(self) -> int:
        return len(self.network.graph.inputs)


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
    McuDeployError with a sentence for everything that can go wrong; a failed build leaves no
    firmware behind.
    """
    chosen = options or Options()
    target = board if isinstance(board, Board) else load_board(board)
    paths = [models] if isinstance(models, (str, Path)) else list(models)
    names = _names(name, len(paths))
    directory = Path(output)
    networks = [
        compiler.compile_model(path, target, name=n, session=session, options=chosen)
        for path, n in zip(paths, names, strict=True)
    ]
    _require_distinct(networks)
    compiler.clear(directory, _PRODUCTS)
    with ThreadPoolExecutor(max_workers=2) as pool:
        crt = pool.submit(toolchain.build_crt, target, directory)
        objects = [compiler.write_network(n, target, directory, chosen.debug) for n in networks]
        crt.result()
    return _link(target, directory, networks, objects, chosen)


def _link(
    board: Board,
    directory: Path,
    networks: Sequence[Network],
    objects: Sequence[Path],
    options: Options,
) -> Build:
    floats = any("float" in _weight_types(n) for n in networks)

    def table(stacks: Sequence[int]) -> None:
        rows = [
            FirmwareModel(n.name, n.graph.source_sha256, compiler.sha256_of(o), s)
            for n, o, s in zip(networks, objects, stacks, strict=True)
        ]
        text = codegen.firmware_models(rows)
        compiler.write_file(directory / "firmware_models.c", text.encode())

    table([0] * len(networks))
    platform = toolchain.build_platform(board, directory)
    toolchain.link_firmware(
        board, directory, objects, "bench", platform=platform, float_weights=floats
    )
    built = []
    for network, made in zip(networks, objects, strict=True):
        stack = toolchain.network_stack(board, directory, network.name)
        sizes = toolchain.measure_network(
            board, directory, made, f"_mcu_network_{network.name}",
            arena_bytes=network.plan.bytes, stack_bytes=stack.bytes,
        )  # fmt: skip
        built.append(BuiltNetwork(network, made, sizes, stack))
    table([b.stack.bytes for b in built])
    firmware = toolchain.link_firmware(
        board, directory, objects, "firmware", platform=platform, float_weights=floats
    )
    used = toolchain.measure_firmware(board, firmware)
    whole_stack = None
    if not board.is_host:
        whole_stack = toolchain.firmware_stack(board, directory, [n.name for n in networks])
        toolchain.check_fit(
            board, used.memories, what="the firmware", stack_bytes=whole_stack.bytes,
            weights_bytes=sum(len(n.sources.weights) for n in networks),
            arena_bytes=sum(n.plan.bytes for n in networks), float_weights=floats,
        )  # fmt: skip
    board_file = _keep_sources(board, directory, networks)
    content = report.build_report(board, built, used, whole_stack, options, board_file)
    text = json.dumps(content, indent=2, ensure_ascii=False) + "\n"
    compiler.write_file(directory / "report.json", text.encode())
    return Build(directory, board, tuple(built), content)


def _keep_sources(board: Board, directory: Path, networks: Sequence[Network]) -> str | None:
    """Copies the models, and a board file of the user's, so that the folder stands on its own."""
    for network in networks:
        kept = directory / report.kept_model(network.name)
        compiler.write_file(kept, formats.self_contained(network.model))
    if board.path.resolve().is_relative_to(resources.boards().resolve()):
        return None
    compiler.write_file(directory / "obj" / "board.toml", board.path.read_bytes())
    return "obj/board.toml"


def _names(name: str | Sequence[str] | None, models: int) -> list[str | None]:
    if name is None:
        return [None] * models
    given = [name] if isinstance(name, str) else list(name)
    if len(given) != models:
        raise UsageError(
            f"{len(given)} names were given for {models} models; give --name once for each model."
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
