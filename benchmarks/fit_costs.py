"""Measures what CpuRef's kernels cost on a Cortex-M4, and fits the tables of its costs/.

    .venv/bin/python benchmarks/fit_costs.py [MODELS]

Counts the instructions of every layer of every model of the pack that builds, and of models for
the operators that these lack (cost_cases.py, typed_cost_cases.py), on mps2-an386 in an emulator.
MODELS is the folder of the model pack, ../shared/models by default. Prints the coefficients, least
squares of the relative errors, as they stand in the modules of mcu_deploy/backends/CpuRef/costs/:
the coefficients, then how far the estimate is off, in the median and at worst, and on how many
different layers that rests. Layers below a hundred instructions are left out: what a call costs is
then more than what its loops do.
"""

from __future__ import annotations

import sys
import tempfile
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import chain, combinations
from pathlib import Path
from statistics import mode

import cost_cases
import numpy as np
import numpy.typing as npt
import onnx
import typed_cost_cases

from mcu_deploy.api.building import build
from mcu_deploy.api.folder import open_folder
from mcu_deploy.api.profiling import profile
from mcu_deploy.backends.CpuRef import costs
from mcu_deploy.backends.CpuRef.costs import Work, work_of
from mcu_deploy.discovery import modules
from mcu_deploy.errors import UnsupportedError

_BOARD = "mps2-an386"
_HERE = Path(__file__).resolve().parent
_LEAST = 100

Array = npt.NDArray[np.float64]


@dataclass(frozen=True)
class Row:
    """A layer that was measured. home: the module of costs/ that has the operator's rule."""

    work: Work
    instructions: int
    home: str


def measure(model: Path) -> Iterator[Row]:
    """Builds a model, and counts each of its layers."""
    with tempfile.TemporaryDirectory() as directory:
        built = build(model, _BOARD, directory, name="model")
        counted = profile(open_folder(directory))
    homes = {
        operator: name
        for name, module in modules(costs.__name__)
        for operator in getattr(module, "RULES", {})
    }
    steps = built.networks[0].network.plan.steps
    for step, cost in zip(steps, counted.layers, strict=True):
        layer = step.choice.layer
        home = homes.get((layer.domain, layer.op), "")
        if cost.cost >= _LEAST:
            yield Row(work_of(layer), cost.cost, home)


def fit(rows: Sequence[Row]) -> Array:
    """The coefficients, none negative, of the least squares of the relative errors."""
    counts = np.array([row.work.counts for row in rows], dtype=np.float64)
    scaled = counts / np.array([[row.instructions] for row in rows])
    best, least = np.zeros(counts.shape[1]), np.inf
    for size in range(1, counts.shape[1] + 1):
        for columns in combinations(range(counts.shape[1]), size):
            found = np.zeros(counts.shape[1])
            found[list(columns)] = np.linalg.lstsq(
                scaled[:, columns], np.ones(len(rows)), rcond=None
            )[0]
            error = float(np.sum((scaled @ found - 1) ** 2))
            if np.all(found >= 0) and error < least - 1e-9:
                best, least = found, error
    return np.round(best, 1)


def errors(rows: Sequence[Row], coefficients: Array) -> Array:
    """Relative errors of the estimates, with coefficients as they are printed."""
    return np.array([abs(np.dot(r.work.counts, coefficients) / r.instructions - 1) for r in rows])


def main() -> None:
    default = _HERE.parent.parent / "shared" / "models"
    models = Path(sys.argv[1]) if len(sys.argv) > 1 else default
    if not (models / "mlperf_kws_int8").is_dir():
        sys.exit(f"The model pack is not at {models}; name its folder.")
    rows: dict[Row, None] = {}  # layers that are alike in all count once
    made = chain(cost_cases.cases(), typed_cost_cases.cases())
    with tempfile.TemporaryDirectory() as directory:
        files = sorted([*models.glob("*/model.onnx"), *models.glob("*/model.tflite")])
        paths = {f"{path.parent.name}{path.suffix}": path for path in files}
        for number, model in enumerate(made):
            paths[f"cases {number}"] = Path(directory) / f"{number}.onnx"
            onnx.save(model, paths[f"cases {number}"])
        for name, path in paths.items():
            try:
                found = list(measure(path))
            except UnsupportedError:
                print(f"# {name}: left out, an operator has no kernel", file=sys.stderr)
                continue
            print(f"# {name}: {len(found)} layers", file=sys.stderr, flush=True)
            rows |= dict.fromkeys(found)
    print_table(rows)


def print_table(all_rows: Iterable[Row]) -> None:
    """A line for each family, by modules, and one for all."""
    families: dict[str, list[Row]] = {}
    for row in all_rows:
        families.setdefault(row.work.family, []).append(row)
    everything = []
    lines: dict[str, list[str]] = {}
    for family, rows in sorted(families.items()):
        if not rows[0].work.counts:
            continue  # nothing is computed, or nobody has written down what
        coefficients = fit(rows)
        off = errors(rows, coefficients)
        everything.append(off)
        values = ", ".join(f"{value:g}" for value in coefficients)
        values += "," if len(coefficients) == 1 else ""
        median, worst = np.median(off), np.ceil(np.max(off) * 100) / 100
        layers = "1 layer" if len(rows) == 1 else f"{len(rows)} layers"
        lines.setdefault(mode(row.home for row in rows), []).append(
            f'    "{family}": Fit(({values}), {median:.2f}, {worst:.2f}),  # {layers}'
        )
    for home, table in sorted(lines.items()):
        print(f"# {home}.py", *table, sep="\n")
    off = np.concatenate(everything)
    nine = np.quantile(off, 0.9)
    print(f"# all {len(off)} layers: median {np.median(off):.2f}, nine of ten within {nine:.2f}")


if __name__ == "__main__":
    main()
