"""Measures the eight MLPerf Tiny models and writes benchmarks/results.md.

    .venv/bin/python benchmarks/run.py [MODELS]

Instructions are counted exactly in an emulator on bench.elf; they are not cycles. Flash and RAM are
those of report.json: the network and the runtime alone. MODELS is the folder of the model pack,
../shared/models by default.
"""

from __future__ import annotations

import sys
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from mcu_deploy.api.building import build
from mcu_deploy.api.folder import BuildFolder, open_folder
from mcu_deploy.api.profiling import profile
from mcu_deploy.boards import load_board
from mcu_deploy.options import Options
from mcu_deploy.output import write_file
from mcu_deploy.toolchain import Toolchain

_HERE = Path(__file__).resolve().parent
_MODELS = ("kws_int8", "vww_int8", "ic_int8", "ad_int8", "kws_f32", "vww_f32", "ic_f32", "ad_f32")
_BOARDS = ("mps2-an385", "mps2-an386", "mps2-an500", "mps3-an547")

_HEAD = """# Measured

Written by `benchmarks/run.py` (`make bench`). One inference, bytes and exact
instruction counts; instructions are not cycles. Each model is compiled by CpuRef alone (the
reference, in portable C), and by the backends that a build takes by default where these are others.
Flash and RAM are those of the network and the runtime; bound is the largest sum of tensors that
live at a time, each on its own ([docs/memory.md](../docs/memory.md)).

{tools}

| core | model | by | instructions | a MAC | outside | flash | RAM | arena | bound | ratio | stack |
|---|---|---|---:|---:|---:|---:|---:|---:|---:|---:|---:|
"""


@dataclass(frozen=True)
class Measured:
    """One row of the table, and what counted it."""

    row: str
    counter: str


def measure(models: Path) -> Iterator[Measured]:
    """Builds and counts every model on every board, one after the other."""
    for board in _BOARDS:
        for model in _MODELS:
            for backends in (("CpuRef",), ()):
                with tempfile.TemporaryDirectory() as directory:
                    path = models / f"mlperf_{model}" / "model.onnx"
                    options = Options(backends=backends)
                    made = build(path, board, directory, name=model, options=options).report
                    used = sorted({layer.backend for layer in made.layers})
                    if backends or used != ["CpuRef"]:
                        yield _counted(model, ", ".join(used), open_folder(directory))


def _counted(model: str, backends: str, folder: BuildFolder) -> Measured:
    counted = profile(folder)
    r = folder.report
    row = (
        f"| {folder.board.core} | {model} | {backends} | {counted.total:,} "
        f"| {counted.total / counted.macs:.2f} | {counted.overhead:.4%} "
        f"| {r.flash_bytes:,} | {r.ram_bytes:,} | {r.arena_bytes:,} "
        f"| {r.arena_lower_bound_bytes:,} | {r.arena_ratio:.2f} "
        f"| {r.stack_bytes:,} |"
    )
    return Measured(row, counted.source)


def main() -> None:
    default = _HERE.parent.parent / "shared" / "models"
    models = Path(sys.argv[1]) if len(sys.argv) > 1 else default
    if not (models / "mlperf_kws_int8").is_dir():
        sys.exit(f"The model pack is not at {models}; name its folder: make bench MODELS=...")
    measured = []
    for entry in measure(models):
        print(entry.row, flush=True)
        measured.append(entry)
    gcc = Toolchain.for_board(load_board(_BOARDS[0])).version
    tools = f"{gcc}; {measured[0].counter}"
    text = _HEAD.format(tools=tools) + "\n".join(m.row for m in measured) + "\n"
    write_file(_HERE / "results.md", text.encode())


if __name__ == "__main__":
    main()
