"""The FAULT frame: why the device stopped, and in which function (docs/protocol.md, 6)."""

from __future__ import annotations

import enum
import struct
from dataclasses import dataclass
from pathlib import Path

from mcu_deploy.elf.reader import load_elf
from mcu_deploy.errors import DeviceError


class FaultCause(enum.IntEnum):
    """`mcu_fault_cause_t` of crt/include/mcu/platform.h."""

    UNKNOWN = 0
    UNDEFINED_INSTRUCTION = 1
    INVALID_STATE = 2
    INVALID_PC = 3
    NO_COPROCESSOR = 4
    UNALIGNED = 5
    DIVIDE_BY_ZERO = 6
    STACK_OVERFLOW = 7
    BAD_READ = 8
    BAD_WRITE = 9
    BAD_JUMP = 10
    BAD_ACCESS = 11
    EXCEPTION_ENTRY = 12
    LOCKUP_OR_OTHER = 13
    STOPPED = 14
    """By the host: see `EndlessRun`."""


_SENTENCES = {
    FaultCause.UNKNOWN: "a fault of unknown cause",
    FaultCause.UNDEFINED_INSTRUCTION: "an undefined instruction",
    FaultCause.INVALID_STATE: "a jump to an even address (no Thumb state)",
    FaultCause.INVALID_PC: "an invalid return from an exception",
    FaultCause.NO_COPROCESSOR: "an instruction of a coprocessor that is absent or off",
    FaultCause.UNALIGNED: "an unaligned access",
    FaultCause.DIVIDE_BY_ZERO: "a division by zero",
    FaultCause.STACK_OVERFLOW: "a stack overflow",
    FaultCause.BAD_READ: "a read from a bad address",
    FaultCause.BAD_WRITE: "a write to a bad address",
    FaultCause.BAD_JUMP: "a jump to where there is no code",
    FaultCause.BAD_ACCESS: "an access to a bad address",
    FaultCause.EXCEPTION_ENTRY: "a fault while entering an exception",
    FaultCause.LOCKUP_OR_OTHER: "a fault that the handler could not decide",
    FaultCause.STOPPED: "the host ended a run that took too long",
}


@dataclass(frozen=True)
class FaultReport:
    """What the device said. A register that the core lacks, or that is not valid, is None."""

    cause: FaultCause
    exception: int
    """IPSR: 2 NMI, 3 HardFault, 4 MemManage, 5 BusFault, 6 UsageFault, 14 PendSV."""
    sp: int
    pc: int | None = None
    lr: int | None = None
    cfsr: int | None = None
    hfsr: int | None = None
    address: int | None = None
    model: int | None = None
    layer: int | None = None
    """The layer that was in progress, of that model; None between layers."""

    @property
    def sentence(self) -> str:
        """The cause and the place in words."""
        where = "" if self.layer is None else f" in layer {self.layer} of model {self.model}"
        at = "" if self.pc is None else f" at PC 0x{self.pc:08x}"
        address = "" if self.address is None else f", address 0x{self.address:08x}"
        return f"{_SENTENCES[self.cause]}{where}{at}{address}"


class DeviceFault(DeviceError):
    """The processor stopped with a fault; the device has restarted, what it held is lost."""

    def __init__(self, report: FaultReport) -> None:
        self.report = report
        super().__init__(
            f"The device stopped: {report.sentence}. It restarts; what was written to it is lost."
        )


class EndlessRun(DeviceFault):
    """A run was stopped. why: what it did for too long."""

    def __init__(self, report: FaultReport, why: str) -> None:
        self.remedy = (
            f"{why}: what runs there does not end, or takes longer here; if it is only slow, give "
            "a longer --run-timeout."
        )
        super().__init__(report)
        self.args = (f"{self} {self.remedy}",)


_WORD = struct.Struct("<I")
_LAYER = struct.Struct("<HH")


def unpack_fault(payload: bytes) -> FaultReport:
    """Reads a FAULT frame's payload; DeviceError where it is cut short."""
    try:
        valid, cause, exception, sp = struct.unpack_from("<4I", payload)
        at = 16
        values: list[int | None] = [None] * 5
        for bit in range(5):
            if valid >> bit & 1:
                values[bit] = _WORD.unpack_from(payload, at)[0]
                at += _WORD.size
        model = layer = None
        if valid >> 5 & 1:
            model, layer = _LAYER.unpack_from(payload, at)
    except struct.error:
        raise DeviceError(
            f"The device sent a FAULT frame of only {len(payload)} bytes; it runs a firmware "
            "that this mcu-deploy does not know: build and load it anew."
        ) from None
    known = FaultCause(cause) if cause <= max(FaultCause) else FaultCause.UNKNOWN
    pc, lr, cfsr, hfsr, address = values
    return FaultReport(known, exception, sp, pc, lr, cfsr, hfsr, address, model, layer)


def function_at(elf_path: Path, address: int) -> str | None:
    """`name+0xoffset` of the function that holds `address`, from the ELF's symbols; else None.

    Raises ToolError where the file cannot be read.
    """
    elf = load_elf(elf_path)
    thumb = 1 if elf.is_arm else 0  # bit 0 of a code address
    address &= ~thumb
    starts = {
        symbol.value & ~thumb: symbol
        for symbol in reversed(elf.symbols)
        if symbol.type == "STT_FUNC"
        and 0 <= address - (symbol.value & ~thumb) < max(symbol.size, 2)
    }
    return f"{starts[max(starts)].name}+0x{address - max(starts):x}" if starts else None


def describe_fault(fault: FaultReport, elf_path: Path) -> str:
    """Several lines for people: cause, functions of PC and LR, and the registers that are valid.

    `elf_path` is the firmware.elf that the device runs. A register that is not valid is not
    printed. ToolError where the file cannot be read.
    """
    lines = [f"The device stopped: {fault.sentence}."]
    if fault.layer is not None:
        lines.append(f"  layer   {fault.layer} of model {fault.model}")
    for name, value in (("PC", fault.pc), ("LR", fault.lr)):
        if value is None:
            continue
        # LR is a return address: the call is the instruction before it.
        function = function_at(elf_path, value if name == "PC" else max(value - 2, 0))
        lines.append(f"  {name:<7} 0x{value:08x}  {function or 'in no function of the firmware'}")
    lines.append(f"  SP      0x{fault.sp:08x}")
    for name, value in (("CFSR", fault.cfsr), ("HFSR", fault.hfsr), ("address", fault.address)):
        if value is not None:
            lines.append(f"  {name:<7} 0x{value:08x}")
    return "\n".join(lines)
