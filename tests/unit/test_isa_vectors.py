"""Helium's instructions in an order for the Cortex-M55: they do the same, and take what the
laboratory's model says."""

from __future__ import annotations

import importlib
import re
import sys
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from types import ModuleType

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mcu_deploy.backends.isa import Assembly, Kind, lanes
from mcu_deploy.backends.isa.function import framed
from mcu_deploy.backends.isa.instruction import Instruction, parsed
from mcu_deploy.backends.isa.interpreter import CoreState, Data, Fault, Program, call
from mcu_deploy.backends.isa.models import MODELS
from mcu_deploy.backends.isa.same import do_the_same
from mcu_deploy.backends.isa.schedule import scheduled
from mcu_deploy.backends.isa.vector_pipeline import M55, cycles, issue_of

_LAB = Path(__file__).parents[3] / "shared" / "lab" / "m55"
_DATA = 0x2000_0000
_M55 = MODELS["cortex-m55"]

_q = st.sampled_from([f"q{n}" for n in range(4)])
_r = st.sampled_from(["r1", "r3", "r5", "r7"])
_even = st.sampled_from(["r0", "r2", "r4"])
_offset = st.sampled_from([0, 4, 16, 32])
_plain = st.one_of(
    st.builds("vadd.i32 {}, {}, {}".format, _q, _q, _q),
    st.builds("vadd.i16 {}, {}, {}".format, _q, _q, _r),
    st.builds("vmla.s8 {}, {}, {}".format, _q, _q, _r),
    st.builds("vqmovnt.s16 {}, {}".format, _q, _q),
    st.builds("vmul.f32 {}, {}, {}".format, _q, _q, _q),
    st.builds("vmladava.s8 {}, {}, {}".format, _even, _q, _q),
    st.builds("vmladav.s8 {}, {}, {}".format, _even, _q, _q),
    st.builds("vaddva.s8 {}, {}".format, _even, _q),
    st.builds("vldrw.u32 {}, [r8, #{}]".format, _q, _offset),
    st.builds("vldrb.u8 {}, [r9], #16".format, _q),
    st.builds("vstrw.32 {}, [r8, #{}]".format, _q, _offset),
    st.builds("ldr {}, [r8, #{}]".format, _r, _offset),
    st.builds("str {}, [r8, #{}]".format, _r, _offset),
    st.builds("ldrd {}, r7, [r8, #{}]".format, st.sampled_from(["r1", "r3"]), _offset),
    st.builds("add {}, {}, {}".format, _r, _r, _r),
    st.builds("vctp.8 {}".format, _r),
    st.builds("vmov s5, {}".format, _r),
)
_predicated = st.builds(
    "vpst; {}".format,
    st.one_of(
        st.builds("vldrbt.u8 {}, [r8, #{}]".format, _q, _offset),
        st.builds("vaddt.i8 {}, {}, {}".format, _q, _q, _q),
        st.builds("vstrbt.8 {}, [r8, #{}]".format, _q, _offset),
        st.builds("vmladavat.s8 {}, {}, {}".format, _even, _q, _q),
    ),
)
_twice = st.builds(
    "vpstt; vldrbt.u8 {0}, [r8]; vmladavat.s8 {1}, {0}, {2}".format, _q, _even, _q
)  # fmt: skip
_code = st.lists(st.one_of(_plain, _plain, _predicated, _twice), min_size=3, max_size=20).map(
    lambda parts: [parsed(one) for part in parts for one in part.split("; ")]
)


