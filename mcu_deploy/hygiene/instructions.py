"""Which feature of a core an instruction needs, by the name that objdump prints for it.

The tests assemble instructions of each kind for each core: GNU as refuses them where this table
says so.
"""

from __future__ import annotations

import re

from mcu_deploy.hygiene.features import Feature

_CONDITION = r"(?:eq|ne|cs|cc|hs|lo|mi|pl|vs|vc|hi|ls|ge|lt|gt|le|al)?"
_DSP = re.compile(
    r"^(?:"
    r"q(?:add|sub|dadd|dsub)"
    r"|(?:s|q|sh|u|uq|uh)(?:add16|asx|sax|sub16|add8|sub8)"
    r"|ssat16|usat16|pkh(?:bt|tb)|sel|usada?8"
    r"|[su]xtab(?:16)?|[su]xtah|[su]xtb16"
    r"|sml(?:a|al)[bt][bt]|smlaw[bt]|smul[bt][bt]|smulw[bt]"
    r"|smlal?dx?|smlsl?dx?|smu[as]dx?"
    r"|smml[as]r?|smmulr?|umaal"
    r")" + _CONDITION + r"(?:\.[nw])?$"
)
_V8M = re.compile(
    r"^(?:sg|ttt?|ttat?|bxns|blxns|lda(?:b|h|ex|exb|exh)?|stl(?:b|h|ex|exb|exh)?"
    r"|v(?:lst|lld)m)" + _CONDITION + r"$"
)
_V81M = re.compile(
    r"^(?:csel|csinc|csinv|csneg|cset|csetm|cinc|cinv|cneg|clrm|vscclrm|bf|bfx|bfl|bflx|bfcsel"
    r"|dls|wls|le)" + r"(?:eq|ne|cs|cc|mi|pl|vs|vc|hi|ls|ge|lt|gt|le)?$"
)
_MVE = re.compile(
    r"^(?:vpst|vpt|vpnot|vpsel|vctp)[te]*(?:\..*)?$"
    r"|^(?:dlstp|wlstp)(?:\..*)?$|^(?:letp|lctp)$"
    r"|^(?:asrl|lsll|lsrl|[su]qrsh[rl]l?|[su]qshll?|[su]rshrl?)" + _CONDITION + r"$"
)
_FPV5 = re.compile(r"^(?:vsel|vmaxnm|vminnm|vrint[anpmxzr]|vcvt[anpm]\.)")
_FP_ACCESS = re.compile(r"^(?:v(?:ldr|str|ldm|stm|push|pop|mrs|msr)|fldm|fstm)")
_FP_MOVE = re.compile(r"^vmov" + _CONDITION + r"(?:\.\w+)?$")
_COPROCESSOR = re.compile(r"^cp\d$|^(?:cdp|mcrr?|mrrc?|ldc|stc)2?l?" + _CONDITION + r"$")
_NOT_M = re.compile(
    r"^(?:hlt|setend|eret|hvc|smc|bxj|rfe|srs|dcps|crc32|setpan|pldw|enterx|leavex)"
)
_BASELINE_WIDE = re.compile(
    r"^(?:movw|movt|[us]div|(?:ld|st)rex[bh]?|clrex|b\.w|lda|stl)" + _CONDITION
)
_VECTOR_REGISTER = re.compile(r"\bq[0-7]\b")
_ALWAYS_WIDE = frozenset({"bl", "msr", "mrs", "dmb", "dsb", "isb", "udf.w"})


def needed_features(mnemonic: str, operands: str, wide: bool) -> Feature:
    """The features that a core must have to run an instruction; none for what Armv6-M has.

    mnemonic, operands: as objdump prints them; wide: a 32-bit encoding.
    """
    if _NOT_M.match(mnemonic):
        return Feature.NOT_M
    if _is_vector(mnemonic, operands):
        real = re.search(r"\.f(?:16|32)", mnemonic) is not None
        return Feature.MVE_FLOAT if real else Feature.MVE
    if _V81M.match(mnemonic):
        return Feature.V81M
    if _V8M.match(mnemonic):
        return Feature.V8M
    if mnemonic.startswith("v") or re.match(r"^f(?:ld|st)m", mnemonic):
        return _float_features(mnemonic, operands)
    if _DSP.match(mnemonic):
        return Feature.DSP
    if _COPROCESSOR.match(mnemonic):
        return Feature.COPROCESSOR
    if not wide:
        if re.match(r"^it[te]{0,3}$", mnemonic):
            return Feature.THUMB2
        return Feature.MID if re.match(r"^cbn?z$", mnemonic) else Feature(0)
    if mnemonic in _ALWAYS_WIDE:
        return Feature(0)
    return Feature.MID if _BASELINE_WIDE.match(mnemonic) else Feature.THUMB2


def _is_vector(mnemonic: str, operands: str) -> bool:
    if _MVE.match(mnemonic) or _VECTOR_REGISTER.search(operands):
        return True
    # P0 is the predicate register of Helium; VPR alone also appears in VSCCLRM.
    return bool(re.match(r"^v(?:msr|mrs)", mnemonic) and re.search(r"(?i)\b(p0|vpr)\b", operands))


def _float_features(mnemonic: str, operands: str) -> Feature:
    """FPU instructions. Loads, stores and moves of D registers run on single precision FPUs, and
    on cores that have Helium without floating point."""
    if re.search(r"(?i)\b(fpcxt|fpscr_nzcvqc)", operands):
        return Feature.V81M
    double = ".f64" in mnemonic
    immediate = "#" in operands.split(",")[-1]
    if _FP_ACCESS.match(mnemonic) or (_FP_MOVE.match(mnemonic) and not double and not immediate):
        half = mnemonic.endswith((".16", ".f16"))
        return Feature.HALF if half else Feature.FP_REGISTERS
    converts_half = mnemonic.startswith(("vcvtb", "vcvtt"))
    features = Feature.FPU
    if _FPV5.match(mnemonic) or (double and converts_half):
        features |= Feature.FPV5
    if double:
        features |= Feature.DOUBLE
    elif mnemonic.startswith(("vins", "vmovx")) or (".f16" in mnemonic and not converts_half):
        features |= Feature.HALF
    return features
