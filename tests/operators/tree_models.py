"""Random ensembles of trees in both of ONNX's forms."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import onnx
from onnx import helper, numpy_helper
from operators.lab import Array, make_model

MODES = ("BRANCH_LEQ", "BRANCH_LT", "BRANCH_GTE", "BRANCH_GT", "BRANCH_EQ", "BRANCH_NEQ")
MEMBER = 6
COLUMNS = 3
DOMAIN = "ai.onnx.ml"


def features(generator: np.random.Generator, rows: int, dtype: str, nan: bool = True) -> Array:
    """[rows, COLUMNS]: small integers, on which splits fall, halves, infinities and NaN."""
    x = generator.integers(-6, 7, (rows, COLUMNS)) / (2 if np.dtype(dtype).kind == "f" else 1)
    x = x.astype(dtype)
    if x.dtype.kind == "f":
        special = [np.inf, -np.inf, -0.0, *([np.nan] * 3 if nan else [])]
        where = generator.random(x.shape) < 0.2
        x[where] = generator.choice(special, where.sum())
    return x


def older(
    generator: np.random.Generator,
    modes: Sequence[str],
    targets: Sequence[int],
    prefix: str,
    *,
    trees: int = 4,
    tracks: bool = False,
    least: float = -1.0,
    levels: int = 4,
    columns: int = COLUMNS,
) -> dict[str, Any]:
    """Attributes of TreeEnsembleRegressor (prefix "target") or Classifier ("class"). Each leaf has
    a weight for each of the targets, of at least `least`."""
    names = ("treeids", "nodeids", "featureids", "modes", "values", "truenodeids", "falsenodeids",
             "missing_value_tracks_true")  # fmt: skip
    table: dict[str, list[Any]] = {name: [] for name in names}
    says: dict[str, list[Any]] = {n: [] for n in ("treeids", "nodeids", "ids", "weights")}

    def add(tree: int, level: int, count: list[int]) -> int:
        number = count[0]
        count[0] += 1
        row = len(table["nodeids"])
        leaf = level == levels or generator.random() < 0.15
        values = (tree, number, int(generator.integers(columns)),
                  "LEAF" if leaf else str(generator.choice(list(modes))),
                  float(generator.integers(-4, 5) / 2), 0, 0,
                  int(tracks and generator.random() < 0.5))  # fmt: skip
        for name, value in zip(names, values, strict=True):
            table[name].append(value)
        if leaf:
            for target in targets:
                weight = float(np.float32(max(generator.standard_normal() + 0.2, least)))
                for name, value in zip(says, (tree, number, target, weight), strict=True):
                    says[name].append(value)
            return number
        table["truenodeids"][row] = add(tree, level + 1, count)
        table["falsenodeids"][row] = add(tree, level + 1, count)
        return number

    for tree in range(trees):
        add(tree, 0, [0])
    if not tracks:
        del table["missing_value_tracks_true"]
    return {
        **{f"nodes_{k}": v for k, v in table.items()},
        **{f"{prefix}_{k}": v for k, v in says.items()},
    }


def newer(
    generator: np.random.Generator, modes: Sequence[int], targets: int, dtype: str, *,
    tracks: bool = False,
) -> dict[str, Any]:  # fmt: skip
    """Attributes of TreeEnsemble-5."""
    keys = ("featureids", "modes", "truenodeids", "falsenodeids", "trueleafs", "falseleafs",
            "missing_value_tracks_true")  # fmt: skip
    table: dict[str, list[int]] = {key: [] for key in keys}
    weights, splits, members = list[float](), list[float](), list[float]()

    def side(level: int) -> tuple[int, int]:
        if level == 3 or (level and generator.random() < 0.3):
            weights.append(float(generator.standard_normal()))
            return len(weights) - 1, 1
        return node(level), 0

    def node(level: int) -> int:
        index = len(splits)
        for values in table.values():
            values.append(0)
        splits.append(float(generator.integers(-4, 5) / 2))
        table["featureids"][index] = int(generator.integers(COLUMNS))
        table["modes"][index] = int(generator.choice(list(modes)))
        table["missing_value_tracks_true"][index] = int(tracks and generator.random() < 0.5)
        for way in ("true", "false"):
            found = side(level + 1)
            table[f"{way}nodeids"][index], table[f"{way}leafs"][index] = found
        return index

    roots = [node(0) for _ in range(4)]
    for mode in table["modes"]:
        if mode == MEMBER:
            # Not 0, at which the reference evaluator of onnx 1.23 ends a set.
            members += [*generator.choice([-2.0, -1.0, 1.0, 2.0], 2, replace=False), np.nan]
    made: dict[str, Any] = {f"nodes_{key}": values for key, values in table.items()}
    if not tracks:
        del made["nodes_missing_value_tracks_true"]
    tensor = numpy_helper.from_array
    made["nodes_modes"] = tensor(np.array(table["modes"], np.uint8))
    made["nodes_splits"] = tensor(np.array(splits, dtype))
    made["leaf_weights"] = tensor(np.array(weights, dtype))
    made["leaf_targetids"] = [k % targets for k in range(len(weights))]
    made["tree_roots"], made["n_targets"] = roots, targets
    if members:
        made["membership_values"] = tensor(np.array(members, dtype))
    return made


def model(
    op: str, attributes: dict[str, Any], x: Array, outputs: dict[str, tuple[str, Any]],
    version: int = 3, before: Sequence[onnx.NodeProto] = (),
    constants: dict[str, Array] | None = None,
) -> onnx.ModelProto:  # fmt: skip
    """A model of one node that reads `features`, which is the input or what `before` makes."""
    read = "features" if before else "x"
    node = helper.make_node(op, [read], [*outputs], op, "", DOMAIN, **attributes)
    kinds = {"x": (x.dtype.name, x.shape)}
    made = make_model([*before, node], kinds, outputs, constants, opset=21)
    made.opset_import.append(helper.make_opsetid(DOMAIN, version))
    made.ir_version = 10
    return made
