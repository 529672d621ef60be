"""Generated C is what is committed, so that each change of it is seen in a diff."""

from __future__ import annotations

import difflib

import pytest
from golden.nets import FOLDER, NETS, Net


@pytest.mark.parametrize("net", NETS, ids=lambda net: net.name)
def test_the_generated_c_is_the_committed(net: Net) -> None:
    for board in net.boards:
        for name, text in net.sources(board).items():
            kept = (FOLDER / name).read_text(encoding="utf-8")
            changes = difflib.unified_diff(
                kept.splitlines(), text.decode().splitlines(), name, "as generated now", lineterm=""
            )
            said = "\n".join(changes)
            assert not said, f"{said}\nIf this is wanted: `make golden`, and commit the difference."


def test_no_other_c_is_committed() -> None:
    kept = {path.name for path in FOLDER.iterdir() if path.suffix in {".c", ".h"}}
    assert kept == {f"{n.name}.{b}.{end}" for n in NETS for b in n.boards for end in ("c", "h")}
