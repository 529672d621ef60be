"""The rules for the object of a network (docs/check.md): symbols, sections, the descriptor."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field

from mcu_deploy import resources
from mcu_deploy.elf.reader import SHF_TLS, Elf, Section, Symbol
from mcu_deploy.errors import HygieneError
from mcu_deploy.hygiene.findings import Finding, LinkUnit, listed, printable

DESCRIPTOR_PREFIX = "_mcu_network_"
_DESCRIPTOR = re.compile(r"^_mcu_network_([A-Za-z0-9_]+)$")
# mcu_model_t: a function pointer, two uint32_t, then abi_version and workspace_size.
_ABI_VERSION_OFFSET = {32: 12, 64: 16}
_WORKSPACE_OFFSET = {32: 16, 64: 20}

_INIT_TYPES = frozenset({"SHT_INIT_ARRAY", "SHT_FINI_ARRAY", "SHT_PREINIT_ARRAY"})
_INIT_NAME = re.compile(r"^\.(?:init|fini|preinit|init_array|fini_array|preinit_array|[cd]tors)\b")

# Local symbols that compilers and assemblers make up: mapping symbols, labels of constants, switch
# tables, the arrays behind __func__.
_COMPILER_MADE = re.compile(
    r"^(?:\$[tadx](?:\..*)?|\.L.*|CSWTCH\.\d+|switch\.table\..*|C\.\d+\.\d+"
    r"|__(?:func|FUNCTION|PRETTY_FUNCTION)__(?:\.\d+)?|__compound_literal\.\d+)$"
)

_MEMORY = frozenset({"memcpy", "memmove", "memset"})
# The functions of <math.h> that neither keep state (as lgamma does) nor print.
_LIBM_NAMES = """
    acos acosh asin asinh atan atan2 atanh cbrt ceil copysign cos cosh erf erfc exp exp2 expm1 fabs
    fdim floor fma fmax fmin fmod frexp hypot ilogb ldexp llrint llround log log10 log1p log2 logb
    lrint lround modf nearbyint nextafter pow remainder remquo rint round scalbln scalbn sin sincos
    sinh sqrt tan tanh tgamma trunc
"""
_LIBM = frozenset(name + suffix for name in _LIBM_NAMES.split() for suffix in ("", "f"))
_LIBGCC = re.compile(
    r"^(?:__aeabi_\w+|__gnu_thumb1_case_(?:[su]qi|[su]hi|si)"
    r"|__(?:clz|clrsb|ctz|ffs|parity|popcount|bswap)[sd]i2"
    r"|__gnu_(?:h2f|f2h|d2h)_(?:ieee|alternative))$"
)

_HEAP = frozenset({"malloc", "free", "calloc", "realloc", "aligned_alloc", "memalign", "_malloc_r"})
_PRINT = re.compile(
    r"^_?_?(?:v?(?:f|s|sn|d)?i?printf|puts|putchar|fputs|fputc|fwrite)(?:_chk|_r)?$"
)


@dataclass(frozen=True)
class Rules:
    """What the check compares objects with, read from the runtime's headers.

    abi_version: MCU_MODEL_ABI_VERSION, the major version in its upper half; entry_points: the
    runtime's `_mcu_*` functions that a network may call; runtime: all functions of the runtime, by
    which its files are known.
    """

    abi_version: int
    entry_points: frozenset[str] = field(repr=False)
    runtime: frozenset[str] = field(repr=False)


def load_rules() -> Rules:
    """Reads the rules from crt/include/mcu. Raises HygieneError where the headers are missing."""
    model = _header("model.h")
    internal = _header("internal.h") + _header("managed.h") + _header("parallel.h")
    parts = re.findall(r"^#define\s+MCU_MODEL_ABI_M(?:AJ|IN)OR\s+(\d+)", model, re.MULTILINE)
    if len(parts) != 2:
        raise HygieneError(
            f"{resources.crt() / 'include/mcu/model.h'} does not define MCU_MODEL_ABI_MAJOR and "
            "MCU_MODEL_ABI_MINOR: install mcu-deploy again."
        )
    entries = {name for name in _functions(internal) if name.startswith("_")}
    runtime = _functions(internal + _header("runtime.h") + _header("memory.h"))
    version = (int(parts[0]) << 16) | int(parts[1])
    return Rules(version, frozenset(entries), frozenset(runtime))


def _functions(declared: str) -> set[str]:
    return set(re.findall(r"^(?!static)[A-Za-z][\w \t*]*?\b(_?mcu_\w+)\(", declared, re.MULTILINE))


def _header(name: str) -> str:
    path = resources.crt() / "include" / "mcu" / name
    try:
        return path.read_text(encoding="utf-8")
    except OSError as error:
        raise HygieneError(
            f"{path} cannot be read ({error.strerror}): install mcu-deploy again."
        ) from error


def descriptors(elf: Elf) -> list[tuple[str, Symbol]]:
    """The network descriptors that a file defines, by name: (name of the network, symbol).

    Local symbols count only where no other has the name of a descriptor: the functions of a network
    that is called `network` begin as descriptors do, `_mcu_network_`.
    """
    found = []
    for symbol in elf.symbols:
        match = _DESCRIPTOR.match(symbol.name)
        if match and not symbol.undefined:
            found.append((match[1], symbol))
    exported = [pair for pair in found if pair[1].bind != "STB_LOCAL"]
    return sorted(exported or found, key=lambda pair: pair[0])


def read_abi_version(elf: Elf, symbol: Symbol) -> int | None:
    """The descriptor's field abi_version; None where its bytes are not in the file."""
    return _field(elf, symbol, _ABI_VERSION_OFFSET[elf.bits])


