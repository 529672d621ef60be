"""`validate FLOAT_MODEL --against BUILD`: how far a device's layers are from the float model."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import pytest
from command_line import Done, call
from device.broken_backends import Broken
from onnx import helper, numpy_helper
from quantizing_nets import dense_net, depthwise_net, model_of, samples, try_one_recipe
from sampling import examples, first

import mcu_deploy
from mcu_deploy.api.against import Against, validate_against
from mcu_deploy.api.building import build
from mcu_deploy.api.quantizing import quantize
from mcu_deploy.backends.registry import Registry
from mcu_deploy.errors import RequestError, UsageError
from mcu_deploy.options import Options
from mcu_deploy.session import Session

pytestmark = pytest.mark.needs_host_gcc


def residual_net() -> onnx.ModelProto:
    """Two convolutions beside a shortcut, their sum, a pool and a dense layer, of [1, 3, 8, 8]."""
    random = np.random.default_rng(5)
    shapes = {"w0": (6, 3, 3, 3), "w1": (6, 6, 3, 3), "w2": (6, 6, 3, 3), "wd": (6, 4)}
    constants = {name: random.normal(size=shape) / 4 for name, shape in shapes.items()}
    nodes = [
        helper.make_node("Conv", ["x", "w0"], ["a"], "conv_a", pads=[1] * 4),
        helper.make_node("Relu", ["a"], ["ra"]),
        helper.make_node("Conv", ["ra", "w1"], ["b"], "conv_b", pads=[1] * 4),
        helper.make_node("Relu", ["b"], ["rb"]),
        helper.make_node("Conv", ["rb", "w2"], ["c"], "conv_c", pads=[1] * 4),
        helper.make_node("Add", ["c", "ra"], ["s"], "sum"),
        helper.make_node("GlobalAveragePool", ["s"], ["p"], "pool"),
        helper.make_node("Flatten", ["p"], ["f"]),
        helper.make_node("Gemm", ["f", "wd"], ["y"], "dense"),
    ]
    return model_of(nodes, constants, {"x": [1, 3, 8, 8]}, {"y": [1, 4]})


NETS = {
    "residual": (residual_net(), (1, 3, 8, 8), ["x", "ra", "rb", "c", "s", "p", "y"]),
    "dense": (dense_net(24), (1, 24), ["x", "b", "d", "y"]),
    "depthwise": (
        depthwise_net(spread=200.0), (1, 3, 8, 8), ["x", "r0", "r1", "r2", "p", "d", "y"]
    ),
}  # fmt: skip
_SAMPLE = 2  # of the nets


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Of each net NET.onnx, NET.npz and, quantized, NET_int8.onnx."""
    made = tmp_path_factory.mktemp("against")
    with pytest.MonkeyPatch.context() as patch:
        try_one_recipe(patch)
        for name in [*NETS][: examples(len(NETS), _SAMPLE)]:
            model, shape, _ = NETS[name]
            onnx.save(model, made / f"{name}.onnx")
            np.savez(made / f"{name}.npz", in0=samples(12, shape))
            quantize(made / f"{name}.onnx", made / f"{name}.npz", made / f"{name}_int8.onnx")
    return made


def compared(folder: Path, net: str, int8: Path, board: str = "host", **more: Any) -> Against:
    names = (folder / f"{net}.onnx", int8, folder / f"{net}.npz")
    return validate_against(*names, board=board, **more)


def broken(folder: Path, net: str, tensor: str, factor: float, target: Path) -> Path:
    """The quantized net with the scale of one tensor times a factor."""
    model = onnx.load(folder / f"{net}_int8.onnx")
    (scale,) = (t for t in model.graph.initializer if t.name == f"{tensor}_scale")
    scale.CopyFrom(
        numpy_helper.from_array(numpy_helper.to_array(scale) * np.float32(factor), scale.name)
    )
    onnx.save(model, target)
    return target


@pytest.mark.parametrize("net", first([*NETS], _SAMPLE))
def test_a_sound_network_is_near_everywhere(net: str, folder: Path) -> None:
    found = compared(folder, net, folder / f"{net}_int8.onnx")
    assert [layer.of.float_tensor.name for layer in found.layers] == NETS[net][2]
    assert found.passed
    assert "no layer parts" in found.verdict
    assert (found.samples, found.of) == (8, 12)
    assert all(25 < layer.sqnr < 70 and layer.cosine > 0.99 for layer in found.layers)
    assert [layer.drop is None for layer in found.layers] == [
        True,
        *[False] * (len(found.layers) - 1),
    ]
    assert found.only_here == ()


