"""What a board.toml may say: its keys as dataclasses. docs/boards.md says what they mean."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Annotated, Any, Literal

from mcu_deploy.boards.cores import core_facts, core_names
from mcu_deploy.boards.model import (
    HOST_CORE,
    Content,
    MemoryKind,
    QemuTarget,
    RenodeTarget,
    SetupStep,
)
from mcu_deploy.boards.timing_form import TimingForm
from mcu_deploy.options import Clock
from mcu_deploy.runners.interface import runners
from mcu_deploy.schema import Bytes, Clause, Keys, Multiple, Text, Unfit, Whole, kept, keys_of, made

MAX_IRQ = 480  # Armv8-M: at most 480 external interrupts
_STACK_ALIGNMENT = 32  # of stack ends: an MPU region, PSPLIM and the AAPCS are content with it

_Irq = Annotated[int, Whole(0, MAX_IRQ)]
_Clock = Annotated[int, Whole(1, 10**10)]
_Word = Annotated[int, Whole(0, 1 << 32)]
_Register = Annotated[int, Whole(0, 1 << 32), Multiple(4)]
_Speed = Annotated[int, Whole(1, 1_000_000)]


@dataclass(frozen=True)
class StackForm:
    application: Bytes = 8192
    handler: Bytes = 2048

    def __post_init__(self) -> None:
        for key, size in (("application", self.application), ("handler", self.handler)):
            if size % _STACK_ALIGNMENT or size < 512:
                raise Clause(
                    f"{key} = {size} must be at least 512 and a multiple of {_STACK_ALIGNMENT}"
                )


@dataclass(frozen=True)
class SecondCoreForm(StackForm):
    driver: Text = field(kw_only=True)


@dataclass(frozen=True)
class PartForm:
    size: Bytes
    speed: _Speed = 1
    holds: Content = "all"
    timing: TimingForm | None = None


@dataclass(frozen=True)
class MemoryForm:
    origin: Annotated[int, Whole(0, 1 << 32), Multiple(16)]
    size: Bytes
    kind: MemoryKind
    speed: _Speed | None = None
    holds: Content | None = None
    parts: Mapping[str, PartForm] | None = None
    timing: TimingForm | None = None

    def __post_init__(self) -> None:
        if self.kind != "ram":
            if self.parts is not None:
                raise Clause("only a memory of kind ram has parts; leave them out")
            if self.speed is not None:
                raise Clause(
                    "speed is for memories of kind ram, which tensors can lie in; leave it out"
                )
            if self.holds is not None:
                raise Clause("holds is for memories of kind ram; leave it out")
        if self.origin + self.size > 1 << 32:
            raise Clause(f"origin + size = {self.origin + self.size:#x} goes beyond 4 GiB")


@dataclass(frozen=True)
class StepForm:
    """A step of a start-up: see `SetupStep`."""

    register: _Word
    bits: Literal[8, 16, 32] = 32
    clear: _Word | None = None
    set: _Word | None = None
    value: _Word | None = None
    mask: _Word | None = None
    equals: _Word | None = None

    def __post_init__(self) -> None:
        self.step()

    def step(self) -> SetupStep:
        """The step. Clause for one that says two things, or none."""
        keys, bits = ("clear", "set", "value", "mask", "equals"), self.bits
        numbers = {key: getattr(self, key) for key in keys if getattr(self, key) is not None}
        kept(Multiple(bits // 8), "register", self.register)
        for key, number in numbers.items():
            kept(Whole(0, 1 << bits), key, number)
        named = tuple(numbers)
        if named == ("value",):
            return SetupStep("write", self.register, (1 << bits) - 1, numbers["value"], bits)
        if named == ("mask", "equals"):
            if numbers["equals"] & ~numbers["mask"]:
                raise Clause("equals has bits that mask has not: the wait would not end")
            return SetupStep("wait", self.register, numbers["mask"], numbers["equals"], bits)
        if named and {*named} <= {"clear", "set"}:
            raised = numbers.get("set", 0)
            mask = numbers.get("clear", 0) | raised
            return SetupStep("change", self.register, mask, raised, bits)
        raise Clause(
            "a step is a register with set or clear or both, with value, or with mask and equals; "
            f"this one has {', '.join(named) or 'none of them'}"
        )


@dataclass(frozen=True)
class PinForm:
    port: _Register
    pin: Annotated[int, Whole(0, 16)]
    function: Annotated[int, Whole(0, 16)]

    def steps(self) -> tuple[SetupStep, ...]:
        """What hands a pin over to a peripheral on STM32 (other than F1): alternate function, a
        pull-up, so that an open line rests, and the mode "alternate function".

        Registers: GPIO_TypeDef in ST's CMSIS device headers stm32f405xx.h and stm32f746xx.h."""
        shift, two, at = self.pin % 8 * 4, 3 << self.pin * 2, self.port + self.pin // 8 * 4
        return (
            SetupStep("change", at + 0x20, 0xF << shift, self.function << shift),  # AFR
            SetupStep("change", self.port + 0x0C, two, 1 << self.pin * 2),  # PUPDR
            SetupStep("change", self.port, two, 2 << self.pin * 2),  # MODER
        )


