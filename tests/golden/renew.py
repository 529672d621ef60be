"""Writes the generated C that is committed anew: `make golden`. The difference is for reading."""

from __future__ import annotations

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))

from golden.nets import FOLDER, NETS, files

from mcu_deploy.output import write_file


def main() -> None:
    for net in NETS:
        if net.model is not None and not net.path.exists():
            model = net.model()
            write_file(net.path, model if isinstance(model, bytes) else model.SerializeToString())
    made = files()
    for old in (*FOLDER.glob("*.c"), *FOLDER.glob("*.h")):
        if old.name not in made:
            old.unlink()
    for name, text in made.items():
        write_file(FOLDER / name, text)
    print(f"{len(made)} files in {FOLDER}; `git diff` shows what has changed")


main()