def abi_text(version: int) -> str:
    """An ABI version as it is written: major.minor."""
    return f"{version >> 16}.{version & 0xFFFF}"


def read_workspace_bytes(elf: Elf, symbol: Symbol) -> int | None:
    """The descriptor's field workspace_size; None where its bytes are not in the file."""
    return _field(elf, symbol, _WORKSPACE_OFFSET[elf.bits])


def _field(elf: Elf, symbol: Symbol, offset: int) -> int | None:
    """A uint32_t of a descriptor."""
    section = elf.section_of(symbol)
    if section is None:
        return None
    start = elf.offset_in_section(symbol, section) + offset
    content = elf.content(section)
    if start < 0 or start + 4 > len(content):
        return None
    return int.from_bytes(content[start : start + 4], "little" if elf.little_endian else "big")


def check_network(unit: LinkUnit, rules: Rules, expected_name: str | None) -> list[Finding]:
    """Every rule that the object of a network breaks, apart from those about its core."""
    return [
        *_check_descriptor(unit, rules, expected_name),
        *_check_symbols(unit, rules),
        *_check_sections(unit),
    ]


def check_abi_version(unit: LinkUnit, symbol: Symbol, name: str, rules: Rules) -> list[Finding]:
    """Whether this runtime knows all that a descriptor has: _mcu_abi_fits of mcu/internal.h."""
    version = read_abi_version(unit.elf, symbol)
    oldest = rules.abi_version & ~0xFFFF
    if version is not None and oldest <= version <= rules.abi_version:
        return []
    said = "cannot be read" if version is None else f"is {abi_text(version)}"
    message = (
        f"The descriptor of {name} has another ABI version: it {said}, and the runtime's is"
        f" {abi_text(rules.abi_version)}."
    )
    return [unit.finding("abi-version", message, symbol.name)]


def _check_descriptor(unit: LinkUnit, rules: Rules, expected: str | None) -> Iterator[Finding]:
    found = descriptors(unit.elf)
    names = [name for name, _ in found]
    if not found:
        wanted = f"{DESCRIPTOR_PREFIX}{expected or '<name>'}"
        yield unit.finding("no-descriptor", f"The object defines no descriptor {wanted}.", wanted)
    if len(found) > 1:
        message = (
            f"The object holds {len(found)} descriptors ({listed(names)}), and a network's object"
            " has one."
        )
        yield unit.finding("extra-descriptor", message, found[1][1].name)
    if expected is not None and found and expected not in names:
        message = f"The object is the network {printable(names[0])}, not {expected}."
        remedy = f"Build it with --name {expected}."
        yield unit.finding("descriptor-name", message, found[0][1].name, remedy)
    for name, symbol in found:
        called = f"The descriptor of {printable(name)}"
        section = unit.elf.section_of(symbol)
        if symbol.bind != "STB_GLOBAL":
            message = f"{called} is not a global symbol."
            yield unit.finding("descriptor-not-global", message, symbol.name)
        if section is None or section.writable or section.code or section.type == "SHT_NOBITS":
            where = printable(section.name) if section else "no section"
            message = f"{called} lies in {where}, which is not read-only data."
            yield unit.finding("descriptor-not-constant", message, symbol.name)
        yield from check_abi_version(unit, symbol, printable(name), rules)


