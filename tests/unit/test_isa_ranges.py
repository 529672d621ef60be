"""Numbers that instructions can hold, as the assembler says."""

from __future__ import annotations

import re
import subprocess
from contextlib import nullcontext
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from sampling import dear

from mcu_deploy.backends.interface import Layer, SubgraphView
from mcu_deploy.backends.isa import Assembly
from mcu_deploy.backends.isa.encoding import is_wide
from mcu_deploy.backends.isa.instruction import Instruction, parsed, printed
from mcu_deploy.backends.isa.models import MODELS
from mcu_deploy.backends.isa.operands import Label, physical
from mcu_deploy.backends.isa.ranges import EncodingError, encodable
from mcu_deploy.backends.kit import families

_LOADS = ("ldr", "ldrb", "ldrh", "str", "strb", "strh")
_OFFSETS = (
    *(f"{name} r0, [r1, #{{}}]" for name in (*_LOADS, "ldrsb", "ldrsh")),
    "ldr r0, [r1], #{}", "strb r0, [r1, #{}]!", "ldrsh r0, [r1], #{}", "ldr r0, [sp, #{}]",
    "ldrd r0, r1, [r2, #{}]", "strd r0, r1, [r2], #{}", "vldr s0, [r1, #{}]",
    "vstr d0, [r1, #{}]", "vldrb.u8 q0, [r1, #{}]", "vldrb.s16 q0, [r1], #{}",
    "vldrh.s32 q0, [r1, #{}]", "vldrh.u16 q0, [r1, #{}]!", "vldrw.u32 q0, [r1, #{}]",
    "vstrb.32 q0, [r1, #{}]", "vstrw.32 q0, [r1], #{}",
)  # fmt: skip
_CONSTANTS = (
    *(f"{name} r0, r1, #{{}}"
      for name in ("add", "adds", "and", "bic", "eor", "rsb", "sub", "subs")),
    *(f"{name} r0, #{{}}" for name in ("cmn", "cmp", "mov", "movt", "movw", "mvn", "tst")),
)  # fmt: skip
_COUNTS = (
    "lsl r0, r1, #{}", "lsr r0, r1, #{}", "asr r0, r1, #{}", "add r0, r1, r2, lsl #{}",
    "add r0, r1, r2, asr #{}", "ldr r0, [r1, r2, lsl #{}]", "ssat r0, #{}, r1", "usat r0, #{}, r1",
    "ssat16 r0, #{}, r1", "usat16 r0, #{}, r1", "ubfx r0, r1, #3, #{}", "bfi r0, r1, #{}, #5",
    "vshl.i8 q0, q1, #{}", "vshr.u32 q0, q1, #{}", "vrshr.s16 q0, q1, #{}",
    "vshrnb.i16 q0, q1, #{}", "vqrshrunt.s32 q0, q1, #{}", "vmov.i8 q0, #{}",
)  # fmt: skip
_NEAR = st.one_of(st.integers(-300, 300), st.integers(-1100, 1100), st.integers(-4200, 4200),
                  st.integers(-300, 300).map(lambda n: 4 * n))  # fmt: skip
_BYTE = st.integers(0, 255)
_WORDS = st.one_of(
    _NEAR, st.integers(0, 2**17), st.integers(0, 2**32 - 1),
    st.builds(lambda byte, by: byte << by, _BYTE, st.integers(0, 24)),
    st.builds(int.__mul__, _BYTE, st.sampled_from((0x10001, 0x01000100, 0x01010101))),
    st.builds(lambda byte, by: byte << by ^ 2**32 - 1, _BYTE, st.integers(0, 24)),
)  # fmt: skip
_STATEMENTS = st.one_of(
    st.builds(str.format, st.sampled_from(forms), numbers)
    for forms, numbers in (
        (_OFFSETS, _NEAR), (_CONSTANTS, _WORDS), (_COUNTS, st.integers(1, 40)),
    )
)  # fmt: skip
_SHORT = st.builds(
    str.format,
    st.sampled_from((
        *(f"{name} r0, [r1, #{{}}]" for name in _LOADS),
        "ldr r0, [sp, #{}]", "str r7, [sp, #{}]", "add r0, sp, #{}", "add sp, sp, #{}",
        "sub sp, sp, #{}", "adds r0, r1, #{}", "subs r0, #{}", "movs r3, #{}", "cmp r2, #{}",
        "adds r0, r0, #{}", "add r0, r1, #{}", "sub r0, r0, #{}",
    )),
    st.one_of(st.integers(0, 300), st.integers(0, 300).map(lambda n: 4 * n)),
)  # fmt: skip


def _refused(statements: list[str], arch: str, folder: Path) -> list[bool]:
    """Which of them the assembler refuses."""
    (folder / "all.s").write_text("\n".join([".syntax unified", ".thumb", *statements, ""]))
    command = ["arm-none-eabi-as", f"-march={arch}", "all.s", "-o", "all.o"]
    said = subprocess.run(command, cwd=folder, capture_output=True, text=True).stderr
    wrong = {int(line) - 3 for line in re.findall(r"^all\.s:(\d+): Error", said, re.MULTILINE)}
    return [n in wrong for n in range(len(statements))]


