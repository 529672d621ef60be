"""Names of registers, bound to those of the core."""

from __future__ import annotations

import re
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mcu_deploy.backends.interface import Parameter
from mcu_deploy.backends.isa import Assembly, Kind, Label, kernel
from mcu_deploy.backends.isa.allocation import AllocationError
from mcu_deploy.backends.isa.instruction import Instruction, printed
from mcu_deploy.backends.isa.interpreter import CoreState, Data, Program
from mcu_deploy.backends.isa.operands import physical
from mcu_deploy.backends.layer import Target


def test_names_that_live_at_the_same_time_have_registers_of_their_own() -> None:
    code = Assembly()
    x, y = code.arguments("x y")
    one, other, total = code.registers("one other total")
    code.ldr(one, x[0])
    code.ldr(other, x[4])
    code.add(total, one, other)
    code.str(total, y[0])
    assert printed(code.items) == [
        "ldr r2, [r0]", "ldr r0, [r0, #4]", "add r0, r2, r0", "str r0, [r1]",
    ]  # fmt: skip


def test_what_lives_around_a_loop_keeps_its_register() -> None:
    code = Assembly()
    x, y = code.arguments("x y")
    turns, total, word = code.registers("turns total word")
    code.mov(turns, 5)
    code.mov(total, 0)
    with code.repeat(5):
        code.ldr(word, x.after(4))
        code.add(total, total, word)
        code.subs(turns, turns, 1)
    code.str(total, y[0])
    memory = Data()
    memory.lay(0x1000, b"".join(n.to_bytes(4, "little") for n in range(1, 6)))
    result = memory.lay(0x2000, bytes(4))
    Program(code.items).run(CoreState({"r0": 0x1000, "r1": 0x2000}), memory)
    assert int.from_bytes(result, "little") == 15


def test_lists_are_in_their_order() -> None:
    code = Assembly()
    x, y = code.arguments("x y")
    a, b, c = code.registers("a b c")
    code.ldmia(x.moving, [a, b])
    code.ldr(c, x[0])
    code.stmia(y, [c, b, a])  # a and b cannot be in both orders
    with pytest.raises(
        AllocationError, match=r"`stmia y, \{c, b, a\}` finds no registers as it wants"
    ):
        code.items  # noqa: B018
    code = Assembly()
    x, y = code.arguments("x y")
    a, b, c = code.registers("a b c")
    code.ldmia(x.moving, [a, b])
    code.ldr(c, x[0])
    code.stmia(y, [c, a, b])
    low, *rest = map(int, re.findall(r"r(\d+)", printed(code.items)[-1])[1:])
    assert [low, *rest] == sorted([low, *rest])


def test_a_register_of_the_core_has_its_place_in_a_list() -> None:
    code = Assembly()
    x = code.register("x", "r0")
    low, high = code.registers("low high")
    code.movs(high, 1)
    code.movs(low, 2)
    code.stmia(x, [low, physical("r6"), high])
    assert printed(code.items) == ["movs r7, #1", "movs r1, #2", "stmia r0, {r1, r6, r7}"]
    code.stmia(x, [low, physical("r0")])
    with pytest.raises(AllocationError, match=r"`stmia x, \{low, r0\}` finds no registers"):
        code.items  # noqa: B018


def test_a_double_register_and_its_halves_are_the_same_words() -> None:
    code = Assembly()
    x, y = code.arguments("x y")
    pair = code.register("pair", kind=Kind.DOUBLE)
    single = code.register("single", kind=Kind.SINGLE)
    word = code.register("word")
    code.vmov(single, x)
    code.vmov(pair, x, y)
    code.vmov(pair.halves[1], x)
    code.vmov(word, pair.halves[0])
    code.vmov(y, single)
    code.str(word, y[0])
    lines = printed(code.items)
    assert lines == [
        "vmov s2, r0", "vmov d0, r0, r1", "vmov s1, r0", "vmov r0, s0", "vmov r1, s2",
        "str r0, [r1]",
    ]  # fmt: skip


def test_cbz_takes_a_low_register() -> None:
    code = Assembly()
    x, *others = code.arguments("x y z w")
    names = code.registers("a b c d e")
    label = code.label()
    for name in names:
        code.ldr(name, x.after(4))
    code.cbz(names[-1], label)
    for name in (*names, *others):
        code.add(x, x, name)
    code.place(label)
    code.str(x, x[0])
    found = [line for line in printed(code.items) if line.startswith("cbz")]
    assert re.fullmatch(r"cbz r[0-7], 1f", found[0])


