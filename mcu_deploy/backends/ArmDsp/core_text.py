"""Two filters times three pixels: the inner loop of all dense convolutions, and its weights.

A tile of 2 x 3 sums, 3 activations, 3 words of weights and the two pointers fill all 14 registers.
The activations are pairs of taps, widened to int16: of each pair the three pixels, one behind the
other in the scratch. A word of weights is either (narrow) two taps of two filters: each half holds
`256 * odd + even` (the carry is settled when it is packed), so SMLAD of the word sums 256 * odd +
even, and SMLAD of the word through SXTB16 sums even; their difference is 256 times the odd filter's
sum, and the 1/256 is in its scale. Or it is (wide) two taps of one filter: that takes twice the
flash, has room for any weights and sums, and is cheaper where there are few taps.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from mcu_deploy.backends.ArmDsp.product import Product
from mcu_deploy.backends.ArmDsp.six_sums_text import EVEN, ODD, round_in_float, round_twice, to_next
from mcu_deploy.backends.isa import Assembly

_BIASES = ("r10", "r11")  # of the next two filters
_X, _W = ("r6", "r7", "r8"), ("r9", "r10", "r11")
_FREE = 1  # s2 to s5 are nobody's
_COLUMNS = (*_X, "r9", "r10")
_ZERO = "cbz r7,"


def assemble(
    product: Product,
    code: Assembly,
    begin: str,
    end: Sequence[str] = (),
    multiply: Callable[[Assembly], None] | None = None,
) -> None:
    """A tile: all filters for three pixels, by the stream from lr on.

    begin: what gives r12 the tile's activations, behind which it finds `STATE`; there it is
    afterwards. end: what compares r12 with the address behind the activations, and may use r6.
    multiply: what makes the six sums, of the biases in r2 and r5, where another loop does.
    """
    if product.begins_early:
        code(f"ldmia lr!, {{{', '.join(_BIASES)}}}")
    if product.is_double:
        _two_pairs(product, code, begin)
        return
    slow, scale, store, after = (code.label() for _ in range(4))
    is_odd = product.filters % 2 == 1
    _describe(product, code)
    with code.repeat((product.filters + 1) // 2, "b" if is_odd else "bne"):
        code(begin, *([] if product.begins_early else ["ldmia lr!, {r2, r5}"]))
        if multiply is None:
            _multiply(product, code, end)
        else:
            multiply(code)
        _round(product, code, _ZERO, slow, scale)
        code.place(store)
        _look_up(product, code)
        if product.holds_ends:
            code("vmov r6, r7, d7")
            second, third = f"#{product.filters - 2}", f"#{2 * product.filters - 2}"
        else:
            code("ldmia r12, {r6-r9}")
            second, third = "r8", "r9"
        if is_odd:
            last = code.label()
            code("sub r7, r7, #1", "cmp r6, r7", f"beq {last}f")
        _join(code)
        code("strh r0, [r6], #2", f"strh r1, [r6, {second}]", f"strh r2, [r6, {third}]")
        code("vmov s14, r6" if product.holds_ends else "str r6, [r12]")
        if not is_odd:
            code("cmp r6, r7")
    if not is_odd:
        code(f"b {after}f")
    if not product.is_real:
        code.place(slow)
        back = []
        if product.begins_early:
            with code.times(product.late):
                code("vmov d0, r10, r11")
            back = ["vmov r10, r11, d0"]
        _slowly(product, code, back, [f"b {scale}b"], [f"b {store}b"])
    if is_odd:
        code.place(last)
        code("strb r0, [r6], #2", "strb r1, [r6, r8]", "strb r2, [r6, r9]")
        code("add r7, r7, #1", "str r7, [r12]")
    code.place(after)


def _two_pairs(product: Product, code: Assembly, begin: str) -> None:
    """As `assemble`. The slow path is there once: s11 says where it came from."""
    after = code.label()
    slow, scale, store = [[code.label(), code.label()] for _ in range(3)]
    code(begin)
    with code.repeat(product.filters // 4):
        for pair, pointers, check in (
            (0, "r6, s14", "cmp r7, #0; beq"),
            (1, "r6, r7, d7", _ZERO),
        ):
            _describe(product, code)
            if pair == 1:
                code.note("These two meet the activations backwards.")
            _sums(product, code, product.unrolled, is_first=True, is_backward=pair == 1)
            _round(product, code, "" if product.is_exact else check, slow[pair], scale[pair])
            code.place(store[pair])
            _look_up(product, code)
            code(f"vmov {pointers}")
            _join(code)
            behind = 4 if pair else 2  # the pointer
            code("strh r0, [r6], #4" if pair else "strh r0, [r6, #-2]")
            code(f"strh r1, [r6, #{product.filters - behind}]")
            code(f"strh r2, [r6, #{2 * product.filters - behind}]")
        code("vmov s14, r6", "cmp r6, r7")
    code(f"add r12, r12, #{product.tile_bytes}")
    if product.is_exact:
        return
    code(f"b {after}f")
    with code.times(product.late):
        code.place(slow[1])
        code("mov r7, #1")
        code.place(slow[0])
        code("vmov s11, r7", "vmov d0, r10, r11")
    back = ["vmov r10, s11", "cmp r10, #0", "vmov r10, r11, d0"]
    _slowly(product, code, back, *([f"beq {a}b", f"b {b}b"] for a, b in (scale, store)))
    code.place(after)


def _slowly(
    product: Product,
    code: Assembly,
    back: Sequence[str],
    scale: Sequence[str],
    store: Sequence[str],
) -> None:
    """Two filters without an addend: see `Pair`. back: what restores registers; scale, store: where
    it goes on then, with sums or with elements."""
    is_fixed, saturate = product.layer.fixed is not None, product.layer.saturate
    unsolved = "" if product.is_solved else code.label()
    if not is_fixed:
        to_next(code, (1, product.lanes), product.late, (*back, *scale), unsolved)
    if product.is_solved:
        return
    with code.times(product.unsolved):
        code.place(unsolved)
        code.note("No integers round these filters.")
        code("mov r7, r6")
        if is_fixed:
            round_twice(code, saturate, (0, product.lanes_log2))
        else:
            round_in_float(code, saturate, _FREE)
        code(*back, *store)


def _describe(product: Product, code: Assembly) -> None:
    code.note("Two filters, three outputs: r0-r2 are the even one's sums, r3-r5 the odd one's.")
    if not product.is_wide:
        code.note("A word of weights has 256 odd + even, twice; by SXTB16 it has the even ones.")


def _multiply(product: Product, code: Assembly, end: Sequence[str]) -> None:
    """The six sums of activations from r12 on; of the biases in r2 and r5."""
    if not product.has_loop:
        _sums(product, code, product.unrolled, is_first=True)
        return
    if product.ahead:
        _sums(product, code, product.ahead, is_first=True)
    else:
        code("mov r0, r2", "mov r1, r2", "mov r3, r5", "mov r4, r5")
    with code.repeat(product.rounds):
        _sums(product, code, product.unrolled, is_first=False)
        code(*end)


def _sums(
    product: Product, code: Assembly, pairs: int, is_first: bool, is_backward: bool = False
) -> None:
    """Of the first words the SMLADs take the biases for all three pixels."""
    if product.is_shared:
        for pair in range(pairs):
            if pair % 3 == 0:
                code("ldmia r12!, {r6-r10}")
            code("ldr r11, [lr], #4")
            activations = _COLUMNS[pair % 3 : pair % 3 + 3]
            odd, even = ("r5", "r2") if is_first and not pair else ("", "")
            multiply_add(code, ODD, "r11", activations, odd)
            code("sxtb16 r11, r11")
            multiply_add(code, EVEN, "r11", activations, even)
        return
    sides = (EVEN, ODD) if product.is_wide else (ODD,)
    words = [(pair, sums) for pair in range(pairs) for sums in sides]
    # While two registers have the biases, the first word is where the last sum will be.
    held = ("r5", "r9") if is_first else _W
    at = 0
    while at < len(words):
        taken = words[at : at + len(held)]
        names = ", ".join(held[: len(taken)])
        code(f"ldmia lr!, {{{names}}}" if len(taken) > 1 else f"ldr {names}, [lr], #4")
        for word, (pair, sums) in zip(held, taken, strict=False):
            if sums is sides[0]:
                code(f"{'ldmdb' if is_backward else 'ldmia'} r12!, {{r6-r8}}")
            even, odd = _BIASES if is_first and not pair else ("", "")
            if product.is_wide:
                multiply_add(code, sums, word, _X, even if sums is EVEN else odd)
                continue
            low = "r2" if odd else word
            if odd:
                code(f"sxtb16 {low}, {word}")
            multiply_add(code, ODD, word, _X, odd)
            if not odd:
                code(f"sxtb16 {low}, {word}")
            multiply_add(code, EVEN, low, _X, even)
        at, held = at + len(taken), _W


def _round(product: Product, code: Assembly, check: str, slow: str, ready: str) -> None:
    """The sums, and the end of the stream's part at lr, to six elements of the output. check: what
    goes to the label `slow`, which comes back to `ready`, where the addend in r7 is
    0; empty where it never is.
    """
    code.note("To elements of the output: scaled, shifted, saturated.")
    if not product.is_wide:
        code(*(f"sub {o}, {o}, {e}" for o, e in zip(ODD, EVEN, strict=True)))
    if product.is_real:
        zero = product.layer.zero_points[1]
        code("ldmia lr!, {r7, r8}", f"mvn r9, #{~zero}" if zero < 0 else f"mov r9, #{zero}")
        round_in_float(code, product.layer.saturate, _FREE)
        return
    code(f"ldmia lr!, {{r6-r{11 if product.begins_early else 9}}}")
    if check:
        code(*f"{check} {slow}f".split("; "))
    code.place(ready)
    for sums, scale, addend, by in (
        (EVEN, "r6", "r7", product.shift), (ODD, "r8", "r9", product.shift + product.lanes_log2),
    ):  # fmt: skip
        code(*(f"smmla {acc}, {acc}, {scale}, {addend}" for acc in sums))
        code(*(f"{product.layer.saturate} {acc}, #8, {acc}, asr #{by}" for acc in sums))


def hold_table(product: Product, code: Assembly, stream: str) -> None:
    """Where there is a table, the register goes on behind it, and s6 has the entry for 0."""
    if product.table is not None:
        zero = 128 if product.layer.saturate == "ssat" else 0
        code(f"add r4, {stream}, #{zero}", "vmov s6, r4", f"add {stream}, {stream}, #256")


def _look_up(product: Product, code: Assembly) -> None:
    if product.table is not None:
        code.note("By the table.")
        code("vmov r7, s6", *(f"ldrb {acc}, [r7, {acc}]" for acc in (*EVEN, *ODD)))


def _join(code: Assembly) -> None:
    """Elements of two filters for each pixel, to halfwords."""
    code.note("Stored: of each pixel both filters at once.")
    code(*(f"bfi {even}, {odd}, #8, #8" for even, odd in zip(EVEN, ODD, strict=True)))


def multiply_add(
    code: Assembly,
    sums: tuple[str, ...],
    word: str,
    activations: tuple[str, ...] = _X,
    start: str = "",
) -> None:
    """Two taps of three pixels to the sums of one filter or of two. start: what has the bias that
    they begin with."""
    code(
        *(
            f"smlad {acc}, {word}, {x}, {start or acc}"
            for acc, x in zip(sums, activations, strict=True)
        )
    )
