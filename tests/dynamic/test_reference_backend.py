"""The reference dynamic backend: built by CMake, loaded alone, and end to end on a board."""

from __future__ import annotations

import shutil
import subprocess
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from onnx import ModelProto
from operators import lab
from operators.sandwich import (
    Q,
    Sandwich,
    quantized_conv,
    quantized_gemm,
    random_integers,
)
from sanitizers import SANITIZED

from mcu_deploy import formats, interpreter, passes
from mcu_deploy.api.building import build
from mcu_deploy.api.profiling import profile
from mcu_deploy.api.running import run
from mcu_deploy.arithmetic import exponential_table
from mcu_deploy.backends.interface import (
    API_VERSION,
    CreationOptions,
    Layer,
    LayoutRule,
    Operand,
    Role,
    Workload,
    layer_of,
)
from mcu_deploy.backends.registry import Registry
from mcu_deploy.boards import load_board
from mcu_deploy.compiler import compile_model
from mcu_deploy.errors import BackendFault
from mcu_deploy.files.samples import load_samples
from mcu_deploy.ir import Graph, Quantization
from mcu_deploy.options import Options
from mcu_deploy.session import Session

pytestmark = [pytest.mark.needs_host_gcc, pytest.mark.needs_cmake]
ID = "DynamicRef"
NHWC = (0, 2, 3, 1)


