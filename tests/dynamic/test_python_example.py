"""examples/python_backend as an installed package: its layers, and kws with it and without."""

from __future__ import annotations

import math
import tomllib
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
from dynamic.package_cases import Installs
from operators import lab
from operators.sandwich import Q, quantized_conv
from sanitizers import SANITIZED

from mcu_deploy import interpreter
from mcu_deploy.api.building import build
from mcu_deploy.api.profiling import Profile, profile
from mcu_deploy.api.running import run
from mcu_deploy.boards import load_board
from mcu_deploy.compiled import Network
from mcu_deploy.compiler import compile_model
from mcu_deploy.files.samples import load_samples
from mcu_deploy.options import Options
from mcu_deploy.report import explain
from mcu_deploy.session import Session

pytestmark = pytest.mark.needs_host_gcc
ID = "Pointwise"
IMAGE = Q((2, 12, 5, 3))


@pytest.fixture(scope="module")
def session(repository: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Session]:
    """A session in which the example is installed, by the entry points of its pyproject.toml."""
    folder = repository / "examples" / "python_backend"
    project = tomllib.loads((folder / "pyproject.toml").read_text())["project"]
    ((group, entries),) = project["entry-points"].items()
    with (
        pytest.MonkeyPatch.context() as monkeypatch,
        Installs(tmp_path_factory.mktemp("installed"), monkeypatch) as installs,
    ):
        installs.add_to_path(folder, modules_only=True)
        lines = "".join(f"{name} = {value}\n" for name, value in entries.items())
        installs.distribution(project["name"], f"[{group}]\n{lines}")
        with Session(options=installs.options, report=installs.lines.append) as made:
            yield made
        assert installs.lines == []


# Conv by name, and what is computed, or the reason why it is not.
COMPUTED = (
    quantized_conv("plain", IMAGE, (8, 12, 1, 1)),
    quantized_conv("relu", IMAGE, (4, 12, 1, 1), activation="Relu"),
    quantized_conv("clip, no bias", IMAGE, (4, 12, 1, 1), bias=False, activation=(-0.5, 2.5)),
    quantized_conv("one scale", IMAGE, (4, 12, 1, 1), per_channel=False, seed=1),
    quantized_conv("odd depth", Q((1, 7, 3, 3), zero_point=-128), (4, 7, 1, 1), seed=2),
    quantized_conv("two channels", Q((1, 6, 3, 3), zero_point=127), (12, 6, 1, 1), seed=3),
    quantized_conv("one axis", Q((2, 8, 9)), (4, 8, 1), seed=4),
)
REFUSED = {
    "this one is 3x2": quantized_conv("kernel", IMAGE, (4, 12, 3, 2)),
    "stride 1 without padding": quantized_conv(
        "same size all the same", Q((1, 4, 3, 3)), (4, 4, 1, 1),
        {"strides": [2, 2], "pads": [1, 1, 1, 1]},
    ),
    "without groups": quantized_conv("groups", IMAGE, (4, 3, 1, 1), {"group": 4}),
    "6 is no multiple of four": quantized_conv("six", IMAGE, (6, 12, 1, 1)),
    "have a zero point": quantized_conv("zero", IMAGE, (4, 12, 1, 1), w_zero=3),
    "quantized int8, not uint8": quantized_conv("uint8", Q((1, 4, 3, 3), "uint8"), (4, 4, 1, 1)),
}  # fmt: skip


def test_layers_are_the_oracles(session: Session, tmp_path: Path) -> None:
    compiled = []
    for index, case in enumerate(COMPUTED):
        path = tmp_path / f"case_{index}.onnx"
        path.write_bytes(case.model.SerializeToString())
        network = compile_model(
            path, load_board("host"), name=f"c{index}", session=session,
            options=Options(weights="array"),
        )  # fmt: skip
        assert ID in {s.choice.workload.backend for s in network.plan.steps}, case.name
        compiled.append(lab.Compiled(case, network))
    for item, device in zip(compiled, lab.run_on_host(compiled, tmp_path, SANITIZED), strict=True):
        (expected,) = interpreter.run(item.graph, list(item.case.inputs))
        np.testing.assert_array_equal(device[0], expected, item.case.name)
        assert np.unique(expected).size > 3, f"{item.case.name} computes next to nothing"


@pytest.mark.parametrize("reason", REFUSED)
def test_it_says_why_not(reason: str, session: Session, tmp_path: Path) -> None:
    path = tmp_path / "model.onnx"
    path.write_bytes(REFUSED[reason].model.SerializeToString())
    network = compile_model(path, load_board("host"), session=session)
    (row,) = (row for row in explain(network) if row.op == "Conv")
    assert row.backend == "CpuRef"
    assert [r.backend for r in row.refusals] == [ID]
    assert reason in row.refusals[0].reason


@pytest.mark.matrix  # the reference backend has it end to end in the sample
@pytest.mark.parametrize(
    "board",
    [
        pytest.param("host", marks=pytest.mark.matrix),
        pytest.param("mps2-an386", marks=[pytest.mark.needs_arm_gcc, pytest.mark.needs_qemu]),
    ],
)
def test_keyword_spotting_with_and_without_it(
    board: str, session: Session, kws_dir: Path, tmp_path: Path
) -> None:
    """The same bits, its four layers really its own, and on the board fewer instructions."""
    answers, makers, built = {}, {}, {}
    for way, backends in (("with", (ID, "CpuRef")), ("CpuRef", ("CpuRef",))):
        built[way] = build(
            kws_dir / "model.onnx", board, tmp_path / way, name="kws", session=session,
            options=Options(backends=backends),
        )  # fmt: skip
        network = built[way].networks[0].network
        makers[way] = [step.choice.workload.backend for step in network.plan.steps]
        samples = load_samples(kws_dir / "samples.npz", network.graph)
        answers[way] = np.array(run(tmp_path / way, samples, session=session))
    np.testing.assert_array_equal(answers["with"], answers["CpuRef"])
    assert len(answers["CpuRef"]) == 8
    assert set(makers["CpuRef"]) == {"CpuRef"}
    assert [i for i, maker in enumerate(makers["with"]) if maker == ID] == [2, 4, 6, 8]
    source = built["with"].networks[0].network.sources.source
    assert source.count("_mcu_kws_pointwise(") == 5  # defined once, called for each
    if board != "host":
        its_own = profile(tmp_path / "with", session=session)
        reference = profile(tmp_path / "CpuRef", session=session)
        _check_costs(built["with"].networks[0].network, its_own, reference)


def _check_costs(network: Network, its_own: Profile, reference: Profile) -> None:
    """README.md says 48 % fewer in its layers, 28 % in all; and what it estimates is near."""
    for step, mine, other in zip(network.plan.steps, its_own.layers, reference.layers, strict=True):
        if step.choice.workload.backend == ID:
            assert mine.cost < 0.55 * other.cost
            estimate = step.choice.workload.costs.instructions
            assert estimate is not None
            assert math.isclose(estimate, mine.cost, rel_tol=0.02)
    assert its_own.total < 0.75 * reference.total
