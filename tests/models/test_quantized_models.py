"""Real models of float32, quantized: all in integers, no worse than onnxruntime's own tool, and no
larger or slower than the int8 files that others made of the same networks."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from mcu_deploy import compiler, formats
from mcu_deploy.agreement.runs import run_oracle
from mcu_deploy.api.quantized_costs import cost_of
from mcu_deploy.api.quantizing import quantize
from mcu_deploy.boards import load_board
from mcu_deploy.files.samples import load_samples, open_samples
from mcu_deploy.quantizing import judging, preparing, rounding, scales
from mcu_deploy.quantizing.baseline import onnxruntime_int8
from mcu_deploy.quantizing.choosing import Trials, choose
from mcu_deploy.quantizing.statistics import SampleShare
from mcu_deploy.report.floats import float_layers, require_integers

WHOLE = (
    "mlperf_kws_f32", "mlperf_ad_f32", "mlperf_vww_f32", "mlperf_ic_f32", "torch_dscnn_hswish_se",
    "torch_digits_cnn", "catdog_cnn_f32", "umatest_cnn_f32", "onnx2c_atmega_mnist_f32",
    "st_yamnet256_cf_f32", "tflm_hello_world_f32", "mnist8_zoo_f32", "torch_unet_convt",
    "torch_transformer_enc", "torch_gru_step",
)  # fmt: skip
SAMPLE = ("torch_digits_cnn",)
# onnxruntime 1.32 has no answer for a MatMul whose product it folds to a bias of two axes.
NOT_BY_ONNXRUNTIME = ("mnist8_zoo_f32",)


@pytest.mark.parametrize(
    "name", [n if n in SAMPLE else pytest.param(n, marks=pytest.mark.matrix) for n in WHOLE]
)
def test_a_model_becomes_integers_and_loses_little(
    name: str, models_dir: Path, tmp_path: Path
) -> None:
    folder = models_dir / name
    made = quantize(
        folder / "model.onnx", folder / "io.npz", tmp_path / "q.onnx",
        samples_output=tmp_path / "q.npz",
    )  # fmt: skip
    network = compiler.compile_model(tmp_path / "q.onnx", load_board("mps2-an386"))
    require_integers(network)
    scores = {a.what: a.judged.mean_sqnr for a in made.accuracy}
    assert scores["this int8, by the device's arithmetic"] > 25
    if name not in NOT_BY_ONNXRUNTIME:
        theirs = scores["onnxruntime's int8 (min-max)"]
        assert scores["this int8, by onnxruntime"] >= theirs - 0.5
    # What a build computes of the samples as they are written beside it.
    given = load_samples(tmp_path / "q.npz", network.graph, network.inputs)
    assert len(run_oracle(network, given.first(1))) == 1


@pytest.mark.matrix
@pytest.mark.parametrize("name", WHOLE)
def test_one_half_of_the_samples_says_what_is_good_for_the_other(
    name: str, models_dir: Path, tmp_path: Path
) -> None:
    """Both ways; of ten samples five, so that a model may be half a dB worse by chance."""
    path, arrays = models_dir / name / "model.onnx", np.load(models_dir / name / "io.npz")
    source, net, _ = preparing.prepare(path)
    inputs = [arrays[f"in{k}"] for k in range(len(net.inputs))]
    whole = open_samples(models_dir / name / "io.npz", formats.load(path))
    ours, theirs = [], []
    for way in (0, 1):
        np.savez(tmp_path / "s.npz", **{f"in{k}": a[way::2] for k, a in enumerate(inputs)})
        trials = Trials(net, open_samples(tmp_path / "s.npz", formats.load(path)))
        every = SampleShare(trials.file, frozenset(range(len(trials.file))))
        other = SampleShare(whole, frozenset(range(1 - way, len(whole), 2)))
        model = rounding.settled(trials.make(scales.fewer(trials, choose(trials)), every))
        wanted = judging.results(net.model(), judging.judged_names(net.model()), other)

        def sqnr(of: object, part: SampleShare = other, wanted: judging.Results = wanted) -> float:
            found = judging.results(of, judging.judged_names(of), part)  # type: ignore[arg-type]
            return judging.compare(found, wanted).mean_sqnr

        ours.append(sqnr(model))
        if name not in NOT_BY_ONNXRUNTIME:
            theirs.append(sqnr(onnxruntime_int8(source, every)))
    assert not theirs or np.mean(ours) >= np.mean(theirs) - 0.5


@pytest.mark.matrix
@pytest.mark.needs_arm_gcc
@pytest.mark.needs_qemu
@pytest.mark.parametrize("name", ["mlperf_vww", "mlperf_ad"])
def test_a_model_is_as_small_and_as_fast_as_the_int8_file_of_others(
    name: str, models_dir: Path, tmp_path: Path
) -> None:
    folder, board = models_dir / f"{name}_f32", load_board("nucleo_l4r5zi")
    quantize(folder / "model.onnx", folder / "io.npz", tmp_path / "q.onnx")
    ours = cost_of(tmp_path / "q.onnx", board, tmp_path / "ours")
    theirs = cost_of(models_dir / f"{name}_int8" / "model.onnx", board, tmp_path / "theirs")
    assert not ours.float_layers
    for mine, other in (
        (ours.flash, theirs.flash), (ours.ram, theirs.ram), (ours.cycles, theirs.cycles)
    ):  # fmt: skip
        assert mine is not None
        assert other is not None
        assert mine <= 1.03 * other


@pytest.mark.matrix
def test_recurrent_layers_stay_in_float_and_are_named(models_dir: Path, tmp_path: Path) -> None:
    folder = models_dir / "torch_lstm_ts"
    quantize(folder / "model.onnx", folder / "io.npz", tmp_path / "q.onnx")
    network = compiler.compile_model(tmp_path / "q.onnx", load_board("mps2-an386"))
    assert {layer.op for layer in float_layers(network)} == {"LSTM"}
