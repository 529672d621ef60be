"""Each layer has a short name of its own, whatever compiles it, and people may type it."""

from __future__ import annotations

import json
import random
import re
from pathlib import Path

import numpy as np
import onnx
import pytest
from control_nests import nest_of
from onnx import TensorProto, helper, numpy_helper
from pmx_cases import compiled, packed, session
from rich.console import Console
from sampling import first
from typer.testing import CliRunner

from mcu_deploy import formats
from mcu_deploy.api.folder import open_folder
from mcu_deploy.api.running import explain_fault
from mcu_deploy.backends.interface import Constant
from mcu_deploy.boards import load_board
from mcu_deploy.cli import create_app
from mcu_deploy.cli.console import layer_lines
from mcu_deploy.codegen import describe
from mcu_deploy.codegen.symbols import Symbols
from mcu_deploy.compiled import Network
from mcu_deploy.compiler import Options, compile_model
from mcu_deploy.device import DeviceFault, FaultCause, FaultReport
from mcu_deploy.ir import Graph, naming
from mcu_deploy.ir.nested import graphs_within

FLOAT = TensorProto.FLOAT
KWS = [
    "conv_1", "depthwise_1", "conv_2", "depthwise_2", "conv_3", "depthwise_3", "conv_4",
    "depthwise_4", "conv_5", "avg_pool_1", "dense_1", "softmax_1",
]  # fmt: skip

# What the compiler adds is named after what it belongs to.
CHAIN = ["input_1_reorder", "conv_1", "conv_2", "conv_2_reorder"]


def shorts(network: Network) -> list[str]:
    return [step.short for step in network.plan.steps]


def all_shorts(graph: Graph) -> list[str]:
    return [node.short for inner in graphs_within(graph) for node in inner.nodes]


def saved(tmp_path: Path, model: onnx.ModelProto) -> Path:
    path = tmp_path / "m.onnx"
    path.write_bytes(model.SerializeToString())
    return path


def chain(*names: str, opset: int = 17) -> onnx.ModelProto:
    """Convolutions of these names, with a Relu each, behind one another."""
    weights = numpy_helper.from_array(np.ones((2, 2, 1, 1), np.float32), "w")
    nodes, edge = [], "x"
    for number, name in enumerate(names):
        nodes.append(helper.make_node("Conv", [edge, "w"], [f"c{number}"], name))
        nodes.append(helper.make_node("Relu", [f"c{number}"], [f"r{number}"], name))
        edge = f"r{number}"
    shape = [1, 2, 3, 3]
    graph = helper.make_graph(
        nodes, "g", [helper.make_tensor_value_info("x", FLOAT, shape)],
        [helper.make_tensor_value_info(edge, FLOAT, shape)], [weights],
    )  # fmt: skip
    imports = [helper.make_opsetid("", opset)]
    return helper.make_model(graph, opset_imports=imports, ir_version=8)


def test_layers_are_called_by_the_fields_words(kws_dir: Path) -> None:
    plain = Options(backends=("CpuRef",))  # others may make one layer of several
    assert shorts(compiled(kws_dir / "model.onnx", plain)) == KWS


@pytest.mark.parametrize(
    "options",
    first(
        [Options(layers_all=True), Options(memory="plain", io="caller"), Options(strategy="cost")],
        2,
    ),
)
def test_board_backend_and_goal_change_no_name(kws_dir: Path, options: Options) -> None:
    """What is not fused has names too; those of the layers that are there stay."""
    for board in ("host", "mps2-an385"):
        found = shorts(compiled(kws_dir / "model.onnx", options, board=board))
        assert [name for name in found if name in KWS] == KWS


def test_tflite_has_the_same_words(models_dir: Path) -> None:
    plain = Options(backends=("CpuRef",))
    found = shorts(compiled(models_dir / "mlperf_kws_int8" / "model.tflite", plain))
    assert [name for name in found if "_reorder" not in name] == KWS


def test_a_compiled_file_keeps_the_names(tmp_path: Path) -> None:
    network = compiled(saved(tmp_path, chain("a", "b")))
    file = tmp_path / "m.pmx"
    file.write_bytes(packed(network))
    again = compiled(file)
    assert shorts(again) == shorts(network) == CHAIN
    conv = next(node for node in again.graph.nodes if node.short == "conv_1")
    assert [leaf.short for leaf in again.graph.leaves(conv.id)] == ["conv_1", "relu_1"]


@pytest.mark.parametrize("names", [("", ""), ("same", "same"), ("conv_2", "conv_1")])
def test_names_that_the_model_lacks_or_doubles(tmp_path: Path, names: tuple[str, str]) -> None:
    assert shorts(compiled(saved(tmp_path, chain(*names)))) == CHAIN


@pytest.mark.parametrize("seed", range(4))
def test_graphs_in_graphs_have_distinct_names(tmp_path: Path, seed: int) -> None:
    path = saved(tmp_path, nest_of(random.Random(seed).randint))
    imported = all_shorts(formats.load(path))
    assert len(set(imported)) == len(imported) > 5
    found = all_shorts(compiled(path).graph)
    assert len(set(found)) == len(found)
    assert "" not in found


