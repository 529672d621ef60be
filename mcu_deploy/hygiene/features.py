"""What cores can run: the features that they have. Which instruction needs which of them is in
backends/isa/table.py."""

from __future__ import annotations

from dataclasses import dataclass

from mcu_deploy.backends.isa.table import Feature
from mcu_deploy.boards import Processor

FEATURE_NAMES = {
    Feature.MID: "the Armv7-M and Armv8-M Baseline instructions (UDIV, CBZ, MOVW ...)",
    Feature.THUMB2: "Thumb-2 (IT blocks and the 32-bit instructions of Armv7-M)",
    Feature.DSP: "the DSP extension",
    Feature.V8M: "the Armv8-M instructions",
    Feature.V81M: "the Armv8.1-M instructions (low-overhead loops, CSEL ...)",
    Feature.COPROCESSOR: "a coprocessor",
    Feature.FP_REGISTERS: "an FPU or Helium",
    Feature.FPU: "an FPU",
    Feature.FPV5: "an FPv5 FPU",
    Feature.DOUBLE: "an FPU with double precision",
    Feature.HALF: "an FPU with half precision arithmetic",
    Feature.MVE: "the M-profile vector extension (Helium)",
    Feature.MVE_FLOAT: "the M-profile vector extension with floating point (Helium)",
    Feature.NOT_M: "a core of the A or R profile",
}

_V7M = Feature.MID | Feature.THUMB2
_V8M_MAIN = _V7M | Feature.V8M | Feature.COPROCESSOR

# The features that come with an architecture, without its options.
ARCHITECTURES = {
    "armv6-m": Feature(0),
    "armv7-m": _V7M,
    "armv7e-m": _V7M | Feature.DSP,
    "armv8-m.base": Feature.MID | Feature.V8M,
    "armv8-m.main": _V8M_MAIN,
    "armv8.1-m.main": _V8M_MAIN | Feature.V81M,
}

_TITLES = {
    "armv6-m": "Armv6-M",
    "armv7-m": "Armv7-M",
    "armv7e-m": "Armv7E-M",
    "armv8-m.base": "Armv8-M Baseline",
    "armv8-m.main": "Armv8-M Mainline",
    "armv8.1-m.main": "Armv8.1-M Mainline",
}


@dataclass(frozen=True)
class CheckedCore:
    """A core to check against.

    `board` says whether it is a board's, or only what an object's own build attributes promise;
    `hard_float` is the board's float ABI.
    """

    title: str
    architecture: str
    features: Feature
    board: bool = False
    hard_float: bool | None = None


def architecture_title(architecture: str) -> str:
    """An architecture as Arm writes it."""
    return _TITLES.get(architecture, architecture)


def features_title(architecture: str, features: Feature) -> str:
    """Architecture and options in a few words, for example "Armv7E-M, FPv4"."""
    words = [architecture_title(architecture)]
    if Feature.DSP in features and architecture.startswith("armv8"):
        words.append("DSP")
    if Feature.FPU in features:
        name = "FPv5" if Feature.FPV5 in features else "FPv4"
        words.append(f"{name} with double precision" if Feature.DOUBLE in features else name)
    if Feature.MVE in features:
        words.append("Helium")
    return ", ".join(words)


def core_of_board(board: Processor) -> CheckedCore | None:
    """The core of a board; None for the host and for cores outside of the M profile."""
    # -march's name is that of the one Armv6-M there is: with the system extension.
    architecture = board.architecture.replace("armv6s-m", "armv6-m")
    if board.core == "host" or architecture not in ARCHITECTURES:
        return None
    features = ARCHITECTURES[architecture]
    if board.dsp:
        features |= Feature.DSP
    fpu = board.fpu.lower()
    if fpu not in ("", "none", "soft"):
        features |= Feature.FPU | Feature.FP_REGISTERS
        if "v5" in fpu or "armv8" in fpu:
            features |= Feature.FPV5
        if "sp" not in fpu.split("-"):
            features |= Feature.DOUBLE
        if architecture == "armv8.1-m.main":
            features |= Feature.HALF
    if board.mve:
        features |= Feature.MVE | Feature.FP_REGISTERS
        if Feature.FPU in features:
            features |= Feature.MVE_FLOAT
    return CheckedCore(board.core, architecture, features, True, board.float_abi == "hard")