def _buffer(value: int) -> int:
    if value < 1024 or value & (value - 1):
        raise Unfit(f"= {value} must be a power of two from 1024 on")
    return value


@dataclass(frozen=True)
class SerialForm:
    driver: Text
    base: _Register
    irq: _Irq
    clock_hz: _Clock
    baud: Annotated[int, Whole(300, 20_000_000)] = 115_200
    buffer: Annotated[Bytes, _buffer] = 4096
    setup: tuple[StepForm, ...] = ()
    pins: tuple[PinForm, ...] = ()


@dataclass(frozen=True)
class RolesForm:
    vectors: Text
    code: Text
    weights: Text
    data: Text
    stack: Text
    hot_code: Text | None = None


_OPTIONAL_TIMING = Keys(keys_of(TimingForm).hints)


@dataclass(frozen=True)
class RatedForm:
    clock_hz: _Clock
    serial_clock_hz: _Clock
    setup: tuple[StepForm, ...]
    timing: Mapping[str, Annotated[Mapping[str, Any], _OPTIONAL_TIMING]] | None = None


@dataclass(frozen=True)
class EmulatorsForm:
    qemu: QemuTarget | None = None
    renode: RenodeTarget | None = None


_RUNNERS = Keys(
    {
        runner.name: Annotated[
            Mapping[str, str],
            Keys(
                dict.fromkeys(runner.keys, Text), [n for n, k in runner.keys.items() if k.required]
            ),
        ]
        for runner in runners().values()
    }
)


@dataclass(frozen=True)
class MicrocontrollerForm:
    name: Text
    title: Text
    core: Text
    fpu: Literal["none", "fpv4-sp-d16", "fpv5-sp-d16", "fpv5-d16", "fp-armv8-d16"]
    mpu: bool
    clock_hz: _Clock
    memories: Mapping[str, MemoryForm]
    roles: RolesForm
    serial: SerialForm
    dsp: bool | None = None
    mve: bool | None = None
    cflags: tuple[Text, ...] = ()
    setup: tuple[StepForm, ...] = ()
    boot: tuple[Text, ...] = ()
    interrupts: tuple[str, ...] = ()
    untested: bool = False
    clock: Clock = "reset"
    caches: bool = False
    rated: RatedForm | None = None
    stack: StackForm = StackForm()
    second_core: SecondCoreForm | None = None
    emulators: EmulatorsForm = EmulatorsForm()
    usb: tuple[Text, ...] = ()
    runners: Annotated[Mapping[str, Mapping[str, str]], _RUNNERS] = field(default_factory=dict)


@dataclass(frozen=True)
class HostSerialForm:
    baud: Annotated[int, Whole(1, 10**9)] = 10**8


@dataclass(frozen=True)
class HostStackForm:
    application: Bytes = 1 << 20


@dataclass(frozen=True)
class HostForm:
    name: Text
    title: Text
    core: Text
    cflags: tuple[Text, ...] = ()
    serial: HostSerialForm = HostSerialForm()
    stack: HostStackForm = HostStackForm()


def read_form(values: Mapping[str, Any]) -> MicrocontrollerForm | HostForm:
    """What a file says. Raises Misfit."""
    core = values.get("core")
    cls: Any = HostForm if core == HOST_CORE else MicrocontrollerForm
    keys = keys_of(cls)
    if core in core_names():  # whether it has DSP or MVE is the chip maker's choice for some
        facts = core_facts(core)
        chosen = [k for k, fact in (("dsp", facts.dsp), ("mve", facts.mve)) if fact == "option"]
        keys = replace(keys, required=[*keys.required, *chosen])
    form: MicrocontrollerForm | HostForm = made(cls, values, keys=keys)
    return form