def test_names_of_a_hostile_file_stay_in_their_place(tmp_path: Path) -> None:
    """A .pmx file may say anything: its names reach C by way of the names' module alone."""
    path = saved(tmp_path, chain("a"))
    imported = formats.load(path)
    evil = naming._named(imported, lambda _g, node: f"*/ int x; /* \\\n{node.op}")
    made = naming.complete(naming.complete(evil))
    assert all(made.node(n.id).short == n.short for n in evil.nodes)
    node = next(evil.nodes)
    assert "*/" not in describe.node(node)
    assert "\n" not in describe.node(node)
    symbol = Symbols("n").constant(Constant("weights", np.ones(3, np.int8)), node.short)
    assert symbol.replace("_", "a").isalnum()


def test_both_names_may_be_typed(tmp_path: Path) -> None:
    path = saved(tmp_path, chain("front", "back"))
    for name in ("conv_2", "back", "relu_2"):
        options = Options(layer_backends={name: "CpuRef"})
        with session() as own:
            made = compile_model(path, load_board("host"), session=own, options=options)
        by_layer = {n.short: made.assignment.chosen_by.get(n.id) for n in made.graph.nodes}
        assert by_layer["conv_2"] == "--layer-backend", name
        assert by_layer["conv_1"] == "cost", name


def test_a_table_fits_a_terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    """Of eighty columns, though the names are longer; --wide shows them whole."""
    from mcu_deploy.cli.console import out

    monkeypatch.setattr(out, "width", 80)
    name = "functional_1/" + "x" * 90 + "/Relu;functional_1/conv2d/Conv2D1_prequant"
    rows = [(str(i), f"depthwise_{i}", "12,345,678", name) for i in range(8, 12)]
    titles = ("", "layer", "instructions", "in the model")
    lines = layer_lines(titles, rows, ("", "instructions"), wide=False)
    assert {len(line) for line in lines[1:]} == {80}
    assert all(line.endswith("x/Relu") for line in lines[1:])
    assert lines[1].startswith(" 8  depthwise_8     12,345,678  ...")
    wide = layer_lines(titles, rows, (), wide=True)
    assert all(line.endswith(name) for line in wide[1:])


def test_columns_without_room_are_left_out(monkeypatch: pytest.MonkeyPatch) -> None:
    """The names first, then what is spare, as far as that is needed."""
    from mcu_deploy.cli.console import out

    titles = ("", "layer", "floor", "cycles", "in the model")
    rows = [("0", "conv_1", "1,234,567", "2,345,678", "x" * 50)]
    for width, shown in (
        (45, "layer floor cycles in the model"), (44, "layer floor cycles"),
        (31, "layer floor cycles"), (29, "layer cycles"), (10, "layer cycles"),
    ):  # fmt: skip
        monkeypatch.setattr(out, "width", width)
        lines = layer_lines(titles, rows, (), wide=False, spare=["floor", "none"])
        assert " ".join(lines[0].split()) == shown
        assert len(lines[1]) <= max(width, 20)


def test_a_table_folds_text_and_no_numbers(capsys: pytest.CaptureFixture[str]) -> None:
    from mcu_deploy.cli import console

    made = console.table("network", "flash", right=["flash"])
    made.add_row("keyword spotter", "[bold]38,252[/]")
    Console(width=12, color_system=None, soft_wrap=True).print(made)
    shown = [line.rstrip() for line in capsys.readouterr().out.splitlines()]
    assert shown == ["network   flash", "keyword  38,252", "spotter"]


def test_sentences_are_folded_on_a_terminal_alone(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    from mcu_deploy.cli import console

    for is_terminal, folded in ((True, "    one two\n    three\n"), (False, "    one two three\n")):
        made = Console(width=12, force_terminal=is_terminal, color_system=None, soft_wrap=True)
        monkeypatch.setattr(console, "out", made)
        console.fold("one [bold]two[/] three", 4)
        assert re.sub(r" +$", "", capsys.readouterr().out, flags=re.M) == folded


@pytest.mark.needs_host_gcc
def test_report_and_tables_have_both_names(kws_dir: Path, tmp_path: Path) -> None:
    model = str(kws_dir / "model.onnx")
    command = ["build", model, "--board", "host", "-o", str(tmp_path / "b"), "--explain"]
    shown = CliRunner().invoke(create_app(), command)
    assert shown.exit_code == 0, shown.output
    lines = shown.stdout.splitlines()
    assert all(any(f"  {name} " in line for line in lines) for name in KWS)
    report = json.loads((tmp_path / "b" / "report.json").read_text())
    assert [row["short"] for row in report["layers"]] == KWS
    assert all(row["name"].startswith(("functional", "Identity")) for row in report["layers"])
    fault = DeviceFault(FaultReport(FaultCause.BAD_READ, 3, 0x20000000, model=0, layer=3))
    said = explain_fault(open_folder(tmp_path / "b"), fault)
    assert "layer 3 of kws is depthwise_2, the Conv 'functional_1/activation_3/Relu;" in said
