"""The table of instructions: cycles by core, sizes, and what no row has."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

import pytest
from isa_statements import written

from mcu_deploy.backends.isa import Assembly, Kind
from mcu_deploy.backends.isa.blocks import Blocks
from mcu_deploy.backends.isa.function import framed
from mcu_deploy.backends.isa.instruction import parsed, printed
from mcu_deploy.backends.isa.interpreter import Data, call
from mcu_deploy.backends.isa.kept import counted, move
from mcu_deploy.backends.isa.models import MODELS
from mcu_deploy.backends.isa.table import split
from mcu_deploy.backends.isa.table_blocks import TableBlocks
from mcu_deploy.backends.isa.table_pipeline import COLUMNS, timed_text
from mcu_deploy.elf.disassembly import Disassembled


@pytest.mark.parametrize(
    ("statement", "before", "taken", "m0plus", "m3", "m4"),
    [
        ("adds r0, r1", "", 0, 1, 1, 1),
        ("ldr.w r0, [r1]", "", 0, 2, 2, 2),
        ("ldrb r0, [r1]", "ldr", 0, 2, 1, 1),
        ("ldr r0, [r1]", "str", 0, 2, 2, 2),
        ("ldreq r0, [r1]", "ldrb.w", 0, 2, 1, 1),
        ("ldmia.w r0!, {r1, r4-r7, lr}", "", 0, 7, 7, 7),
        ("pop {r4-r6, pc}", "", 0, 7, 7, 7),
        ("b 1b", "", 0, 2, 3, 3),
        ("bne.n 1b", "", 0.5, 1.5, 2, 2),
        ("bls 1b", "", 1, 2, 3, 3),
        ("bl 1f", "", 0, 3, 4, 4),
        ("cbz r0, 1f", "", 0.25, None, 1.5, 1.5),
        ("mla r0, r1, r2, r3", "", 0, None, 2, 1),
        ("smulllt r0, r1, r2, r3", "", 0, None, 4, 1),
        ("strd r0, r1, [r2]", "", 0, None, 3, 3),
        ("smlad r0, r1, r2, r0", "", 0, None, None, 1),
        ("vldr s0, [r0]", "", 0, None, None, 2),
        ("vldmia r0!, {s0-s3, s8}", "", 0, None, None, 6),
        ("vpush {d8-d9}", "", 0, None, None, 5),
        ("vmov d0, r0, r1", "", 0, None, None, 2),
        ("vmov s0, s1, r0, r1", "", 0, None, None, 2),
        ("vmov r0, r1, s0, s1", "", 0, None, None, 2),
        ("vmov s0, r0", "", 0, None, None, 1),
        ("vfmaeq.f32 s0, s1, s2", "", 0, None, None, 3),
    ],
)
def test_cycles(
    statement: str, before: str, taken: float, m0plus: float | None, m3: float | None, m4: float
) -> None:
    """Of a statement behind another one, as a kernel has them and as objdump prints them."""
    mnemonic, _, operands = statement.partition(" ")
    for core, wanted in (("cortex-m0plus", m0plus), ("cortex-m3", m3), ("cortex-m4", m4)):
        model = MODELS[core]
        if wanted is None:
            with pytest.raises(ValueError, match=f"no cycles of '{mnemonic}' on {core}"):
                model.issue_of(parsed(statement))
            continue
        issue = model.issue_of(parsed(statement))
        assert timed_text(COLUMNS[core], mnemonic, operands) == issue
        ahead = [model.issue_of(parsed(f"{before} r5, [r6]"))] if before else []
        alone = model.cycles([*ahead, issue], False) - model.cycles(ahead, False)
        assert alone + taken * model.taken == wanted


def test_conditions_and_flags_are_told_from_names() -> None:
    pairs = {
        "bls": ("b", "ls"), "bleq": ("bl", "eq"), "ble": ("b", "le"), "lsls": ("lsl", ""),
        "movs": ("mov", ""), "teq": ("teq", ""), "mls": ("mls", ""), "addsne": ("add", "ne"),
        "smlaltt": ("smlaltt", ""), "vcmpeq.f32": ("vcmp", "eq"), "vselge.f32": ("vsel", "ge"),
        "srshr": ("srshr", ""), "nonsense": ("", ""), "vmovlt.s16": ("vmovlt", ""),
        "vmovlt": ("vmov", "lt"), "vmovlt.f32": ("vmov", "lt"), "vmovltt.u8": ("vmovltt", ""),
    }  # fmt: skip
    assert {mnemonic: split(mnemonic) for mnemonic in pairs} == pairs


def test_a_kernel_with_a_mistyped_instruction_is_told_of_it() -> None:
    with pytest.raises(ValueError, match="'smladz' on cortex-m4: correct the mnemonic"):
        written(Assembly(), "smladz r0, r1, r2, r3")


def test_a_loop_costs_its_branches() -> None:
    code = Assembly()
    with code.repeat(10):
        written(code, "ldr r0, [r1], #4", "ldr r2, [r1], #4", "subs r3, r3, #1")
        with code.rarely():
            written(code, "vdiv.f32 s0, s1, s2")
    assert code.cycles == pytest.approx(10 * (2 + 1 + 1) + 9 * 3 + 1)


def test_the_longest_loop_is_told_from_those_that_run_less_often() -> None:
    code = Assembly()
    x, n, m = code.arguments("x n m")
    with code.repeat(5):
        code.mov_w(m, 7)
        with code.repeat(3):
            code.ldr(n, x.after(4))
            code.subs(m, m, 1)
        code.subs(n, n, 1)
    inside = 4 + 2 + 2
    assert code.longest_loop() == code.longest_loop(4) == code.bytes == 4 + inside + 2 + 2
    assert code.longest_loop(5) == code.longest_loop(14) == inside
    assert code.longest_loop(15) == 0


@pytest.mark.parametrize("times", [1, 2, 5])
def test_a_loop_may_be_counted_in_a_register_of_the_fpu(times: int) -> None:
    """y has a byte for each run, of a counter; before the last one it goes back to where it was."""
    code = Assembly()
    (y,) = code.arguments("y")
    number = code.register("number")
    left, at = code.registers("left at", kind=Kind.SINGLE)

    def back() -> None:
        code.it("eq")
        code.subeq(number, number, 50)

    code.mov(number, 100)
    code.vmov(at, y)
    with counted(code, left, times, back):
        code.vmov(y, at)
        code.strb(number, y[0])
        code.add(number, number, 1)
        move(code, at, 5000)
    memory = Data()
    out = memory.lay(0x2000_0000, bytes(5000 * times))
    call(framed(code.items), [0x2000_0000], memory)
    wanted = [100 + n for n in range(times)]
    assert [*out[::5000]] == (wanted if times == 1 else [*wanted[:-1], wanted[-1] - 50])


def test_branches_are_taken_where_what_is_behind_them_runs_less_often() -> None:
    texts = ("movs r0, #10", "subs r0, #1", "bne 0x2", "ldr r1, [r2]", "bx lr")
    code = [Disassembled(2 * i, "0000", *text.split(" ", 1)) for i, text in enumerate(texts)]
    counts = {0: 1, 2: 10, 4: 10, 6: 1, 8: 1}
    for core, branch in (("cortex-m4", 3), ("cortex-m3", 3), ("cortex-m0plus", 2)):
        program = TableBlocks(core, reversed(code))
        assert program.cycles(counts) == 1 + 10 + (9 * branch + 1) + 2 + branch
        each = {address: (stays, more) for address, stays, more in program.costs()}
        assert each[4] == (1, branch - 1) and each[8] == (branch, 0)
        with pytest.raises(ValueError, match="no known instruction at 0x20"):
            program.cycles({0x20: 1})


def test_an_instruction_without_cycles_is_told_of_where_it_runs() -> None:
    code = [Disassembled(0, "00000000", "smlad", "r0, r1, r2, r3"),
            Disassembled(4, "0000", "bx", "lr")]  # fmt: skip
    program = TableBlocks("cortex-m3", code)
    assert [address for address, *_ in program.costs()] == [4]
    assert program.cycles({4: 2}) == 6
    with pytest.raises(ValueError, match="no cycles of 'smlad' on cortex-m3"):
        program.cycles({0: 1, 4: 1})


def test_a_load_behind_a_load_takes_one_cycle_where_no_block_begins() -> None:
    """But on the Cortex-M0+."""
    texts = ("ldr r0, [r1]", "ldr r2, [r1, #4]", "ldrb r3, [r1, #8]")
    code = [Disassembled(2 * i, "0000", *text.split(" ", 1)) for i, text in enumerate(texts)]
    every = {0: 1, 2: 1, 4: 1}
    assert TableBlocks("cortex-m3", code).cycles(every) == 4
    assert TableBlocks("cortex-m0plus", code).cycles(every) == 6
    assert TableBlocks("cortex-m3", code).cycles({0: 1, 2: 1, 4: 2}) == 2 + 1 + 2 * 2


def test_bits_that_are_cleared_are_no_branch() -> None:
    """Behind BIC the sum still waits for the product."""
    texts = ("mul r0, r1, r2", "bic r3, r3, r4", "adds r0, r0, r5")
    code = [Disassembled(4 * i, "00000000", *text.split(" ", 1)) for i, text in enumerate(texts)]
    assert Blocks(code).cycles({0: 1, 4: 1, 8: 1}) == 3


def test_a_predicted_branch_does_not_wait_for_flags() -> None:
    code = Assembly(MODELS["cortex-m7"])
    (x,), done = code.arguments("x"), code.label()
    code.cmp(x, 0)
    code.beq(done)
    code.place(done)
    assert code.cycles == 1


# What kernels are written of, short and long.
STATEMENTS = """
mov r1, r12|movs r1, #255|movs r8, #1|movw r0, #5|add r12, r12, r3|add r0, r1, r2|add r0, sp, #8
adds r0, r1, #7|adds r0, r1, #8|adds r0, r0, #255|subs r8, r8, #1|ands r0, r0, r1|ands r0, r1, r2
muls r0, r1, r0|lsls r0, r1, #3|asr r0, r1, #3|cmp r0, r12|cmp r0, #255|cmp r0, #256|cmp r9, #1
sxtb r0, r1|sxtb r0, r1, ror #8|uxth r9, r1|ldr r0, [r1]|ldr r0, [r1, #124]|ldr r0, [r1, #128]
ldr r0, [r1], #4|ldr r0, [r1, r2]|ldr r0, [sp, #1020]|ldrb r0, [r1, #31]|ldrb r0, [r1, #32]
ldrsb r0, [r1]|ldrsb r0, [r1, r2]|strh r0, [r1, #62]|ldmia r0!, {r1-r3}|ldmia r8!, {r1, r2}
stmia r0!, {r1, r9}|push {r4-r7, lr}|push {r4-r11, lr}|pop {r4, pc}|cbz r0, 1f|beq 1f|b 1f|nop
smlad r0, r1, r2, r3|vmov s0, r0|ldrd r0, r1, [r2]|bx lr|rev r0, r1|rsbs r0, r1, #0
itt eq|moveq r0, r1|addeq r0, r0, #200|b.w 1f|beq.w 1f|it eq|moveq.w r0, r1|asr.w r0, r1, #4
"""


@pytest.mark.needs_arm_gcc
def test_sizes_are_those_of_the_assembler(tmp_path: Path) -> None:
    code = Assembly()
    written(code, *re.split(r"[|\n]", STATEMENTS.strip()))
    code.place("1")
    written(code, *["smlad r0, r1, r2, r3"] * 600, "beq 1b", "bne 2f", "b 1b")
    code.place("2")
    (tmp_path / "all.s").write_text("\n".join([".syntax unified", *printed(code.items), ""]))
    flags = ["-mcpu=cortex-m4", "-mfpu=fpv4-sp-d16", "-mthumb"]
    subprocess.run(["arm-none-eabi-as", *flags, "all.s", "-o", "all.o"], cwd=tmp_path, check=True)
    answer = subprocess.run(
        ["arm-none-eabi-size", "all.o"], cwd=tmp_path, capture_output=True, text=True, check=True
    )
    assert code.bytes == int(answer.stdout.splitlines()[1].split()[0])


def test_far_branches_are_long_and_near_ones_short_in_long_code() -> None:
    """Where many branches are short, a label is nearer than as if all were long."""
    code = Assembly()
    (x,) = code.arguments("x")
    ends = [code.label() for _ in range(1000)]
    for end in ends:
        code.cmp(x, 1)
        code.bhi(end)
        code.place(end)
    assert code.bytes == 4 * len(ends)
    code.b(ends[0])
    code.b(ends[-500])
    assert code.bytes == 4 * len(ends) + 4 + 2
