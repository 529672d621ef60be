"""Facts about processor cores, and the compiler flags that follow from them.

Sources: the GCC 12 manual, "ARM Options" (-mcpu and its +no... extensions, -mfpu), and what
`arm-none-eabi-gcc -mcpu=... -print-multi-directory` answers.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Core:
    """architecture: GCC's -march name; dsp: "yes", "no" or "option" (of the chip's maker), mve
    likewise; fpus: what may stand in board.toml's `fpu`; stack_limits: PSPLIM and MSPLIM."""

    architecture: str
    dsp: str
    mve: str
    fpus: tuple[str, ...]
    stack_limits: bool


_NONE = ("none",)
# The FPUs of Armv8.1-M have half precision too; GCC 12 has no -mfpu name for that and takes it
# from -mcpu (-mfpu=auto).
ARMV81M_FPU = "fp-armv8-d16"

_CORES = {
    "cortex-m0": Core("armv6s-m", "no", "no", _NONE, False),
    "cortex-m0plus": Core("armv6s-m", "no", "no", _NONE, False),
    "cortex-m3": Core("armv7-m", "no", "no", _NONE, False),
    "cortex-m4": Core("armv7e-m", "yes", "no", ("none", "fpv4-sp-d16"), False),
    "cortex-m7": Core("armv7e-m", "yes", "no", ("none", "fpv5-sp-d16", "fpv5-d16"), False),
    "cortex-m33": Core("armv8-m.main", "option", "no", ("none", "fpv5-sp-d16"), True),
    "cortex-m55": Core("armv8.1-m.main", "yes", "option", ("none", ARMV81M_FPU), True),
    "cortex-m85": Core("armv8.1-m.main", "yes", "option", ("none", ARMV81M_FPU), True),
}


def core_names() -> tuple[str, ...]:
    """The cores that a board.toml may name, besides "host"."""
    return tuple(_CORES)


def core_facts(name: str) -> Core:
    """What is known of a core; KeyError for one that core_names() does not list."""
    return _CORES[name]


def compiler_flags(core: str, fpu: str, dsp: bool, mve: bool) -> tuple[str, ...]:
    """The complete -mcpu, -mthumb, -mfpu and -mfloat-abi flags for gcc 12.

    A core that gcc does not know (cortex-m85 before gcc 13) needs `cflags` in its board.toml."""
    facts = core_facts(core)
    cpu = core
    if facts.mve == "option" and not mve:
        cpu += "+nomve"
    if facts.dsp == "option" and not dsp:
        cpu += "+nodsp"
    if fpu == "none" and facts.fpus != _NONE and facts.stack_limits:
        cpu += "+nofp"
    flags = [f"-mcpu={cpu}", "-mthumb"]
    if fpu == "none":
        flags.append("-mfloat-abi=soft")
    elif fpu == ARMV81M_FPU:
        flags += ["-mfpu=auto", "-mfloat-abi=hard"]
    else:
        flags += [f"-mfpu={fpu}", "-mfloat-abi=hard"]
    return tuple(flags)
