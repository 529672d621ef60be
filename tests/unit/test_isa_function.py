"""Kernels in assembler as functions by the procedure call standard."""

from __future__ import annotations

import pytest
from isa_statements import written

from mcu_deploy.backends.interface import Parameter
from mcu_deploy.backends.isa import Assembly, Kind, Label, kernel
from mcu_deploy.backends.isa.function import framed
from mcu_deploy.backends.isa.instruction import Note, parsed, printed
from mcu_deploy.backends.layer import Target

_X, _Y = Parameter("const int8_t *", "x"), Parameter("int8_t *", "y")


@pytest.mark.parametrize(
    ("used", "begin", "end"),
    [
        ("add r0, r0, r1", [], ["bx lr"]),
        ("add r12, r3, r9", ["push {r9}"], ["pop {r9}", "bx lr"]),
        ("ldmia r0!, {r3-r6}", ["push {r4-r6}"], ["pop {r4-r6}", "bx lr"]),
        ("mov r7, lr", ["push {r7, lr}"], ["pop {r7, pc}"]),
        ("bl 1f", ["push {lr}"], ["pop {pc}"]),
        ("vmov s15, r0", [], ["bx lr"]),
        ("vmov s16, r0", ["vpush {d8}"], ["vpop {d8}", "bx lr"]),
        ("vmov d10, r0, r4", ["push {r4}", "vpush {d8-d10}"],
         ["vpop {d8-d10}", "pop {r4}", "bx lr"]),
        ("vldmia r0!, {s17-s19}", ["vpush {d8-d9}"], ["vpop {d8-d9}", "bx lr"]),
        ("vcvt.f32.s32 s0, s0", [], ["bx lr"]),
    ],
)  # fmt: skip
def test_what_a_caller_wants_back_is_saved(used: str, begin: list[str], end: list[str]) -> None:
    items = framed([Note("r4 is lr's"), parsed(used), *([Label(1)] if "1f" in used else [])])
    labels = ["1:"] if "1f" in used else []
    assert printed(items) == [*begin, "/* r4 is lr's */", used, *labels, *end]


def test_a_call_takes_what_it_saves_and_ten_cycles() -> None:
    code = Assembly()
    written(code, "mov r4, lr")  # PUSH {r4, lr}, and POP {r4, pc}
    assert code.time(Target("cortex-m4", dsp=True)) == 10 + (1 + 2) + 1 + (1 + 2 + 2)


def test_a_kernel_is_one_asm_that_returns() -> None:
    code = Assembly()
    written(code, "ldrb r2, [r0]", "strb r2, [r1]")
    made = kernel("copy", (_X, _Y), code, Target())
    assert made.naked
    assert '"    ldrb r2, [r0]\\n"' in made.body
    assert made.body.rstrip().endswith('"    bx lr\\n");\n}')


def test_more_arguments_than_registers_are_an_error() -> None:
    six = tuple(Parameter("int32_t", name) for name in "abcdef")
    with pytest.raises(ValueError, match="copy has 6 parameters, and a kernel has five at most"):
        kernel("copy", six, Assembly(), Target())


def test_a_fifth_argument_comes_from_the_stack_before_that_is_moved() -> None:
    code = Assembly()
    *_, last = code.arguments("a b c d e")
    four, moved = code.register("four", "r4"), code.register("moved", "s16", kind=Kind.SINGLE)
    code.mov(four, last)
    code.vmov(moved, four)
    five = tuple(Parameter("int32_t", name) for name in "abcde")
    for fpu, inside in ((True, "vpush {d8}"), (False, "sub sp, sp, #8")):
        rows = kernel("copy", five, code, Target(fpu=fpu)).body.split('"')[3::2]
        begin = [row.removesuffix("\\n").strip() for row in rows][:4]
        assert begin == ["ldr r12, [sp]", "push {r4}", inside, "mov r4, r12"]


def test_without_an_fpu_the_frame_lies_inside_of_the_prologue() -> None:
    code = Assembly()
    written(code, "vmov s16, r0", "vmov r4, s16")
    rows = kernel("move", (_X,), code, Target(fpu=False)).body.split('"')[1::2]
    assert [row.removesuffix("\\n").strip() for row in rows] == [
        ".syntax unified", "push {r4}", "sub sp, sp, #8", "str r0, [sp]", "ldr r4, [sp]",
        "add sp, sp, #8", "pop {r4}", "bx lr",
    ]  # fmt: skip


def test_labels_are_those_that_are_gone_to_in_their_order() -> None:
    code = Assembly()
    x, y = code.arguments("x y")
    nobodys, ways = code.label(), [code.label() for _ in range(2)]
    done = code.label()
    code.cbz(x, done)
    code.adr_w(y, ways[1])
    code.bx(y, to=ways)
    code.place(nobodys)
    for label in reversed(ways):
        code.place(label)
    code.place(done)
    body = kernel("jumping", (_X, _Y), code, Target()).body
    shown = [line.split('"')[1].strip() for line in body.splitlines()[2:-2]]
    assert shown == [
        "cbz r0, 3f\\n", "adr.w r1, 1f\\n", "bx r1\\n",
        "$.to1:\\n", "1:\\n", "$.to2:\\n", "2:\\n", "3:\\n",
    ]  # fmt: skip
    assert "/* x */" in body, "of a branch the register alone, its label stands in front"
