"""The instructions of Cortex-M: what each needs of a core, and the cycles that it takes there.

One table serves the time of cores (table_pipeline.py), what kernels may be written of
(assembly.py), and the check of an object against a core (hygiene). Features are checked against GNU
as by the tests; cycles are of Arm's manuals, with zero wait states:

- Cortex-M0+: technical reference manual r0p1, table 3-1, with the fast multiplier;
- Cortex-M3: technical reference manual r2p1, table 3-1; of a range (divisions, long
  multiplications) about the middle;
- Cortex-M4: technical reference manual 100166, table 3-1, and its table of the FPU's instructions.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from enum import Enum, Flag, auto
from functools import cache
from itertools import product


class Feature(Flag):
    """A group of instructions that a Cortex-M core has or lacks."""

    MID = auto()  # CBZ, UDIV, SDIV, MOVW, MOVT, B.W, exclusives: Armv7-M and Armv8-M Baseline
    THUMB2 = auto()  # IT and the 32-bit instructions: Armv7-M and Armv8-M Mainline
    DSP = auto()
    V8M = auto()  # SG, TT, BXNS, load-acquire ...
    V81M = auto()  # CSEL, low-overhead loops, CLRM ...
    COPROCESSOR = auto()
    FP_REGISTERS = auto()  # loads, stores and moves of S and D registers: with an FPU or Helium
    FPU = auto()  # FPv4 in single precision
    FPV5 = auto()  # VSEL, VMAXNM, VRINT*, VCVTA ...
    DOUBLE = auto()
    HALF = auto()  # arithmetic in half precision
    MVE = auto()
    MVE_FLOAT = auto()
    NOT_M = auto()  # instructions of the A and R profiles


class TimingRule(Enum):
    """What the cycles of an instruction depend on, besides its row."""

    FIXED = auto()
    LOAD = auto()  # a load right behind a load takes a cycle less, but for Cortex-M0+
    LIST = auto()  # a cycle for each register of the list, and two more where PC is among them
    BRANCH = auto()  # the pipeline's refill where it is taken
    MOVE = auto()  # VMOV of two core registers takes a cycle more, to a D or to two S registers


Cycles = tuple[float | None, float | None, float | None]
_NONE = Feature(0)


@dataclass(frozen=True)
class Row:
    """Instructions that are alike.

    names: as a shell expands them, ld{a,m} being lda and ldm. cycles: on Cortex-M0+, M3 and M4,
    before the rule; None: not known, or not there. features: what each encoding needs; wide: what
    one of 32 bits needs beyond that.
    """

    names: str
    cycles: Cycles
    features: Feature = _NONE
    rule: TimingRule = TimingRule.FIXED
    wide: Feature = _NONE

    def expanded(self) -> Iterator[str]:
        """Each name."""
        for pattern in self.names.split():
            parts = [part.split(",") for part in re.split(r"[{}]", pattern)]
            yield from ("".join(choice) for choice in product(*parts))


_ONE: Cycles = (1, 1, 1)
_FROM_M3: Cycles = (None, 1, 1)
_FROM_M4: Cycles = (None, None, 1)
_UNKNOWN: Cycles = (None, None, None)
_THUMB2 = Feature.THUMB2

_ROWS = (
    # What Armv6-M has, where 32 bits are Thumb-2 ...
    Row("ad{c,d,r} and asr bic cm{n,p} cpy eor ls{l,r} mov mul mvn neg nop orr rev rev16 revsh ror"
        " rsb sbc sub {s,u}xt{b,h} tst yield wfe wfi sev svc bkpt cps cpsi{e,d}",
        _ONE, wide=_THUMB2),
    Row("ldr ldr{b,h,sb,sh}", (2, 2, 2), rule=TimingRule.LOAD, wide=_THUMB2),
    Row("str str{b,h}", (2, 1, 1), wide=_THUMB2),
    Row("{ld,st}m{,ia,db,fd,ea} push pop", _ONE, rule=TimingRule.LIST, wide=_THUMB2),
    Row("b", _ONE, rule=TimingRule.BRANCH, wide=_THUMB2),
    # ... and what it has in 32 bits, or never has in them.
    Row("bx", _ONE, rule=TimingRule.BRANCH),
    Row("bl blx", (2, 2, 2), rule=TimingRule.BRANCH),
    Row("msr mrs dmb dsb isb", (3, 1, 1)),
    Row("udf", _UNKNOWN),
    Row("cbz cbnz", _FROM_M3, Feature.MID, TimingRule.BRANCH),
    Row("mov{w,t} clrex", _FROM_M3, Feature.MID),
    Row("{s,u}div", (None, 7, 7), Feature.MID),
    Row("{ld,st}rex{,b,h}", (None, 2, 2), Feature.MID),
    Row("addw subw orn teq rrx bf{c,i} {s,u}bfx clz rbit {s,u}sat it{,t,e}{,t,e}{,t,e} pl{d,i} csdb"
        " ssbb pssbb dbg str{,b,h}t", _FROM_M3, Feature.THUMB2),
    Row("tb{b,h}", _FROM_M3, Feature.THUMB2, TimingRule.BRANCH),
    Row("ldr{,b,h,sb,sh}t", (None, 2, 2), Feature.THUMB2, TimingRule.LOAD),
    Row("{ld,st}rd", (None, 3, 3), Feature.THUMB2),
    Row("ml{a,s}", (None, 2, 1), Feature.THUMB2),
    Row("{s,u}mull", (None, 4, 1), Feature.THUMB2),
    Row("{s,u}mlal", (None, 5.5, 1), Feature.THUMB2),
    Row("q{add,sub,dadd,dsub} {s,q,sh,u,uq,uh}{add16,asx,sax,sub16,add8,sub8} {s,u}sat16 pkh{bt,tb}"
        " sel usad{8,a8} {s,u}xta{b,b16,h} {s,u}xtb16 sml{a,al}{b,t}{b,t} smlaw{b,t} smul{b,t}{b,t}"
        " smulw{b,t} sml{a,s}{,l}d{,x} smu{a,s}d{,x} smml{a,s}{,r} smmul{,r} umaal",
        _FROM_M4, Feature.DSP),
    Row("sg tt{,t} tta{,t}", _FROM_M4, Feature.V8M),
    Row("{bx,blx}ns", _FROM_M4, Feature.V8M, TimingRule.BRANCH),
    Row("lda{,b,h,ex,exb,exh} stl{,b,h,ex,exb,exh}", (None, None, 2), Feature.V8M),
    Row("vlstm vlldm", _UNKNOWN, Feature.V8M),
    Row("cs{el,inc,inv,neg,et,etm} c{inc,inv,neg} clrm vscclrm bf{,x,l,lx,csel} dls wls le",
        _UNKNOWN, Feature.V81M),
    Row("cp{0,1,2,3,4,5,6,7} cdp{,2} m{cr,crr,rc,rrc}{,2} {ld,st}c{,2}{,l}",
        _UNKNOWN, Feature.COPROCESSOR),
    # Loads, stores and moves of single and double registers run on FPUs of single precision, and
    # on cores that have Helium without floating point. What the Cortex-M4 lacks (FPv5, double
    # precision) stands with what is like it there.
    Row("vldr vstr", (None, None, 2), Feature.FP_REGISTERS),
    Row("v{ld,st}m{,ia,db} vpush vpop f{ld,st}m{ia,db}x", _FROM_M4, Feature.FP_REGISTERS,
        TimingRule.LIST),
    Row("vmov", _FROM_M4, Feature.FP_REGISTERS, TimingRule.MOVE),
    Row("vmrs vmsr", _FROM_M4, Feature.FP_REGISTERS),
    Row("vabs vadd vcmp{,e} vcvt{,b,t,r} vmul vneg vnmul vsub vins vmovx", _FROM_M4, Feature.FPU),
    Row("v{,n}ml{a,s} vf{,n}m{a,s}", (None, None, 3), Feature.FPU),
    Row("vdiv vsqrt", (None, None, 14), Feature.FPU),
    Row("vsel v{max,min}nm vrint{a,m,n,p,r,x,z} vcvt{a,m,n,p}", _FROM_M4,
        Feature.FPU | Feature.FPV5),
    # Of Helium what may name no vector register; what does is known by that.
    Row("vp{t,st}{,t,e}{,t,e}{,t,e} vp{not,sel}{,t,e} vctp{,t,e} {dl,wl}stp letp lctp asrl ls{l,r}l"
        " {s,u}qrsh{r,l}{,l} {s,u}qshl{,l} {s,u}rshr{,l}", _UNKNOWN, Feature.MVE),
    # What names a vector register by a name that nothing else has; t: by a predicate.
    Row("v{ld,st}r{b,h,w}{,t} vst4{0,1,2,3} vmladav{,a}{,t} vaddv{,a}{,t} v{max,min}v{,t}"
        " vmla{t,s,st} vfmas{,t} v{max,min}{,t} v{,q}{,r}{,d}mulh{,t} v{,q}{add,sub}t vqadd vqsub"
        " v{,r}sh{l,r}{,t} vand{,t} vorr{,t} veor{,t} vbic{,t} vmvn{,t} vdup{,t} v{i,d}dup{,t}"
        " vmovl{b,t}{,t} v{,q}mov{,u}n{b,t}{,t} v{,q}{,r}shr{,u}n{b,t}{,t} vmult vfmat vcmpt"
        " vmovt",
        _UNKNOWN, Feature.MVE),
    Row("hlt setend eret hvc smc bxj rfe{,ia,db} srs{,ia,db} dcps{1,2,3} crc32{,c}{b,h,w} setpan"
        " pldw enterx leavex", _UNKNOWN, Feature.NOT_M),
)  # fmt: skip
TABLE = {name: row for row in _ROWS for name in row.expanded()}

_CONDITION = re.compile(r"(?:eq|ne|cs|cc|hs|lo|mi|pl|vs|vc|hi|ls|ge|lt|gt|le|al)$")
_VECTOR_REGISTER = re.compile(r"\bq[0-7]\b")


@cache
def split(mnemonic: str) -> tuple[str, str]:
    """The name of a mnemonic's row, and its condition: of "addeq.w" they are add and eq.

    The name is empty where the table has no such instruction.
    """
    whole, _, type_ = mnemonic.lower().partition(".")
    if whole == "vmovlt" and type_[:1] not in ("s", "u"):  # no VMOVL of the top halves
        return "vmov", "lt"
    plain = _CONDITION.sub("", whole)
    condition = whole[len(plain) :]
    for name, rest in ((whole, ""), (plain, condition)):
        if name in TABLE:
            return name, rest
    for name, rest in ((whole, ""), (plain, condition)):  # with S, which sets the flags
        if name.endswith("s") and name[:-1] in TABLE:
            return name[:-1], rest
    return "", ""


@cache
def row_of(mnemonic: str, core: str, column: int | None) -> Row:
    """The row of an instruction that a core has. column: of the row's cycles, which must be known
    there, if it is one. ValueError, a sentence: there is none."""
    row = TABLE.get(split(mnemonic)[0])
    if row is None or (column is not None and row.cycles[column] is None):
        raise ValueError(
            f"the table of instructions has no cycles of {mnemonic!r} on {core}: "
            "correct the mnemonic, or give it a row in backends/isa/table.py"
        )
    return row


def needed_features(mnemonic: str, operands: str, wide: bool) -> Feature:
    """The features that a core must have to run an instruction; none for what Armv6-M has.

    mnemonic, operands: as objdump prints them; wide: a 32-bit encoding. What the table does not
    have is a plain instruction of its width.
    """
    name, condition = split(mnemonic)
    if _is_vector(name, mnemonic, operands):
        real = re.search(r"\.f(?:16|32)", mnemonic) is not None
        return Feature.MVE_FLOAT if real else Feature.MVE
    row = TABLE.get(name)
    if row is None:
        is_float = mnemonic.startswith("v")
        row = Row("", _UNKNOWN, Feature.FPU if is_float else _NONE, wide=_THUMB2)
    if row.features & (Feature.FPU | Feature.FP_REGISTERS):
        return _float_features(row, name, mnemonic, operands)
    if not wide:
        return row.features
    # Armv8-M Baseline has B with a long reach, without a condition.
    return Feature.MID if name == "b" and not condition else row.features | row.wide


def _is_vector(name: str, mnemonic: str, operands: str) -> bool:
    if _VECTOR_REGISTER.search(operands) or (name and TABLE[name].features is Feature.MVE):
        return True
    # P0 is the predicate register of Helium; VPR alone also appears in VSCCLRM.
    return name in ("vmsr", "vmrs") and re.search(r"(?i)\b(p0|vpr)\b", operands) is not None


def _float_features(row: Row, name: str, mnemonic: str, operands: str) -> Feature:
    """FPU instructions, by the type behind their names."""
    if re.search(r"(?i)\b(fpcxt|fpscr_nzcvqc)", operands):
        return Feature.V81M
    is_double, is_half = ".f64" in mnemonic, mnemonic.endswith((".16", ".f16"))
    features = row.features
    if features is Feature.FP_REGISTERS:
        is_constant = name == "vmov" and "#" in operands.split(",")[-1]
        if name != "vmov" or not (is_double or is_constant):
            return Feature.HALF if is_half else features
        features = Feature.FPU
    converts_half = name in ("vcvtb", "vcvtt")
    if is_double and converts_half:
        features |= Feature.FPV5
    if is_double:
        features |= Feature.DOUBLE
    elif name in ("vins", "vmovx") or (".f16" in mnemonic and not converts_half):
        features |= Feature.HALF
    return features
