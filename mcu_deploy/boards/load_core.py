"""A processor by the name of its core, for objects that go into somebody else's firmware."""

from __future__ import annotations

from collections.abc import Sequence

from mcu_deploy.boards.cores import compiler_flags, core_facts, core_names
from mcu_deploy.boards.model import HOST_CORE, Processor
from mcu_deploy.errors import UsageError
from mcu_deploy.schema import did_you_mean

_NO_FPU = "none"
# What other code of the program may have to be compiled with, too: the ABI, and how gcc makes code.
_ALLOWED = ("-m", "-f")
# The arithmetic is a contract (docs/arithmetic.md), and what is checked is the object's own code.
_FORBIDDEN = (
    "-ffast-math", "-funsafe-math-optimizations", "-fassociative-math", "-freciprocal-math",
    "-ffinite-math-only", "-fno-signed-zeros", "-fsingle-precision-constant", "-fexcess-precision",
    "-flto", "-fsyntax-only", "-mbig-endian",
)  # fmt: skip


def load_core(text: str, fpu: str = _NO_FPU, cflags: Sequence[str] = ()) -> Processor:
    """A core as gcc's -mcpu calls it: "cortex-m4", "cortex-m33+nodsp", "cortex-m55+nomve".

    fpu: as board.toml has it. cflags: for gcc, beside those that follow from the core, or instead
    of them where they say the same (-mcpu=cortex-m55 for a gcc that knows no M85). UsageError for
    a core, an option of it or an FPU that there is not, and for flags that are not allowed."""
    core, *options = text.split("+")
    if core == HOST_CORE:
        raise UsageError("--core host is no core of a microcontroller; give --board host.")
    if core not in core_names():
        hint = did_you_mean(core, core_names())
        raise UsageError(f"--core {text} is not known; {hint}{'' if hint.endswith('?') else '.'}")
    facts = core_facts(core)
    possible = {"dsp": facts.dsp, "mve": facts.mve}
    removable = [f"+no{name}" for name, fact in possible.items() if fact == "option"]
    for option in options:
        if f"+{option}" not in removable:
            known = f"it can have {', '.join(removable)}" if removable else "it has no options"
            raise UsageError(
                f"--core {text}: +{option} is not known of a {core}; {known}. Its FPU is --fpu's."
            )
    if fpu not in facts.fpus:
        raise UsageError(
            f"--fpu {fpu} does not exist on a {core}; it can have {', '.join(facts.fpus)}."
        )
    _require_allowed(cflags)
    has = {name: fact != "no" and f"no{name}" not in options for name, fact in possible.items()}
    given = {flag.partition("=")[0] for flag in cflags}
    own = (f for f in compiler_flags(core, fpu, **has) if f.partition("=")[0] not in given)
    flags = (*own, *cflags)
    abi = _float_abi(flags, fpu, has["mve"])
    return Processor(
        name=text if fpu == _NO_FPU else f"{text}+{fpu}",
        core=core,
        architecture=facts.architecture,
        fpu=fpu,
        float_abi="hard" if abi == "hard" else "soft",
        **has,
        cflags=flags,
    )


def _float_abi(flags: Sequence[str], fpu: str, mve: bool) -> str:
    """What the last -mfloat-abi says. Kernels are in assembly, for the FPU that --fpu names."""
    flag = [f for f in flags if f.partition("=")[0] == "-mfloat-abi"][-1]
    abi = flag.partition("=")[2]
    possible = ["soft"] if fpu == _NO_FPU else ["hard", "softfp"]
    if mve and fpu == _NO_FPU:  # whose vectors lie in the registers of an FPU
        possible += ["hard", "softfp"]
    if abi not in possible:
        raise UsageError(
            f"--cflags {flag} does not go with --fpu {fpu}: with it goes "
            f"{' or '.join(f'-mfloat-abi={each}' for each in possible)}. Give that, or another "
            "--fpu."
        )
    return abi


def _require_allowed(cflags: Sequence[str]) -> None:
    for flag in cflags:
        if not flag.startswith(_ALLOWED):
            raise UsageError(
                f"--cflags {flag} is neither a flag of the machine (-m...) nor of code generation "
                "(-f...), which are all that objects can take; leave it out."
            )
        if flag.startswith(_FORBIDDEN):
            raise UsageError(
                f"--cflags {flag} would change what a network computes, or there is no object with "
                "it that can be checked; leave it out. Other code of the program may have it."
            )
