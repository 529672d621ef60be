"""`mcu_deploy.connect`: arrays in and out, and how what the API returns shows itself."""

from __future__ import annotations

from collections.abc import Iterator
from html.parser import HTMLParser
from pathlib import Path

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper
from state_programs import accumulator

import mcu_deploy
from mcu_deploy.api.connecting import OpenDevice
from mcu_deploy.api.tensors import Tensor
from mcu_deploy.errors import DeviceError, RequestError
from mcu_deploy.options import Options, Requests, StateRequest
from mcu_deploy.report.tables import Table

pytestmark = pytest.mark.needs_host_gcc

_HOSTILE = "<b onclick='x()'>&amp;\n"


def _two_ways() -> onnx.ModelProto:
    """Two inputs, two outputs, and a name that is no Python name and no safe HTML."""
    nodes = [
        helper.make_node("Add", [_HOSTILE, "b"], ["sum"]),
        helper.make_node("Cast", ["b"], ["whole"], to=TensorProto.INT32),
    ]
    inputs = [helper.make_tensor_value_info(n, TensorProto.FLOAT, [1, 3]) for n in (_HOSTILE, "b")]
    outputs = [
        helper.make_tensor_value_info("sum", TensorProto.FLOAT, [1, 3]),
        helper.make_tensor_value_info("whole", TensorProto.INT32, [1, 3]),
    ]
    opsets = [helper.make_opsetid("", 17)]
    graph = helper.make_graph(nodes, "ways", inputs, outputs)
    return helper.make_model(graph, opset_imports=opsets, ir_version=8)


def _view() -> onnx.ModelProto:
    """Of w and z buffers are the caller's; y is a view of x, and both are copied."""
    nodes = [
        helper.make_node("Neg", ["w"], ["z"]), helper.make_node("Flatten", ["x"], ["y"], axis=0),
    ]  # fmt: skip
    value, ends = helper.make_tensor_value_info, {"w": [1, 3], "x": [3, 1]}
    inputs = [value(name, TensorProto.FLOAT, shape) for name, shape in ends.items()]
    outputs = [value(name, TensorProto.FLOAT, [1, 3]) for name in "zy"]
    graph = helper.make_graph(nodes, "view", inputs, outputs)
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> mcu_deploy.Build:
    folder = tmp_path_factory.mktemp("connecting")
    (folder / "ways.onnx").write_bytes(_two_ways().SerializeToString())
    (folder / "sums.onnx").write_bytes(accumulator().SerializeToString())
    (folder / "view.onnx").write_bytes(_view().SerializeToString())
    states = (StateRequest("sums::state", "next"),)
    options = Options(io="caller", requests=Requests(states=states))
    models = [folder / f"{name}.onnx" for name in ("ways", "sums", "view")]
    return mcu_deploy.build(models, "host", folder / "built", options=options)


@pytest.fixture
def device(built: mcu_deploy.Build) -> Iterator[OpenDevice]:
    with mcu_deploy.connect(built) as device:
        yield device


def test_inputs_by_place_and_by_name_in_batches_of_both_kinds(device: OpenDevice) -> None:
    ways = device["ways"]
    a = np.arange(12).reshape(4, 3)
    b = np.float64([[1.5, -2, 7]] * 4)
    found = ways.run(a[:1], b[:1])
    assert isinstance(found, dict) and list(found) == ["sum", "whole"]
    assert np.array_equal(found["sum"], [[1.5, -1, 9]]) and found["sum"].dtype == np.float32
    assert np.array_equal(found["whole"], [[1, -2, 7]]) and found["whole"].dtype == np.int32
    found["sum"][0, 0] = 0  # the caller's own
    along = ways.run(**{_HOSTILE: a, "b": b})
    front = ways.run(a[:, None].tolist(), b=b[:, None])
    assert isinstance(along, dict) and isinstance(front, dict)
    assert along["sum"].shape == (4, 3) and front["sum"].shape == (4, 1, 3)
    assert np.array_equal(along["sum"], a + b) and np.array_equal(front["sum"][:, 0], a + b)


def test_the_firmware_has_buffers_of_its_own_for_all_that_the_caller_gives(
    device: OpenDevice,
) -> None:
    """So that a repetition reads what was sent."""
    row = np.float32([[1, 2, 3]])
    device.line.write_inputs("ways", [row, row])
    assert device.line.run("ways", repeat=2).outputs_valid


def test_what_stays_at_the_caller_s_goes_beside_what_is_copied(device: OpenDevice) -> None:
    w, x = np.float32([[1, -2, 3]]), np.float32([[4], [5], [6]])
    found = device["view"].run(w, x)
    assert isinstance(found, dict)
    assert np.array_equal(found["z"], -w) and np.array_equal(found["y"], x.T)


