"""What a user asks of a compile: values that every stage imports, checked where they are made.

The one definition of the options: the command line makes its parameters of the flags below,
report.json holds `dataclasses.asdict` of the values (and `Options(**that)` reads them back), .pmx
files have a field for each.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from importlib import import_module
from typing import Annotated, Any, Literal

from mcu_deploy.discovery import named
from mcu_deploy.errors import UsageError
from mcu_deploy.options import constants
from mcu_deploy.options.checked import Checked
from mcu_deploy.options.constants import ConstantInput
from mcu_deploy.options.flags import Flag, Flagged, flagged_fields, made_of, option
from mcu_deploy.schema import Whole

HEAD, TAIL = "head", "tail"
LAYERS = ("built", "all")
LIMIT_DB = 10.0  # a layer with an SQNR below it has parted from that of the float model
_MOST_SIZE = (1 << 32) - 1
_MOST_BOUND = 1 << 24
# Negative: the bound of a size that each run decides.
Dimension = Annotated[int, Whole(-_MOST_BOUND, _MOST_SIZE + 1)]
AUTO = "auto"
Clock = Literal["reset", "rated"]  # that of a board's start-up


def _pair(flag: str, form: str) -> Callable[[str], tuple[str, str]]:
    """Reads KEY=VALUE, where the key may hold more of these signs."""

    def read(text: str) -> tuple[str, str]:
        key, separator, value = text.rpartition("=")
        if not (separator and key and value):
            raise UsageError(f"{flag} {text} is not of the form {form}.")
        return key, value

    return read


# What a bound looks like behind a shape: N<=64.
_BOUND = re.compile(r":([A-Za-z_]\w*)<=(\d+)$")


def _shape(text: str) -> tuple[str, tuple[int, ...]]:
    bound = _BOUND.search(text)
    name, _, sizes = (text[: bound.start()] if bound else text).rpartition("=")
    known, most = (bound[1], int(bound[2])) if bound else ("", 2)
    try:
        shape = tuple(-most if size == known else int(size) for size in sizes.split(","))
    except ValueError:
        shape = ()
    numbers = [int(size) for size in sizes.split(",") if size != known] if shape else [0]
    is_there = bound is None or len(numbers) < len(shape)
    if not name or not is_there or most < 2 or any(size < 1 for size in numbers):
        raise UsageError(
            f"--shape {text} is not of the form INPUT=1,3,96,96. A size that each run decides has "
            "its bound behind it, 2 or more: INPUT=N,8:N<=64."
        )
    if most > _MOST_BOUND or any(size > _MOST_SIZE for size in numbers):
        raise UsageError(
            f"--shape {text} has a size that no network has: give {_MOST_SIZE:,} at most, and "
            f"{_MOST_BOUND:,} as a bound."
        )
    return name, shape


def parse_partition(text: str) -> PartitionRequest:
    """NAME=IN,..:OUT,..

    Names may hold colons ("Relu:0"): which colon separates is found out when the model is known.
    A name in double quotes is taken as it is, commas included.
    """
    name, equals, rest = text.partition("=")
    pieces = _split(rest, ":")
    ways = [
        (_names(":".join(pieces[:at])), _names(":".join(pieces[at:])))
        for at in range(1, len(pieces))
    ]
    ways = [(inputs, outputs) for inputs, outputs in ways if outputs and all(outputs)]
    if not name or not equals or not ways:
        raise UsageError(f"--partition {text} is not of the form NAME=IN,..:OUT,..")
    return PartitionRequest(name, *ways[0], tuple(ways[1:]))


def parse_state(text: str) -> StateRequest:
    """IN=OUT."""
    source, equals, target = text.partition("=")
    if not (source and equals and target):
        raise UsageError(f"--state {text} is not of the form INPUT=OUTPUT.")
    return StateRequest(source, target)


def _names(text: str) -> tuple[str, ...]:
    return tuple(name.replace('"', "") for name in _split(text, ",") if name)


def _split(text: str, separator: str) -> list[str]:
    """Splits at separators that do not stand between double quotes."""
    parts, quoted = [""], False
    for letter in text:
        if letter == '"':
            quoted = not quoted
        if letter == separator and not quoted:
            parts.append("")
        else:
            parts[-1] += letter
    return parts


def memory_strategies() -> tuple[str, ...]:
    """What Options.memory may be: the compiler's own, then the managers at run time."""
    return ("offline", "compact", "bestfit", "mru", "plain")