def _check_symbols(unit: LinkUnit, rules: Rules) -> Iterator[Finding]:
    found = descriptors(unit.elf)
    names = [name for name, _ in found]
    prefixes = tuple(f"_mcu_{name}_" for name in names)
    wanted = f"_mcu_{names[0]}_" if names else "_mcu_<name>_"
    for symbol in unit.elf.symbols:
        if any(symbol is descriptor for _, descriptor in found):
            continue
        shown, remedy = printable(symbol.name), ""
        if symbol.common:
            rule = "common-symbol"
            message = (
                f"{shown} is a common symbol: the linker silently merges it with others of its"
                " name."
            )
        elif symbol.bind == "STB_WEAK":
            rule = "weak-symbol"
            kind = "a weak reference" if symbol.undefined else "a weak symbol"
            message = f"{shown} is {kind}: another object can replace it silently."
        elif symbol.undefined:
            if _may_be_called(symbol.name, rules):
                continue
            rule, remedy = "undefined-symbol", _remedy_for_undefined(symbol.name)
            message = (
                f"The object needs {shown}, which is not on the list of what a network may call"
                " (memcpy, memset, memmove, libm, libgcc's helpers, the runtime's entry points)."
            )
        elif symbol.bind != "STB_LOCAL":
            rule, remedy = "extra-global", f"Make it static, and name it {wanted}..."
            message = f"{shown} is global, and a network exports its descriptor alone."
        elif symbol.type not in ("STT_SECTION", "STT_FILE") and not (
            symbol.name.startswith(prefixes) or _COMPILER_MADE.match(symbol.name)
        ):
            rule, remedy = "local-name", f"Name it {wanted}..."
            message = (
                f"The local symbol {shown} does not start with {wanted}, so two models cannot be"
                " told apart in a map file."
            )
        else:
            continue
        yield unit.finding(rule, message, symbol.name, remedy)


def _may_be_called(name: str, rules: Rules) -> bool:
    allowed = name in _MEMORY or name in _LIBM or name in rules.entry_points
    return allowed or _LIBGCC.match(name) is not None


def _remedy_for_undefined(name: str) -> str:
    if name.startswith("_GLOBAL_OFFSET_TABLE_"):
        return "Compile with -fno-pic (-fno-pie on the host)."
    if name.startswith("__stack_chk"):
        return "Compile with -fno-stack-protector."
    if name in _HEAP:
        return "Keep all state in the workspace: a network must not use the heap."
    if _PRINT.match(name):
        return "Take the output out of the network, and print in the application."
    return "Make it static in the object, or call it from the application."


def _check_sections(unit: LinkUnit) -> Iterator[Finding]:
    for section in unit.elf.sections:
        if not section.allocated:
            continue
        holds = f"Section {printable(section.name)} holds"
        if section.type in _INIT_TYPES or _INIT_NAME.match(section.name):
            message = f"{holds} code that runs before main ({section.size} bytes)."
            yield unit.finding("init-array", message, section.name)
        elif section.writable:
            thread = " of each thread" if section.flags & SHF_TLS else ""
            owners = _owners(unit.elf, section)
            message = f"{holds} {section.size} bytes of writable data{thread}{owners}."
            yield unit.finding("writable-data", message, section.name)


def _owners(elf: Elf, section: Section) -> str:
    names = [
        printable(symbol.name)
        for symbol in elf.symbols
        if symbol.section == section.index and symbol.type in ("STT_OBJECT", "STT_TLS")
    ]
    return f" ({listed(names)})" if names else ""
