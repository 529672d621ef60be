"""Odd, damaged and hostile TFLite files: a graph or a sentence, never a traceback."""

from __future__ import annotations

import random
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from sampling import examples
from tflite_models import Array, Operator, Tensor, constant, int8, small_model, write

from mcu_deploy import formats, interpreter, passes
from mcu_deploy.arrange.layouts import assign as assign_layouts
from mcu_deploy.backends.registry import Registry
from mcu_deploy.choose import assign
from mcu_deploy.errors import McuDeployError, ModelError, UnsupportedError
from mcu_deploy.ir import Graph, verify


def go_all_the_way(path: Path) -> Graph | None:
    """Import, optimisation, assignment, layouts and a run; None for a refusal with a sentence."""
    try:
        graph = passes.run(formats.load(path))
        assign_layouts(*assign(graph, Registry.builtin().preference("host")))
    except McuDeployError as error:
        assert len(str(error).split()) > 5
        return None
    verify(graph)
    types = [graph.type(edge) for edge in graph.inputs]
    interpreter.run(graph, [np.zeros(t.shape, t.dtype.numpy) for t in types])
    return graph


def refused(path: Path, content: bytes, shapes: dict[str, list[int]] | None = None) -> str:
    """The sentence that a file is refused with."""
    path.write_bytes(content)
    with pytest.raises(McuDeployError) as caught:
        formats.load(path, shapes)
    text = str(caught.value)
    assert len(text.split()) > 8
    assert len(text) < 1500
    return text


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "m.tflite"


def test_the_small_model_itself_is_good(path: Path) -> None:
    path.write_bytes(small_model())
    graph = go_all_the_way(path)
    assert graph is not None
    assert [n.op for n in graph.nodes if n.domain == "tflite"] == [
        "Conv", "AveragePool", "FullyConnected", "Softmax",
    ]  # fmt: skip
    assert len(graph.source_sha256) == 64


def test_channels_last_operators_need_no_copies(path: Path) -> None:
    """NHWC in the file, NCHW in the graph, channel-last in memory: nothing is reordered."""
    path.write_bytes(small_model())
    graph = passes.run(formats.load(path))
    laid_out = assign_layouts(*assign(graph, Registry.builtin().preference("host")))
    assert [n.op for n in laid_out.nodes if n.op == "Reorder"] == []


def test_every_prefix_is_refused(path: Path) -> None:
    content = small_model()
    for size in range(0, len(content) - 1, 7):
        path.write_bytes(content[:size])
        go_all_the_way(path)
    assert "TFL3" in refused(path, b"")
    assert "TFL3" in refused(path, content[:7])


def test_changed_bytes_give_a_graph_or_a_sentence(path: Path) -> None:
    content = small_model()
    generator = random.Random(5)
    for _ in range(examples(400, 100)):
        changed = bytearray(content)
        for _ in range(generator.randint(1, 4)):
            changed[generator.randrange(8, len(changed))] = generator.randrange(256)
        path.write_bytes(bytes(changed))
        go_all_the_way(path)


EXTREMES = [0, 1, 0x7FFFFFFF, 0x80000000, 0xFFFFFFFF]


@settings(
    max_examples=examples(150, 50), deadline=5000, derandomize=True,
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)  # fmt: skip
@given(
    st.lists(
        st.tuples(st.integers(8, 3000), st.sampled_from(EXTREMES)),
        min_size=1, max_size=6,
    )
)  # fmt: skip
def test_words_of_extremes_give_a_graph_or_a_sentence(
    path: Path, words: list[tuple[int, int]]
) -> None:
    """Offsets, lengths, sizes and scales become the largest and smallest there are."""
    content = bytearray(small_model())
    for at, word in words:
        at = at % (len(content) - 4)
        content[at : at + 4] = word.to_bytes(4, "little")
    path.write_bytes(bytes(content))
    go_all_the_way(path)


def _one(
    kind: str,
    tensors: Sequence[Tensor],
    inputs: Sequence[str] = ("x",),
    table: str = "",
    options: dict[str, object] | None = None,
    **more: str,
) -> bytes:
    operator = Operator(kind, tuple(inputs), ("y",), table, options or {}, **more)
    return write(tensors, [operator], ["x"], ["y"])


PLAIN = [Tensor("x", (1, 4)), Tensor("y", (1, 4))]


def test_operators_that_are_unknown_are_listed_with_a_tensor(path: Path) -> None:
    text = refused(path, _one("UNIQUE", PLAIN))
    assert "UNIQUE 'y': it is not read from TFLite files" in text


