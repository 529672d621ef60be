"""What each vector instruction of Helium does: rows as those of meaning.py.

Besides its letters there are, of core registers with an even number, e, which is both written and
read, and E, which is written; and w, memory whose base only r0 to r7 can be. In the statement a
vector is its four words, p0 the predicate, {P} the predicate of the instruction (0xFFFF, or p0
where its name ends with t, and in a loop with tail predication what is left); {A} of memory that a
vector of offsets names is `lanes.Gathered`. What a predicate leaves out of a vector that is
computed keeps its bytes: the interpreter sees to that.

Source: the pseudocode of the Armv8-M Architecture Reference Manual (DDI 0553), chapter C2.
"""

from __future__ import annotations

from mcu_deploy.backends.isa.meaning import Meaning

_SIGNED, _UNSIGNED, _ANY = ("s8", "s16", "s32"), ("u8", "u16", "u32"), ("i8", "i16", "i32")


def _size(type_: str) -> int:
    """The bytes of a type's elements."""
    return int(type_.lstrip("siuf")) // 8


def _is_signed(type_: str) -> bool:
    return type_[0] != "u"


def _each(name: str, types: tuple[str, ...], roles: str = "duu") -> dict[str, Meaning]:
    """An operation on elements, of a vector and another one or a core register."""
    uses = ("({0}), " if roles[0] == "b" else "") + ", ".join(
        f"({{{n}}})" for n in range(1, len(roles))
    )
    operation = name.removeprefix("v")
    return {
        f"{name}.{t}": Meaning(
            roles, f"{{0}} = lanes.each({operation!r}, {_size(t)}, {_is_signed(t)}, {uses})"
        )
        for t in types
    }


def _immediate(name: str, types: tuple[str, ...]) -> dict[str, Meaning]:
    operation = name.removeprefix("v")
    return {
        f"{name}.{t}": Meaning(
            "dui",
            f"{{0}} = lanes.immediate({operation!r}, {_size(t)}, {_is_signed(t)}, ({{1}}), {{2}})",
        )
        for t in types
    }


def _plain(name: str, roles: str = "duu") -> Meaning:
    """Of bits, whatever the type."""
    return _each(name, ("i32",), roles)[f"{name}.i32"]


def _halves(name: str, types: tuple[str, ...], statement: str, roles: str) -> dict[str, Meaning]:
    """Of every other element: names that end with b and t. In the statement SIZE, SIGNED and TOP
    stand for what they say."""
    return {
        f"{name}{end}.{t}": Meaning(
            roles,
            statement.replace("SIZE", str(_size(t)))
            .replace("SIGNED", str(_is_signed(t)))
            .replace("TOP", str(top)),
        )
        for t in types
        for top, end in enumerate("bt")
    }


def _reduced(name: str, roles: str, function: str) -> dict[str, Meaning]:
    """Of all elements, to a core register. SIZE, SIGNED: as `_halves` has them."""
    return {
        f"{name}.{t}": Meaning(
            roles,
            "{0} = lanes." + function.replace("SIZE", str(_size(t)))
            .replace("SIGNED", str(_is_signed(t))),
        )
        for t in _SIGNED + _UNSIGNED
    }  # fmt: skip


_NARROWED = "{0} = lanes.narrowed(SIZE, SIGNED, TOP, ({0}), ({1})"


def _loads() -> dict[str, Meaning]:
    found = {}
    for letter, held in (("b", 1), ("h", 2), ("w", 4)):
        for size in (1, 2, 4):
            if size < held:
                continue
            memory = "m" if size == held else "w"
            for sign in ("u",) if size == held else ("u", "s"):
                statement = f"{{0}} = lanes.load(m, {{A}}, {held}, {size}, {sign == 's'}, {{P}})"
                found[f"vldr{letter}.{sign}{8 * size}"] = Meaning(f"d{memory}", statement)
            statement = f"lanes.store(m, {{A}}, {held}, {size}, ({{0}}), {{P}})"
            found[f"vstr{letter}.{8 * size}"] = Meaning(f"u{memory}", statement)
    return found


