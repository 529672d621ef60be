"""What a board is: the values that a board.toml becomes.

Everything here is frozen and carries no behaviour but small look-ups. Sizes and addresses are in
bytes, clocks in hertz.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Annotated, Literal

from mcu_deploy.boards.document import Document
from mcu_deploy.errors import BoardError
from mcu_deploy.memory_timing import MemoryTiming
from mcu_deploy.schema import Text, Whole

HOST_CORE = "host"
SERIAL_BUFFER_BYTES = 4096  # MCU_SERIAL_RING_BYTES of boards/common/receive.c

MemoryKind = Literal["flash", "ram"]
Content = Literal["all", "data", "code"]
Role = Literal["vectors", "code", "weights", "data", "stack"]


@dataclass(frozen=True)
class Memory:
    """A stretch of addresses. `kind` "flash" holds what the image brings (also where that is an
    SRAM which a debugger or an emulator loads), "ram" what the program writes.

    speed: the larger, the faster; only the order counts. parts: contiguous ones of different
    speeds, of which the memory is made; `Board.divided` has them in its place. timing: how it
    answers at the board's clock; None where that is not known. rated_timing: the same at the clock
    that the board is rated for, or at its one clock. holds: what a "ram" is for: "data" where the
    core cannot fetch code from it, or nobody knows how fast; "code" where no tensors lie."""

    name: str
    origin: int
    size: int
    kind: MemoryKind
    speed: int = 1
    parts: tuple[Memory, ...] = ()
    timing: MemoryTiming | None = None
    rated_timing: MemoryTiming | None = None
    holds: Content = "all"

    @property
    def is_for_tensors(self) -> bool:
        """Whether tensors and other data may lie in it."""
        return self.kind == "ram" and self.holds != "code"

    @property
    def is_for_code(self) -> bool:
        """Whether code may run from it that the start-up copies there."""
        whole = all(part.holds != "data" for part in self.parts)
        return self.kind == "ram" and self.holds != "data" and whole

    @property
    def end(self) -> int:
        """The first address behind the memory."""
        return self.origin + self.size


@dataclass(frozen=True)
class Roles:
    """Which memory (by name) holds what. All empty on the host.

    vectors: the vector table; code: .text; weights: .rodata and the initial values of .data;
    data: .data, .bss with the arena (.bss.mcu_workspace), .noinit; stack: both stacks, lowest;
    hot_code: kernels that the start-up copies (--hot-code), empty where no RAM is for code."""

    vectors: str = ""
    code: str = ""
    weights: str = ""
    data: str = ""
    stack: str = ""
    hot_code: str = ""


@dataclass(frozen=True)
class SetupStep:
    """One step of a start-up, on a register of `bits` bits.

    write: register = value; change: register = (register & ~mask) | value; wait: until
    (register & mask) == value."""

    kind: Literal["write", "change", "wait"]
    register: int
    mask: int
    value: int
    bits: int = 32


@dataclass(frozen=True)
class Serial:
    """The serial port that the firmware speaks on.

    driver: the name of a file boards/common/serial/<driver>.c, or the absolute path of one of the
    user's; irq: the external interrupt number (0 is the first one behind the 16 system exceptions);
    clock_hz: the clock that feeds the baud rate generator; setup: what the driver needs done
    before, clock gates and pins; buffer_bytes: of reception, a power of two. On the host the driver
    is "host" and the numbers are 0, but for baud, which sizes time-outs."""

    driver: str
    base: int
    irq: int
    clock_hz: int
    baud: int
    setup: tuple[SetupStep, ...] = ()
    buffer_bytes: int = SERIAL_BUFFER_BYTES


@dataclass(frozen=True)
class SecondCore:
    """A second core of the same kind, which runs the same program.

    driver: the name of a file boards/common/second_core/<driver>.c, which starts it, or the
    absolute path of one of the user's; stack_bytes,
    handler_stack_bytes: its own stacks, in the memory of the first one's."""

    driver: str
    stack_bytes: int
    handler_stack_bytes: int


@dataclass(frozen=True)
class QemuTarget:
    """machine: for `-M`; serial: which `-serial` option (0 is the first) is the board's port."""

    machine: Text
    serial: Annotated[int, Whole(0, 16)] = 0


@dataclass(frozen=True)
class RenodeTarget:
    """platform: a .repl below Renode's own folder, or the absolute path of one of the user's; uart:
    its peripheral name."""

    platform: Text
    uart: Text