@pytest.fixture(scope="module")
def cmake_build(repository: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The CMake build of examples/dynamic_backend."""
    folder = tmp_path_factory.mktemp("dynamic_backend")
    source = repository / "examples" / "dynamic_backend"
    options = ["-G", "Ninja", "-DCMAKE_COMPILE_WARNING_AS_ERROR=ON"]
    for command in (
        ["cmake", "-S", str(source), "-B", str(folder), *options],
        ["cmake", "--build", str(folder), "--parallel", "2"],
    ):
        done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=300)
        assert done.returncode == 0, done.stdout + done.stderr
    return folder


@pytest.fixture(scope="module")
def only_reference(cmake_build: Path, tmp_path_factory: pytest.TempPathFactory) -> CreationOptions:
    """Options whose dynamic path holds the reference backend and nothing else."""
    folder = tmp_path_factory.mktemp("only_reference")
    shutil.copy(cmake_build / "McuDeploy_DynamicRef_backend.so", folder)
    return CreationOptions(dynamic_backends_path=str(folder))


def imported(model: ModelProto, folder: Path) -> Graph:
    path = folder / "model.onnx"
    path.write_bytes(model.SerializeToString())
    return passes.run(formats.load(path))


def layer_named(graph: Graph, op: str) -> Layer:
    return layer_of(graph, next(node for node in graph.nodes if node.op == op))


def made_by(session: Session, layer: Layer) -> Workload:
    """The workload that the reference backend makes of a layer."""
    backend = session.registry.create(ID)
    factory = backend.create_workload_factory(backend.create_memory_manager())
    (workload,) = factory.create_workloads(layer.info, layer.descriptor)
    return workload


def test_every_entry_of_the_table_in_c(cmake_build: Path) -> None:
    """tests/dynamic/table: without Python, plain and under sanitizers."""
    done = subprocess.run(
        ["ctest", "--output-on-failure", "-V"],
        cwd=cmake_build, capture_output=True, text=True, check=False, timeout=120,
    )  # fmt: skip
    assert done.returncode == 0, done.stdout + done.stderr
    for name in ("table_test", "table_test_sanitized"):
        assert f"dynamic_backend_{name} ..." in done.stdout
    assert done.stdout.count("ok test_workload\n") == 2


def test_only_three_functions_are_exported(cmake_build: Path) -> None:
    library = cmake_build / "McuDeploy_DynamicRef_backend.so"
    listed = subprocess.run(
        ["nm", "-D", "--defined-only", str(library)], capture_output=True, text=True, check=True
    )
    names = {line.split()[-1] for line in listed.stdout.splitlines()}
    assert names == {"BackendFactory", "GetBackendId", "GetVersion"}


def test_create_reference_dynamic_backend(only_reference: CreationOptions, tmp_path: Path) -> None:
    """CreateReferenceDynamicBackend of Arm NN's guide: found, registered, created, asked, used."""
    case = quantized_conv("conv", Q((1, 3, 6, 5)), (4, 3, 3, 3), {"pads": [1, 1, 1, 1]})
    layer = layer_named(imported(case.model, tmp_path), "Conv")
    with Session(Registry({}), only_reference) as session:
        assert session.registry.ids == (ID,)
        assert session.skipped == ()
        assert session.registry.is_registered(ID)
        backend = session.registry.create(ID)
        assert (backend.id, backend.version) == (ID, API_VERSION)

        def support(asked: Layer) -> tuple[bool, str, LayoutRule]:
            answer = backend.layer_support().is_layer_supported(
                asked, asked.inputs, asked.outputs, asked.attributes
            )
            return answer.supported, answer.reason, answer.layout

        assert support(layer) == (True, "", LayoutRule.CHANNELS_LAST)
        at_run_time = tuple(o and replace(o, constant=None) for o in layer.inputs)
        supported, reason, _ = support(replace(layer, inputs=at_run_time))
        assert not supported
        assert "computed at run time" in reason

        def channels_last(operand: Operand) -> Operand:
            return replace(operand, type=replace(operand.type, layout=NHWC))

        placed = replace(
            layer,
            inputs=(channels_last(layer.input(0)), *layer.inputs[1:]),
            outputs=(channels_last(layer.output),),
        )
        workload = made_by(session, placed)
        assert workload.backend == ID
        assert workload.function is not None
        assert "$dynref_conv(" in workload.function.body
        assert [c.stem for c in workload.constants] == ["weights", "bias", "factor"]
        assert [a.role for a in workload.arguments][-1] is Role.SCRATCH
        packed = layer.input(1).constant
        assert packed is not None
        np.testing.assert_array_equal(
            workload.constants[0].value, packed.transpose(NHWC).reshape(-1)
        )
    with pytest.raises(BackendFault):  # its process has ended with the session
        backend.estimate(placed)


@pytest.mark.parametrize(
    ("scale", "size"), [(0.14469251, 12), (1.0, 1000), (1e-4, 3), (0.5, 300), (0.03125, 1)]
)
def test_softmax_table_is_the_oracles(
    only_reference: CreationOptions, tmp_path: Path, scale: float, size: int
) -> None:
    """All 256 entries, though C computes them with its library's exp."""
    sandwich = Sandwich()
    x = sandwich.input(Q((2, size), scale=scale), np.zeros((2, size), np.int8))
    case = sandwich.finish("softmax", "Softmax", [x], Q(None, scale=1 / 256, zero_point=-128))
    layer = layer_named(imported(case.model, tmp_path), "Softmax")
    quantization = layer.input(0).type.quantization
    assert isinstance(quantization, Quantization)
    table, _ = exponential_table(quantization.scale[0], size)
    with Session(Registry({}), only_reference) as session:
        np.testing.assert_array_equal(made_by(session, layer).constants[0].value, table)


def cases() -> Sequence[lab.Case]:
    """What the keyword-spotting model has, in other geometries than its own."""
    rng = np.random.default_rng(6)

    def one(label: str, op: str, shape: tuple[int, ...], **attributes: object) -> lab.Case:
        sandwich = Sandwich()
        x = sandwich.input(Q(shape, scale=0.043, zero_point=5), random_integers(rng, shape, "int8"))
        pool = Q(None, scale=0.021, zero_point=2)
        output = pool if "Pool" in op else Q(None, scale=1 / 256, zero_point=-128)
        return sandwich.finish(label, op, [x], output, attributes, opset=19)

    image = Q((2, 3, 9, 8))
    return (
        quantized_conv("one pixel", image, (5, 3, 1, 1)),
        quantized_conv(
            "strides and dilations", image, (4, 3, 3, 2),
            {"strides": [2, 1], "dilations": [1, 2], "pads": [0, 1, 2, 0]}, activation="Relu",
        ),
        quantized_conv("upper", image, (4, 3, 3, 3), {"auto_pad": "SAME_UPPER", "strides": [2, 2]}),
        quantized_conv("lower", image, (4, 3, 2, 4), {"auto_pad": "SAME_LOWER"}, per_channel=False),
        quantized_conv("no bias", image, (4, 3, 2, 2), bias=False, activation=(-0.5, 2.5)),
        quantized_conv("depthwise", image, (3, 1, 3, 3), {"group": 3, "pads": [1, 1, 1, 1]}),
        quantized_gemm("gemm", 3, 40, 7, activation="Relu"),
        quantized_gemm("gemm by columns", 2, 17, 5, transposed=False, per_channel=True),
        quantized_gemm("matmul", 6, 21, 4, op="MatMul", x_shape=(2, 3, 21)),
        one("pool", "AveragePool", (2, 3, 9, 8), kernel_shape=[3, 2], pads=[1, 0, 1, 1]),
        one("ceil", "AveragePool", (1, 3, 9, 8), kernel_shape=[3, 3], strides=[2, 2], ceil_mode=1),
        one("global pool", "GlobalAveragePool", (2, 3, 9, 8)),
        one("softmax", "Softmax", (4, 11)),
        one("flattened softmax", "Softmax", (2, 3, 11), axis=-1),
    )  # fmt: skip


def test_layers_are_the_oracles(only_reference: CreationOptions, tmp_path: Path) -> None:
    compiled = []
    with Session(Registry({}), only_reference) as session:
        for index, case in enumerate(cases()):
            path = tmp_path / f"case_{index}.onnx"
            path.write_bytes(case.model.SerializeToString())
            network = compile_model(
                path, load_board("host"), name=f"c{index}", session=session,
                options=Options(weights="array"),
            )  # fmt: skip
            compiled.append(lab.Compiled(case, network))
    for item, device in zip(compiled, lab.run_on_host(compiled, tmp_path, SANITIZED), strict=True):
        (expected,) = interpreter.run(item.graph, list(item.case.inputs))
        np.testing.assert_array_equal(device[0], expected, item.case.name)
        assert np.unique(expected).size > 3, f"{item.case.name} computes next to nothing"


ON_BOARDS = pytest.mark.parametrize(
    "board",
    [
        "host",
        pytest.param(
            "mps2-an386",
            marks=[pytest.mark.matrix, pytest.mark.needs_arm_gcc, pytest.mark.needs_qemu],
        ),
        pytest.param(
            "stm32f746",
            marks=[pytest.mark.matrix, pytest.mark.needs_arm_gcc, pytest.mark.needs_renode],
        ),
    ],
)


@ON_BOARDS
def test_keyword_spotting_end_to_end(
    board: str, only_reference: CreationOptions, kws_dir: Path, tmp_path: Path
) -> None:
    """The end-to-end test of Arm NN's plan: alone, and layer by layer in turns with CpuRef."""
    ways = {
        ID: Options(backends=(ID,)),
        "CpuRef": Options(backends=("CpuRef",)),
        "both": Options(backends=("CpuRef", ID), layer_backends=every_second_layer(kws_dir)),
    }
    answers, makers, ops = {}, {}, {}
    with Session(options=only_reference) as session:
        for way, options in ways.items():
            folder = tmp_path / way
            built = build(
                kws_dir / "model.onnx", board, folder, name="kws", session=session, options=options
            )
            network = built.networks[0].network
            makers[way] = [step.choice.workload.backend for step in network.plan.steps]
            ops[way] = [step.choice.layer.op for step in network.plan.steps]
            samples = load_samples(kws_dir / "samples.npz", network.graph)
            answers[way] = np.array(run(folder, samples, session=session))
        assert len(session.networks) == 3
    assert set(makers[ID]) == {ID}
    assert ops[ID][-2:] == ["AveragePool", "GemmSoftmax"]
    assert set(makers["CpuRef"]) == {"CpuRef"}
    assert makers["both"][:4] == [ID, "CpuRef", ID, "CpuRef"]
    assert len(answers["CpuRef"]) == 8
    np.testing.assert_array_equal(answers[ID], answers["CpuRef"])
    np.testing.assert_array_equal(answers["both"], answers["CpuRef"])


def every_second_layer(kws_dir: Path) -> dict[str, str]:
    """The first convolution, the third, and so on, for the dynamic backend."""
    graph = passes.run(formats.load(kws_dir / "model.onnx"))
    return {node.name: ID for node in [n for n in graph.nodes if n.op == "Conv"][::2]}


@pytest.mark.needs_arm_gcc
@pytest.mark.needs_qemu
def test_its_counters_and_its_option_reach_the_framework(
    only_reference: CreationOptions, tmp_path: Path
) -> None:
    case = quantized_conv("conv", Q((1, 3, 9, 8)), (4, 3, 3, 3))
    model = tmp_path / "model.onnx"
    model.write_bytes(case.model.SerializeToString())
    options = replace(only_reference, backend_options={ID: {"count_runs": "yes"}})
    with Session(options=options) as session:
        built = build(
            model, "mps2-an386", tmp_path / "out", name="kws", session=session,
            options=Options(backends=(ID,)),
        )  # fmt: skip
        measured = profile(tmp_path / "out", session=session)
    source = built.networks[0].network.sources.source
    assert source.count("_mcu_kws_dynref_count_run(") == 2  # defined, and called in each run
    assert source.count("_mcu_kws_dynref_forget_runs(") == 2
    counters = measured.counters[ID]
    assert counters["networks loaded"] >= 1
    assert 3000 < counters["instructions per 1000 MACs"] < 15000
