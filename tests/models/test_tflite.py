"""TFLite models: the interpreter and the compiled network give TFLite-Micro's recorded outputs.

Bit for bit where the network is quantized, else within 1e-5 of the largest value. `tflm0` is
recorded for all but one model, of which only the weights are int8: TFLite-Micro has no kernel for
that, so LiteRT's `tfl0` holds. The fixed sample runs the MLPerf models on one board and one of them
on several; the whole matrix all models on all boards that hold them.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pytest
from models.mlperf import BOARDS
from operators.lab import run_on_host

from mcu_deploy import formats, interpreter, passes
from mcu_deploy.api.building import build
from mcu_deploy.api.folder import BuildFolder, as_folder
from mcu_deploy.api.validating import validate
from mcu_deploy.arithmetic import Array
from mcu_deploy.boards import load_board
from mcu_deploy.compiled import Network
from mcu_deploy.compiler import compile_model
from mcu_deploy.errors import FitError
from mcu_deploy.files.samples import load_samples
from mcu_deploy.ir import Graph
from mcu_deploy.options import Options

INTEGER = (
    "arm_kws_cnn_s_int8", "cfu_mnv2_160_035", "mcunet_person_det", "micro_kws_m_int8",
    "mlperf_ad_int8", "mlperf_ic_int8", "mlperf_kws_int8", "mlperf_vww_int8", "qnn_mnist_int8",
    "st_yamnet_256", "tflm_hello_world_int8", "tflm_mnist_lstm_int8", "tflm_person_detect_int8",
)  # fmt: skip
FLOAT = (
    "catdog_cnn_f32", "mlperf_ic_f32", "mlperf_kws_dynrange", "mlperf_vww_f32",
    "tflm_hello_world_f32", "tflm_mnist_lstm_f32", "umatest_cnn_f32",
)  # fmt: skip
MODELS = (*INTEGER, *FLOAT)
TOLERANCE = 1e-5


def _recorded(samples: Mapping[str, Array], output: int) -> Array:
    name = "tflm" if "tflm0" in samples else "tfl"
    return samples[f"{name}{output}"]


def _check(model: str, ours: Array, wanted: Array) -> None:
    assert ours.dtype == wanted.dtype
    assert ours.shape == wanted.shape
    if model in INTEGER:
        assert np.array_equal(ours, wanted), f"{np.count_nonzero(ours != wanted)} values differ"
    else:
        assert np.abs(ours - wanted).max() <= TOLERANCE * np.abs(wanted).max()


def test_every_model_of_the_pack_is_tested(models_dir: Path) -> None:
    found = sorted(path.parent.name for path in models_dir.glob("*/model.tflite"))
    assert found == sorted(MODELS)


@pytest.mark.parametrize("model", MODELS)
def test_the_interpreter_gives_the_recorded_outputs(
    models_dir: Path, model: str, pytestconfig: pytest.Config
) -> None:
    """Three samples; in the matrix all."""
    graph = passes.run(formats.load(models_dir / model / "model.tflite"))
    samples = np.load(models_dir / model / "io.npz")
    found = [
        interpreter.run(graph, [samples[f"in{i}"][s] for i in range(len(graph.inputs))])
        for s in range(len(samples["in0"]) if pytestconfig.getoption("--all") else 3)
    ]
    for output in range(len(graph.outputs)):
        ours = np.stack([outputs[output] for outputs in found])
        _check(model, ours, _recorded(samples, output)[: len(ours)])


@dataclass(frozen=True)
class Given:
    """The inputs of one run."""

    inputs: tuple[Array, ...]


@dataclass(frozen=True)
class Compiled:
    """What the operators' laboratory runs."""

    case: Given
    network: Network

    @property
    def graph(self) -> Graph:
        return self.network.graph


@pytest.mark.matrix  # boards run the same models in the sample
@pytest.mark.needs_host_gcc
def test_the_generated_c_gives_the_recorded_outputs(models_dir: Path, tmp_path: Path) -> None:
    """Sample 3 of every model, in one process; in the matrix the boards run all samples."""
    compiled, names, wanted = [], [], []
    for index, model in enumerate(MODELS):
        samples = np.load(models_dir / model / "io.npz")
        network = compile_model(
            models_dir / model / "model.tflite", load_board("host"), name=f"m{index}"
        )
        count = len(network.graph.inputs)
        compiled.append(Compiled(Given(tuple(samples[f"in{i}"][3] for i in range(count))), network))
        names.append(model)
        wanted.append([_recorded(samples, o)[3] for o in range(len(network.graph.outputs))])
    for model, device, outputs in zip(names, run_on_host(compiled, tmp_path), wanted, strict=True):
        for ours, theirs in zip(device, outputs, strict=True):
            _check(model, ours, theirs)


