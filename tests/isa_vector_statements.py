"""Statements of Helium that the interpreter of kernels is held to QEMU by: each row, in the forms
that kernels have of it. The registers are those of isa_statements.py."""

from __future__ import annotations

from collections.abc import Iterator

from mcu_deploy.backends.isa.vector_meaning import VECTOR_MEANINGS

# Of rows by the begin of their names: further operands than those that all have.
_WITH_REGISTER = ("vadd.", "vsub.", "vmul.", "vqadd", "vqsub", "vqdmulh", "vqrdmulh", "vfma.f32")
_NEVER_VECTORS = ("vmla.", "vmlas.", "vfmas.")  # whose last operand is a core register
_BY_REGISTER = ("vshl.s", "vshl.u", "vrshl.")


def _forms(name: str, roles: str) -> Iterator[str]:
    """Operands of what computes in registers."""
    first = {"E": "r2", "e": "r4"}.get(roles[0], "q0")
    if name.startswith(_NEVER_VECTORS):
        yield f"{first}, q1, r3"
    elif name.startswith("vcmp"):
        yield from (f"{c}, q0, q1" for c in ("lt", "eq", "ne", "ge", "gt", "le"))
        yield from ("gt, q0, r3", "lt, q1, r3")
    elif name.startswith("vdup"):
        yield "q3, r3"
    elif name.startswith("vmov.i"):
        yield "q3, #37"
    elif name.startswith(("vidup", "vddup")):
        yield from ("q1, r4, #1", "q1, r4, #8")
    elif name.startswith(("vmaxv", "vminv")):
        yield "r3, q1"
    elif roles.endswith("i"):
        yield from (f"{first}, q1, #{n}" for n in (1, 5, 7 if name.startswith("vshl") else 8))
    elif len(roles) == 2:
        yield from (f"{first}, q1", f"{first}, q5") if first != "q0" else ("q0, q1", "q6, q6")
    else:
        yield f"{first}, q1, q2"
        if first == "q0":
            yield "q1, q1, q2"
        if name.startswith(_WITH_REGISTER):
            yield f"{first}, q1, r3"
        if name.startswith(_BY_REGISTER):
            yield f"{first}, {first}, r3"


def _registers() -> Iterator[str]:
    skipped = ("vldr", "vst", "vctp", "vpst", "dls", "wls", "le")
    for name, meaning in VECTOR_MEANINGS.items():
        if name.startswith(skipped):
            continue
        whole, dot, types = name.partition(".")
        for number, operands in enumerate(_forms(name, meaning.roles)):
            yield f"{name} {operands}"
            if number == 0:  # by a predicate, too
                yield f"vpst; {whole}t{dot}{types} {operands}"


_MEMORY = (
    "vldrb.u8 q0, [r9]", "vldrb.u8 q0, [r9, #3]", "vldrb.u8 q0, [r9], #16",
    "vldrb.u8 q0, [r9, #-5]!", "mov r5, r9; vldrb.u16 q0, [r5, #3]",
    "mov r5, r9; vldrb.s16 q0, [r5], #8", "mov r5, r9; vldrb.u32 q1, [r5, #127]",
    "mov r5, r9; vldrb.s32 q0, [r5]", "vldrh.u16 q0, [r12, #6]",
    "mov r5, r12; vldrh.u32 q2, [r5], #8", "mov r5, r12; vldrh.s32 q0, [r5, #-2]",
    "vldrw.u32 q0, [r12]", "vldrw.u32 q7, [r12], #16", "vldrw.u32 q0, [r12, #-8]!",
    "vstrb.8 q0, [r9]", "vstrb.8 q0, [r9], #5", "mov r5, r9; vstrb.16 q1, [r5, #1]",
    "mov r5, r9; vstrb.32 q1, [r5], #4", "vstrh.16 q0, [r12, #-2]",
    "mov r5, r12; vstrh.32 q0, [r5], #8", "vstrw.32 q0, [r12, #4]", "vstrw.32 q0, [r12], #32",
    "vpst; vldrbt.u8 q0, [r9]", "mov r5, r9; vpst; vldrbt.s16 q0, [r5], #8",
    "mov r5, r9; vpst; vldrbt.u32 q0, [r5]", "vpst; vldrht.u16 q0, [r12]",
    "vpst; vldrwt.u32 q0, [r12], #16", "vpst; vstrbt.8 q0, [r9], #16",
    "mov r5, r9; vpst; vstrbt.16 q0, [r5]", "mov r5, r9; vpst; vstrbt.32 q0, [r5], #4",
    "vpst; vstrht.16 q0, [r12]", "vpst; vstrwt.32 q0, [r12, #8]",
    *(f"vst4{n}.8 {{q2, q3, q4, q5}}, [r12]" for n in range(4)),
    # Gathers and what scatters.
    "vmov.i8 q1, #127; vand q1, q1, q2; vldrb.u8 q0, [r9, q1]",
    "vmov.i16 q1, #127; vand q1, q1, q2; vldrb.u16 q0, [r9, q1]",
    "vmov.i32 q1, #127; vand q1, q1, q2; vldrb.s32 q0, [r9, q1]",
    "vmov.i32 q1, #60; vand q1, q1, q2; vldrw.u32 q0, [r12, q1]",
    "vmov.i32 q1, #31; vand q1, q1, q2; vldrw.u32 q0, [r12, q1, uxtw #2]",
    "vmov.i16 q1, #62; vand q1, q1, q2; vldrh.u16 q0, [r12, q1]",
    "vmov.i16 q1, #63; vand q1, q1, q2; vldrh.u16 q0, [r12, q1, uxtw #1]",
    "vmov.i32 q1, #60; vand q1, q1, q2; vadd.i32 q1, q1, r12; vldrw.u32 q0, [q1, #8]",
    "vmov.i32 q1, #60; vand q1, q1, q2; vadd.i32 q1, q1, r12; vldrw.u32 q0, [q1, #-16]!",
    "vmov.i8 q1, #127; vand q1, q1, q2; vpst; vldrbt.u8 q0, [r9, q1]",
    "vmov.i8 q1, #127; vand q1, q1, q2; vstrb.8 q0, [r9, q1]",
    "vmov.i32 q1, #31; vand q1, q1, q2; vstrw.32 q0, [r12, q1, uxtw #2]",
    "vmov.i32 q1, #127; vand q1, q1, q2; vpst; vstrbt.32 q0, [r9, q1]",
)  # fmt: skip

