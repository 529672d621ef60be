"""Runs a fuzz target for longer than the tests do.

    python tests/fuzz/run.py FORMAT FIRST COUNT [FOLDER]

Prints what it finds, and keeps the files in the folder.
"""

from __future__ import annotations

import importlib
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))

from fuzz import harness


def main(name: str, first: str, count: str, folder: str = "") -> None:
    target = importlib.import_module(f"fuzz.target_{name}")
    cases = range(int(first), int(first) + int(count))
    found = harness.run(target, cases, Path(folder) if folder else None)
    for finding in found:
        print(finding, flush=True)
    print(f"{name}: {len(cases)} cases, {len(found)} findings")


if __name__ == "__main__":
    main(*sys.argv[1:])
