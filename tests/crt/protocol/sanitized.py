"""The device's parser with its fuzzer, under AddressSanitizer and UBSan."""

from __future__ import annotations

import subprocess
from pathlib import Path

from sanitizers import SANITIZED

HERE = Path(__file__).parent
CRT = HERE.parents[2] / "crt"
WARNINGS = ["-Wall", "-Wextra", "-Wpedantic", "-Wconversion", "-Wshadow", "-Wundef", "-Werror"]
FIRMWARE = [path for path in sorted((CRT / "firmware").glob("*.c")) if "bench" not in path.name]


def fuzzer(program: Path, mtu: int, optimisation: str = "-O1") -> Path:
    """Compiles `PROGRAM SEED FRAMES` for frames of that size. optimisation: -O0 for few frames, of
    which compiling takes longer than running."""
    runtime = [
        CRT / "src" / name
        for name in ("runtime.c", "instance.c", "tensor.c", "error.c", "resize.c")
    ]
    subprocess.run(
        [
            *("gcc", "-std=c99", "-g", optimisation, *WARNINGS),
            *SANITIZED,
            *("-DMCU_TEST_COMMANDS=0", f"-DMCU_PROTOCOL_MTU={mtu}U", f"-I{CRT / 'include'}"),
            *FIRMWARE,
            *runtime,
            *sorted(HERE.glob("*.c")),
            *("-o", program),
        ],
        check=True,
    )
    return program