def _after(code: Sequence[Instruction], seed: int) -> tuple[CoreState, bytes]:
    memory = Data()
    held = memory.lay(_DATA, bytes((seed * k + k // 7) & 0xFF for k in range(1024)))
    registers = {f"r{n}": (0x9E37_79B9 * (seed + n)) & 0xFFFF_FFFF for n in range(8)}
    registers |= {f"s{n}": (0x85EB_CA6B * (seed + 3 * n)) & 0xFFFF_FFFF for n in range(32)}
    registers |= {"r8": _DATA + 400, "r9": _DATA + 404}
    return Program(code).run(CoreState(registers, {"p0": seed & 0xFFFF}), memory), bytes(held)


def test_a_fused_sum_of_elements_is_rounded_once() -> None:
    """It is a little below the middle of two float32, and float64 has only the middle."""
    odd, zeros = 0x3F80_0001, (0, 0, 0)  # 1 + 2**-23
    more, less = 0x3380_0001, 0x3F7F_FFFE  # 2**-24 * (1 + 2**-23), 1 - 2**-23
    assert lanes.floats("fma", (odd, *zeros), (more, *zeros), less) == (odd, *zeros)


@given(_code, st.integers(0, 1 << 16))
def test_what_is_ordered_does_the_same(code: list[Instruction], seed: int) -> None:
    ordered = [item for item in scheduled(tuple(code), M55) if isinstance(item, Instruction)]
    assert _after(ordered, seed) == _after(code, seed)


@given(_code, st.randoms(use_true_random=False), st.integers(0, 1 << 16))
def test_the_proof_holds_only_where_it_is_true(
    code: list[Instruction], random: object, seed: int
) -> None:
    other = [*code]
    random.shuffle(other)  # type: ignore[attr-defined]
    if do_the_same(code, other):
        assert _after(code, seed) == _after(other, seed)


def test_what_a_predicate_is_for_stays_behind_it() -> None:
    code = [parsed(line) for line in ("vpst", "vaddt.i8 q0, q1, q2", "vadd.i8 q3, q1, q2")]
    assert do_the_same(code, [code[2], *code[:2]])
    assert not do_the_same(code, [code[0], code[2], code[1]])
    two = [parsed(line) for line in ("vpst", "vaddt.i8 q0, q1, q2", "vctp.8 r1")]
    assert not do_the_same(two, [two[2], *two[:2]])


def test_of_stores_that_meet_each_byte_is_the_last_one_s() -> None:
    lines = [f"str r1, [r2, #{n}]" for n in (0, 3, 6, 40, 43)]
    words = [parsed(line) for line in (*lines, "ldr r3, [r2, #40]")]
    assert do_the_same(words, [words[n] for n in (0, 3, 1, 4, 5, 2)])
    assert not do_the_same(words, [words[n] for n in (1, 0, 2, 3, 4, 5)])
    assert not do_the_same(words, [words[n] for n in (0, 1, 2, 3, 5, 4)])


def test_what_a_predicate_leaves_out_of_a_store_is_that_of_the_one_before() -> None:
    lines = ("str r1, [r2]", "str r3, [r2]", "vpst", "vstrbt.8 q0, [r2]")
    code = [parsed(line) for line in lines]
    assert not do_the_same(code, [code[n] for n in (1, 0, 2, 3)])


@pytest.mark.parametrize("region", ["", "sums"])
def test_loads_pass_stores_to_other_regions_alone(region: str) -> None:
    code = Assembly(_M55)
    x, y = code.arguments("x y")
    into = code.register("into", region=region)
    first, second = code.registers("first second", "q0", "q1", kind=Kind.VECTOR)
    code.mov(into, y)
    code.vldrb_u8(first, x[0])
    code.vstrw_32(first, into[0])
    code.vldrb_u8(second, x[16])
    code.vstrw_32(second, into[16])
    _, one, store, other, _ = (i for i in code.items if isinstance(i, Instruction))
    assert do_the_same([one, store, other], [one, other, store]) is (region != "")


def test_sums_have_even_registers() -> None:
    code = Assembly(_M55)
    (x,) = code.arguments("x")
    sums = code.registers("a b c d e f g h")
    (vector,) = code.registers("vector", kind=Kind.VECTOR)
    code.vldrb_u8(vector, x[0])
    for one in sums[:7]:
        code.vmladav_s8(one, vector, vector)
    for one in sums[:7]:
        code.str(one, x.after(4))
    places = {r.place for i in code.items if isinstance(i, Instruction) for r in i.even}
    assert len(places) == 7 and all(place is not None and place % 2 == 0 for place in places)


@pytest.mark.parametrize("count", [1, 15, 16, 37])
def test_a_loop_leaves_out_what_is_too_many(count: int) -> None:
    code = Assembly(_M55)
    x, y, left = code.arguments("x y left")
    (vector,) = code.registers("vector", kind=Kind.VECTOR)
    with code.counted(-(-count // 16), left, 8):
        code.vldrb_u8(vector, x.after(16))
        code.vadd_i8(vector, vector, vector)
        code.vstrb_8(vector, y.after(16))
    memory = Data()
    memory.lay(_DATA, bytes(range(count)), is_constant=True)
    out = memory.lay(_DATA + 1024, bytes(count))
    call(framed(code.items), [_DATA, _DATA + 1024, count], memory)
    assert [*out] == [2 * n & 0xFF for n in range(count)]


def test_a_counted_loop_takes_its_rounds_what_begins_it_and_three_cycles() -> None:
    def cycles_of(rounds: int) -> float:
        code = Assembly(_M55)
        x, y = code.arguments("x y")
        vector = code.register("vector", kind=Kind.VECTOR)
        with code.counted(rounds, rounds):  # MOVW and DLS
            code.vldrw_u32(vector, x.after(16))
            code.vstrw_32(vector, y.after(16))
        return code.cycles

    assert 2 * cycles_of(10) - cycles_of(20) == 2 + 3


def test_a_vector_at_no_multiple_of_its_elements_is_a_fault() -> None:
    memory = Data()
    memory.lay(_DATA, bytes(64))
    with pytest.raises(Fault, match="an element of 4 bytes is at 0x20000001"):
        Program([parsed("vldrw.u32 q0, [r0]")]).run(CoreState({"r0": _DATA + 1}), memory)


@pytest.fixture(scope="module")
def laboratory() -> Iterator[ModuleType]:
    if not _LAB.exists():
        pytest.skip(f"{_LAB} is not there: it lies beside the repository in CI")
    sys.path.insert(0, str(_LAB))
    names = ("mve", "kernels", "kws", "vww")
    found = {name: importlib.import_module(name) for name in names}
    yield found["mve"]
    sys.path.remove(str(_LAB))
    for name in names:
        sys.modules.pop(name, None)


def _loops() -> dict[str, list[str]]:
    """The inner loops of the laboratory's generators, in the order in which they are written."""
    kernels, kws, vww = (sys.modules[name] for name in ("kernels", "kws", "vww"))
    made = {
        "conv3x3_64": kernels.gen_conv("k", 64, 3, 3, 1),
        "conv3x3_16": kernels.gen_conv("k", 16, 3, 3, 1, False),
        "conv1x1_32": kernels.gen_conv("k", 32, 1, 1, 1),
        "dense": kernels.gen_fc("k", 8),
        "add": kernels.gen_add("k"),
        "gemm": kws.gen_gemm_p("k", 64, 1),
        "depthwise5": kws.gen_dw5("k", 1),
        "depthwise": vww.gen_mac("k", 1),
        "round": vww.gen_rq("k", 1),
    }
    return {
        f"{name} {n}": part
        for name, parts in made.items()
        for n, part in enumerate(p for p in parts if isinstance(p, list))
    }


def _parsed(line: str) -> Instruction:
    text = re.sub(r"\s*,\s*", ", ", line.partition("@")[0].strip())
    text = re.sub(r"^(adds|subs|add) (\w+), (#\d+)$", r"\1 \2, \2, \3", text)
    return parsed(text)


def test_the_model_is_the_laboratorys(laboratory: ModuleType) -> None:
    for name, lines in _loops().items():
        ordered = laboratory.schedule(lines)
        board = laboratory.Board()
        ends = [0]
        for _ in range(3):
            for line in ordered:
                board.issue(laboratory.Ins(line))
            ends.append(board.t)
        ours = cycles([issue_of(_parsed(line)) for line in ordered], is_loop=True)
        assert ours == pytest.approx(ends[3] - ends[2], rel=0.02), name


def _apart(instruction: Instruction) -> Instruction:
    """What one register points at is nowhere else, as in the laboratory."""
    return instruction.renamed(lambda r: replace(r, region=str(r)))


def test_orders_are_as_good_as_the_laboratorys(laboratory: ModuleType) -> None:
    for name, lines in _loops().items():
        theirs = [_parsed(line) for line in laboratory.schedule(lines)]
        written = tuple(_apart(_parsed(line)) for line in lines)
        ours = [i for i in scheduled(written, M55) if isinstance(i, Instruction)]
        before, after = (cycles([issue_of(i) for i in code], True) for code in (theirs, ours))
        assert after <= 1.02 * before, name


def test_a_list_of_vectors_has_no_gaps() -> None:
    """Of names that are written in another order."""
    code = Assembly(_M55)
    x, y = code.arguments("x y")
    columns = code.registers("a b c d", kind=Kind.VECTOR)
    for n, column in enumerate(reversed(columns)):
        code.vldrb_u8(column, x[16 * n])
    for n in range(4):
        getattr(code, f"vst4{n}_8")(columns, y[0])
    memory = Data()
    memory.lay(_DATA, bytes(range(64)), is_constant=True)
    out = memory.lay(_DATA + 64, bytes(64))
    call(framed(code.items), [_DATA, _DATA + 64], memory)
    assert [*out] == [48 - 16 * column + row for row in range(16) for column in range(4)]