@pytest.mark.parametrize(
    ("kind", "said"),
    [
        ("GREATER", "it compares integers of different types or scales; mcu-deploy compares them"),
        (
            "LESS",
            "it compares 'c', which has several scales, or one of 1 or more; TFLite-Micro has",
        ),
        ("MAXIMUM", "it moves integers between tensors of different types or scales; TFLite-Micro"),
    ],
)
def test_integers_of_two_scales_are_refused(kind: str, said: str, path: Path) -> None:
    is_comparison = kind != "MAXIMUM"
    y = Tensor("y", (1, 4), "BOOL") if is_comparison else int8("y", (1, 4), 0.5, 0)
    plain = constant("c", np.zeros(4, np.int32))
    other = plain if kind == "GREATER" else constant("c", np.zeros(4, np.int8), [1.0])
    assert said in refused(path, _one(kind, [int8("x", (1, 4), 0.5, 0), other, y], ("x", "c")))


def test_another_input_shape_is_refused_with_the_files_own(path: Path) -> None:
    text = refused(path, small_model(), {"x": [4, 8, 8, 3]})
    assert "[1, 8, 8, 3]" in text
    open_batch = [Tensor("x", (1, 4), signature=(-1, 4)), PLAIN[1]]
    assert "[-1, 4]" in refused(path, _one("RELU", open_batch), {"x": [2, 4]})
    assert "--shape names the input 'z'" in refused(path, small_model(), {"z": [1]})
    assert formats.load(path, {"x": [1, 8, 8, 3]}).inputs


def test_sizes_that_do_not_fit_since_the_file_leaves_them_open_are_no_damage(path: Path) -> None:
    """A converter writes 1 for them."""
    open_end = [Tensor("x", (1, 4)), Tensor("y", (1, 1), signature=(-1, -1))]
    for kind in ("RESHAPE", "RELU"):
        text = refused(path, _one(kind, open_end))
        assert "convert the model with fixed input shapes" in text and "damaged" not in text


@pytest.mark.parametrize(
    ("content", "word"),
    [
        (_one("RELU", [Tensor("x", (1, 4), "STRING"), PLAIN[1]]), "STRING"),
        (_one("RELU", [Tensor("x", (-1, 4)), PLAIN[1]]), "static shape"),
        (_one("RELU", [PLAIN[0], Tensor("y", (1, 5))]), "[1, 5]"),
        (_one("RELU", [PLAIN[0], int8("y", (1, 4), 0.1, 0)]), "float32"),
        (_one("SOFTMAX", [int8("x", (1, 4), 0.1, 0), int8("y", (1, 4), 0.1, 0)], table=
              "SoftmaxOptions", options={"Beta": 1.0}), "1/256"),
        (_one("SOFTMAX", [int8("x", (1, 4), 0.1, 0), Tensor("y", (1, 4), "INT16", (1.01 / 65536,),
              (-32768,))], table="SoftmaxOptions", options={"Beta": 1.0}), "1/65536"),
        (_one("BATCH_TO_SPACE_ND", [Tensor("x", (3, 2, 2, 1)), Tensor("y", (1, 4, 4, 1)),
              constant("n", np.array([2, 2], np.int32)), constant("c", np.zeros((2, 2), np.int32))],
              ("x", "n", "c"), "BatchToSpaceNDOptions"), "do not fill a batch of 3"),
        (_one("SOFTMAX", [int8("x", (1, 4), 0.1, 0), int8("y", (1, 4), 1 / 256, -128)],
              table="SoftmaxOptions"), "its beta is 0"),
        (_one("SOFTMAX", PLAIN, table="Conv2DOptions"), "another operator"),
        (write(PLAIN, [], ["x"], ["y"]), "before any operator writes it"),
        (write(PLAIN, [Operator("RELU", ("x",), ("y",))], ["x"], []), "no output"),
        (write(PLAIN, [Operator("RELU", ("x",), ("y",))], ["x"], ["y"], 2), "version 2"),
        (write(PLAIN, [Operator("RELU", ("x",), ("y",))] * 2, ["x"], ["y"]), "already"),
        (write(PLAIN, [Operator("RELU", ("x",), ("x",))], ["x"], ["x"]), "already"),
        (_one("RELU", [Tensor("x", (1 << 20, 1 << 10)), Tensor("y", (1 << 20, 1 << 10))]), "2 GiB"),
        (_one("TANH", [int8("x", (4,), 0.1, 0), int8("y", (4,), 0.1, 0)]), "scale"),
        (_one("MAX_POOL_2D", [Tensor(name, (1, 4, 4, 1)) for name in "xy"], table="Pool2DOptions",
              options={"FilterHeight": 257, "FilterWidth": 1, "StrideH": 1, "StrideW": 1}),
         "slides over 4"),
    ],
)  # fmt: skip
def test_what_breaks_the_rules_is_told(path: Path, content: bytes, word: str) -> None:
    assert word in refused(path, content)


