"""What CpuRef says that its layers cost, against the cycles of what they execute in QEMU."""

from __future__ import annotations

from pathlib import Path

import pytest
from arm_dsp_tree_cases import digits
from cpu_ref_cases import CASES, named
from cpu_ref_layers import convolution, write
from cpu_ref_tflite import model as tflite_model
from operators import signal_cases
from sampling import first

from mcu_deploy.api.building import build
from mcu_deploy.api.profiling import profile
from mcu_deploy.options import Options

pytestmark = [
    pytest.mark.needs_arm_gcc, pytest.mark.needs_qemu, pytest.mark.usefixtures("any_order"),
]  # fmt: skip

_WITHIN = 0.15
# A flash of 5 wait states behind caches of 1,024 and 256 bytes, which both the count and the price
# have in them; and memories that answer at once.
_BOARDS = "nucleo_l4r5zi", "mps2-an386"
# Where in the flash a layer's code begins decides on how many cycles one run waits for it.
_FETCHED = 60
# Of these the sample counts the first three layers.
_SAMPLE = (
    "conv", "depthwise", "dense", "max_pool", "average_pool", "quantize", "binary", "gather",
    "concat", "transpose", "identity", "softmax_float", "reduce",
)  # fmt: skip
# Copies into another order of axes, which the compiler inserts, are looked at from here on.
_COPIED = 100


def _misses(
    model: Path, board: str, folder: Path, names: set[str], within: float = _WITHIN
) -> tuple[list[str], set[str]]:
    """The layers of these names, and the copies, whose price is off; and the names that are met."""
    built = build(model, board, folder, options=Options(backends=("CpuRef",)))
    (network,) = (made.network for made in built.networks)
    layers = {step.index: step.choice.layer for step in network.plan.steps}
    found, met = [], set()
    for stated, counted in zip(built.report.layers, profile(built.directory).layers, strict=True):
        layer = layers[counted.index]
        is_copy = (
            within == _WITHIN and layer.op == "Reorder" and layer.output.type.elements >= _COPIED
        )
        if layer.name not in names and not is_copy:
            continue
        met.add(layer.name)
        assert stated.cost is not None and counted.time is not None
        price, count = stated.cost.value, counted.time.cycles
        waits = counted.time.code + counted.time.data > 0
        if abs(price - count) > within * count + _FETCHED * waits:
            what = f"{layer.name} ({layer.op} {layer.output.type})"
            found.append(f"{what}: {price:,} for {count:,}: {price / count:.2f}")
    return found, met


def _check(
    families: tuple[str, ...], board: str, folder: Path, most: int | None = None,
    within: float = _WITHIN,
) -> None:  # fmt: skip
    cases = named(families, most)
    model = write(cases, folder / "layers.onnx")
    found, met = _misses(model, board, folder / "build", set(cases), within)
    assert found == []
    # a Transpose is a view, and the copies behind it bear other names
    assert {name for name in cases if not name.startswith("transpose_")} <= met


@pytest.mark.parametrize("board", first(_BOARDS))
def test_prices_are_what_layers_take(board: str, tmp_path: Path) -> None:
    _check(_SAMPLE, board, tmp_path, 3)


@pytest.mark.matrix
@pytest.mark.parametrize("board", _BOARDS)
def test_prices_of_all_families_are_what_layers_take(board: str, tmp_path: Path) -> None:
    _check(tuple(CASES), board, tmp_path)


# Families that call the C library, of which a cache of 1 KB holds most.
_LIBRARY = (
    "tanh", "atanh", "rnn", "erf", "softplus", "mish", "power", "cast", "lstm", "gru",
)  # fmt: skip


@pytest.mark.parametrize(
    ("families", "most"), first([(_LIBRARY[:5], 1), (_LIBRARY, None)]), ids=["some", "all"]
)
def test_prices_of_the_c_library_behind_a_cache_of_512_bytes(
    families: tuple[str, ...], most: int | None, tmp_path: Path
) -> None:
    cache = 'instruction_cache = { lines = 16, line_bytes = 32, policy = "lru" }'
    board = tmp_path / "board.toml"
    board.write_text(f'inherits = "{_BOARDS[0]}"\nname = "small"\n[rated.timing.flash]\n{cache}\n')
    _check(families, str(board), tmp_path, most)


