"""What a backend gives: workloads, as values that outlive it."""

from __future__ import annotations

import enum
import hashlib
import json
from dataclasses import dataclass, field
from typing import Any

import numpy.typing as npt

from mcu_deploy.backends.cost import Costs

# What the function of a workload returns that may refuse the values it is given.
STATUS = "int32_t"


@dataclass(frozen=True)
class Parameter:
    """A parameter of a C function: its type ("const int8_t *") and its name."""

    ctype: str
    name: str

    def __str__(self) -> str:
        return f"{self.ctype}{'' if self.ctype.endswith('*') else ' '}{self.name}"


@dataclass(frozen=True)
class Fetched:
    """A kernel's code: its bytes, the cycles, modelled, that a run of a layer waits for it where it
    lies in the memory that the target has for code, and by which digest the target says that it
    lies in RAM instead."""

    bytes: int
    cycles: int
    digest: str = ""


@dataclass(frozen=True)
class CFunction:
    """A static C function. In its body `$word` stands for the network's own symbol `word`.

    Equal functions are emitted once. An `inline` one is `static inline`, for helpers, which others
    call by `$stem`; every other one stays a function of its own, which gcc inlines nowhere. The
    function of a workload gives nothing, or a `STATUS`: MCU_OK, or the code with which the run ends
    (MCU_ERROR_OPERAND). attributes: as gcc has them, some of `always_inline` of an inline one, and
    `aligned(16)` and `section(".ramfunc")` of others. naked: its body is one asm that takes its
    arguments and returns by the procedure call standard; the compiler adds nothing. comment: lines
    that stand over it. fetched: of a kernel that waits for its code; layers that share the function
    differ in it.
    """

    stem: str
    parameters: tuple[Parameter, ...]
    body: str
    result: str = "void"
    inline: bool = False
    attributes: tuple[str, ...] = ()
    naked: bool = False
    comment: tuple[str, ...] = ()
    fetched: Fetched | None = None


@dataclass(frozen=True, eq=False)
class Constant:
    """A constant array of a workload, in the order in which the function reads it."""

    stem: str
    value: npt.NDArray[Any]
    alignment: int = 4

    def __eq__(self, other: object) -> bool:
        """By type, shape and bytes: NaN is itself, -0 is not 0."""
        if not isinstance(other, Constant):
            return NotImplemented
        return self.stem == other.stem and self._content == other._content

    def __hash__(self) -> int:
        return hash((self.stem, self._content))

    @property
    def _content(self) -> tuple[str, tuple[int, ...], int, bytes]:
        value = self.value.astype(self.value.dtype.newbyteorder("<"), copy=False)
        return value.dtype.str, self.value.shape, self.alignment, value.tobytes()

    @property
    def digest(self) -> str:
        """The SHA-256 of type, shape, alignment and bytes."""
        *what, content = self._content
        return hashlib.sha256(json.dumps(what).encode() + content).hexdigest()

    @property
    def ctype(self) -> str:
        names = {"float32": "float", "float64": "double", "bool": "uint8_t"}
        return names.get(self.value.dtype.name, f"{self.value.dtype.name}_t")


class Role(enum.Enum):
    """What an argument of a call refers to."""

    INPUT = "input"
    OUTPUT = "output"
    CONSTANT = "constant"
    SCRATCH = "scratch"
    REGION = "region"
    SCALAR = "scalar"
    SIZE = "size"


@dataclass(frozen=True)
class Argument:
    """One argument of a call: the index-th input, output, constant or region, or the scratch.

    Of a scalar it is the value, for a parameter that is int32_t, uint32_t or float: so layers that
    differ in a number share a function. Role.SIZE, the size that a run decides, is added by
    selection/sizes.py, and is not for backends.
    """

    role: Role
    index: int = 0
    value: float = 0.0

    def __post_init__(self) -> None:
        object.__setattr__(self, "value", float(self.value))