def test_one_name_too_many_is_an_error_where_it_was_asked_for() -> None:
    code = Assembly()
    names = code.registers(" ".join(f"n{i}" for i in range(15)))
    for name in names:
        code.mov(name, 1)
    for name in names:
        code.add(names[0], names[0], name)
    with pytest.raises(AllocationError) as error:
        code.items  # noqa: B018
    assert re.match(
        r".*test_isa_allocation\.py:\d+: no register is left for `n14`", str(error.value)
    )
    assert "behind `mov n14, #1` there are n0, n1, n2" in str(error.value)


def test_the_error_is_of_the_first_instruction_that_finds_none() -> None:
    """Not of where most names live, which is behind it."""
    code = Assembly()
    x, y = code.arguments("x y")
    names = code.registers(" ".join(f"n{i}" for i in range(13)))
    for name in names[:12]:
        code.ldr(name, x.after(4))
    code.ldr(names[12], x[0])
    more = code.registers("more still_more")
    for name in more:
        code.ldr(name, x.after(4))
    for name in (*names, *more):
        code.str(name, y.after(4))
    with pytest.raises(AllocationError) as error:
        code.items  # noqa: B018
    assert "is left for `n12`: behind `ldr n12, [x]` there are n0, x, n1, n2" in str(error.value)
    assert "n11, n12, y;" in str(error.value)


def test_names_of_the_fpu_are_no_reason_for_a_lack_of_core_registers() -> None:
    code = Assembly()
    x = code.arguments("x")[0]
    held = code.registers(" ".join(f"s{i}" for i in range(33)), kind=Kind.SINGLE)
    for name in held:
        code.vldr(name, x[0])
    for name in held:
        code.vstr(name, x[4])
    with pytest.raises(AllocationError) as error:
        code.items  # noqa: B018
    assert "no register is left for `s32`: behind `vldr s32, [x]` there are s0, s1" in str(
        error.value
    )
    assert str(error.value).endswith("s31, s32; reuse one")


def test_a_name_that_nothing_writes_is_an_error() -> None:
    code = Assembly()
    x, nothing = code.registers("x nothing")
    code.mov(x, 1)
    code.add(x, x, nothing)
    code.str(x, x[0])
    with pytest.raises(AllocationError, match="`nothing` is read before it is written"):
        code.items  # noqa: B018


def test_two_names_in_one_place_are_an_error() -> None:
    code = Assembly()
    a, b = code.registers("a b", "r4", "r4")
    code.mov(a, 1)
    code.mov(b, 2)
    code.add(a, a, b)
    code.str(a, a[0])
    with pytest.raises(
        AllocationError, match="`b` and `a`, which live at the same time, are both to be r4"
    ):
        code.items  # noqa: B018


def test_a_jump_to_nowhere_is_an_error() -> None:
    code = Assembly()
    code.mov(code.register("x"), 1)
    code.b(Label(7))
    with pytest.raises(ValueError, match="goes to a label that is nowhere"):
        code.items  # noqa: B018


def test_a_jump_that_does_not_say_where_it_goes_is_an_error() -> None:
    code = Assembly()
    x = code.register("x")
    code.mov(x, 1)
    code.bx(x)
    code.mov(x, 2)
    with pytest.raises(ValueError, match="`bx x` does not say which labels it may go to"):
        code.items  # noqa: B018


def test_a_kernel_prints_the_names_behind_its_instructions() -> None:
    code = Assembly()
    x, y = code.arguments("x y")
    acc = code.register("acc")
    code.ldrsb(acc, x.after(1))
    code.strb(acc, y[0])
    parameters = Parameter("const int8_t *", "x"), Parameter("int8_t *", "y")
    rows = kernel("copy", parameters, code, Target()).body.splitlines()
    assert rows[2].split() == [
        '"',
        "ldrsb",
        "r2,",
        "[r0],",
        '#1\\n"',
        "/*",
        "acc,",
        "[x],",
        "#1",
        "*/",
    ]


@st.composite
def _straight(draw: st.DrawFn) -> tuple[Assembly, int]:
    """Code that computes with names, and how many words it stores."""
    code = Assembly()
    count = draw(st.integers(2, 9))
    names = code.registers(" ".join(f"n{i}" for i in range(count)))
    out = code.register("out")
    for index, name in enumerate(names):
        code.mov(name, draw(st.integers(0, 200)) + index)
    for _ in range(draw(st.integers(1, 20))):
        a, b, c = (names[draw(st.integers(0, count - 1))] for _ in range(3))
        match draw(st.integers(0, 3)):
            case 0:
                code.add(a, b, c)
            case 1:
                code.eor(a, b, c.ror(5))
            case 2:
                code.smlad(a, b, c, a)
            case 3:
                code.subs(a, a, 3)
                code.it("eq")
                code.moveq(b, c)
    code.movw(out, 0x2000)
    for index, name in enumerate(names):
        code.str(name, out[4 * index])
    return code, count