@dataclass(frozen=True)
class PartitionRequest(Checked):
    """--partition NAME=IN,..:OUT,..: tensors by their names in the model.

    otherwise: other ways to read what was typed, as names may hold colons themselves.
    """

    name: str
    inputs: tuple[str, ...]
    outputs: tuple[str, ...]
    otherwise: tuple[tuple[tuple[str, ...], tuple[str, ...]], ...] = ()


@dataclass(frozen=True)
class StateRequest(Checked):
    """--state IN=OUT: the input that the output of the run before becomes."""

    input: str
    output: str


@dataclass(frozen=True)
class Requests(Checked):
    """What a user wants to reach beside the inputs and the outputs."""

    keep: tuple[str, ...] = option(
        (), "--keep", "Readable after a run (repeatable).", metavar="TENSOR"
    )
    partitions: tuple[PartitionRequest, ...] = option(
        (), "--partition", "A part that can be run alone, between these tensors (repeatable).",
        metavar="NAME=IN,..:OUT,..", read=parse_partition,
    )  # fmt: skip
    states: tuple[StateRequest, ...] = option(
        (), "--state", "The output of one run is the input of the next (repeatable).",
        metavar="INPUT=OUTPUT", read=parse_state,
    )  # fmt: skip


@dataclass(frozen=True)
class PoolRequests(Checked):
    """What a user wants of a board's memories.

    spread: tensors are placed by benefit; otherwise in one memory. pinned: the memory of a tensor,
    by its name in the model. hot_weights: how many bytes of constants may be copied to fast RAM.
    taken: by memory, what other networks of the firmware have of it.
    """

    spread: bool = option(
        False, "--pools",
        "off: tensors lie in one memory; auto: in several, by benefit, the fastest first.",
        words=lambda: ("off", "auto"),
    )  # fmt: skip
    pinned: Mapping[str, str] = option(
        {}, "--pool", "The memory of a tensor (repeatable).", metavar="TENSOR=NAME",
        read=_pair("--pool", "TENSOR=NAME"),
    )  # fmt: skip
    hot_weights: int = option(
        0, "--hot-weights", "Copy up to so many bytes of weights to fast RAM.", metavar="BYTES"
    )
    taken: Mapping[str, int] = field(default_factory=dict)


@dataclass(frozen=True)
class Half(Checked):
    """Which half of a model is compiled: "head" up to these tensors, "tail" from there on."""

    side: str = field(metadata={"flag": Flag("--split", "", words=lambda: (HEAD, TAIL))})
    tensors: tuple[str, ...]


