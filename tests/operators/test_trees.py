"""TreeEnsemble of ai.onnx.ml on the host and in the oracle, against onnx's reference evaluator."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from onnx import helper, numpy_helper
from onnx.reference import ReferenceEvaluator
from operators.lab import Array, Case, compile_case, make_model, relative_error, run_on_host

from mcu_deploy.errors import McuDeployError

ROWS, COLUMNS = 40, 3
MEMBER = 6


def _forest(seed: int, modes: list[int], targets: int) -> dict[str, Any]:
    """Trees of at most three levels. A node tells its two sides apart by a mode at random."""
    generator = np.random.default_rng(seed)
    table: dict[str, list[int]] = {
        f"nodes_{k}": []
        for k in ("featureids", "modes", "truenodeids", "falsenodeids", "trueleafs", "falseleafs")
    }
    weights: list[float] = []
    splits: list[float] = []
    members: list[float] = []

    def side(level: int) -> tuple[int, int]:
        if level == 3 or (level and generator.random() < 0.3):
            weights.append(float(generator.standard_normal()))
            return len(weights) - 1, 1
        return node(level), 0

    def node(level: int) -> int:
        index = len(splits)
        for values in table.values():
            values.append(0)
        mode = int(generator.choice(modes))
        splits.append(float(generator.integers(-2, 3)))
        table["nodes_featureids"][index] = int(generator.integers(COLUMNS))
        table["nodes_modes"][index] = mode
        for way in ("true", "false"):
            found = side(level + 1)
            table[f"nodes_{way}nodeids"][index], table[f"nodes_{way}leafs"][index] = found
        return index

    roots = [node(0) for _ in range(4)]
    for mode in table["nodes_modes"]:
        if mode == MEMBER:
            # Not 0, at which the reference evaluator of onnx 1.23 ends a set.
            members += [*generator.choice([-2.0, -1.0, 1.0, 2.0], 2, replace=False), np.nan]
    made: dict[str, Any] = dict(table)
    made["nodes_modes"] = numpy_helper.from_array(np.array(table["nodes_modes"], np.uint8))
    made["nodes_splits"] = numpy_helper.from_array(np.array(splits, np.float32))
    made["leaf_weights"] = numpy_helper.from_array(np.array(weights, np.float32))
    made["leaf_targetids"] = [k % targets for k in range(len(weights))]
    made["tree_roots"], made["n_targets"] = roots, targets
    if members:
        made["membership_values"] = numpy_helper.from_array(np.array(members, np.float32))
    return made


def _case(name: str, attributes: dict[str, Any]) -> tuple[Case, Array]:
    x = np.random.default_rng(1).integers(-3, 4, (ROWS, COLUMNS)).astype(np.float32)
    node = helper.make_node("TreeEnsemble", ["x"], ["y"], domain="ai.onnx.ml", **attributes)
    shape = (ROWS, attributes["n_targets"])
    model = make_model([node], {"x": ("float32", x.shape)}, {"y": ("float32", shape)}, opset=21)
    model.opset_import.append(helper.make_opsetid("ai.onnx.ml", 5))
    model.ir_version = 10
    (wanted,) = ReferenceEvaluator(model).run(None, {"x": x})
    return Case(name, model, (x,)), np.asarray(wanted)


@pytest.mark.needs_host_gcc
def test_trees_are_the_reference_evaluators(tmp_path: Path) -> None:
    cases = [_case(f"mode {mode}", _forest(mode, [mode], 1)) for mode in range(6)]
    cases.append(_case("members", _forest(8, [0, MEMBER], 1)))
    cases.append(_case("two targets", _forest(7, [0, 3, 4], 2)))
    made = [compile_case(case, tmp_path, index) for index, (case, _) in enumerate(cases)]
    for item, outputs, (case, wanted) in zip(made, run_on_host(made, tmp_path), cases, strict=True):
        for found in (item.expected[0], outputs[0]):
            assert relative_error(found, wanted.reshape(found.shape)) < 1e-6, case.name


def test_trees_that_lead_nowhere_are_refused(tmp_path: Path) -> None:
    for name, value in (
        ("nodes_featureids", [COLUMNS]), ("nodes_truenodeids", [99]), ("nodes_trueleafs", [0]),
        ("tree_roots", [99]),
    ):  # fmt: skip
        attributes = _forest(2, [0], 1)
        attributes[name] = [*value, *attributes[name][1:]]
        if name == "nodes_trueleafs":
            attributes["nodes_truenodeids"] = [0, *attributes["nodes_truenodeids"][1:]]
        node = helper.make_node("TreeEnsemble", ["x"], ["y"], domain="ai.onnx.ml", **attributes)
        shape = {"x": ("float32", (ROWS, COLUMNS))}
        model = make_model([node], shape, {"y": ("float32", (ROWS, 1))}, opset=21)
        model.opset_import.append(helper.make_opsetid("ai.onnx.ml", 5))
        with pytest.raises(McuDeployError, match="TreeEnsemble"):
            compile_case(Case(name, model, ()), tmp_path, 0)