@pytest.mark.matrix
@pytest.mark.parametrize("board", _BOARDS)
@pytest.mark.parametrize("plane", [8, 13])
def test_prices_of_tflite_layers_are_what_they_take(plane: int, board: str, tmp_path: Path) -> None:
    content, names = tflite_model(plane)
    path = tmp_path / "layers.tflite"
    path.write_bytes(content)
    found, met = _misses(path, board, tmp_path / "build", names)
    assert found == [] and len(met) >= len(names)


@pytest.mark.parametrize("length", first([128, 64, 1024]))
def test_prices_of_a_preprocessor_are_what_it_takes(length: int, tmp_path: Path) -> None:
    path = tmp_path / "layers.tflite"
    path.write_bytes(signal_cases.file("features", length * 4 // 5, length))
    names = {"y", "scaled", "spectrum", "energies", "sums", "roots", "less", "gained", "features"}
    found, met = _misses(path, _BOARDS[1], tmp_path / "build", names)
    assert found == [] and met == names


@pytest.mark.parametrize(
    ("dtype", "goal"),
    first([("uint8", "speed"), ("float32", "speed"), ("uint8", "size"), ("float32", "size")]),
)
def test_prices_of_trees_are_what_they_take(
    dtype: str, goal: str, models_dir: Path, tmp_path: Path
) -> None:
    """As code and as tables, of features that are like those which the forest has learned."""
    rows = digits(models_dir / "sk_rf_digits", tmp_path / "digits.onnx", dtype)
    options = Options(backends=("CpuRef",), optimize_for=goal)
    built = build(tmp_path / "digits.onnx", "mps2-an386", tmp_path / "build", options=options)
    stated = next(layer for layer in built.report.layers if layer.op == "TreeEnsemble")
    counted = next(one for one in profile(built.directory).layers if one.index == stated.index)
    assert stated.cost is not None and counted.cycles is not None
    source = (built.directory / "network_digits.c").read_text()
    assert ("trees_code" in source) == (goal == "speed")
    assert counted.cycles > 500 * rows
    assert abs(stated.cost.value - counted.cycles) <= _WITHIN * counted.cycles


# By the board that counts them: cores whose prices are those of the M4 times factors of kinds of
# work, which do not know what a compiler makes of one loop, nor what a NUCLEO-G0B1RE waits in it.
# Without an FPU sums of floats depend on their values.
_ELSEWHERE = "mps2-an500", "nucleo_g0b1re", "mps2-an505", "mps3-an547", "mps2-an385"
_ELSEWHERE_WITHIN = 0.3
_OF_INTEGERS = "conv", "depthwise", "dense", "binary", "table"


@pytest.mark.parametrize("board", first(_ELSEWHERE))
def test_prices_on_other_cores_are_near(board: str, tmp_path: Path) -> None:
    _check(_OF_INTEGERS, board, tmp_path, 2, _ELSEWHERE_WITHIN)


_LSTM, _DENSE = "tflm_mnist_lstm_int8/model.tflite", "mlperf_ad_int8/model.onnx"


@pytest.mark.matrix
@pytest.mark.parametrize(
    ("board", "model"),
    [("mps2-an385", _LSTM), ("nucleo_g0b1re", _LSTM), ("nucleo_g0b1re", _DENSE)],
)
def test_the_price_of_a_large_layer_of_integers_is_near(
    board: str, model: str, models_dir: Path, tmp_path: Path
) -> None:
    built = build(models_dir / model, board, tmp_path / "build")
    (stated, *_), (counted, *_) = built.report.layers, profile(built.directory).layers
    assert stated.cost is not None and counted.time is not None
    assert stated.cost.value == pytest.approx(counted.time.cycles, rel=_WITHIN)


@pytest.mark.matrix
def test_a_copy_with_wide_steps_adds_them(tmp_path: Path) -> None:
    """Loads move their pointer by 255 bytes at most; channels of the second input are further
    apart."""
    for plane in (10, 20):
        model = write({"conv": convolution(24, 24, plane, 1)}, tmp_path / "layers.onnx")
        built = build(model, _BOARDS[1], tmp_path / str(plane))
        counts = profile(built.directory).layers
        copy = next(row for row in built.report.layers if row.op == "Reorder")
        time = counts[copy.index].time
        assert copy.cost is not None and time is not None
        assert copy.cost.value == pytest.approx(time.cycles, rel=0.05)