@dataclass(frozen=True)
class InPlace:
    """An output, or the scratch, may share bytes with an input that is dead after the call.

    output: None is the workload's scratch (`scratch_bytes`); what is said of an output here is true
    of it too. Scratch and outputs share no byte.

    It may as long as `offset(output) + distance <= offset(input)`, in bytes. The distance is the
    maximum over all writes to the output of: where the written bytes end, counted from the output's
    start, minus the lowest byte of the input, counted from its start, that is read at or after the
    completion of that write. Reads before the write do not count, its own operands among them.

    0: element by element, both may start at the same place. Positive: the output must start so many
    bytes before the input. Negative: it may even start so many bytes behind the input's start. A
    write that no read follows demands nothing; where that is true of every write, the distance is
    minus the input's bytes, and the output may lie anywhere. As the output may also start any
    number of bytes earlier, a kernel that may lie exactly on its input, but not a little before it,
    has a positive distance, or says `exactly`.

    exactly: it may where both start at one address, and nowhere else; the distance is 0 then. Such
    is a kernel that takes some bytes out of all of the input, and then writes the same ones of the
    output: each byte of the input that the output has too is read for the last time before the
    output's is written, in whatever order.

    Facts of different inputs are independent, and may all be used at once; where one edge is read
    as two inputs, both facts hold. A fact is true of the compiled C: loads and stores count as wide
    as the function makes them, a memcpy reads and writes in any order, no pointer is `restrict`,
    and the elements of both have one type, or one has bytes. Of other types (int16_t and float) C
    lets the compiler assume that what is written through one pointer is not read through the other.
    """

    input: int
    output: int | None
    distance: int = 0
    exactly: bool = False


class RegionKind(enum.Enum):
    """How long a region of memory keeps what was written to it."""

    SCRATCH = "scratch"  # during one call
    PRIVATE = "private"  # from mcu_instance_init, which clears it, to mcu_instance_deinit


@dataclass(frozen=True)
class Region:
    """A stretch of an instance's workspace that a backend asked its memory manager for.

    Regions are told apart by `number`, which the manager gives; like every tensor they are aligned
    to 16 bytes. The planner places them; nothing else is ever written into a private one.
    """

    backend: str
    number: int
    kind: RegionKind
    name: str
    bytes: int


@dataclass(frozen=True)
class RegionCall:
    """A C function that gets a pointer to each of these private regions, in this order."""

    function: CFunction
    regions: tuple[Region, ...] = ()
    helpers: tuple[CFunction, ...] = ()
    headers: tuple[str, ...] = ()


@dataclass(frozen=True)
class Workload:
    """One way of computing a layer.

    function None means that nothing is computed: the output is the first input's memory, seen
    under another shape. scratch_bytes: memory that it may overwrite during its call; like every
    tensor it is aligned to 16 bytes. regions: those that its memory manager gave it.
    """

    backend: str
    function: CFunction | None
    arguments: tuple[Argument, ...] = ()
    constants: tuple[Constant, ...] = ()
    helpers: tuple[CFunction, ...] = ()
    headers: tuple[str, ...] = ()
    scratch_bytes: int = 0
    in_place: tuple[InPlace, ...] = ()
    costs: Costs = field(default_factory=Costs)
    regions: tuple[Region, ...] = ()

    @property
    def is_view(self) -> bool:
        return self.function is None

    @property
    def fingerprint(self) -> str:
        """The SHA-256 of what is called and with what: function, helpers, headers, constants,
        arguments. Costs, places in memory and the names of model and backend are not in it."""
        functions = (f for f in (self.function, *self.helpers) if f is not None)
        called = [
            [
                [f.stem, f.result, f.inline, f.attributes, [*map(str, f.parameters)], f.body]
                for f in functions
            ],
            [[a.role.value, a.index, a.value] for a in self.arguments],
            [c.digest for c in self.constants],
            self.headers,
        ]
        return hashlib.sha256(json.dumps(called).encode()).hexdigest()

    @property
    def can_fail(self) -> bool:
        """Whether its function returns a status: MCU_OK, or an error that ends the run."""
        return self.function is not None and self.function.result == STATUS