@dataclass(frozen=True)
class Processor:
    """What a network is compiled for: a core with its options, and the flags that make gcc do so.

    That is all that objects need; a firmware needs a Board. float_abi: how floats are passed."""

    name: str
    core: str
    architecture: str
    fpu: str
    float_abi: Literal["soft", "hard"]
    dsp: bool
    mve: bool
    cflags: tuple[str, ...]

    @property
    def called(self) -> str:
        """As a message calls it."""
        return f"the core {self.name}"

    @property
    def is_host(self) -> bool:
        """Whether this is the machine itself, compiled for with its own gcc."""
        return self.core == HOST_CORE


@dataclass(frozen=True)
class Board(Processor):
    """A board, as its board.toml says. See docs/boards.md for the meaning of each key.

    usb: "vendor:product" in hex of what carries its serial port; runners: what flashing tools are
    told, the preferred first; setup: the steps of its start-up, before anything else; boot: names
    of files of boards/common/boot, or absolute paths, whose data the chip's boot code reads;
    caches: whether the start-up turns the core's caches on; interrupts: what the chip's header
    calls each by its number, "" for a number that none has; none where the file does not say."""

    title: str
    document: Document = field(compare=False, repr=False)
    has_mpu: bool
    has_psplim: bool
    clock_hz: int
    memories: tuple[Memory, ...]
    roles: Roles
    stack_bytes: int
    handler_stack_bytes: int
    serial: Serial
    second_core: SecondCore | None = None
    qemu: QemuTarget | None = None
    renode: RenodeTarget | None = None
    usb: tuple[str, ...] = ()
    runners: Mapping[str, Mapping[str, str]] = field(default_factory=dict)
    setup: tuple[SetupStep, ...] = ()
    boot: tuple[str, ...] = ()
    caches: bool = False
    untested: bool = False
    interrupts: tuple[str, ...] = ()

    @property
    def called(self) -> str:
        """As a message calls it."""
        return f"board {self.name}"

    @property
    def rated_clock_hz(self) -> int | None:
        """The clock that `clock = "rated"` sets up; None where the board has none such."""
        rated = self.document.values.get("rated")
        return rated["clock_hz"] if rated is not None else None

    @property
    def path(self) -> Path:
        """The file that this was read from."""
        return self.document.path

    @property
    def vector_alignment(self) -> int:
        """Of the vector table, in bytes: the power of two that holds it (Armv7-M ARM, B3.2.5),
        at least the 256 of a Cortex-M0+ (its TRM, 4.3)."""
        return max(256, 1 << (4 * (16 + self.serial.irq + 1) - 1).bit_length())

    def memory(self, name: str) -> Memory:
        """The memory called `name`. BoardError when the board has none of that name."""
        for memory in self.memories:
            if memory.name == name:
                return memory
        known = ", ".join(m.name for m in self.memories) or "none"
        raise BoardError(f"Board {self.name} has no memory called {name!r}; it has {known}.")

    def memory_for(self, role: Role) -> Memory:
        """The memory that has a role ("vectors", "code", "weights", "data", "stack").

        BoardError on the host, which has no memory map."""
        if self.is_host:
            raise BoardError(
                f"Board {self.name} is the machine itself and has no memory map. "
                f"Choose a microcontroller board to place {role}."
            )
        return self.memory(getattr(self.roles, role))

    def divided(self) -> Board:
        """The board with the parts of its memories in their place, for tensors in several ones.

        The stack stays where it was, in the first part of its memory, below which it is guarded;
        other data goes to the slowest part, and leaves the fast ones to tensors."""
        memories = tuple(part for m in self.memories for part in m.parts or (m,))
        roles = self.roles
        for memory in self.memories:
            if memory.parts:
                slowest = min(memory.parts, key=lambda part: (part.speed, -part.size)).name
                data = slowest if roles.data == memory.name else roles.data
                stack = memory.parts[0].name if roles.stack == memory.name else roles.stack
                roles = replace(roles, data=data, stack=stack)
        return replace(self, memories=memories, roles=roles)

    @property
    def stack_guard_bytes(self) -> int:
        """The size of the MPU's no-access region directly below the application's stack; 0 where
        the board has none (no MPU, or an Armv8-M core, which has stack limit registers).

        64 KiB, or less where the stack starts at a less aligned address: a region of the Armv6-M
        and Armv7-M MPU is a power of two in size and aligned to it (Armv7-M Architecture
        Reference Manual, B3.5)."""
        if self.is_host or not self.has_mpu or self.has_psplim:
            return 0
        origin = self.memory_for("stack").origin
        aligned = origin & -origin if origin else 0
        guard = min(64 * 1024, aligned)
        return guard if guard >= 256 else 0
