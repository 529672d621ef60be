"""`build`: models to firmware, with everything measured and checked against the board; or, where
there is no board but only a core, to objects for somebody else's firmware."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from pathlib import Path

from mcu_deploy import codegen, compiler, formats, report, resources, toolchain
from mcu_deploy.api.several import one_of, options_of
from mcu_deploy.backends.interface import CreationOptions
from mcu_deploy.boards import Board, Processor, load_board
from mcu_deploy.codegen import FirmwareModel
from mcu_deploy.codegen.names import network_name
from mcu_deploy.compiled import BuiltNetwork, Network
from mcu_deploy.errors import (
    BackendFault,
    FitError,
    HygieneError,
    McuDeployError,
    ToolError,
    UsageError,
)
from mcu_deploy.formats.imported import tell_assumed
from mcu_deploy.options import Options
from mcu_deploy.output import locked, require_outside
from mcu_deploy.output.json_text import json_text
from mcu_deploy.output.paths import write_files
from mcu_deploy.output.progress import tell
from mcu_deploy.plan import memory_pools
from mcu_deploy.report import Report
from mcu_deploy.report.tables import Table, Tabled
from mcu_deploy.session import Session, session_or_own
from mcu_deploy.toolchain import HEADERS, Firmware, Structs


@dataclass(frozen=True, repr=False)
class Build(Tabled):
    """A build folder and what is in it; the images only where it is for a board. As a path it is
    the folder."""

    directory: Path
    board: Processor
    networks: tuple[BuiltNetwork, ...]
    report: Report

    @property
    def firmware(self) -> Path:
        return self.directory / "firmware.elf"

    @property
    def bench(self) -> Path:
        return self.directory / "bench.elf"

    def __fspath__(self) -> str:
        return str(self.directory)

    def table(self) -> Table:
        table = self.report.table()
        return replace(table, notes=(*table.notes, f"in {self.directory}"))

    def _repr_html_(self) -> str:
        return self.report.html_under(self.table())

    def moved_to(self, directory: Path) -> Build:
        """The same build in another folder."""
        networks = (replace(n, object=directory / n.object.name) for n in self.networks)
        return replace(self, directory=directory, networks=tuple(networks))


def build(
    models: str | Path | Sequence[str | Path],
    board: str | Path | Processor,
    output: str | Path,
    *,
    name: str | Sequence[str] | None = None,
    session: Session | None = None,
    options: Options | None = None,
) -> Build:
    """Compiles one model or several into one firmware for a board.

    board: its name, its board.toml, or a core without a board (mcu_deploy.boards.load_core), for
    which there is no firmware: the folder has what somebody else's needs. output: the build folder
    (docs/build-folders.md). An earlier build in it is replaced when the new one is whole, and stays
    as it is where anything fails; a folder with anything of the user's in it is refused. name: of
    the network, or one name for each model; by default made of the file names. Raises an
    McuDeployError with a sentence for everything that can go wrong.
    """
    chosen = options or Options()
    target = board if isinstance(board, Processor) else load_board(board)
    paths = [models] if isinstance(models, (str, Path)) else list(models)
    if not paths:
        raise UsageError("There is no model to build; give at least one model file.")
    if output == "":
        raise UsageError("The name of the output folder is empty; give one with -o.")
    names = _names(name, len(paths))
    called = [network_name(n, Path(path)) for path, n in zip(paths, names, strict=True)]
    told: set[Path] = set()
    require_outside(Path(output))
    with locked(Path(output)) as folder, session_or_own(session) as own:
        folder.require_pristine()
        while True:
            networks = compile_all(paths, names, called, target, own, chosen)
            for network in networks:
                if network.model not in told:
                    tell_assumed(network.model.name, network.assumed)
                    told.add(network.model)
            try:
                with folder.replaced() as aside:
                    built = write(target, aside, networks, chosen, own)
                return built.moved_to(folder.path)
            except (ToolError, HygieneError, toolchain.StackError) as problem:
                fault = _fault_behind(problem, networks, target, own)
                if fault is None:
                    raise
                own.drop(fault)
                for network in networks:
                    own.unload_network(network.id)


def compile_all(
    paths: Sequence[str | Path],
    names: Sequence[str | None],
    called: Sequence[str],
    board: Processor,
    session: Session,
    options: Options,
) -> list[Network]:
    """Compiles the models one after the other. called: the names that the networks will have."""
    networks: list[Network] = []
    for path, name, known_as in zip(paths, names, called, strict=True):
        pools = memory_pools.with_taken(options.pools, board, [made.plan for made in networks])
        each = options_of(replace(options, pools=pools), known_as, called)
        with one_of(known_as, called):
            networks.append(
                compiler.compile_model(path, board, name=name, session=session, options=each)
            )
    _require_distinct(networks)
    return networks


def write(
    board: Processor, directory: Path, networks: Sequence[Network], options: Options,
    session: Session,
) -> Build:  # fmt: skip
    """Makes a build of compiled networks in an empty folder."""
    kept, board_file = _sources(board, networks)
    tell("compiling C")
    resources.copy_runtime(directory, HEADERS)
    with ThreadPoolExecutor(max_workers=2) as pool:
        crt = pool.submit(toolchain.build_crt, board, directory)
        objects = [compiler.write_network(n, board, directory, options.debug) for n in networks]
        crt.result()
    write_files(kept, directory)
    if isinstance(board, Board):
        return _link(board, directory, networks, objects, options, session.options, board_file)
    structs = toolchain.measure_structs(board, directory)
    built = tuple(
        _measured(board, directory, n, o, structs) for n, o in zip(networks, objects, strict=True)
    )
    return _reported(
        board, directory, built, report.build_report(board, built, options, session.options)
    )


def _measured(
    board: Processor, directory: Path, network: Network, made: Path, structs: Structs,
    firmware: Firmware | None = None,
) -> BuiltNetwork:  # fmt: skip
    """A network with its sizes, which go into its header too. firmware: with its bench.elf."""
    linked = toolchain.link_network(board, directory, made, f"_mcu_network_{network.name}")
    image, second = linked, None
    if firmware is not None:
        image = directory / "bench.elf"
        second = toolchain.second_lane_stack(firmware, directory, network.name)
    stack = toolchain.network_stack(board, directory, network.name, image)
    sizes = toolchain.measure_network(
        linked, arena_bytes=network.ram_bytes,
        stack_bytes=stack.bytes + (0 if second is None else second.bytes),
        structs=structs, tensors=len(network.inputs) + len(network.outputs),
    )  # fmt: skip
    header = network.sources.with_stack(stack.bytes, None if second is None else second.bytes)
    (directory / HEADERS / f"network_{network.name}.h").write_bytes(header.encode())
    return BuiltNetwork(network, made, sizes, stack, second)


def _reported(
    board: Processor, directory: Path, built: Sequence[BuiltNetwork], content: report.Report
) -> Build:
    (directory / "report.json").write_bytes((json_text(content.as_json()) + "\n").encode())
    return Build(directory, board, tuple(built), content)


def _fault_behind(
    problem: McuDeployError, networks: Sequence[Network], board: Processor, session: Session
) -> BackendFault | None:
    """The dynamic backend whose code is the reason why a network could not be built."""
    from mcu_deploy.api import blame
    from mcu_deploy.backends.registry import BUILTIN

    used = dict.fromkeys(s.choice.workload.backend for n in networks for s in n.plan.steps)
    origins = session.registry.origins
    suspects = [b for b in used if origins.get(b, BUILTIN) != BUILTIN]
    if isinstance(problem, toolchain.StackError):
        return blame.find_on_stack(networks, problem, suspects)
    return blame.find(networks, board, suspects) if suspects else None


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
    firmware = Firmware.of(board, [n.name for n in networks])

    def table(stacks: Sequence[int]) -> None:
        rows = [
            FirmwareModel.of(
                n.name, n.graph, n.plan, compiler.sha256_of(o), s, n.selection.size is not None
            )
            for n, o, s in zip(networks, objects, stacks, strict=True)
        ]
        text = codegen.firmware_models(rows, shared=shared)
        (directory / "firmware_models.c").write_bytes(text.encode())

    table([0] * len(networks))
    tell("linking")
    platform = toolchain.build_platform(firmware, directory)
    toolchain.link_firmware(
        firmware, directory, firmware.bench, platform=platform, float_weights=floats
    )
    structs = toolchain.measure_structs(board, directory)
    built = [
        _measured(board, directory, network, made, structs, firmware)
        for network, made in zip(networks, objects, strict=True)
    ]
    table([b.stack.bytes for b in built])
    linked = toolchain.link_firmware(
        firmware, directory, firmware.main, platform=platform, float_weights=floats
    )
    used = toolchain.measure_firmware(board, linked)
    whole_stack, second_stacks = None, None
    if not board.is_host:
        whole_stack = toolchain.firmware_stack(firmware, directory)
        second_stacks = toolchain.second_core_stacks(firmware, directory)
        try:
            toolchain.check_fit(
                board, used.memories, what="the firmware", stack_bytes=whole_stack.bytes,
                more_stacks=() if second_stacks is None else second_stacks.uses(board),
                weights_bytes=sum(len(n.sources.weights) for n in networks),
                arena_bytes=report.joint_arena(networks, shared), float_weights=floats,
            )  # fmt: skip
        except FitError as error:
            if whole_stack.bytes > board.stack_bytes:
                raise whole_stack.error(str(error), board.stack_bytes) from error
            raise
    content = report.build_report(
        board, built, options, creation, used, whole_stack, board_file, second_stacks
    )
    return _reported(board, directory, built, content)


def _sources(
    board: Processor, networks: Sequence[Network]
) -> tuple[Mapping[str, bytes], str | None]:
    """Copies of the models, their measured costs and a user's board file, so that the folder stands
    on its own.

    By the names that they get in the folder; then the board file's name, None for our own boards.
    """
    kept = {report.kept_model(n): formats.self_contained(n.model) for n in networks}
    kept |= {report.kept_costs(n): n.measured.content for n in networks if n.measured.file}
    if not isinstance(board, Board) or board.document.is_shipped:
        return kept, None
    own = {f"obj/{name}": content for name, content in board.document.copies().items()}
    return kept | own, "obj/board.toml"


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
