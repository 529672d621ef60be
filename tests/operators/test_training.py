"""Steps of optimizers and of BatchNormalization that learns, against onnx's reference evaluator."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper
from onnx.reference import ReferenceEvaluator
from operators.lab import Array, Case, compile_case, relative_error, run_on_host

SHAPES = ((3, 4), (5,))


def _optimizer(op: str, kinds: int, count: int, **attributes: Any) -> tuple[Case, list[Array]]:
    """A step over two tensors, `kinds` of values for each, at a count of steps."""
    generator = np.random.default_rng(count)
    given: dict[str, Array] = {"r": np.array(0.1, np.float32), "t": np.array(count, np.int64)}
    for kind in range(kinds):
        for index, shape in enumerate(SHAPES):
            value = generator.standard_normal(shape).astype(np.float32)
            # The last kind is of squares in all three; what is negative there has no root.
            given[f"v{kind}_{index}"] = np.abs(value) if kind == kinds - 1 else value
    results = [
        (f"y{kind}_{index}", shape)
        for kind in range(kinds - 1)
        for index, shape in enumerate(SHAPES)
    ]
    domain = "ai.onnx.preview.training"
    node = helper.make_node(op, list(given), [n for n, _ in results], domain=domain, **attributes)
    return _case(f"{op} {count}", [node], given, results, domain)


def _case(
    name: str, nodes: list[onnx.NodeProto], given: dict[str, Array],
    results: list[tuple[str, tuple[int, ...]]], domain: str = "",
) -> tuple[Case, list[Array]]:  # fmt: skip
    info = helper.make_tensor_value_info
    kinds = {np.dtype(np.float32): TensorProto.FLOAT, np.dtype(np.int64): TensorProto.INT64}
    graph = helper.make_graph(
        nodes, "step", [info(n, kinds[v.dtype], v.shape) for n, v in given.items()],
        [info(n, TensorProto.FLOAT, s) for n, s in results],
    )  # fmt: skip
    imports = [helper.make_opsetid("", 17), *([helper.make_opsetid(domain, 1)] if domain else [])]
    model = helper.make_model(graph, opset_imports=imports, ir_version=8)
    wanted = ReferenceEvaluator(model).run(None, dict(given))
    return Case(name, model, tuple(given.values())), [np.asarray(w) for w in wanted]


@pytest.mark.needs_host_gcc
def test_a_step_is_the_reference_evaluators(tmp_path: Path) -> None:
    cases = []
    for count in (0, 1, 1000):
        cases.append(_optimizer("Adagrad", 3, count, norm_coefficient=0.01, decay_factor=0.1))
        cases.append(_optimizer("Adam", 4, count, norm_coefficient=0.01, norm_coefficient_post=0.1))
        for mode in ("standard", "nesterov"):
            cases.append(
                _optimizer(
                    "Momentum", 3, count, norm_coefficient=0.01, alpha=0.9, beta=0.5, mode=mode
                )
            )
    _check(cases, tmp_path)


@pytest.mark.needs_host_gcc
def test_batch_normalization_learns(tmp_path: Path) -> None:
    cases = []
    for shape in ((4, 3), (2, 3, 5), (2, 3, 4, 4)):
        generator = np.random.default_rng(len(shape))
        given = {"x": (2 * generator.standard_normal(shape) + 1).astype(np.float32)}
        for name in ("scale", "bias", "mean", "variance"):
            given[name] = generator.random(3).astype(np.float32) + np.float32(0.5)
        outputs = [("y", shape), ("new_mean", (3,)), ("new_variance", (3,))]
        names = [name for name, _ in outputs]
        node = helper.make_node(
            "BatchNormalization", list(given), names, training_mode=1, momentum=0.7
        )
        case, wanted = _case(f"rank {len(shape)}", [node], given, outputs)
        cases += [(case, wanted), (_older(case), wanted)]
    _check(cases, tmp_path)


def _older(case: Case) -> Case:
    """The case as a BatchNormalization-9, which learns where it has more than one output."""
    model = onnx.ModelProto()
    model.CopyFrom(case.model)
    model.opset_import[0].version = 13
    del model.graph.node[0].attribute[1]  # training_mode
    model.graph.node[0].output.extend(["saved_mean", "saved_variance"])
    return replace(case, name=f"older {case.name}", model=model)


def _check(cases: list[tuple[Case, list[Array]]], folder: Path) -> None:
    made = [compile_case(case, folder, index) for index, (case, _) in enumerate(cases)]
    for item, outputs, (case, wanted) in zip(made, run_on_host(made, folder), cases, strict=True):
        for who in (item.expected, outputs):
            errors = [relative_error(a, w) for a, w in zip(who, wanted, strict=True)]
            assert max(errors) < 1e-5, f"{case.name}: {errors}"
