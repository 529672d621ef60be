"""Disassembly: which instruction needs what, what the attributes hide, what is no code."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

import pytest
from hygiene_cases import (
    M0,
    M3,
    M4,
    M4F,
    M7,
    M7DP,
    M7SP,
    M33F,
    M55,
    ON_M0,
    ON_M3,
    ON_M4,
    ON_M4F,
    ON_M7DP,
    ON_M7SP,
    ON_M33F,
    ON_M55,
    FakeBoard,
    build,
    rules,
)

from mcu_deploy.backends.isa.table import Feature, needed_features
from mcu_deploy.elf.disassembly import code_ranges, disassemble
from mcu_deploy.elf.reader import read_elf
from mcu_deploy.hygiene import check_files
from mcu_deploy.hygiene.features import core_of_board

pytestmark = pytest.mark.needs_arm_gcc

# Encodings hidden in objects whose attributes are harmless: (flags, code, the core's board, what
# the finding's message must name).
HIDDEN = {
    "smlad_on_m3": (M3, ".inst.w 0xfb213002", ON_M3, "SMLAD"),
    "qadd_on_m3": (M3, ".inst.w 0xfa82f081", ON_M3, "QADD"),
    "vadd_on_m3": (M3, ".inst.w 0xee300a81", ON_M3, "VADD.F32"),
    "vrinta_on_m4f": (M4F, ".inst.w 0xfeb80a60", ON_M4F, "VRINTA.F32"),
    "vsel_on_m4f": (M4F, ".inst.w 0xfe000a81", ON_M4F, "VSELEQ.F32"),
    "vmaxnm_on_m4f": (M4F, ".inst.w 0xfe800a81", ON_M4F, "VMAXNM.F32"),
    "vcvta_on_m4f": (M4F, ".inst.w 0xfebc0ae0", ON_M4F, "VCVTA.S32.F32"),
    "f64_on_m4f": (M4F, ".inst.w 0xee310b02", ON_M4F, "VADD.F64"),
    "udiv_on_m0": (M0, ".inst.w 0xfbb1f0f2", ON_M0, "UDIV"),
    "it_on_m0": (M0, ".inst.n 0xbf08\n nop", ON_M0, "IT"),
    "cbz_on_m0": (M0, ".inst.n 0xb1ff", ON_M0, "CBZ"),
    "wide_on_m0": (M0, ".inst.w 0xf8d23000", ON_M0, "LDR.W"),
    "helium_on_m33": (M33F, ".inst.w 0xef220844", ON_M33F, "VADD.I32"),
    "vctp_on_m33": (M33F, ".inst.w 0xf000e801", ON_M33F, "VCTP.8"),
    "loop_on_m33": (M33F, ".inst.w 0xf040e001", ON_M33F, "DLS"),
    "csel_on_m7": (M7, ".inst.w 0xea518002", ON_M4, "CSEL"),
    "sg_on_m7": (M7, ".inst.w 0xe97fe97f", ON_M4, "SG"),
    "mrc_on_m4": (M4, ".inst.w 0xee100310", ON_M4, "CP3"),
    "hlt": (M4, ".inst.n 0xba80", ON_M4, "HLT"),
}


def assembly(code: str) -> str:
    return (
        ' .syntax unified\n .thumb\n .section .text.f,"ax",%progbits\n .type f, %function\n'
        f"f:\n nop\n {code}\n bx lr\n .size f, . - f\n"
    )


@pytest.mark.parametrize("name", HIDDEN)
def test_disassembly_finds_what_attributes_hide(name: str, tmp_path: Path) -> None:
    flags, code, board, mnemonic = HIDDEN[name]
    made = build(tmp_path, {"f.s": assembly(code)}, *flags)
    # With the board, and also by the object's own attributes.
    for report in (check_files([made["f"]], board), check_files([made["f"]])):
        assert rules(report.findings) == {"instruction"}
        assert f" is {mnemonic}" in report.findings[0].message
        assert report.findings[0].symbol == "f"
        assert ".text.f+0x2" in report.findings[0].message


def test_of_several_the_first_is_named_and_the_others_are_counted(tmp_path: Path) -> None:
    made = build(tmp_path, {"f.s": assembly("\n ".join([".inst.w 0xfb213002"] * 3))}, *M3)
    (finding,) = check_files([made["f"]], ON_M3).findings
    assert "At .text.f+0x2 in f is SMLAD (and 2 more like it), " in finding.message


def test_an_instruction_belongs_to_the_function_that_begins_with_it(tmp_path: Path) -> None:
    two = assembly("bx lr\n .type g, %function\ng:\n .inst.w 0xfb213002")
    (finding,) = check_files([build(tmp_path, {"f.s": two}, *M3)["f"]], ON_M3).findings
    assert finding.symbol == "g" and "At .text.f+0x4 in g is SMLAD" in finding.message


def test_an_instruction_that_nobody_knows_is_found(tmp_path: Path) -> None:
    sources = {
        "wide.s": assembly(".inst.w 0xffffffff"),
        "cut.s": assembly(".inst.n 0xf8d2\n .word 1\n .inst.n 0xbf00"),
        "trap.s": assembly("udf #255"),
        "c.c": "void f(void) { __builtin_trap(); }",
    }
    made = build(tmp_path, sources, *M4)
    for name, expected in {
        "wide": {"unknown-instruction"},
        "cut": {"unknown-instruction"},
        "trap": set(),
        "c": set(),
    }.items():
        assert rules(check_files([made[name]]).findings) == expected, name


def test_data_among_the_code_is_no_code(tmp_path: Path) -> None:
    """Literal pools and tables hold any bytes: here those of SMLAD and of nonsense."""
    source = """
    unsigned f(int n) { return n ? 0xfb213002u : 0xffffffffu; }
    double g(int n) { return n ? 1.23456789 : 9.87654321e-12; }
    int h(int n, int a) {
        switch (n) { case 0: return a * 7; case 1: return a ^ 5; case 2: return 31 - a;
                     case 3: return a >> 2; case 4: return a * a; case 5: return a | 13; }
        return a;
    }
    """
    table = assembly(".word 0xffffffff, 0xfb213002\n .byte 1, 2, 3\n .align 1")
    for flags, board in ((M0, ON_M0), (M3, ON_M3)):
        made = build(tmp_path / flags[0], {"f.c": source, "table.s": table}, *flags, "-Os")
        report = check_files([made["table"]], board)
        assert report.findings == ()
        assert check_files([made["f"]], board).findings == ()


# One instruction a line, as a Cortex-M55 assembles it, and the features that it needs.
TABLE = [
    ("adds r0, r1", Feature(0)),
    ("bl f", Feature(0)),
    ("dsb sy", Feature(0)),
    ("mrs r0, PRIMASK", Feature(0)),
    ("udf #3", Feature(0)),
    ("add.w r0, r1, r2", Feature.THUMB2),
    ("smull r0, r1, r2, r3", Feature.THUMB2),
    ("smlal r0, r1, r2, r3", Feature.THUMB2),
    ("ssat r0, #8, r1", Feature.THUMB2),
    ("uxtb.w r0, r8", Feature.THUMB2),
    ("it eq\n smlaleq r0, r1, r2, r3", Feature.THUMB2),
    ("movw r0, #5", Feature.MID),
    ("sdiv r0, r1, r2", Feature.MID),
    ("ldrex r0, [r1]", Feature.MID),
    ("smlad r0, r1, r2, r3", Feature.DSP),
    ("it lt\n smladxlt r0, r1, r2, r3", Feature.DSP),
    ("smlaltt r0, r1, r2, r3", Feature.DSP),
    ("smlald r0, r1, r2, r3", Feature.DSP),
    ("smuad r0, r1, r2", Feature.DSP),
    ("smulwb r0, r1, r2", Feature.DSP),
    ("smmlar r0, r1, r2, r3", Feature.DSP),
    ("umaal r0, r1, r2, r3", Feature.DSP),
    ("sxtb16 r0, r1, ror #8", Feature.DSP),
    ("sxtab r0, r1, r2", Feature.DSP),
    ("uqadd8 r0, r1, r2", Feature.DSP),
    ("shsax r0, r1, r2", Feature.DSP),
    ("usada8 r0, r1, r2, r3", Feature.DSP),
    ("pkhtb r0, r1, r2, asr #4", Feature.DSP),
    ("it ne\n selne r0, r1, r2", Feature.DSP),
    ("lda r0, [r1]", Feature.V8M),
    ("tt r0, r1", Feature.V8M),
    ("csinc r0, r1, r2, eq", Feature.V81M),
    ("clrm {r0, r1}", Feature.V81M),
    ("dls lr, r0", Feature.V81M),
    ("mcr p4, 1, r0, c0, c0, 0", Feature.COPROCESSOR),
    ("mrrc p0, 4, r0, r1, c8", Feature.COPROCESSOR),
    ("vldr s0, [r0]", Feature.FP_REGISTERS),
    ("vpush {d8}", Feature.FP_REGISTERS),
    ("vmov d0, r1, r2", Feature.FP_REGISTERS),
    ("vmrs APSR_nzcv, fpscr", Feature.FP_REGISTERS),
    ("vmul.f32 s0, s1, s2", Feature.FPU),
    ("it eq\n vaddeq.f32 s0, s1, s2", Feature.FPU),
    ("vfma.f32 s0, s1, s2", Feature.FPU),
    ("vmla.f32 s0, s1, s2", Feature.FPU),
    ("it eq\n vmlaeq.f32 s0, s1, s2", Feature.FPU),
    ("vnmls.f32 s0, s1, s2", Feature.FPU),
    ("vcvtr.s32.f32 s0, s1", Feature.FPU),
    ("it eq\n vcvteq.s32.f32 s0, s1", Feature.FPU),
    ("vcvtb.f32.f16 s0, s1", Feature.FPU),
    ("vmov.f32 s0, #1.0", Feature.FPU),
    ("vcvtn.s32.f32 s0, s1", Feature.FPU | Feature.FPV5),
    ("vrintn.f32 s0, s1", Feature.FPU | Feature.FPV5),
    ("vselge.f32 s0, s1, s2", Feature.FPU | Feature.FPV5),
    ("vminnm.f32 s0, s1, s2", Feature.FPU | Feature.FPV5),
    ("vadd.f64 d0, d1, d2", Feature.FPU | Feature.DOUBLE),
    ("vcvt.f32.f64 s0, d1", Feature.FPU | Feature.DOUBLE),
    ("vrinta.f64 d0, d1", Feature.FPU | Feature.FPV5 | Feature.DOUBLE),
    ("vadd.f16 s0, s1, s2", Feature.FPU | Feature.HALF),
    ("vldr.16 s0, [r0]", Feature.HALF),
    ("vldrw.u32 q0, [r0]", Feature.MVE),
    ("vmladava.s8 r0, q0, q1", Feature.MVE),
    ("vmla.s32 q0, q1, r2", Feature.MVE),
    ("vctp.8 r0", Feature.MVE),
    ("vpst\n vaddt.i32 q0, q1, q2", Feature.MVE),
    ("dlstp.8 lr, r0", Feature.MVE),
    ("sqrshr r0, r1", Feature.MVE),
    ("vmsr p0, r0", Feature.MVE),
    ("vfma.f32 q0, q1, q2", Feature.MVE_FLOAT),
]


def test_the_table_of_features(tmp_path: Path) -> None:
    """What objdump prints for each instruction leads to the right features."""
    sections = [
        f' .section .text.i{i},"ax",%progbits\n {code}\n' for i, (code, _) in enumerate(TABLE)
    ]
    head = " .syntax unified\n .thumb\n .arch_extension fp.dp\n .type f, %function\n f: nop\n"
    made = build(tmp_path, {"all.s": head + "".join(sections)}, *M55)
    ranges, unmapped = code_ranges(read_elf(made["all"].read_bytes()))
    assert unmapped == []
    found: dict[str, Feature] = {}
    for piece, instruction in disassemble(ranges):
        assert instruction.mnemonic, instruction
        # The last instruction of a section counts: IT and VPST stand before theirs.
        found[piece.section.name] = needed_features(
            instruction.mnemonic, instruction.operands, instruction.size > 2
        )
    wrong = {
        code: found[f".text.i{number}"]
        for number, (code, features) in enumerate(TABLE)
        if found[f".text.i{number}"] != features
    }
    assert wrong == {}


@pytest.mark.parametrize(
    ("flags", "board"),
    [
        (M0, ON_M0), (M3, ON_M3), (M4, ON_M4), (M4F, ON_M4F), (M7SP, ON_M7SP), (M7DP, ON_M7DP),
        (M33F, ON_M33F), (M55, ON_M55),
    ],
    ids=["m0", "m3", "m4", "m4f", "m7sp", "m7dp", "m33f", "m55"],
)  # fmt: skip
def test_the_assembler_refuses_what_the_table_refuses(
    flags: tuple[str, ...], board: FakeBoard, tmp_path: Path
) -> None:
    """GNU as knows the cores too: it must refuse just what needs a feature that the core lacks."""
    core = core_of_board(board)
    assert core is not None
    lines, first = [" .syntax unified", " .thumb", "f:"], []
    for code, _ in TABLE:
        first.append(len(lines) + 1)
        lines += f" {code}".split("\n")
    (tmp_path / "all.s").write_text("\n".join(lines) + "\n")
    answer = subprocess.run(
        ["arm-none-eabi-gcc", "-c", *flags, "all.s"],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
    )
    refused_lines = {int(n) for n in re.findall(r"^all\.s:(\d+): Error", answer.stderr, re.M)}
    refused = {
        code
        for (code, _), start in zip(TABLE, first, strict=True)
        if refused_lines & set(range(start, start + code.count("\n") + 1))
    }
    # Without Armv8.1-M as takes coprocessor instructions for every core from Armv7-M on.
    wanted = {code for code, features in TABLE if features & ~core.features & ~Feature.COPROCESSOR}
    refused -= {code for code, features in TABLE if features is Feature.COPROCESSOR}
    # as 2.40 takes two FPv5 instructions even for a Cortex-M3, which has no FPU at all.
    accepted = {"vcvtn.s32.f32 s0, s1", "vminnm.f32 s0, s1, s2"}
    assert refused <= wanted
    assert wanted - refused <= accepted


@pytest.mark.parametrize(
    "flags",
    [pytest.param(M55, id="m55")]
    + [
        pytest.param(flags, id=name, marks=pytest.mark.matrix)
        for name, flags in (("m0", M0), ("m4f", M4F), ("m7dp", M7DP))
    ],
)
def test_the_c_library_has_no_findings(flags: tuple[str, ...]) -> None:
    """Some 20,000 to 35,000 instructions that surely fit: no false alarm among them."""
    answer = subprocess.run(
        ["arm-none-eabi-gcc", *flags, "-print-file-name=libm.a"],
        capture_output=True,
        text=True,
        check=True,
    )
    library = Path(answer.stdout.strip())
    if not library.is_absolute():
        pytest.skip("newlib is not installed; `make setup` installs libnewlib-arm-none-eabi")
    report = check_files([library])
    assert [finding for finding in report.findings if finding.rule != "duplicate-symbol"] == []
    assert report.files[0].instructions > 10_000