BROKEN = [
    ("residual", "c", "conv_3", 0.05),
    ("dense", "d", "dense_2", 300.0),
    ("residual", "s", "add_1", 300.0),
    ("residual", "c", "conv_3", 300.0),
    ("residual", "s", "add_1", 0.05),
    ("dense", "d", "dense_2", 0.05),
    ("depthwise", "r1", "depthwise_1", 0.05),
    ("depthwise", "r1", "depthwise_1", 300.0),
]


@pytest.mark.parametrize(("net", "tensor", "short", "factor"), first(BROKEN, 3))
def test_the_layer_with_a_wrong_scale_is_named(
    net: str, tensor: str, short: str, factor: float, folder: Path, tmp_path: Path
) -> None:
    """One that clips, and one with steps so large that little is left."""
    found = compared(folder, net, broken(folder, net, tensor, factor, tmp_path / "bad.onnx"))
    assert not found.passed
    parted = found.parted
    assert parted is not None
    assert parted.of.short == short
    assert parted.of.float_tensor.name == tensor
    assert found.verdict.startswith(f"{short} (")
    assert parted.drop is not None
    assert parted.drop > 15
    assert (parted.clipped > 0.2) == (factor < 1)
    # What comes before it is as near as in the sound network.
    before = found.layers[: found.layers.index(parted)]
    assert all(layer.sqnr > 25 for layer in before)


@pytest.mark.matrix
@pytest.mark.needs_arm_gcc
@pytest.mark.needs_qemu
def test_a_board_says_the_same_as_this_machine(folder: Path, tmp_path: Path) -> None:
    bad = broken(folder, "residual", "c", 0.05, tmp_path / "bad.onnx")
    here = compared(folder, "residual", bad, count=2)
    there = compared(folder, "residual", bad, "mps2-an386", count=2)
    assert there.parted is not None
    assert there.parted.of.short == "conv_3"
    assert [layer.sqnr for layer in there.layers] == [layer.sqnr for layer in here.layers]
    assert "QEMU" in there.where


def test_the_values_are_the_device_s_and_not_the_oracle_s(folder: Path, tmp_path: Path) -> None:
    class BrokenPool(Broken):
        broken_op = "GlobalAveragePool"

    registry = Registry.builtin().with_backend("Broken", BrokenPool)
    with Session(registry) as session:
        options = Options(backends=("Broken", "CpuRef"), layers_all=True)
        built = build(
            folder / "residual_int8.onnx", "host", tmp_path, session=session, options=options
        )
        found = compared(folder, "residual", built, session=session)
    assert found.parted is not None
    assert found.parted.of.float_tensor.name == "p"
    assert found.difference is not None
    assert found.difference.op == "GlobalAveragePool"
    assert not found.passed


def test_a_fused_build_is_built_anew_and_one_with_all_tensors_is_not(
    folder: Path, tmp_path: Path
) -> None:
    fused = build(folder / "dense_int8.onnx", "host", tmp_path / "a", name="net")
    options = Options(layers_all=True)
    whole = build(folder / "dense_int8.onnx", "host", tmp_path / "b", name="net", options=options)
    found = [compared(folder, "dense", made) for made in (fused, whole)]
    assert [each.built_anew for each in found] == [True, False]
    assert found[0].layers == found[1].layers


def validated(cwd: Path, *words: str) -> Done:
    return call("validate", *words, cwd=cwd)


def test_the_command_prints_a_table_with_bars_and_the_layer(folder: Path, tmp_path: Path) -> None:
    bad = broken(folder, "residual", "s", 0.05, tmp_path / "bad.onnx")
    words = ("residual.onnx", "--against", str(bad), "--board", "host", "--data", "residual.npz")
    done = validated(folder, *words)
    assert done.returncode == 1, done.stderr
    lines = {line.split()[0]: line for line in done.stdout.splitlines() if line}
    assert "██████" in lines["conv_3"]
    assert "██████" not in lines["add_1"]
    assert "parts" in lines["add_1"]
    assert "add_1 (Add 'sum') is the first that parts" in done.stdout
    assert "without a partner in the float model: a, b: no tensor" in done.stdout
    sound = validated(folder, words[0], "--against", "residual_int8.onnx", *words[3:])
    assert sound.returncode == 0, sound.stdout + sound.stderr
    assert "no layer parts" in sound.stdout
    told = json.loads(validated(folder, *words, "--samples", "3", "--json").stdout)["against"]
    assert (told["passed"], told["first_that_parts"], told["samples"]) == (False, "add_1", 3)
    assert [t["float_tensor"] for t in told["tensors"]] == NETS["residual"][2]
    assert {t["tensor"] for t in told["float_without_partner"]} == {"a", "b", "f"}
    strict = validated(
        folder, words[0], "--against", "residual_int8.onnx", *words[3:], "--limit", "90"
    )
    assert strict.returncode == 1
    assert "the input 'x' is the first that parts" in strict.stdout