@given(_straight())
@settings(max_examples=60, deadline=None)
def test_names_compute_what_they_would_with_a_register_each(made: tuple[Assembly, int]) -> None:
    code, count = made
    named = [i for i in code._items if isinstance(i, Instruction)]
    places = {r: n for n, r in enumerate(dict.fromkeys(r for i in named for r in i.registers))}
    alone = [i.renamed(lambda r: replace(r, place=places[r])) for i in named]
    results = []
    for items in (code.items, alone):
        memory = Data()
        held = memory.lay(0x2000, bytes(4 * count))
        Program(items).run(CoreState(), memory)
        results.append(bytes(held))
    assert results[0] == results[1]


def test_lists_of_the_fpu_have_no_gaps_and_halves_may_come_one_by_one() -> None:
    code = Assembly()
    x, y = code.arguments("x y")
    other = code.register("other", kind=Kind.DOUBLE)
    a, b = code.registers("a b", kind=Kind.DOUBLE)
    for half in other.halves:
        code.vmov(half, x)
    code.vldmia(x.moving, [*a.halves, *b.halves])
    code.vadd_f32(a.halves[0], a.halves[0], other.halves[1])
    code.vadd_f32(a.halves[0], a.halves[0], other.halves[0])
    code.vstmia(y, [*a.halves, *b.halves])
    lists = [line.partition("{")[2] for line in printed(code.items) if "{" in line]
    first, last = map(int, re.findall(r"\d+", lists[0]))
    assert last == first + 3 and first % 2 == 0 and lists[0] == lists[1]


def test_a_list_of_the_fpu_may_be_of_several_kinds() -> None:
    code = Assembly()
    x, y = code.arguments("x y")
    single = code.register("single", kind=Kind.SINGLE)
    pair = code.register("pair", kind=Kind.DOUBLE)
    four = code.register("four", kind=Kind.VECTOR)
    code.vldmia(x, [single, *pair.words, *four.words])
    code.vstmia(y, [single, *pair.words, *four.words])
    assert printed(code.items) == ["vldmia r0, {s1-s7}", "vstmia r1, {s1-s7}"]


def test_a_vector_register_is_four_words_that_others_do_not_take() -> None:
    """Helium's Q registers lie over S and D registers; their words live and die by themselves."""
    code = Assembly()
    x, y = code.arguments("x y")
    single = code.register("single", kind=Kind.SINGLE)
    pair = code.register("pair", kind=Kind.DOUBLE)
    a, b = code.registers("a b", kind=Kind.VECTOR)
    code.vldr(single, x[0])
    code.vldmia(x.moving, pair.halves)
    code.vldmia(x.moving, a.words)
    code.vldmia(x.moving, b.words)
    for into, of in zip(a.words, b.words, strict=True):
        code.vadd_f32(into, into, of)
    code.vadd_f32(a.words[3], a.words[3], single)
    code.vadd_f32(a.words[0], a.words[0], pair.halves[1])
    code.vstmia(y, a.words)
    lists = [line.partition("{")[2] for line in printed(code.items) if "{" in line]
    firsts = [int(re.findall(r"\d+", part)[0]) for part in lists]
    assert firsts[0] % 2 == firsts[1] % 4 == firsts[2] % 4 == 0 and firsts[1] == firsts[3]
    memory = Data()
    numbers = np.arange(10, dtype=np.float32) ** 2
    memory.lay(0x1000, numbers.tobytes())
    result = memory.lay(0x2000, bytes(16))
    Program(code.items).run(CoreState({"r0": 0x1000, "r1": 0x2000}), memory)
    wanted = numbers[2:6] + numbers[6:]
    wanted[[0, 3]] += numbers[[1, 0]]
    assert np.frombuffer(result, np.float32).tolist() == wanted.tolist()


def test_eight_vector_registers_leave_none_for_a_ninth_nor_for_a_word() -> None:
    for kind, last in ((Kind.VECTOR, "q8"), (Kind.SINGLE, "word")):
        code = Assembly()
        x = code.arguments("x")[0]
        held = code.registers(" ".join(f"q{i}" for i in range(8)), kind=Kind.VECTOR)
        held.append(code.register(last, kind=kind))
        for name in held:
            code.vldmia(x.moving, name.words)
        for name in held:
            code.vstmia(x.moving, name.words)
        with pytest.raises(AllocationError, match=f"no register is left for `{last}`"):
            code.items  # noqa: B018
    code = Assembly()
    x = code.arguments("x")[0]
    held = code.registers(" ".join(f"q{i}" for i in range(8)), kind=Kind.VECTOR)
    for name in held:
        code.vldmia(x.moving, name.words)
    for name in held:
        code.vstmia(x.moving, name.words)
    taken = re.findall(r"\{(.*)\}", "\n".join(printed(code.items)))[:8]
    assert sorted(taken) == sorted(f"s{4 * n}-s{4 * n + 3}" for n in range(8))
