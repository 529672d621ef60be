"""SLOTHY (github.com/slothy-optimizer/slothy), an optimizer of assembly with a solver, and its
models of cores: what it says of loops of our kernels.

What its parser lacks is put to it as an instruction that it has, whose timing is that of ours by
`STANDS_FOR`'s sources. Branches are left out. Memory is, too: to SLOTHY no store meets a load.
"""

from __future__ import annotations

import importlib
import logging
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

from mcu_deploy.backends.isa.instruction import Instruction, parsed

_TARGETS = {
    "cortex-m7": ("arm_v7m.arch_v7m", "arm_v7m.cortex_m7"),
    "cortex-m55": ("arm_v81m.arch_v81m", "arm_v81m.cortex_m55r1"),
}
# Statements as a pattern, what stands for them, and where it is known that they take the same time
# (cortex_m7.md is that of jnk0le's "Pipeline cycle test", which the model of SLOTHY cites, too).
STANDS_FOR: Mapping[str, Sequence[tuple[str, str, str]]] = {
    "cortex-m7": (
        (
            r"[su]xtb16 (\w+), (\w+)(?:, ror #8)?",
            r"ubfx \1, \2, #0, #8",
            "cortex_m7.md: extensions and bit-fields need what they work on a cycle early",
        ),
        (
            r"[su]xtab16 (\w+), (\w+), (\w+)(?:, ror #8)?",
            r"add \1, \2, \3, lsl #8",
            "cortex_m7.md: the extended operand is needed a cycle early, as a shifted one",
        ),
        (
            r"[su]sat (\w+), #\d+, (\w+)(?:, asr #\d+)?",
            r"ubfx \1, \2, #0, #8",
            "cortex_m7.md: saturation needs its operand a cycle early",
        ),
        (
            r"bfi (\w+), (\w+), #\d+, #\d+",
            r"add \1, \1, \2, lsl #8",
            "cortex_m7.md: what is inserted is needed a cycle early",
        ),
        (
            r"pkh(?:bt|tb) (\w+), (\w+), (\w+), (?:lsl|asr) #\d+",
            r"add \1, \2, \3, lsl #8",
            "cortex_m7.md: as shifted operands; SLOTHY's table has it twice, so that it ends there",
        ),
        (r"smmla (\w+), (\w+), (\w+), (\w+)", r"mla \1, \2, \3, \4", "cortex_m7.md: as MLA"),
        (
            r"smlaw[bt] (\w+), (\w+), (\w+), (\w+)",
            r"smlabb \1, \2, \3, \4",
            "cortex_m7.md: all products of 16 bits are alike",
        ),
        (
            r"smlad (\w+), (\w+), (\w+), (\w+)",
            r"smlabb \1, \2, \3, \4",
            "cortex_m7.md: SMLAD is handed its addend late, as SMLABB; SLOTHY's has no such path",
        ),
        (r"ssub8 (\w+), (\w+), (\w+)", r"ssub16 \1, \2, \3", "quinapalus: as SSUB16"),
        (r"sel (\w+), (\w+), (\w+)", r"ssub16 \1, \2, \3", "quinapalus: as SSUB16"),
        (r"(?:and|orr|bic) (\w+), (\w+), #\w+", r"add \1, \2, #1", "quinapalus: as ADD"),
        (r"strb (.*)", r"strh \1", "quinapalus: as STRH"),
        (r"ldmia (.*)", r"ldm \1", "another name"),
        (r"stmia (.*)", r"stm \1", "another name"),
    ),
    "cortex-m55": (
        (r"vcvt\.f32\.s32 (\w+), (\w+)", r"vadd.f32 \1, \2, \2", "assumed: as VADD"),
        (r"vfma\.f32 (\w+), (\w+), (r\w+)", r"vfma.f32 \1, \2, \2", "the same, by a vector"),
        (r"vadd\.f32 (\w+), (\w+), (r\w+)", r"vadd.f32 \1, \2, \2", "the same, by a vector"),
        (r"vmlas\.(\w+) (\w+), (\w+), (r\w+)", r"vmla.\1 \2, \3, \4", "as VMLA"),
        (
            r"vq?r?shrn([bt])\.\w(\d+) (\w+), (\w+), #\d+",
            r"vshrn\1.i\2 \3, \4, #1",
            "as VSHRN, which ends later, too",
        ),
        (
            r"vq?movn([bt])\.\w(\d+) (\w+), (\w+)",
            r"vshrn\1.i\2 \3, \4, #1",
            "as VSHRN, which ends later, too",
        ),
        (r"(?:adds|subs) (\w+), (\w+), #(\d+)", r"add \1, \2, #\3", "the same, without flags"),
    ),
}


def loops(source: str) -> Iterator[tuple[str, tuple[Instruction, ...]]]:
    """The innermost loops of the kernels in a network's C, each with the name of its function,
    without the branch."""
    for part in source.split("MCU_KERNEL void ")[1:]:
        name = part[: part.index("(")]
        lines = [line.strip() for line in re.findall(r'^ +"([^"]+?)\\n"', part, re.M)]
        begin = None
        for n, line in enumerate(lines):
            jump = re.search(r" (\d+)([bf])$", line)
            if re.fullmatch(r"\d+:", line):
                begin = n
            elif jump:
                if begin is not None and jump[2] == "b" and lines[begin] == f"{jump[1]}:":
                    yield name, tuple(map(parsed, lines[begin + 1 : n]))
                begin = None


def statements(core: str, code: Sequence[Instruction]) -> list[str]:
    """As SLOTHY reads them."""
    found = []
    for instruction in code:
        line = re.sub(r"\blr\b", "r14", instruction.text)
        for pattern, stand_in, _ in STANDS_FOR[core]:
            line = re.sub(f"^{pattern}$", stand_in, line)
        found.append(re.sub(r"\{.*\}", lambda names: names[0].replace(" ", ""), line))
    return found


class Found(NamedTuple):
    """The best order that was found: the instructions by their numbers, the cycles that they take
    by SLOTHY's model, and a bound that no order is below."""

    order: list[int]
    cycles: int
    bound: float


def optimized(core: str, code: Sequence[Instruction], seconds: int = 60) -> Found:
    """Of a straight piece, by the same registers. seconds: of the solver."""
    slothy, heuristics, helper = (
        importlib.import_module(f"slothy{part}") for part in ("", ".core.heuristics", ".helper")
    )
    architecture, target = (
        importlib.import_module(f"slothy.targets.{name}") for name in _TARGETS[core]
    )
    logging.disable(logging.CRITICAL)
    try:
        made = slothy.Slothy(architecture, target)
        config = made.config
        config.variable_size = True
        config.constraints.stalls_maximum_attempt = 4 * len(code)
        config.constraints.stalls_first_attempt = 0
        config.constraints.allow_reordering = True
        config.constraints.allow_renaming = False
        config.inputs_are_outputs = True
        config.outputs = _written(code)
        config.reserved_regs = []
        config.allow_useless_instructions = True  # whose flags or registers nobody reads
        config.selftest = config.selfcheck = False
        config.timeout = seconds
        lines = helper.SourceLine.read_multiline("\n".join(statements(core, code)))
        result = heuristics.Heuristics.linear(lines, made.logger, config)
        at = result.reordering_with_bubbles
        order = sorted(range(len(code)), key=lambda n: at[n])
        return Found(order, result.cycles, result.cycles_bound)
    finally:
        logging.disable(logging.NOTSET)


def _written(code: Sequence[Instruction]) -> list[str]:
    names = dict.fromkeys(str(r) for i in code for r in i.written)
    return ["r14" if name == "lr" else name for name in names]