_CONTROL = (
    "vctp.8 r11",
    "vctp.16 r11",
    "vctp.32 r11",
    "vctp.32 r3",
    "vmov q0, q1",
    "vpst; vmovt q0, q1",
    "vmov q0[2], q0[0], r2, r3",
    "vmov q1[3], q1[1], r3, r2",
    "vctp.8 r11; vpst; vmladavat.s8 r4, q1, q2",
    "vpstt; vaddt.i32 q0, q1, q2; vmladavt.s8 r2, q1, q2",
    "vcmp.f32 eq, q0, q0; vpstt; vcmpt.f32 lt, q0, q1; vmovt q0, q1",
    "mov r0, #3; dlstp.32 lr, r0; 1: vcmp.f32 gt, q0, q1; vpst; vmovt q0, q1; letp lr, 1b",
    "vpsttt; vaddt.i32 q0, q1, q2; vldrbt.u8 q1, [r9]; vaddt.i8 q2, q0, q1",
    "vpstttt; vaddt.i32 q0, q1, q2; vaddt.i8 q1, q0, q1; veort q2, q0, q1; vstrbt.8 q2, [r9]",
    "mov r0, #3; dls lr, r0; 1: add r1, r1, r2; le lr, 1b",
    "and r0, r11, #3; wls lr, r0, 2f; 1: add r1, r1, r2; le lr, 1b; 2: add r1, r1, #1",
    "mov r0, #35; dlstp.8 lr, r0; 1: vldrb.u8 q0, [r12], #16; vstrb.8 q0, [r9], #16; "
    "vmladava.s8 r4, q0, q1; letp lr, 1b",
    "mov r0, #0; wlstp.8 lr, r0, 2f; 1: vadd.i8 q0, q0, q1; letp lr, 1b; 2: add r1, r1, #1",
    "wlstp.8 lr, r11, 2f; 1: vadd.i8 q0, q0, q1; vaddva.u8 r4, q0; letp lr, 1b; 2: add r1, r1, #1",
    "mov r5, r9; wlstp.16 lr, r11, 2f; 1: vldrb.s16 q0, [r5], #8; vadd.i16 q2, q0, r3; "
    "letp lr, 1b; 2: add r1, r1, #1",
    "mov r5, r12; wlstp.32 lr, r11, 2f; 1: vldrb.s32 q0, [r5], #4; vmla.s32 q2, q0, r3; "
    "vstrb.32 q2, [r5], #4; letp lr, 1b; 2: add r1, r1, #1",
    "mov r0, #9; dlstp.16 lr, r0; 1: vadd.i16 q0, q0, q1; letp lr, 1b",
    "mov r0, #9; dlstp.32 lr, r0; 1: vadd.i32 q0, q0, q1; letp lr, 1b",
)

VECTOR_STATEMENTS: tuple[str, ...] = (*_registers(), *_MEMORY, *_CONTROL)