def test_nothing_is_reordered(models_dir: Path) -> None:
    """Transposes around the convolutions are views: each model has no copy but its own."""
    for model in ("mlperf_kws_int8", "mlperf_vww_int8", "mlperf_ic_int8", "mlperf_vww_f32"):
        network = compile_model(models_dir / model / "model.tflite", load_board("host"), name="n")
        ops = [step.choice.layer.op for step in network.plan.steps]
        assert "Reorder" not in ops, model


def test_sums_are_in_the_order_of_the_convolutions_around_them(models_dir: Path) -> None:
    """Only the image and what the last dense layer reads are turned."""
    graph = passes.run(formats.load(models_dir / "mlperf_ic_int8" / "model.tflite"))
    ops = [node.op for node in graph.nodes]
    assert ops.count("Add") == 3 and ops.count("Transpose") == 2


_SAMPLE = {
    "mps2-an386": ("mlperf_kws_int8", "mlperf_ad_int8", "mlperf_kws_dynrange"),
    "mps2-an385": ("mlperf_kws_int8", "tflm_hello_world_int8"),
    "mps3-an547": ("mlperf_kws_int8",),
    "stm32f746": ("mlperf_kws_int8",),
}  # fmt: skip
_IN_SAMPLE = ("mps2-an386",)


def _tools(board: str) -> list[pytest.MarkDecorator]:
    tools = {"host": ["needs_host_gcc"], "stm32f746": ["needs_arm_gcc", "needs_renode"]}
    return [getattr(pytest.mark, t) for t in tools.get(board, ["needs_arm_gcc", "needs_qemu"])]


def _check_on_board(built: BuildFolder, model: str, name: str, io: Path, count: int | None) -> None:
    given = load_samples(io, built.compile_again(name).graph).first(count)
    result = validate(built, given, model=name, layers=model in INTEGER)
    assert result.problems == (), model
    assert "LiteRT" in result.reference
    for metrics in result.oracle:
        assert metrics.equal == 1.0 if model in INTEGER else metrics.relative <= TOLERANCE, model


@pytest.mark.parametrize(
    "board",
    [
        pytest.param(b, marks=[*_tools(b), *([] if b in _IN_SAMPLE else [pytest.mark.matrix])])
        for b in _SAMPLE
    ],
)
def test_boards_give_the_oracles_bits(board: str, models_dir: Path, tmp_path: Path) -> None:
    """Some models in one firmware."""
    models = _SAMPLE[board]
    paths = [models_dir / m / "model.tflite" for m in models]
    built = as_folder(build(paths, board, tmp_path, name=list(models)))
    for model in models:
        _check_on_board(built, model, model, models_dir / model / "io.npz", 2)


@pytest.mark.matrix
@pytest.mark.parametrize(
    ("board", "model"),
    [
        pytest.param(board, model, id=f"{board}-{model}", marks=_tools(board))
        for board in BOARDS
        for model in MODELS
    ],
)
def test_every_board_gives_the_oracles_bits(
    board: str, model: str, models_dir: Path, tmp_path: Path
) -> None:
    source = models_dir / model
    try:
        built = as_folder(build(source / "model.tflite", board, tmp_path, name="n"))
    except FitError as error:
        # What does not fit is known to the byte, and said (tests/models/test_build_table.py).
        assert model not in _SAMPLE.get(board, ())
        pytest.skip(str(error))
    _check_on_board(built, model, "n", source / "io.npz", None)


def test_int8_weights_save_flash_and_cost_no_ram(models_dir: Path) -> None:
    """Weight-only networks take the RAM of their float32 form, with a quarter of its weights; but
    where memory is not what counts, TFLite's get an image of int8 beside the one of floats."""
    board, folder = load_board("mps2-an386"), models_dir / "mlperf_kws_dynrange"
    plain = compile_model(models_dir / "mlperf_kws_f32/model.onnx", board, name="plain")
    for suffix, goal in (("onnx", "balanced"), ("tflite", "ram")):
        options = Options(optimize_for=goal)
        small = compile_model(folder / f"model.{suffix}", board, name=suffix, options=options)
        assert small.ram_bytes <= plain.ram_bytes
        assert len(small.sources.weights) < 0.4 * len(plain.sources.weights)