def test_a_bias_beyond_46_bits_is_refused(path: Path) -> None:
    """Which TFLite-Micro's sums of int16 do not take."""
    inside = (1 << 46) - 1
    for value in (inside, -inside, inside + 1, -inside - 1):
        tensors = [
            Tensor("x", (1, 2), "INT16", (0.1,), (0,)), Tensor("y", (1, 1), "INT16", (0.1,), (0,)),
            constant("w", np.array([[1, 2]], np.int8), [0.1]),
            constant("b", np.array([value], np.int64), [0.01]),
        ]  # fmt: skip
        content = _one("FULLY_CONNECTED", tensors, ["x", "w", "b"], "FullyConnectedOptions")
        if abs(value) > inside:
            assert "its bias is beyond 46 bits" in refused(path, content)
        else:
            path.write_bytes(content)
            assert formats.load(path).nodes


def test_a_variable_tensor_is_refused(path: Path) -> None:
    tensors = [*PLAIN, Tensor("state", (1, 4), variable=True)]
    content = _one("ADD", tensors, ["x", "state"], "AddOptions")
    assert "keeps its value between runs" in refused(path, content)


def _run(path: Path, content: bytes, *inputs: Array) -> Array:
    path.write_bytes(content)
    (result,) = interpreter.run(passes.run(formats.load(path)), list(inputs))
    return result


def test_a_bias_of_a_transposed_convolution_of_int16_is_widened(path: Path) -> None:
    """TFLite-Micro takes int16 and int64, LiteRT int32 and int64."""
    x = np.array([[[[1000, -2000]]]], np.int16)
    found = []
    for kind in (np.int16, np.int32, np.int64):
        tensors = [
            Tensor("x", (1, 1, 1, 2), "INT16", (0.1,), (0,)),
            Tensor("y", (1, 1, 1, 1), "INT16", (0.1,), (0,)),
            constant("shape", np.array([1, 1, 1, 1], np.int32)),
            constant("w", np.array([[[[1, 2]]]], np.int8), [0.1]),
            constant("b", np.array([-7000], kind), [0.01]),
        ]  # fmt: skip
        options: dict[str, object] = {"StrideH": 1, "StrideW": 1}
        inputs = ["shape", "w", "x", "b"]
        found.append(
            _run(path, _one("TRANSPOSE_CONV", tensors, inputs, "TransposeConvOptions", options), x)
        )
    assert all(value.item() == -1000 for value in found)


def test_weights_of_half_precision_are_read_as_float32(path: Path) -> None:
    half = np.array([[0.5, -2.0, 1.25, 3.0]], np.float16)
    tensors = [
        Tensor("x", (1, 4)), Tensor("h", (1, 4), "FLOAT16", value=half), Tensor("w", (1, 4)),
        Tensor("y", (1, 4)),
    ]  # fmt: skip
    content = write(
        tensors,
        [Operator("DEQUANTIZE", ("h",), ("w",)),
         Operator("ADD", ("x", "w"), ("y",), "AddOptions")],
        ["x"],
        ["y"],
    )  # fmt: skip
    assert np.array_equal(_run(path, content, np.ones((1, 4), np.float32)), half + 1)
    assert [node.op for node in formats.load(path).nodes] == ["Add"]


@pytest.mark.parametrize("kind", ["FLOAT16", "INT8", "FLOAT32"])
@pytest.mark.parametrize(
    ("op", "options", "shape", "fields"),
    [
        ("CONV_2D", "Conv2DOptions", (2, 2, 2, 3), {"StrideH": 1, "StrideW": 1, "Padding": 1}),
        ("DEPTHWISE_CONV_2D", "DepthwiseConv2DOptions", (1, 2, 2, 3),
         {"StrideH": 1, "StrideW": 1, "Padding": 1}),
        ("FULLY_CONNECTED", "FullyConnectedOptions", (2, 48), {}),
    ],
)  # fmt: skip
def test_weights_may_be_made_real_by_an_operator(
    path: Path, kind: str, op: str, options: str, shape: tuple[int, ...], fields: dict[str, int]
) -> None:
    """As converters leave them that store float16, or int8 for what has no kernel of int8 weights;
    or they are an input."""
    generator = np.random.default_rng(1)
    stored = generator.integers(-90, 90, shape).astype(np.int8)
    real = stored.astype(np.float32) * np.float32(0.25)
    x = generator.standard_normal((1, 4, 4, 3)).astype(np.float32)
    result = (1, 2) if op == "FULLY_CONNECTED" else (1, 3, 3, 2 if op == "CONV_2D" else 3)
    ends = [Tensor("x", (1, 4, 4, 3)), Tensor("y", result)]
    plain = write(
        [*ends, constant("w", real)],
        [Operator(op, ("x", "w", ""), ("y",), options, fields)], ["x"], ["y"],
    )  # fmt: skip
    wanted = _run(path, plain, x)
    if kind == "FLOAT32":
        ends.append(Tensor("w", shape))
        content = write(
            ends, [Operator(op, ("x", "w", ""), ("y",), options, fields)], ["x", "w"], ["y"]
        )
        assert np.array_equal(_run(path, content, x, real), wanted)
        assert go_all_the_way(path) is not None
        return
    half = Tensor("h", shape, "FLOAT16", value=real.astype(np.float16))
    least = half if kind == "FLOAT16" else constant("h", stored, [0.25])
    operators = [
        Operator("DEQUANTIZE", ("h",), ("w",)),
        Operator(op, ("x", "w", ""), ("y",), options, fields),
    ]
    content = write([*ends, least, Tensor("w", shape)], operators, ["x"], ["y"])
    assert np.array_equal(_run(path, content, x), wanted)
    assert go_all_the_way(path) is not None


