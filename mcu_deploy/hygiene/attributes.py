"""The build attributes of Arm objects (.ARM.attributes), and what they ask of a core.

Numbers of the tags: pyelftools' table of them; meanings: what readelf prints of objects that gcc
made for each core. The section is decoded here and not by pyelftools, whose loops trust the lengths
that stand in the section.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from mcu_deploy.backends.isa.table import Feature
from mcu_deploy.elf.reader import Elf
from mcu_deploy.hygiene.features import ARCHITECTURES, CheckedCore

TAG_CPU_ARCH = 6
TAG_CPU_ARCH_PROFILE = 7
TAG_FP_ARCH = 10
TAG_ABI_PCS_R9_USE = 14
TAG_ABI_PCS_WCHAR_T = 18
TAG_ABI_FP_NUMBER_MODEL = 23
TAG_ABI_ENUM_SIZE = 26
TAG_ABI_HARDFP_USE = 27
TAG_ABI_VFP_ARGS = 28
TAG_DSP_EXTENSION = 46
TAG_MVE_ARCH = 48

# Tags whose value is a string; of the tags above 32, odd numbers are strings too.
_STRING_TAGS = frozenset({4, 5, 67})
_COMPATIBILITY_TAG = 32  # a number and a string
_NESTED_TAG = 65  # Tag_also_compatible_with: a tag and its value, as a string

# Tag_CPU_arch of the M profile. 10 (v7) is Armv7-M where the profile says so.
_M_ARCHITECTURES = {
    10: "armv7-m",
    11: "armv6-m",
    12: "armv6-m",
    13: "armv7e-m",
    16: "armv8-m.base",
    17: "armv8-m.main",
    21: "armv8.1-m.main",
}
_OTHER_ARCHITECTURES = {
    0: "pre-Armv4", 1: "Armv4", 2: "Armv4T", 3: "Armv5T", 4: "Armv5TE", 5: "Armv5TEJ",
    6: "Armv6", 7: "Armv6KZ", 8: "Armv6T2", 9: "Armv6K", 10: "Armv7-A or Armv7-R",
    14: "Armv8-A", 15: "Armv8-R", 18: "Armv8.1-A", 19: "Armv8.2-A", 20: "Armv8.3-A",
    22: "Armv9-A",
}  # fmt: skip
_FP_NAMES = {
    1: "VFPv1", 2: "VFPv2", 3: "VFPv3", 4: "VFPv3-D16", 5: "VFPv4", 6: "FPv4 (VFPv4-D16)",
    7: "FP for Armv8", 8: "FPv5",
}  # fmt: skip


@dataclass(frozen=True)
class Attributes:
    """The attributes of one object: tag number to value (int, or str for names)."""

    tags: Mapping[int, int | str]

    def number(self, tag: int) -> int:
        """A numeric tag's value; 0, the default of the ABI, where it is absent."""
        value = self.tags.get(tag, 0)
        return value if isinstance(value, int) else 0

    @property
    def m_profile(self) -> bool:
        """Whether the code is for a Cortex-M core."""
        arch, profile = self.number(TAG_CPU_ARCH), self.number(TAG_CPU_ARCH_PROFILE)
        return arch in _M_ARCHITECTURES and (arch != 10 or profile == ord("M"))

    @property
    def architecture(self) -> str:
        """The architecture's name: a key of ARCHITECTURES where it is one of the M profile."""
        arch = self.number(TAG_CPU_ARCH)
        if self.m_profile:
            return _M_ARCHITECTURES[arch]
        return _OTHER_ARCHITECTURES.get(arch, f"an unknown architecture ({arch})")

    @property
    def has_fpu(self) -> bool:
        return self.number(TAG_FP_ARCH) != 0

    @property
    def single_precision(self) -> bool:
        """Whether the FPU that is asked for computes in single precision only."""
        return self.number(TAG_ABI_HARDFP_USE) == 1

    @property
    def fp_name(self) -> str:
        """The FPU in words."""
        arch = self.number(TAG_FP_ARCH)
        name = _FP_NAMES.get(arch, f"FP architecture {arch}")
        return f"{name}, single precision only" if self.single_precision else name

    @property
    def hard_float(self) -> bool | None:
        """Whether floats travel in FPU registers; None where the object does not care.

        The linker's own rule: an object without floats (Tag_ABI_FP_number_model 0) and one that is
        compatible with both (Tag_ABI_VFP_args 3) fit everything.
        """
        args = self.number(TAG_ABI_VFP_ARGS)
        if self.number(TAG_ABI_FP_NUMBER_MODEL) == 0 or args == 3:
            return None
        return args == 1

    @property
    def enum_bytes(self) -> str | None:
        """How wide enums are: "short" (as small as fits), "int", or None: it does not matter."""
        return {1: "short", 2: "int"}.get(self.number(TAG_ABI_ENUM_SIZE))

    @property
    def wchar_bytes(self) -> int | None:
        """The bytes of a wchar_t; None where none is used."""
        return self.number(TAG_ABI_PCS_WCHAR_T) or None

    @property
    def r9(self) -> str | None:
        """What the object takes r9 for; None where it does not use it."""
        uses = {0: "a register of their own", 1: "the static base", 2: "the thread's data"}
        return uses.get(self.number(TAG_ABI_PCS_R9_USE))

    def features(self) -> Feature:
        """The features of the smallest core that fits these attributes (M profile only)."""
        features = ARCHITECTURES[self.architecture] if self.m_profile else Feature(0)
        if self.number(TAG_DSP_EXTENSION):
            features |= Feature.DSP
        if self.has_fpu:
            features |= Feature.FPU | Feature.FP_REGISTERS
            if self.number(TAG_FP_ARCH) >= 7:
                features |= Feature.FPV5
            if not self.single_precision:
                features |= Feature.DOUBLE
            if self.architecture == "armv8.1-m.main":
                features |= Feature.HALF
        mve = self.number(TAG_MVE_ARCH)
        if mve:
            features |= Feature.MVE | Feature.FP_REGISTERS
        if mve >= 2:
            features |= Feature.MVE_FLOAT
        return features

    def core(self) -> CheckedCore | None:
        """The core that the object says it was made for; None outside of the M profile."""
        if not self.m_profile:
            return None
        return CheckedCore("", self.architecture, self.features())


