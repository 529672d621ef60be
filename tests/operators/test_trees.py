"""Ensembles of trees: on the host, in the oracle and in onnxruntime, bit by bit."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import onnxruntime as ort
import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st
from onnx import helper
from onnx.reference import ReferenceEvaluator
from operators import tree_models as trees
from operators.lab import (
    Array,
    Case,
    Compiled,
    compile_case,
    make_model,
    relative_error,
    run_on_host,
)
from sampling import examples, is_sample
from sanitizers import SANITIZED

from mcu_deploy.backends.CpuRef.kernels import tree_code
from mcu_deploy.backends.CpuRef.kernels import trees as kernel
from mcu_deploy.errors import McuDeployError

ROWS = 24


@dataclass(frozen=True)
class _Form:
    """What trees become: code, or tables; on a core with instructions for real numbers, or not."""

    is_code: bool
    has_reals: bool = True


# Of what stands twice in a list, six places apart, the sample has both forms and both cores.
_FORMS = (_Form(True), _Form(False), _Form(False, False), _Form(True, False))


def _theirs(case: Case) -> list[Array]:
    options = ort.SessionOptions()
    options.log_severity_level = 4
    options.intra_op_num_threads = 1
    session = ort.InferenceSession(
        case.model.SerializeToString(), options, providers=["CPUExecutionProvider"]
    )
    names = [x.name for x in session.get_inputs()]
    return [np.asarray(v) for v in session.run(None, dict(zip(names, case.inputs, strict=True)))]


def _check(
    cases: Sequence[Case], folder: Path, exact: bool = True, forms: Sequence[_Form] = ()
) -> list[Compiled]:
    """Each in these forms; by default with `--all` in every form, and in the sample in one of them,
    in turn."""
    every = forms or _FORMS
    made: list[Compiled] = []
    for number, case in enumerate(cases):
        for form in every if forms or not is_sample() else [every[number % len(every)]]:
            made.append(_compiled(case, folder, len(made), form))
    found = run_on_host(made, folder, SANITIZED)
    for item, outputs in zip(made, found, strict=True):
        case = item.case
        for ours, oracle, theirs in zip(outputs, item.expected, _theirs(case), strict=True):
            if exact or theirs.dtype.kind != "f":
                np.testing.assert_array_equal(oracle, theirs, case.name)
                np.testing.assert_array_equal(ours, oracle, case.name)
            else:
                for value in (ours, oracle):
                    np.testing.assert_allclose(value, theirs, 1e-5, 1e-6, err_msg=case.name)
    return made


def _compiled(case: Case, folder: Path, index: int, form: _Form) -> Compiled:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(kernel, "has_instructions", lambda *_: form.has_reals)
        if not form.is_code:
            patch.setattr(tree_code, "ways", lambda *_: ())
        made = compile_case(case, folder, index, "speed" if form.is_code else "balanced")
    assert _is_code(made) == form.is_code, case.name
    return made


def _is_code(made: Compiled) -> bool:
    functions = (s.choice.workload.function for s in made.network.plan.steps)
    return any(f is not None and "trees_code" in f.stem for f in functions)


def _regressor(seed: int, dtype: str, aggregate: str = "SUM", **more: Any) -> Case:
    generator = np.random.default_rng(seed)
    modes = [*generator.choice(trees.MODES, generator.integers(1, 4), replace=False)]
    count, tracks = int(generator.integers(1, 4)), bool(generator.integers(2))
    attributes = trees.older(generator, modes, range(count), "target", tracks=tracks)
    if dtype == "float64":
        # In float32, all of the attributes have both forms.
        values = np.array(attributes.pop("nodes_values"))
        attributes["nodes_values_as_tensor"] = trees.numpy_helper.from_array(values)
        weights = np.array(attributes.pop("target_weights"))
        attributes["target_weights_as_tensor"] = trees.numpy_helper.from_array(weights)
    attributes |= {"n_targets": count, "aggregate_function": aggregate, **more}
    x = trees.features(generator, ROWS, dtype)
    made = trees.model("TreeEnsembleRegressor", attributes, x, {"y": ("float32", (ROWS, count))})
    return Case(f"regressor {seed} {dtype} {aggregate} {modes} {more}", made, (x,))


@pytest.mark.needs_host_gcc
@settings(
    max_examples=examples(3, 1),
    deadline=None,
    suppress_health_check=list(HealthCheck),
    phases=(Phase.explicit, Phase.reuse, Phase.generate),
)
@given(seed=st.integers(0, 1 << 30))
def test_regressors_are_onnxruntimes(tmp_path_factory: pytest.TempPathFactory, seed: int) -> None:
    """Of each type that onnxruntime has, and each aggregation."""
    names = ("SUM", "AVERAGE", "MIN", "MAX")
    pairs = [("float32", n) for n in names] + [("float64", n) for n in (*names[2:], *names[:2])]
    cases = [_regressor(seed + n, *pair) for n, pair in enumerate(pairs)]
    _check(cases, tmp_path_factory.mktemp("trees"))


@pytest.mark.needs_host_gcc
def test_transforms_and_base_values_are_onnxruntimes(tmp_path: Path) -> None:
    cases = []
    for seed, name in enumerate(("NONE", "SOFTMAX", "LOGISTIC", "SOFTMAX_ZERO")):
        case = _regressor(40 + seed, "float32", post_transform=name)
        (node,) = case.model.graph.node
        count = next(a.i for a in node.attribute if a.name == "n_targets")
        base = [0.25 * k - 0.5 for k in range(count)]
        node.attribute.append(helper.make_attribute("base_values", base))
        if count > 1:  # onnxruntime transforms no single one but by PROBIT
            cases.append(case)
    assert len(cases) >= 2
    _check(cases, tmp_path, exact=False)


def _classifier(
    seed: int, labels: Sequence[int], spoken: Sequence[int], dtype: str = "float32", **more: Any
) -> Case:
    generator = np.random.default_rng(seed)
    least = more.pop("least", -1.0)
    attributes = trees.older(
        generator, ["BRANCH_LEQ", "BRANCH_LT"], spoken, "class", tracks=True, least=least
    )
    attributes |= {"classlabels_int64s": [*labels], **more}
    x = trees.features(generator, ROWS, dtype)
    outputs = {"label": ("int64", (ROWS,)), "scores": ("float32", (ROWS, len(labels)))}
    made = trees.model("TreeEnsembleClassifier", attributes, x, outputs)
    return Case(f"classifier {seed} {labels} {spoken} {dtype} {least} {more}", made, (x,))


@pytest.mark.needs_host_gcc
def test_classifiers_are_onnxruntimes(tmp_path: Path) -> None:
    three, two = (4, -1, 9), (3, 7)
    cases = [_classifier(seed, three, range(3), dtype)
             for seed, dtype in enumerate(("float32", "float64", "int64", "int32"))]  # fmt: skip
    cases += [_classifier(9, three, range(3), base_values=[0.5, -0.25, 0.125])]
    for least in (-1.0, 0.0):
        cases.append(_classifier(10, two, [0], least=least))
        cases.append(_classifier(11, two, [0], least=least, base_values=[-0.125]))
        cases.append(_classifier(12, (0, 1), [0, 1], least=least))
    _check(cases, tmp_path)
    (tmp_path / "transformed").mkdir()
    cases = [_classifier(20, three, range(3), post_transform="SOFTMAX"),
             _classifier(21, three, range(3), post_transform="LOGISTIC"),
             _classifier(22, three, range(3), post_transform="SOFTMAX_ZERO"),
             _classifier(23, two, [0], post_transform="LOGISTIC", base_values=[0.5]),
             _classifier(24, two, [0], post_transform="LOGISTIC", least=0.0),
             _classifier(25, two, [0], post_transform="SOFTMAX"),
             _classifier(26, two, [0, 1], post_transform="SOFTMAX")]  # fmt: skip
    _check(cases, tmp_path / "transformed", exact=False)


def _newest(seed: int, modes: Sequence[int], targets: int, dtype: str, **more: Any) -> Case:
    generator = np.random.default_rng(seed)
    attributes = trees.newer(generator, modes, targets, dtype, tracks=seed % 2 == 1)
    x = trees.features(generator, ROWS, dtype)
    outputs = {"y": (dtype, (ROWS, targets))}
    made = trees.model("TreeEnsemble", {**attributes, **more}, x, outputs, version=5)
    return Case(f"newest {seed} {modes} {dtype} {more}", made, (x,))


@pytest.mark.needs_host_gcc
def test_the_newest_form_is_onnxruntimes(tmp_path: Path) -> None:
    cases = [_newest(mode, [mode], 1, dtype)
             for dtype in ("float32", "float64") for mode in range(6)]  # fmt: skip
    cases += [_newest(7 + n, [0, 3, 4], 2, "float32", aggregate_function=n) for n in range(4)]
    _check(cases, tmp_path)


@pytest.mark.needs_host_gcc
def test_members_are_the_reference_evaluators(tmp_path: Path) -> None:
    case = _newest(8, [0, trees.MEMBER], 1, "float32")
    x = trees.features(np.random.default_rng(3), ROWS, "float32", nan=False)
    case = Case(case.name, case.model, (np.nan_to_num(x, posinf=3, neginf=-3),))
    (wanted,) = ReferenceEvaluator(case.model).run(None, {"x": case.inputs[0]})
    made = compile_case(case, tmp_path, 0)
    (outputs,) = run_on_host([made], tmp_path, SANITIZED)
    for found in (made.expected[0], outputs[0]):
        assert relative_error(found, np.asarray(wanted).reshape(found.shape)) < 1e-6


def _integers(seed: int, dtype: str, per_column: bool = False, cast: bool = False) -> Case:
    """A regressor behind a DequantizeLinear, or a Cast."""
    generator = np.random.default_rng(seed)
    attributes = trees.older(generator, trees.MODES, range(2), "target", trees=6, tracks=True)
    attributes["n_targets"] = 2
    info = np.iinfo(dtype)
    x = generator.integers(max(info.min, -9), min(info.max, 10), (ROWS, trees.COLUMNS))
    x[0], x[1] = info.min, info.max
    size = (trees.COLUMNS,) if per_column else ()
    point = np.full(size, 2 if info.min == 0 else -1, dtype)
    constants = {"s": generator.choice([0.25, 0.3, 0.5], size).astype(np.float32), "z": point}
    before = helper.make_node("DequantizeLinear", ["x", "s", "z"], ["features"], axis=1)
    if cast:
        constants, before = {}, helper.make_node("Cast", ["x"], ["features"], to=1)
    given = x.astype(dtype)
    outputs = {"y": ("float32", (ROWS, 2))}
    made = trees.model("TreeEnsembleRegressor", attributes, given, outputs, 3, [before], constants)
    return Case(f"integers {dtype} {per_column} {cast}", made, (given,))


@pytest.mark.needs_host_gcc
def test_integers_are_compared_as_integers(tmp_path: Path) -> None:
    cases = [_integers(k, dtype) for k, dtype in enumerate(("int8", "uint8", "int16", "uint16"))]
    cases += [_integers(9, "int8", per_column=True), _integers(10, "uint8", per_column=True)]
    kinds = ("int8", "uint8", "int16", "int32", "int64")
    cases += [_integers(11 + k, kind, cast=True) for k, kind in enumerate(kinds)]
    for made in _check(cases, tmp_path, forms=[_Form(True), _Form(False)]):
        (node,) = made.graph.nodes
        assert made.graph.type(node.reads[0]).dtype.is_integer, made.case.name


@pytest.mark.needs_host_gcc
def test_many_nodes_need_wide_words(tmp_path: Path) -> None:
    """And features and splits that no narrow word holds."""
    generator = np.random.default_rng(5)
    attributes = trees.older(
        generator, ["BRANCH_LEQ"], range(3), "target", trees=10, levels=12, tracks=True
    )
    count = len(attributes["nodes_values"])
    attributes["nodes_values"] = generator.standard_normal(count).astype(np.float32).tolist()
    attributes["n_targets"] = 3
    x = generator.standard_normal((ROWS, trees.COLUMNS)).astype(np.float32)
    made = trees.model("TreeEnsembleRegressor", attributes, x, {"y": ("float32", (ROWS, 3))})
    case = Case("wide", made, (x,))
    made = _check([case], tmp_path, forms=[_Form(False)])
    text = (tmp_path / "network_c0.c").read_text()
    assert "const uint32_t *nodes" in text


@pytest.mark.needs_host_gcc
def test_trees_of_one_leaf(tmp_path: Path) -> None:
    attributes = trees.older(
        np.random.default_rng(1), ["BRANCH_LEQ"], range(2), "target", trees=3, levels=0
    )
    attributes["n_targets"] = 2
    x = np.zeros((2, trees.COLUMNS), np.float32)
    outputs = {"y": ("float32", (2, 2))}
    before = [helper.make_node("Cast", ["x"], ["features"], to=1)]
    made = trees.model("TreeEnsembleRegressor", attributes, x, outputs)
    _check([Case("leaves", made, (x,))], tmp_path)
    words, outputs = x[:1].astype(np.uint16), {"y": ("float32", (1, 2))}
    made = trees.model("TreeEnsembleRegressor", attributes, words, outputs, 3, before)
    _check([Case("of words", made, (words,))], tmp_path, forms=[_Form(False), _Form(True)])


@pytest.mark.needs_host_gcc
def test_behind_a_last_leaf_that_several_nodes_lead_to_may_be_nothing(tmp_path: Path) -> None:
    """As where the sums of many targets lie in memory."""
    targets = tree_code._SUMS + 1
    attributes = trees.older(
        np.random.default_rng(3), ["BRANCH_EQ"], [targets - 1], "target", trees=2, levels=2
    )
    attributes["n_targets"] = targets
    x = np.random.default_rng(3).integers(-4, 5, (ROWS, trees.COLUMNS)).astype(np.float32) / 2
    made = trees.model("TreeEnsembleRegressor", attributes, x, {"y": ("float32", (ROWS, targets))})
    _check([Case("many targets", made, (x,))], tmp_path, forms=[_Form(True)])
    assert "_done:" in (tmp_path / "network_c0.c").read_text()


def test_code_is_for_speed_and_for_few_nodes(tmp_path: Path) -> None:
    """Beside its tables the code of 20 trees is over a quarter and 8 KB of flash more."""
    generator = np.random.default_rng(6)
    found = {}
    for count in (2, 20):
        said = trees.older(
            generator, ["BRANCH_LEQ"], range(2), "target", trees=count, levels=6
        ) | {"n_targets": 2}  # fmt: skip
        x = trees.features(generator, 1, "float32")
        made = trees.model("TreeEnsembleRegressor", said, x, {"y": ("float32", (1, 2))})
        for goal in ("size", "balanced", "speed"):
            case = Case(f"{count} trees", made, (x,))
            found[count, goal] = _is_code(compile_case(case, tmp_path, 0, goal))
    assert found == {
        (2, "size"): False, (2, "balanced"): True, (2, "speed"): True,
        (20, "size"): False, (20, "balanced"): False, (20, "speed"): True,
    }  # fmt: skip


def test_trees_that_lead_nowhere_are_refused(tmp_path: Path) -> None:
    x = np.zeros((ROWS, trees.COLUMNS), np.float32)
    for name, value in (
        ("nodes_featureids", [trees.COLUMNS]), ("nodes_truenodeids", [99]),
        ("nodes_trueleafs", [0]), ("tree_roots", [99]),
    ):  # fmt: skip
        attributes = trees.newer(np.random.default_rng(2), [0], 1, "float32")
        attributes[name] = [*value, *attributes[name][1:]]
        if name == "nodes_trueleafs":
            attributes["nodes_truenodeids"] = [0, *attributes["nodes_truenodeids"][1:]]
        model = trees.model("TreeEnsemble", attributes, x, {"y": ("float32", (ROWS, 1))}, 5)
        with pytest.raises(McuDeployError, match="TreeEnsemble"):
            compile_case(Case(name, model, ()), tmp_path, 0)


def _isolated(ends: int) -> Case:
    """As skl2onnx writes an isolation forest: a formula of each tree's leaf, and their sum. ends:
    what of the last tree is read, of which only one is a function of its leaf in its place."""
    generator, nodes = np.random.default_rng(12), []
    constants = {"half": np.float32([0.5]), "one": np.float32([1])}
    for n in range(3):
        said = trees.older(generator, ["BRANCH_LEQ"], [0], "target", trees=1, tracks=True)
        count = len(said["target_ids"])
        said["target_weights"] = [*map(float, range(count))]
        lengths = generator.choice([0.25, 1.5, 3.0], count).tolist()
        constants[f"columns{n}"] = generator.permutation(trees.COLUMNS)
        if n and ends > 1:  # counted from the last
            constants[f"columns{n}"] -= trees.COLUMNS
        nodes += [
            helper.make_node("Gather", ["x", f"columns{n}"], [f"x{n}"], axis=1),
            helper.make_node(
                "TreeEnsembleRegressor", [f"x{n}"], [f"y{n}"], domain=trees.DOMAIN, n_targets=1,
                **said,
            ),
            helper.make_node("Cast", [f"y{n}"], [f"leaf{n}"], to=7),
            helper.make_node(
                "LabelEncoder", [f"leaf{n}"], [f"length{n}"], domain=trees.DOMAIN,
                keys_int64s=[*range(count)], values_floats=lengths,
            ),
            helper.make_node("Mul", [f"length{n}", "half"], [f"half{n}"]),
            helper.make_node("Max", [f"half{n}", "one"], [f"depth{n}"]),
        ]  # fmt: skip
    nodes.append(helper.make_node("Sum", ["depth0", "depth1", "depth2"], ["y"]))
    outputs = {"y": ("float32", (1, 1)), "y2": ("float32", (1, 1))}
    outputs = {name: outputs[name] for name in [*outputs][:ends]}
    x = trees.features(generator, 1, "float32", nan=False)
    x[0, 1] = np.nan
    made = make_model(nodes, {"x": ("float32", x.shape)}, outputs, constants, opset=17)
    made.opset_import.append(helper.make_opsetid(trees.DOMAIN, 3))
    made.ir_version = 10
    return Case(f"isolated {ends}", made, (x,))


@pytest.mark.needs_host_gcc
def test_an_isolation_forest_is_one_ensemble(tmp_path: Path) -> None:
    """But for a tree whose leaf's number is an output of the model."""
    whole, apart = _check([_isolated(1), _isolated(2)], tmp_path, forms=[_Form(False)])
    assert [node.op for node in whole.graph.nodes] == ["TreeEnsemble"]
    count = [node.op for node in apart.graph.nodes].count("TreeEnsemble")
    assert count == 3