@dataclass(frozen=True)
class Options(Checked):
    """How a network is compiled.

    backends: ids in order of preference, empty for the core's default. layer_backends: who must
    compute a layer, by its name. strategy: how the others are given to backends, "greedy", "cost"
    or one that is installed; "auto": greedy where `backends` are given, else cost. optimize_for:
    "balanced", "speed", "size" or "ram". weights: "incbin", "array", or "auto": "array" for objects
    without a board, else "incbin". layers_all: no fusion that the arithmetic does not ask for, no
    channel left out, no memory shared, so that every tensor can be read after a run. no_float:
    layers that compute real numbers are an error. debug: with debug information. shapes: of inputs,
    by name; -64: a size that each run decides, of at most 64. constant_inputs: the values of inputs
    that are constants of the network, by name (of ONNX models: what decides shapes there must be
    known). requests: kept tensors, partitions and
    states. io: inputs and outputs lie in the "arena" or at the "caller". arena: networks of one
    firmware have "separate" workspaces, or take turns in a "shared" one, beside which what outlives
    a run lies in a pool of its own. half: only the head or the tail of the model. memory:
    "offline", "compact", or a manager of plan/managers.py. schedule: a module of plan/schedules.
    pools: in which memories of the board tensors and constants lie. flash_wait: wait states of the
    memory of code and constants, None for what the board says. hot_code: so many bytes of kernels
    may lie in a section that the start-up copies to fast RAM.
    """

    backends: tuple[str, ...] = option(
        (), "--backend", "Backend ids in order of preference, by commas.", commas=True
    )
    layer_backends: Mapping[str, str] = option(
        {}, "--layer-backend", "Who computes a layer (repeatable).", metavar="LAYER=ID",
        read=_pair("--layer-backend", "LAYER=ID"),
    )  # fmt: skip
    strategy: str = option(
        AUTO, "--strategy", "cost: the cover that is best for the goal; greedy: the first backend "
        "of the preference; auto: greedy where --backend gives one, else cost.",
        words=lambda: (AUTO, *import_module("mcu_deploy.choose.strategies").names()),
    )  # fmt: skip
    optimize_for: str = option(
        "balanced", "--optimize-for", "speed: least cycles; size: least flash; ram: least memory; "
        "balanced: least cycles with flash at most 25 % or 8 KB above the least.",
        words=lambda: tuple(import_module("mcu_deploy.choose.goals").GOALS),
    )  # fmt: skip
    weights: str = option(
        AUTO, "--weights", "incbin: a file beside the source; array: C arrays; auto: these with "
        "--core, else a file.",
        words=lambda: (AUTO, "incbin", "array"), anew=True,
    )  # fmt: skip
    layers_all: bool = option(
        False, "--layers", "all: no fusion and no memory reuse, for `validate --layers`.",
        words=lambda: LAYERS,
    )  # fmt: skip
    no_float: bool = option(
        False, "--no-float", "Fail where a layer computes real numbers, and name these.", anew=True
    )
    debug: bool = option(False, "--debug", "With debug information.", short="-g", anew=True)
    shapes: Mapping[str, tuple[Dimension, ...]] = option(
        {}, "--shape", "INPUT=1,3,96,96 binds symbolic shapes (repeatable); INPUT=N,8:N<=64 with a "
        "size that each run decides.", read=_shape,
    )  # fmt: skip
    constant_inputs: Mapping[str, ConstantInput] = option(
        {}, constants.FLAG, "An input that has one value for all time, of an .npy or .npz file "
        "(repeatable).", metavar=constants.FORM, read=constants.read,
    )  # fmt: skip
    requests: Requests = field(default_factory=Requests)
    io: str = option(
        "arena", "--io", "arena: inputs and outputs have places there; caller: not.",
        words=lambda: ("arena", "caller"),
    )  # fmt: skip
    arena: str = option(
        "separate", "--arena", "For several models. separate: a workspace each; shared: one, in "
        "which they take turns.",
        words=lambda: ("separate", "shared"),
    )  # fmt: skip
    half: Half | None = None
    memory: str = option(
        "offline", "--memory", "offline: fixed places; compact: tensors move between layers where "
        "that saves memory; plain, mru, bestfit: from a memory manager at run time.",
        words=memory_strategies,
    )  # fmt: skip
    schedule: str = option(
        "sequential", "--schedule", "sequential: one layer after the other; parallel: independent "
        "parts of the network on the two cores of a board that has two.",
        words=lambda: tuple(named("mcu_deploy.plan.schedules")),
    )  # fmt: skip
    pools: PoolRequests = field(default_factory=PoolRequests)
    flash_wait: Annotated[int, Whole(0, 1025)] | None = option(
        None, "--flash-wait", "Wait states of the memory of code and weights, which kernels are "
        "chosen for; 0: RAM or TCM. By default what the board's file says; 5 with --core.",
        metavar="CYCLES",
    )  # fmt: skip
    hot_code: int = option(
        0, "--hot-code", "Let kernels of up to so many bytes run from fast RAM, those first that "
        "wait longest for their code.",
        metavar="BYTES", anew=True,
    )  # fmt: skip

    def __post_init__(self) -> None:
        super().__post_init__()
        if any(-1 in shape for shape in self.shapes.values()):
            raise UsageError(
                "--shape -1 is less than nothing; give a number from 1 on, or for a size that each "
                "run decides its bound, 2 or more, with a minus."
            )

    @property
    def bound(self) -> int | None:
        """The largest size of a network whose runs decide one; None: all shapes are static.

        Raises UsageError for several.
        """
        bounds = {-size for shape in self.shapes.values() for size in shape if size < 0}
        if len(bounds) > 1:
            raise UsageError(
                f"--shape gives several bounds ({', '.join(map(str, sorted(bounds)))}): one size "
                "is decided by a run. Give the others as numbers."
            )
        return next(iter(bounds), None)

    def at(self, size: int) -> Options:
        """The same with a number for the size that a run decides."""
        shapes = {
            name: tuple(size if extent < 0 else extent for extent in shape)
            for name, shape in self.shapes.items()
        }
        return replace(self, shapes=shapes)

    @property
    def constant_values(self) -> dict[str, Any]:
        """The arrays of `constant_inputs`."""
        return {name: constant.value for name, constant in self.constant_inputs.items()}


def flagged() -> Iterator[Flagged]:
    """The fields of Options that the command line gives."""
    return flagged_fields(Options)


def from_typed(typed: Mapping[str, Any]) -> Options:
    """Options from what the command line gives: see `made_of`."""
    made: Options = made_of(Options, typed)
    return made