class MalformedAttributes(ValueError):
    """The bytes of .ARM.attributes are not what the ABI describes."""


def read_attributes(elf: Elf) -> Attributes | None:
    """The build attributes of an Arm object; None where it has none.

    Raises MalformedAttributes.
    """
    for section in elf.sections:
        if section.type == "SHT_ARM_ATTRIBUTES":
            return Attributes(dict(_parse(elf.content(section), elf.little_endian)))
    return None


def _parse(data: bytes, little_endian: bool) -> Iterator[tuple[int, int | str]]:
    """Tags and values of the whole-file attributes of vendor "aeabi"."""
    if data[:1] != b"A":
        raise MalformedAttributes("unknown format")
    position = 1
    while position < len(data):
        body, position = _sized(data, position, 0, little_endian)
        vendor, separator, rest = body.partition(b"\0")
        if not separator:
            raise MalformedAttributes("no vendor")
        if vendor != b"aeabi":
            continue
        inner = 0
        while inner < len(rest):
            kind = rest[inner]
            attributes, inner = _sized(rest, inner, 1, little_endian)
            if kind == 1:  # Tag_File; the tags of sections and symbols are obsolete
                yield from _values(attributes)


def _sized(data: bytes, start: int, skip: int, little_endian: bool) -> tuple[bytes, int]:
    """A block whose length (that counts itself and `skip` bytes before it) stands at its start."""
    head = start + skip + 4
    length = int.from_bytes(data[start + skip : head], "little" if little_endian else "big")
    if length < skip + 4 or start + length > len(data):
        raise MalformedAttributes("a length that does not fit")
    return data[head : start + length], start + length


def _values(data: bytes) -> Iterator[tuple[int, int | str]]:
    position = 0
    while position < len(data):
        tag, position = _uleb(data, position)
        if tag == _COMPATIBILITY_TAG:
            _, position = _uleb(data, position)
            _, position = _text(data, position)
        elif tag in _STRING_TAGS or tag == _NESTED_TAG or (tag > _COMPATIBILITY_TAG and tag & 1):
            text, position = _text(data, position)
            yield tag, text
        else:
            number, position = _uleb(data, position)
            yield tag, number


def _uleb(data: bytes, position: int) -> tuple[int, int]:
    value = shift = 0
    while True:
        if position >= len(data) or shift > 63:
            raise MalformedAttributes("a number that does not end")
        byte = data[position]
        position += 1
        value |= (byte & 0x7F) << shift
        shift += 7
        if not byte & 0x80:
            return value, position


def _text(data: bytes, position: int) -> tuple[str, int]:
    end = data.find(b"\0", position)
    if end < 0:
        raise MalformedAttributes("a text that does not end")
    return data[position:end].decode("utf-8", "backslashreplace"), end + 1