def test_states_go_on_from_sample_to_sample(device: OpenDevice) -> None:
    sums = device["sums"]
    x = np.ones((3, *sums.inputs[0].shape), int)
    first, again = sums.run(x), sums.run(x)
    assert isinstance(first, np.ndarray) and isinstance(again, np.ndarray)
    assert not np.array_equal(first[0], first[1]) and not np.array_equal(first, again)
    sums.reset_states()
    assert np.array_equal(np.asarray(sums.run(x)), first)


def test_inputs_that_do_not_fit_are_told_in_a_sentence(device: OpenDevice) -> None:
    ways, x = device["ways"], np.zeros((1, 3))
    for says, given, named in (
        ("1 by place were given", [x], {}),
        ("3 by place were given", [x, x, x], {}),
        ("2 by place, 'b' were given", [x, x], {"b": x}),
        ("1 by place, 'c' were given", [x], {"c": x}),
        ("an array of shape [3] was given", [x, x[0]], {}),
        ("an array of shape [0, 3] was given", [x, np.zeros((0, 3))], {}),
        ("<U1 was given. Convert the array.", [x, np.full((1, 3), "1")], {}),
        ("its parts differ in length", [x, [[1, 2], [3]]], {}),
        ("differ in their number of samples", [x, np.zeros((2, 3))], {}),
        ("or in the axis that counts them", [x, np.zeros((1, 1, 3))], {}),
    ):
        with pytest.raises(RequestError) as caught:
            ways.run(*given, **named)
        assert says in str(caught.value)
    with pytest.raises(RequestError, match=r"ways, sums, view. Say which: device\['ways'\]"):
        device.run(x)
    with pytest.raises(RequestError, match="runs ways, sums, view, and no 'other'"):
        device["other"]


def test_a_quantized_tensor_takes_integers_and_makes_them_of_real_numbers() -> None:
    tensor = Tensor("x", np.dtype("int8"), (4,), 0.5, 3)
    values = tensor.quantize([0.75, -0.25, 1000.0, -1e30])
    assert values.dtype == np.int8 and values.tolist() == [5, 3, 127, -128]  # halves to even
    assert tensor.dequantize(values[:2]).tolist() == [1.0, 0.0]
    with pytest.raises(RequestError, match=r"as its quantize\(\) makes them"):
        tensor.samples(np.zeros(4))
    with pytest.raises(RequestError, match="values from -1 to 200 were given"):
        tensor.samples([0, 0, 200, -1])
    with pytest.raises(RequestError, match="not quantized"):
        Tensor("x", np.dtype("float32"), (4,), None, None).quantize([1.0])


def test_what_is_no_build_or_is_closed(built: mcu_deploy.Build, tmp_path: Path) -> None:
    with pytest.raises(RequestError, match="is no build folder"):
        mcu_deploy.connect(tmp_path)
    with pytest.raises(RequestError, match=r"connect\(BUILD, port='/dev/ttyACM0'\)"):
        mcu_deploy.connect("/dev/ttyACM0")
    with pytest.raises(DeviceError, match="there is no such port"):
        mcu_deploy.connect(built, port="/dev/no-such-port")
    device = mcu_deploy.connect(str(built.directory))
    device.close()
    device.close()
    assert repr(device).endswith(", closed>")
    with pytest.raises(RequestError, match="is closed"):
        device["sums"].run([[0] * 5])


class _Cells(HTMLParser):
    """Tags, and the text of cells."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.tags: set[str] = set()
        self.cells: list[str] = []
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: object) -> None:
        self.tags.add(tag)
        self.cells += [""] if tag in ("th", "td") else []

    def handle_data(self, data: str) -> None:
        if self.cells:
            self.cells[-1] += data


def test_tables_are_aligned_as_text_and_escaped_as_html(
    device: OpenDevice, built: mcu_deploy.Build
) -> None:
    assert repr(device).startswith("<host: ways takes \"<b onclick='x()'>&amp;\\n\" float32[1,3], ")
    html = _Cells(device._repr_html_())
    assert html.tags == {"p", "table", "thead", "tbody", "tr", "th", "td"}
    assert "<b onclick='x()'>&amp;" in html.cells
    lines = repr(built).splitlines()
    assert lines[0] == "built for host; sizes in bytes"
    assert lines[1].split()[:4] == ["network", "layers", "MACs", "flash"]
    assert len({len(line) for line in lines[1:4]}) == 1
    assert lines[-1] == f"in {built.directory}"
    table = Table("a\tb", ("name", "n"), (("x" * 90, "1"), ("\x1b[31m", "22")), frozenset("n"))
    title, head, long, control = str(table).splitlines()
    assert (title, len(head), len(long), len(control)) == ("a b", 51, 51, 51)
    assert control.startswith("\\x1b[31m") and control.endswith(" 22") and "..." in long