VECTOR_MEANINGS: dict[str, Meaning] = {
    **_loads(),
    # Four vectors as the columns of a matrix, of which each of four instructions stores four rows.
    **{f"vst4{n}.8": Meaning("Sm", f"lanes.store_rows(m, {{A}}, ({{0}}), {rows})")
       for n, rows in enumerate(((0, 1, 10, 11), (2, 3, 12, 13), (4, 5, 14, 15), (6, 7, 8, 9)))},
    **_each("vadd", _ANY), **_each("vsub", _ANY), **_each("vmul", _ANY),
    **_each("vmla", _SIGNED, "buu"), **_each("vmlas", _SIGNED, "buu"),
    **_each("vmax", _SIGNED + _UNSIGNED), **_each("vmin", _SIGNED + _UNSIGNED),
    **_each("vqadd", _SIGNED), **_each("vqsub", _SIGNED),
    **_each("vmulh", _SIGNED + _UNSIGNED), **_each("vrmulh", _SIGNED + _UNSIGNED),
    **_each("vqdmulh", _SIGNED), **_each("vqrdmulh", _SIGNED),
    **_each("vshl", _SIGNED + _UNSIGNED), **_each("vrshl", _SIGNED + _UNSIGNED),
    "vand": _plain("vand"), "vorr": _plain("vorr"), "veor": _plain("veor"), "vbic": _plain("vbic"),
    "vmvn": _plain("vmvn", "du"),
    **_immediate("vshl", _ANY),
    **_immediate("vshr", _SIGNED + _UNSIGNED), **_immediate("vrshr", _SIGNED + _UNSIGNED),
    "vmov": Meaning("du", "{0} = {1}"),
    **{f"vdup.{8 * s}": Meaning("du", f"{{0}} = lanes.repeated({s}, {{1}})") for s in (1, 2, 4)},
    **{f"vmov.i{8 * s}": Meaning("di", f"{{0}} = lanes.repeated({s}, {{1}})") for s in (1, 2, 4)},
    **{f"v{name}.u{8 * s}": Meaning(
        "dei", f"{{0}} = lanes.counting({s}, {{1}}, {by}{{2}}); "
               f"{{1}} = ({{1}} + {16 // s} * ({by}{{2}})) & M")
        for name, by in (("idup", ""), ("ddup", "-")) for s in (1, 2, 4)},
    # To the double size, and to the half.
    **_halves("vmovl", ("s8", "u8", "s16", "u16"), "{0} = lanes.widened(SIZE, SIGNED, TOP, ({1}))",
              "du"),
    **_halves("vmovn", ("i16", "i32"), f"{_NARROWED})", "bu"),
    **_halves("vqmovn", ("s16", "s32"), f"{_NARROWED}, to='s')", "bu"),
    **_halves("vqmovn", ("u16", "u32"), f"{_NARROWED}, to='u')", "bu"),
    **_halves("vqmovun", ("s16", "s32"), f"{_NARROWED}, to='u')", "bu"),
    **_halves("vshrn", ("i16", "i32"), f"{_NARROWED}, {{2}})", "bui"),
    **_halves("vrshrn", ("i16", "i32"), f"{_NARROWED}, {{2}}, True)", "bui"),
    **_halves("vqrshrn", ("s16", "s32"), f"{_NARROWED}, {{2}}, True, 's')", "bui"),
    **_halves("vqrshrun", ("s16", "s32"), f"{_NARROWED}, {{2}}, True, 'u')", "bui"),
    # To a core register.
    **_reduced("vmladav", "Euu", "products(SIZE, SIGNED, 0, ({1}), ({2}), {P})"),
    **_reduced("vmladava", "euu", "products(SIZE, SIGNED, {0}, ({1}), ({2}), {P})"),
    **_reduced("vaddv", "Eu", "total(SIZE, SIGNED, 0, ({1}), {P})"),
    **_reduced("vaddva", "eu", "total(SIZE, SIGNED, {0}, ({1}), {P})"),
    **_reduced("vmaxv", "bu", "extreme('max', SIZE, SIGNED, {0}, ({1}), {P})"),
    **_reduced("vminv", "bu", "extreme('min', SIZE, SIGNED, {0}, ({1}), {P})"),
    # Floats: to nearest, flushed to zero.
    **{f"v{of}.f32": Meaning("duu", f"{{0}} = lanes.floats({of!r}, ({{1}}), ({{2}}))")
       for of in ("add", "sub", "mul")},
    **{f"v{of}.f32": Meaning("buu", f"{{0}} = lanes.floats({of!r}, ({{0}}), ({{1}}), ({{2}}))")
       for of in ("fma", "fmas")},
    "vcmp.f32": Meaning("cuu", "p0 = lanes.compared({0}, ({1}), ({2})) & {P}"),
    "vcvt.f32.s32": Meaning("du", "{0} = lanes.float_of(({1}), True)"),
    "vcvt.f32.u32": Meaning("du", "{0} = lanes.float_of(({1}), False)"),
    "vcvtn.s32.f32": Meaning("du", "{0} = lanes.nearest(({1}))"),
    "vcvta.s32.f32": Meaning("du", "{0} = lanes.nearest(({1}), True)"),
    # Predicates, and loops whose counter LR is. Where they jump is the interpreter's.
    **{f"vctp.{8 * s}": Meaning("u", f"p0 = lanes.first({s}, {{0}})") for s in (1, 2, 4)},
    **{f"vpst{more}": Meaning("", "pass") for more in ("", "t", "tt", "ttt")},
    "dls": Meaning("du", "{0} = {1}"), "wls": Meaning("dut", "{0} = {1}"), "le": Meaning("bt", ""),
    "letp": Meaning("bt", ""),
    **{f"dlstp.{8 * s}": Meaning("du", "{0} = {1}") for s in (1, 2, 4)},
    **{f"wlstp.{8 * s}": Meaning("dut", "{0} = {1}") for s in (1, 2, 4)},
}  # fmt: skip


def unpredicated(name: str) -> str:
    """A vector instruction's row by a name that may end with t, of what runs by a predicate: of
    `vldrbt.u8` it is `vldrb.u8`; empty where there is none."""
    if name in VECTOR_MEANINGS:
        return name
    whole, dot, types = name.partition(".")
    plain = f"{whole[:-1]}{dot}{types}"
    return plain if whole.endswith("t") and plain in VECTOR_MEANINGS else ""
