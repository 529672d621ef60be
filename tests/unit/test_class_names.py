"""One word for one thing: which names of classes stand twice, and why each of them may."""

from __future__ import annotations

import re
from collections import Counter
from pathlib import Path

import mcu_deploy

PACKAGE = Path(mcu_deploy.__file__).parent

_OF_A_CORE = "the same part of a kernel, for the words of one core and the vectors of another"
_OF_FLOATS = "the same part of a kernel, for floats and for bytes"
_OF_A_KERNEL = "what a kernel's own file calls its part, which no other file imports"
_OF_THREE = "one interface: a model's, and those of cores that issue one, two, and vectors"
# The name of a class, and the reason why it stands for several.
TWICE = {
    "Average": _OF_FLOATS,
    "Block": _OF_A_KERNEL,
    "Blocks": _OF_A_KERNEL,
    "Depthwise": _OF_FLOATS,
    "Frame": "of the line what the protocol calls one; of a kernel its stack's",
    "Gather": _OF_A_CORE,
    "Issue": _OF_THREE,
    "Kernel": "of each room the one word for what it makes",
    "Lines": _OF_A_CORE,
    "Loops": _OF_A_KERNEL,
    "Maximum": _OF_FLOATS,
    "Memory": "of a board a stretch of addresses; in assembly the operand that stands in brackets",
    "Outputs": _OF_A_CORE,
    "Pipeline": _OF_THREE,
    "Pool": "the field's two words: of memory, and of a layer of a network",
    "Registers": "in assembly a list in braces; of a kernel those that its code names",
    "Rounding": "of each family the words that its kernels round by",
    "Row": _OF_A_KERNEL,
    "Rows": _OF_A_KERNEL,
    "Scaling": _OF_A_KERNEL,
    "Shape": "of an instruction what its time depends on; of a function what it is made for",
    "Steps": _OF_A_KERNEL,
    "Strips": "a layer in strips, and two layers in them",
    "Sums": _OF_A_CORE,
    "Tile": _OF_A_CORE,
    "Tiles": _OF_FLOATS,
    "Window": "an operator's, and the same one in a kernel's registers",
    "Windows": _OF_A_CORE,
}

_CLASS = re.compile(r"^ *class ([A-Za-z]\w*)[:(\[]", re.MULTILINE)


def _names() -> Counter[str]:
    """How often a class of the package has a name. Those of a module alone begin with _."""
    return Counter(
        name
        for path in PACKAGE.rglob("*.py")
        for name in _CLASS.findall(path.read_text(encoding="utf-8"))
    )


def test_a_name_of_a_class_stands_for_one_thing_or_has_a_reason() -> None:
    found = {name for name, times in _names().items() if times > 1}
    assert sorted(found - TWICE.keys()) == [], "call one of them otherwise, or say why it stays"
    assert sorted(TWICE.keys() - found) == [], "these stand once now: take them off the list"
