"""Makes the reader and writer from the schema: python mcu_deploy/pmx/schema/generate.py

Needs `flatc` (Debian: flatbuffers-compiler), which users of mcu-deploy do not: what it makes is
part of the repository. The reader is built on `checked` in place of the library's tables.
"""

from __future__ import annotations

import subprocess
import sys
import tempfile
from pathlib import Path

from mcu_deploy.output import write_file

_HERE = Path(__file__).resolve().parent
SCHEMA = _HERE / "pmx.fbs"
GENERATED = _HERE.parent / "pmx_generated.py"

# Of Debian 12. Other versions generate code that does the same, but is written otherwise.
FLATC = "flatc version 2.0.8"

_LIBRARY = "import flatbuffers\n"
_CHECKED = "import mcu_deploy.pmx.checked as flatbuffers\n"


def generate() -> str:
    """The source of the generated module. Raises OSError or CalledProcessError without flatc."""
    with tempfile.TemporaryDirectory(prefix="mcu-deploy-") as directory:
        subprocess.run(
            ["flatc", "--python", "--gen-object-api", "--gen-onefile", "-o", directory, SCHEMA],
            check=True,
            capture_output=True,
        )
        made = (Path(directory) / GENERATED.name).read_text()
    if made.count(_LIBRARY) != 1:
        raise ValueError("flatc imports its library in another way than this script knows")
    return made.replace(_LIBRARY, _CHECKED)


if __name__ == "__main__":
    found = subprocess.run(["flatc", "--version"], check=True, capture_output=True, text=True)
    if found.stdout.strip() != FLATC:
        sys.exit(f"the repository holds what {FLATC!r} makes, not {found.stdout.strip()!r}")
    write_file(GENERATED, generate().encode())
