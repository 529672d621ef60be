"""Kernels in an order for the Cortex-M7: they do the same, and take what the measurements say."""

from __future__ import annotations

import importlib.util
import sys
from collections.abc import Sequence
from pathlib import Path
from types import ModuleType

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mcu_deploy.backends.isa import schedule
from mcu_deploy.backends.isa.instruction import Instruction, parsed, printed
from mcu_deploy.backends.isa.interpreter import CoreState, Data, Program
from mcu_deploy.backends.isa.lists import split
from mcu_deploy.backends.isa.operands import Label, physical
from mcu_deploy.backends.isa.pipeline import M7, cycles, issue_of
from mcu_deploy.backends.isa.same import do_the_same
from mcu_deploy.backends.isa.schedule import pieces, scheduled

_LAB = Path(__file__).parents[3] / "shared" / "lab" / "m7" / "m7.py"
_DATA = 0x2000_0000
_WRITTEN = tuple(f"r{n}" for n in range(8))
_BASES = "r8", "r9"

_into, _from = st.sampled_from(_WRITTEN), st.sampled_from(_WRITTEN)
_base, _offset = st.sampled_from(_BASES), st.sampled_from([0, 4, 8, 12])
_one = st.one_of(
    st.builds("add {}, {}, {}".format, _into, _from, _from),
    st.builds("adds {}, {}, {}".format, _into, _from, _from),
    st.builds("adc {}, {}, {}".format, _into, _from, _from),
    st.builds("sub {}, {}, {}, asr #3".format, _into, _from, _from),
    st.builds("movs {}, #{}".format, _into, st.integers(0, 255)),
    st.builds("smlad {}, {}, {}, {}".format, _into, _from, _from, _from),
    st.builds("smull {}, r7, {}, {}".format, st.sampled_from(_WRITTEN[:7]), _from, _from),
    st.builds("sxtb16 {}, {}, ror #8".format, _into, _from),
    st.builds("ssub8 {}, {}, {}".format, _into, _from, _from),
    st.builds("sel {}, {}, {}".format, _into, _from, _from),
    st.builds("ldr {}, [{}, #{}]".format, _into, _base, _offset),
    st.builds("ldr {}, [{}], #4".format, _into, _base),
    st.builds("str {}, [{}, #{}]".format, _from, _base, _offset),
    st.builds("ldrsb {}, [{}, #{}]".format, _into, _base, _offset),
    st.builds("ldmia {}!, {{r0, r3, r5}}".format, _base),
    st.builds("ldmia {}, {{r1, r2}}".format, _base),
    st.builds("stmia {}!, {{r2, r4}}".format, _base),
    st.builds("vmov s{}, {}".format, st.integers(0, 3), _from),
    st.builds("vmov {}, s{}".format, _into, st.integers(0, 3)),
)
_code = st.lists(_one.map(parsed), min_size=3, max_size=24)