def test_a_transposed_convolution_of_two_kinds_of_numbers_is_refused(path: Path) -> None:
    """As TensorFlow's converter writes it for the dynamic range."""
    tensors = [
        constant("shape", np.array([1, 4, 4, 1], np.int32)), Tensor("x", (1, 2, 2, 1)),
        constant("w", np.ones((1, 2, 2, 1), np.int8), [0.5]), Tensor("y", (1, 4, 4, 1)),
    ]  # fmt: skip
    options: dict[str, object] = {"StrideH": 2, "StrideW": 2, "Padding": 1}
    content = _one("TRANSPOSE_CONV", tensors, ["shape", "w", "x"], "TransposeConvOptions", options)
    told = refused(path, content)
    assert "has float32 activations and quantized weights; convert the model with int8" in told


@pytest.mark.parametrize("op", ["CONV_2D", "DEPTHWISE_CONV_2D"])
def test_a_shape_that_a_converter_left_out_is_told(path: Path, op: str) -> None:
    kernel = constant("w", np.ones((1, 2, 2, 3), np.float32))
    tensors = [Tensor("x", ()), kernel, Tensor("y", (1, 3, 3, 1))]
    table = "Conv2DOptions" if op == "CONV_2D" else "DepthwiseConv2DOptions"
    content = _one(op, tensors, ["x", "w", ""], table)
    assert "reads the tensor 'x' of the shape [], not of four axes" in refused(path, content)


def test_weights_of_four_bits_are_unpacked(path: Path) -> None:
    """Two in a byte, the first in the low half, and the last half of an odd number is unused."""
    packed = np.array([0x2F, 0x81, 0x07], np.uint8)  # -1, 2, 1, -8, 7
    tensors = [
        Tensor("x", (1, 5), "INT8", (1.0,), (0,)),
        Tensor("w", (1, 5), "INT4", (1.0,), (0,), 0, packed),
        Tensor("y", (1, 1), "INT8", (1.0,), (0,)),
    ]
    content = _one("FULLY_CONNECTED", tensors, ["x", "w", ""], "FullyConnectedOptions")
    x = np.array([[1, 2, 3, 4, 5]], np.int8)
    assert _run(path, content, x).item() == -1 + 4 + 3 - 32 + 35
    tensors[1] = Tensor("w", (1, 5), "INT4", value=packed, details=2)
    path.write_bytes(_one("FULLY_CONNECTED", tensors, ["x", "w", ""], "FullyConnectedOptions"))
    with pytest.raises(McuDeployError, match=r"'w'.* quantized in blocks"):
        formats.load(path)


def test_a_bias_may_name_the_axis_of_its_weights(path: Path) -> None:
    """As an older converter wrote it, for example TFLite-Micro's person_detect.tflite."""
    x = int8("x", (1, 3, 3, 2), 0.5, 0)
    weights = constant("w", np.ones((1, 1, 1, 2), np.int8), [0.25, 0.5], 3)
    y = int8("y", (1, 3, 3, 2), 0.5, 0)
    options = {"StrideH": 1, "StrideW": 1, "DepthMultiplier": 1}
    outputs = []
    for axis in (0, 3):
        bias = constant("b", np.array([8, 16], np.int32), [0.125, 0.25], axis)
        convolution = Operator(
            "DEPTHWISE_CONV_2D", ("x", "w", "b"), ("y",), "DepthwiseConv2DOptions", options
        )
        content = write([x, weights, bias, y], [convolution], ["x"], ["y"])
        outputs.append(_run(path, content, np.full((1, 3, 3, 2), 8, np.int8)))
    assert np.array_equal(*outputs)
    assert outputs[0][0, 0, 0].tolist() == [4, 12]


def test_errors_have_their_kinds(path: Path) -> None:
    path.write_bytes(_one("UNIQUE", PLAIN))
    with pytest.raises(UnsupportedError):
        formats.load(path)
    path.write_bytes(b"\0" * 64)
    with pytest.raises(ModelError):
        formats.load(path)
