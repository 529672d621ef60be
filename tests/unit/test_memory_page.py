"""docs/memory.md: its table has every strategy in turn. (test_docs.py runs its prompts.)"""

from __future__ import annotations

import re
from pathlib import Path

from mcu_deploy.plan.placement.strategies import by_rank

PAGE = Path(__file__).parents[2] / "docs" / "memory.md"


def test_the_table_has_every_strategy_in_the_order_in_which_they_are_tried() -> None:
    rows = re.findall(r"^\| `([a-z-]+)` \|", PAGE.read_text(), re.MULTILINE)
    assert [entry.name for entry in by_rank()] == [row for row in rows if "-" in row]