def _is_refused(statement: str) -> bool:
    try:
        encodable(parsed(statement))
    except ValueError:
        return True
    return False


def _drawn(statements: st.SearchStrategy[str]) -> list[str]:
    found: list[str] = []

    @dear(4000, 400)
    @given(statements)
    def draw(statement: str) -> None:
        found.append(statement)

    draw()
    return found


@pytest.mark.needs_arm_gcc
def test_what_has_no_encoding_is_what_the_assembler_refuses(tmp_path: Path) -> None:
    statements = _drawn(_STATEMENTS)
    told = [_is_refused(statement) for statement in statements]
    assert {*told} == {True, False}
    refused = _refused(statements, "armv8.1-m.main+mve.fp", tmp_path)
    assert [s for s, ours, its in zip(statements, told, refused, strict=True) if ours != its] == []


@pytest.mark.needs_arm_gcc
def test_what_has_no_encoding_of_16_bits_is_what_it_refuses_for_armv6_m(tmp_path: Path) -> None:
    statements = _drawn(_SHORT)
    told = [_is_refused(s) or is_wide(parsed(s)) for s in statements]
    assert {*told} == {True, False}
    refused = _refused(statements, "armv6s-m", tmp_path)
    assert [s for s, ours, its in zip(statements, told, refused, strict=True) if ours != its] == []


def test_it_is_told_where_it_is_made() -> None:
    code = Assembly()
    x, y = code.arguments("x y")
    with pytest.raises(ValueError) as of_offset:
        code.ldrd(x, y, x[1024])
    with pytest.raises(ValueError) as of_number:
        code.cmp(x, 513)
    assert [str(of_offset.value), str(of_number.value)] == [
        "`ldrd x, y, [x, #1024]` has no encoding: its offset is one of -1020 to 1020 in steps "
        "of 4 (LDRD, DDI 0403, A7.7); add the rest to the base",
        "`cmp x, #513` has no encoding: its number is one of a byte, moved by bits, or repeated "
        "in a word (CMP, DDI 0403, A7.7)",
    ]


@pytest.mark.needs_arm_gcc
@pytest.mark.parametrize("name", ["add", "sub"])
@pytest.mark.parametrize("number", [8, 255, 343, 344, 4095, -8, -343])
def test_it_takes_what_is_added_by_a_condition(name: str, number: int, tmp_path: Path) -> None:
    code = Assembly()
    low, high = code.arguments("low high")
    code.cmp(low, high)
    code.itt("eq")
    getattr(code, f"{name}eq")(low, low, number)
    getattr(code, f"{name}eq")(low, high, number)
    assert not any(_refused(printed(code.items), "armv7e-m", tmp_path))


@pytest.mark.parametrize(("value", "count"), [(255, 1), (256, 1), (257, 2), (70_000, 3)])
def test_a_number_is_compared_with_directly_where_cmp_holds_it(value: int, count: int) -> None:
    code = Assembly()
    (x,) = code.arguments("x")
    code.compare(x, value, code.register("free"))
    assert len(code.items) == count


def test_a_layer_whose_kernel_has_such_a_number_is_left_to_others() -> None:
    class Far:
        OPERATORS = ("Conv",)

        def propose(self, view: SubgraphView, layer: Layer) -> str:
            code = Assembly()
            (x,) = code.arguments("x")
            code.cmp(x, 513)
            return "it came that far"

    class Other(Far):
        def propose(self, view: SubgraphView, layer: Layer) -> str:
            return "it is another one"

    proposals, reasons = families.ask([Far(), Other()], None, None)  # type: ignore[arg-type]
    assert proposals == []
    assert re.fullmatch("`cmp x, #513` has no encoding: .*; it is another one", reasons)


@pytest.mark.needs_arm_gcc
@pytest.mark.parametrize(
    ("statement", "bytes_", "is_back"),
    [("cbz r0, 1", 126, False), ("le lr, 1", 4090, True), ("adr.w r0, 1", 4092, False)],
)
def test_a_label_is_as_near_as_the_assembler_wants_it(
    statement: str, bytes_: int, is_back: bool, tmp_path: Path
) -> None:
    """bytes_: between label and instruction, at most."""
    for more in (0, 4):
        mnemonic, register, label = statement.replace(",", "").split()
        branch = Instruction(mnemonic, (physical(register), Label(label)))
        between = [parsed("nop")] * ((bytes_ + more) // 2)
        items = [Label("1"), *between, branch] if is_back else [branch, *between, Label("1")]
        code = Assembly(MODELS["cortex-m55"])
        for item in items:
            code.place(item) if isinstance(item, Label) else code.add_instruction(item)
        refused = _refused([*printed(items), ".p2align 4"], "armv8.1-m.main", tmp_path)
        assert any(refused) == bool(more)
        with pytest.raises(EncodingError) if more else nullcontext():
            assert code.bytes
