"""Generated C is what is committed, so that each change of it is seen in a diff."""

from __future__ import annotations

import difflib
import re

import pytest
from golden.nets import FOLDER, NETS, Net

# In the comment at the top: how it is compiled.
_COMMAND = re.compile(r"^ \*   \S*gcc .*\n( \*       .*\n)*", re.M)
# On the host there are neither DSP instructions nor Helium, nor a second memory.
_FOR_ANY_CORE = [n for n in NETS if n.backends == ("CpuRef",) and not n.options.pools.pinned]


def _changes(kept: str, text: str, name: str) -> str:
    lines = kept.splitlines(), text.splitlines()
    return "\n".join(difflib.unified_diff(*lines, name, "as generated now", lineterm=""))


@pytest.mark.parametrize("net", NETS, ids=lambda net: net.name)
def test_the_generated_c_is_the_committed(net: Net) -> None:
    for name, text in net.sources().items():
        said = _changes((FOLDER / name).read_text(encoding="utf-8"), text.decode(), name)
        assert not said, f"{said}\nIf this is wanted: `make golden`, and commit the difference."


@pytest.mark.parametrize("net", _FOR_ANY_CORE, ids=lambda net: net.name)
def test_the_c_for_any_core_is_that_for_the_host_but_for_its_compilers_command(net: Net) -> None:
    for name, text in net.sources("host").items():
        kept = (FOLDER / name).read_text(encoding="utf-8")
        assert name.endswith(".h") or _COMMAND.search(kept)
        assert not _changes(_COMMAND.sub("", kept), _COMMAND.sub("", text.decode()), name)


def test_no_other_c_is_committed() -> None:
    kept = {path.name for path in FOLDER.iterdir() if path.suffix in {".c", ".h"}}
    assert kept == {f"{net.name}.{net.board}.{end}" for net in NETS for end in net.ends}
