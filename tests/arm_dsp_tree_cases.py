"""Forests for ArmDsp: features of each type, near and far, splits of 8 and 16 bits, leaves that are
one addition, lists of items, or nothing."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import onnx
from onnx import helper, numpy_helper
from operators import tree_models

_FEW = (0.05, 0.1, 0.0, -0.3)


@dataclass(frozen=True)
class Trees:
    """x: rows and columns. of: trees and their levels. splits: the least and the most of features.
    few: whether leaves have one target and few weights, and are not all different."""

    dtype: str
    x: tuple[int, int]
    targets: int
    of: tuple[int, int]
    splits: tuple[int, int]
    few: bool = False

    def model(self, seed: int) -> tuple[onnx.ModelProto, np.ndarray]:
        """The forest behind a Cast, and features of which some are at the ends of their range."""
        random, (rows, columns) = np.random.default_rng(seed), self.x
        said = tree_models.older(
            random, ["BRANCH_LEQ"], [0] if self.few else range(self.targets), "target",
            trees=self.of[0], levels=self.of[1], columns=columns,
        )  # fmt: skip
        count, leaves = len(said["nodes_values"]), len(said["target_ids"])
        said["nodes_values"] = random.integers(*self.splits, count).astype(float).tolist()
        if self.few:
            said["target_ids"] = random.integers(0, self.targets, leaves).tolist()
            said["target_weights"] = random.choice(_FEW, leaves).tolist()
        x = random.integers(self.splits[0], self.splits[1] + 1, self.x)
        ends = random.random(self.x) < 0.1
        info = np.iinfo(self.dtype)
        x[ends] = random.choice([info.min, info.max], ends.sum())
        before = [helper.make_node("Cast", ["x"], ["features"], to=1)]
        made = tree_models.model(
            "TreeEnsembleRegressor", said | {"n_targets": self.targets}, x.astype(self.dtype),
            {"y": ("float32", (rows, self.targets))}, 3, before,
        )  # fmt: skip
        return made, x.astype(self.dtype)


TAKEN = (
    Trees("int16", (2, 9), 24, (3, 5), (0, 254)),
    Trees("uint8", (2, 40), 10, (12, 7), (0, 17), few=True),
    Trees("uint16", (1, 130), 2, (4, 6), (0, 900), few=True),
    Trees("uint8", (1, 64), 5, (3, 0), (0, 9)),  # each tree is a leaf
    Trees("int16", (1, 70), 3, (5, 8), (-3000, 3000)),
    Trees("int8", (3, 13), 1, (8, 6), (-9, 10)),
    Trees("int8", (1, 36), 4, (9, 7), (-128, 127)),
    Trees("int16", (1, 8), 1, (6, 8), (0, 100)),
)
REFUSED = {
    Trees("int32", (1, 4), 1, (2, 3), (-9, 9)): "integers of 8 or 16 bits",
    Trees("uint8", (1, 4), 25, (2, 3), (0, 9)): "up to 24 targets",
    Trees("uint8", (1, 4096), 1, (2, 3), (0, 9)): "rows of up to 4095 bytes",
}


def model(cases: Sequence[Trees], path: Path) -> tuple[Path, Path]:
    """One model of all, whose layers are called by the numbers of the cases; and its inputs."""
    whole, arrays = None, {}
    for number, case in enumerate(cases):
        made, x = case.model(number)
        made = onnx.compose.add_prefix(made, f"{number}_")
        made.graph.node[-1].name = f"trees{number}"
        arrays[f"{number}_x"] = x[None]
        whole = made if whole is None else onnx.compose.merge_models(whole, made, [])
    onnx.save_model(whole, path)
    np.savez(samples := path.with_suffix(".npz"), **arrays)
    return path, samples


def digits(folder: Path, path: Path, dtype: str) -> int:
    """A forest of 20 trees that tells digits, on as many rows of features as `io.npz` has, which
    are added to an input of zeros; their count."""
    made = onnx.load(folder / "model.onnx")
    graph, rows = made.graph, np.load(folder / "io.npz")["in0"].reshape(-1, 64).astype(dtype)
    (x,) = graph.input
    x.type.tensor_type.elem_type = helper.np_dtype_to_tensor_dtype(rows.dtype)
    for value in (x, *graph.output):
        value.type.tensor_type.shape.dim[0].dim_value = len(rows)
    graph.initializer.append(numpy_helper.from_array(rows, "rows"))
    graph.node.insert(0, helper.make_node("Add", ["zeros", "rows"], ["features"]))
    graph.node.insert(1, helper.make_node("Cast", ["features"], [x.name], to=1))
    x.name = "zeros"
    onnx.save_model(made, path)
    return len(rows)
