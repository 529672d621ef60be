"""ArmMve's depthwise convolutions: functions that layers of several channels share, bands, and what
it refuses."""

from __future__ import annotations

from pathlib import Path

import pytest
from arm_dsp_depthwise_cases import _case
from arm_mve_depthwise_cases import ALONE, Case, model
from kernel_runs import first_sample, runs
from quantized_layers import extremes

from mcu_deploy import formats, passes
from mcu_deploy.backends.ArmMve import ArmMve
from mcu_deploy.backends.interface import Target, layer_of
from mcu_deploy.backends.quantized.layers import Convolution, read
from mcu_deploy.backends.quantized.strips import WORDS, Strips
from mcu_deploy.ir import view_of_all
from mcu_deploy.options import Options

_M55 = Target("cortex-m55", fpu=True, dsp=True, mve=True)


def _layer(case: Case, folder: Path) -> Convolution:
    view = view_of_all(passes.run(formats.load(model([case], folder / "one.onnx"))))
    (node,) = [node for node in view.nodes if node.op == "Conv"]
    found = read(layer_of(view, node, _M55))
    assert isinstance(found, Convolution)
    return found


@pytest.mark.parametrize("dtypes", [("int8", "int8"), ("uint8", "uint8")])
@pytest.mark.parametrize("stride", [1, 2])
def test_layers_of_several_channels_share_a_function(
    dtypes: tuple[str, str], stride: int, tmp_path: Path
) -> None:
    cases = [
        _case(channels, (6, 5), (3, 3), (stride, stride), (1, 1, 1, 1), dtypes=dtypes, zeros=(9, 4))
        for channels in (5, 16, 35, 48)
    ]
    path = model(cases, tmp_path / "shared.onnx")
    inputs = first_sample(path, extremes(path))
    options = Options(backends=("ArmMve", "CpuRef"), optimize_for="size")
    texts = []
    for run in runs(path, inputs, board="mps3-an547", options=options):
        function = run.choice.workload.function
        if run.choice.layer.op == "Reorder":  # which stands around them
            continue
        if run.choice.workload.backend == "ArmMve" and function is not None:
            assert run.result() == run.output, run.name
            assert all(run.result(p) == run.output for p in run.choice.workload.in_place)
            texts.append(function.body)
    assert len(texts) == len(cases) and len({*texts}) == 1


@pytest.mark.parametrize("case", [ALONE, _case(16, (48, 47), (3, 3)), _case(8, (9, 9), (5, 5))])
def test_each_output_is_in_one_vector(case: Case, tmp_path: Path) -> None:
    of = Strips(_layer(case, tmp_path))
    turn = sorted(of.output_at(place) for vector in of.turn for place in vector)
    rest = sorted(of.output_at(place) for vector in of.rest for place in vector)
    for found in (turn, rest):
        assert found == [*range(0, len(found) * of.channels, of.channels)]
    assert of.turns * len(turn) + len(rest) == of.layer.pixels
    assert max(map(len, of.turn)) == WORDS


def test_bands_hold_few_strips(tmp_path: Path) -> None:
    of = Strips(_layer(_case(16, (96, 40), (3, 3)), tmp_path))
    assert of.bands > 1 and of.held < of.axes[0].all_pairs / 4
    assert of.may_lie_on_input and not of.may_be_any


@pytest.mark.parametrize(
    ("case", "reason"),
    [
        (_case(4, (5, 5), (5, 5), batch=2), "it takes those of one image"),
        (_case(4, (7, 6), (3, 3), filters=2), "one filter a channel"),
    ],
)
def test_what_it_lacks(case: Case, reason: str, tmp_path: Path) -> None:
    view = view_of_all(passes.run(formats.load(model([case], tmp_path / "one.onnx"))))
    found = ArmMve().propose(view, _M55)
    (refused,) = [found.refused[n.id] for n in view.nodes if n.op == "Conv"]
    assert reason in refused