def test_a_network_of_another_tool_is_matched_by_the_names_in_it(
    folder: Path, tmp_path: Path
) -> None:
    model = onnx.load(folder / "dense_int8.onnx")
    del model.metadata_props[:]
    onnx.save(model, tmp_path / "theirs.onnx")
    found = compared(folder, "dense", tmp_path / "theirs.onnx")
    assert [layer.of.float_tensor.name for layer in found.layers] == NETS["dense"][2]
    assert found.passed


REFUSED = [
    ("dense.onnx --against residual_int8.onnx --data dense.npz", 1,
     r"is not made of dense.onnx: its input 'x' is \[1, 3, 8, 8\], and \[1, 24\] in that"),
    ("renamed.onnx --against dense_int8.onnx --data dense.npz", 1,
     "is not made of renamed.onnx: that has the inputs z"),
    ("dense.onnx --against strange.onnx --data dense.npz", 1, "not one tensor in common"),
    ("dense.onnx --against dense_int8.onnx", 2, "Give them with --data"),
    ("dense.onnx --against dense_int8.onnx --data residual.npz", 1,
     r"must be \[samples, 1, 24\]"),
    ("dense.onnx --against dense_int8.onnx --data int8.npz", 1,
     "has int8 for input 'x', which is float32"),
    ("dense.onnx --against dense_int8.onnx --data nan.npz", 1, "infinite values or NaN"),
    ("dense.onnx --against dense_int8.onnx --data none.npz", 1, "does not exist"),
    ("dense_int8.onnx --against dense_int8.onnx --data dense.npz", 1, "is quantized already"),
    ("dense.onnx --against nowhere --data dense.npz", 1, "There is no nowhere"),
    ("nowhere.onnx --against dense_int8.onnx --data dense.npz", 1, "nowhere.onnx"),
    ("dense.onnx --against dense_int8.onnx --data dense.npz --layers", 2, "leave --layers out"),
    ("dense.onnx --against dense_int8.onnx --data dense.npz --limit nan", 2, "is no number of dB"),
    ("dense_int8.onnx --limit 9", 2, "--limit says more of --against"),
]  # fmt: skip


@pytest.mark.parametrize(("words", "code", "says"), first([*REFUSED], 6))
def test_what_cannot_be_compared_gets_a_sentence(
    words: str, code: int, says: str, folder: Path, tmp_path: Path
) -> None:
    for file in folder.iterdir():
        (tmp_path / file.name).symlink_to(file)
    values = samples(4, (1, 24))
    np.savez(tmp_path / "int8.npz", in0=values.astype(np.int8))
    values[1, 0, 3] = np.nan
    np.savez(tmp_path / "nan.npz", in0=values)
    strange = onnx.load(folder / "dense_int8.onnx")
    del strange.metadata_props[:]
    for node in strange.graph.node:
        for names in (node.input, node.output):
            names[:] = [n if n in ("x", "y") or n.endswith(("_scale", "_zero_point", "_quantized"))
                        else f"other_{n}" for n in names]  # fmt: skip
    named = {n for node in strange.graph.node for n in node.input}
    for tensor in strange.graph.initializer:
        tensor.name = tensor.name if tensor.name in named else f"other_{tensor.name}"
    strange.graph.node[-1].output[0] = "last"
    strange.graph.output[0].name = "last"
    onnx.save(strange, tmp_path / "strange.onnx")
    renamed = dense_net(24)
    renamed.graph.input[0].name = renamed.graph.node[0].input[0] = "z"
    onnx.save(renamed, tmp_path / "renamed.onnx")
    done = validated(tmp_path, *words.split(), "--board", "host")
    assert (done.returncode, done.stdout) == (code, "")
    assert "Traceback" not in done.stderr
    assert re.search(says, done.stderr.replace("\n", " ")), done.stderr


def test_networks_that_no_float_model_is_like_are_refused(folder: Path, tmp_path: Path) -> None:
    pmx = tmp_path / "net.pmx"
    mcu_deploy.optimize_model(folder / "dense_int8.onnx", "host", pmx)
    with pytest.raises(RequestError, match=r"Give the build of an \.onnx file"):
        compared(folder, "dense", pmx)
    packed = build(pmx, "host", tmp_path / "packed")
    with pytest.raises(RequestError, match=r"What .* was built from is no ONNX file"):
        compared(folder, "dense", packed)
    fused = build(folder / "dense_int8.onnx", "host", tmp_path / "b", name="net")
    with pytest.raises(RequestError, match="Build it with --layers all, and flash that"):
        compared(folder, "dense", fused, connection=mcu_deploy.Connection(port="/dev/ttyNONE"))
    with pytest.raises(UsageError, match="is no number of dB"):
        compared(folder, "dense", fused, limit=float("inf"))