def _after(code: Sequence[Instruction], seed: int) -> tuple[CoreState, bytes]:
    memory = Data()
    held = memory.lay(_DATA, bytes((seed * k + k // 7) & 0xFF for k in range(1024)))
    registers = {name: (0x9E37_79B9 * (seed + k)) & 0xFFFF_FFFF for k, name in enumerate(_WRITTEN)}
    registers |= {"r8": _DATA + 400, "r9": _DATA + 404}
    state = CoreState(registers, {"n": 0, "z": 1, "c": seed & 1, "v": 0})
    return Program(code).run(state, memory), bytes(held)


_ALL = 0x5FFF  # all core registers but SP and PC, as bits


@given(_code, st.integers(0, 1 << 16))
def test_what_is_ordered_does_the_same(code: list[Instruction], seed: int) -> None:
    items = scheduled(tuple(code), M7, _ALL)
    ordered = [item for item in items if isinstance(item, Instruction)]
    assert _after(ordered, seed) == _after(code, seed)


@given(_code, st.sets(st.sampled_from(range(10))), st.integers(0, 1 << 16))
def test_what_is_read_behind_it_is_as_it_was(
    code: list[Instruction], read: set[int], seed: int
) -> None:
    """Other registers may hold other values."""
    items = scheduled(tuple(code), M7, sum(1 << place for place in read))
    ordered = [item for item in items if isinstance(item, Instruction)]
    (was, memory), (is_now, stored) = _after(code, seed), _after(ordered, seed)
    assert stored == memory
    assert is_now.flags == was.flags
    for place in read:
        assert is_now.registers.get(f"r{place}") == was.registers.get(f"r{place}")


@given(_code, st.randoms(use_true_random=False), st.integers(0, 1 << 16))
def test_the_proof_holds_only_where_it_is_true(
    code: list[Instruction], random: object, seed: int
) -> None:
    other = [*code]
    random.shuffle(other)  # type: ignore[attr-defined]
    if do_the_same(code, other):
        assert _after(code, seed) == _after(other, seed)


@pytest.mark.parametrize(
    "first, second",
    [
        ("add r0, r1, r2", "add r3, r0, r2"),
        ("add r3, r0, r2", "add r0, r1, r2"),
        ("add r0, r1, r2", "sub r0, r1, r2"),
        ("adds r0, r1, r2", "adc r3, r4, r5"),
        ("movs r0, #1", "adds r1, r2, r3"),
        ("ssub8 r0, r1, r2", "sel r3, r4, r5"),
        ("str r0, [r8]", "ldr r1, [r9]"),
        ("str r0, [r8]", "str r1, [r9]"),
        ("ldmia r8!, {r0, r1}", "ldr r2, [r8]"),
        ("smlad r0, r1, r2, r0", "mov r1, r3"),
        ("vmov s0, r0", "vmov r1, s0"),
    ],
)
def test_what_depends_on_each_other_is_not_the_same_the_other_way_round(
    first: str, second: str
) -> None:
    code = [parsed(first), parsed(second)]
    assert not do_the_same(code, code[::-1])
    assert do_the_same(code, code)


def test_a_list_is_the_same_as_its_words() -> None:
    whole = [parsed("ldmia r8!, {r0, r1}"), parsed("ldr r2, [r8, #4]")]
    words = ["ldr r2, [r8, #12]", "ldr r1, [r8, #4]", "ldr r0, [r8]", "add r8, r8, #8"]
    assert do_the_same(whole, [parsed(word) for word in words])
    words[2] = "ldr r0, [r8, #8]"
    assert not do_the_same(whole, [parsed(word) for word in words])


_PRODUCTS = """
ldmia r1!, {r3, r4}
ldmia r2!, {r5, r6, r7}
smlad r8, r3, r5, r8
smlad r9, r3, r6, r9
smlad r10, r3, r7, r10
ldmia r2!, {r5, r6, r7}
smlad r8, r4, r5, r8
smlad r9, r4, r6, r9
smlad r10, r4, r7, r10
"""


def test_products_are_issued_with_loads() -> None:
    code = [parsed(line) for line in _PRODUCTS.split("\n") if line]
    ordered = [i for i in scheduled(tuple(code), M7) if isinstance(i, Instruction)]
    before, after = (cycles([issue_of(i) for i in c], is_loop=True) for c in (code, ordered))
    assert before == 13
    assert after == 9, printed(ordered)
    assert not any(i.name == "ldmia" for i in ordered)


def test_what_it_makes_conditional_stays_and_nothing_else() -> None:
    block = ["ite ne", "addne r0, r0, #1", "subeq r0, r0, #1"]
    lines = ["adds r3, r3, #1", *block, "add r4, r4, #1", "add r5, r5, #1", "add r6, r6, #1"]
    ((_, _, parts),) = pieces([parsed(line) for line in lines], M7)
    assert [[*map(str, part.items)] for part in parts if part.room is None] == [
        lines[:1], *([line] for line in block),
    ]  # fmt: skip


def test_between_labels_whose_addresses_are_counted_nothing_grows() -> None:
    before, first, last, behind = map(Label, range(4))
    run = [parsed(line) for line in _PRODUCTS.split("\n") if line]
    jump = Instruction("bx", (physical("r12"),), (first, last))
    items = [before, *run, jump, first, *run, last, *run, behind, *run]
    rooms = [part.room for *_, parts in pieces(items, M7) for part in parts]
    assert [room.may_grow for room in rooms if room] == [True, False, False, True]


def test_an_order_that_does_not_do_the_same_is_found_out(monkeypatch: pytest.MonkeyPatch) -> None:
    def wrong(code: Sequence[Instruction]) -> list[Instruction]:
        return [parsed(str(i).replace("smlad r8, r3, ", "smlad r8, r4, ")) for i in split(code)]

    monkeypatch.setattr(schedule, "split", wrong)
    code = [parsed(line.replace("r10", "r11")) for line in _PRODUCTS.split("\n") if line]
    with pytest.raises(AssertionError, match="does not do the same"):
        schedule.scheduled(tuple(code), M7, _ALL)


_TAP = """
ldr {0}, [lr, #{1}]
ldmia r10!, {{r1, r4, r11}}
smlad r8, {0}, r1, r8
smlad r12, {0}, r4, r12
smlad r5, {0}, r11, r5
sxtb16 {0}, {0}
smlad r7, {0}, r1, r7
smlad r6, {0}, r4, r6
smlad r3, {0}, r11, r3
"""


def test_what_is_extended_has_another_register() -> None:
    """SXTB16 is the older one of a pair, so that it needs a product that does not wait for it."""
    taps = [_TAP.format(("r0", "r2", "r9")[n % 3], 4 * n) for n in range(9)]
    code = tuple(parsed(line) for line in "".join(taps).split("\n") if line)
    sums = sum(1 << place for place in (3, 5, 6, 7, 8, 10, 12, 14))
    for read, least in ((_ALL, 58), (sums, 57)):
        ordered = [i for i in scheduled(code, M7, read) if isinstance(i, Instruction)]
        assert cycles([issue_of(i) for i in ordered], is_loop=True) == least
        assert do_the_same(code, ordered, read)
    assert not do_the_same(code, ordered)


def test_a_list_of_a_certain_width_is_split_as_any_other() -> None:
    code = [parsed(line.replace("ldmia", "ldmia.w")) for line in _PRODUCTS.split("\n") if line]
    ordered = [i for i in scheduled(tuple(code), M7) if isinstance(i, Instruction)]
    assert cycles([issue_of(i) for i in ordered], is_loop=True) == 9, printed(ordered)
    assert not any(i.name == "ldmia" for i in ordered)


def test_bases_move_on_in_one_order_whatever_the_hashes_are() -> None:
    bases = [f"r{n}" for n in (11, 9, 12, 10)]
    code = [parsed(f"ldmia {base}!, {{r0, r1}}") for base in bases]
    code += [parsed(f"smlad r2, r0, r1, r{n}") for n in (3, 4, 5, 6)]
    code.append(parsed("stmia r8, {r9, r10, r11, r12}"))
    adds = [str(i) for i in split(code) if i.name == "add"]
    assert adds == [f"add r{n}, r{n}, #8" for n in (9, 10, 11, 12)]


def _laboratory() -> ModuleType:
    spec = importlib.util.spec_from_file_location("lab_m7", _LAB)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules["lab_m7"] = module
    spec.loader.exec_module(module)
    return module


@pytest.fixture(scope="module")
def laboratory() -> ModuleType:
    if not Path(_LAB).exists():
        pytest.skip(f"{_LAB} is not there: it lies beside the repository in CI")
    return _laboratory()


@pytest.mark.parametrize("is_loop", [False, True])
def test_the_model_is_the_laboratorys(laboratory: ModuleType, is_loop: bool) -> None:
    lines = [line for line in _PRODUCTS.split("\n") if line]
    theirs = laboratory.block_cycles([laboratory.parse(line) for line in lines], is_loop)
    assert cycles([issue_of(parsed(line)) for line in lines], is_loop=is_loop) == theirs
