"""A backend whose C cannot be used is named and left out; those beside it stay."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import onnx
import pytest
from backend_cases import Only
from onnx import TensorProto, helper

from mcu_deploy.api.building import build
from mcu_deploy.backends.interface import (
    Argument,
    CFunction,
    Descriptor,
    MemoryManager,
    Parameter,
    Role,
    Workload,
    WorkloadFactory,
    WorkloadInfo,
)
from mcu_deploy.backends.registry import BUILTIN, Registry
from mcu_deploy.boards import load_board
from mcu_deploy.compiler import compile_model
from mcu_deploy.errors import HygieneError, ToolError
from mcu_deploy.session import Session

pytestmark = pytest.mark.needs_host_gcc


class Spoilt(Only):
    """CpuRef's workloads, with something put at the begin of each body."""

    def __init__(self, id: str, op: str, text: str) -> None:
        super().__init__(id, (op,))
        self.text = text

    def create_workload_factory(self, memory_manager: MemoryManager | None) -> WorkloadFactory:
        return _SpoiltFactory(super().create_workload_factory(memory_manager), self.text)


class _SpoiltFactory:
    def __init__(self, inner: WorkloadFactory, text: str) -> None:
        self.inner = inner
        self.text = text

    def create_workloads(self, info: WorkloadInfo, descriptor: Descriptor) -> tuple[Workload, ...]:
        (made,) = self.inner.create_workloads(info, descriptor)
        assert made.function is not None
        body = made.function.body.replace("{", "{" + self.text, 1)
        return (replace(made, function=replace(made.function, body=body)),)


@pytest.fixture
def model(tmp_path: Path) -> Path:
    ends = [helper.make_tensor_value_info(n, TensorProto.FLOAT, [1, 4]) for n in ("x", "y")]
    nodes = [
        helper.make_node("Neg", ["x"], ["n"], "neg"),
        helper.make_node("Abs", ["n"], ["a"], "abs"),
        helper.make_node("Relu", ["a"], ["y"], "relu"),
    ]
    graph = helper.make_graph(nodes, "g", ends[:1], ends[1:])
    onnx.save(
        helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)]), tmp_path / "m.onnx"
    )
    return tmp_path / "m.onnx"


def with_backends(*backends: Spoilt, origin: str = "somewhere") -> Registry:
    registry = Registry.builtin()
    for backend in backends:
        registry = registry.with_backend(backend.id, lambda b=backend: b, origin)
    return registry


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("int oops", "does not compile for board host"),
        ('int puts(const char *); puts("x");', "puts"),
    ],
)
def test_the_guilty_one_is_left_out(model: Path, tmp_path: Path, text: str, reason: str) -> None:
    lines: list[str] = []
    good, bad = Spoilt("Good", "Neg", " "), Spoilt("Bad", "Abs", text)
    with Session(with_backends(good, bad), report=lines.append) as session:
        built = build(model, "host", tmp_path / "b", session=session)
        assert session.networks == (2,)
    (line,) = lines
    assert line.startswith("The backend Bad made code for network 'm' that cannot be used: ")
    assert line.endswith(" Its layers go to the next backend.")
    assert reason in line
    computed = [s.choice.workload.backend for s in built.networks[0].network.plan.steps]
    assert computed == ["Good", "CpuRef", "CpuRef"]
    assert (tmp_path / "b" / "report.json").is_file()


def test_two_that_do_not_go_together(model: Path, tmp_path: Path) -> None:
    """Each declares a function in its own way, which C allows once in a file."""
    lines: list[str] = []
    one = Spoilt("One", "Neg", "float other(float); ")
    two = Spoilt("Two", "Abs", "int other(int); ")
    with Session(with_backends(one, two), report=lines.append) as session:
        build(model, "host", tmp_path / "b", session=session)
    (line,) = lines
    assert line.startswith("The backend Two made code for network 'm' that cannot be used: ")
    assert "conflicting types for 'other'" in line


@pytest.mark.parametrize(
    "text",
    ["\n#define fabsf(v) (v)\n", "\n#define float double\n", "} int other(void) {", "#if 0\n"],
)
def test_what_would_reach_others_is_refused_by_name(model: Path, text: str) -> None:
    lines: list[str] = []
    with Session(with_backends(Spoilt("Bad", "Neg", text)), report=lines.append) as session:
        made = compile_model(model, load_board("host"), session=session)
    plain = compile_model(model, load_board("host"))
    (line,) = lines
    assert line.startswith("The backend Bad answered nonsense to create_workload for the Neg 'neg'")
    assert line.endswith(" Its layers go to the next backend.")
    assert made.sources.files == plain.sources.files


def test_a_constant_passed_as_an_input_is_the_backends_fault(model: Path, tmp_path: Path) -> None:
    """Of Mul both inputs are read, of which one is a constant here."""
    proto = onnx.load(model)
    proto.graph.node[1].CopyFrom(helper.make_node("Mul", ["n", "two"], ["a"], "mul"))
    proto.graph.initializer.append(helper.make_tensor("two", TensorProto.FLOAT, [1], [2.0]))
    onnx.save(proto, model)

    class Passes(Spoilt):
        def create_workload_factory(self, memory_manager: MemoryManager | None) -> WorkloadFactory:
            return _PassesConstants()

    lines: list[str] = []
    with Session(with_backends(Passes("Passes", "Mul", "")), report=lines.append) as session:
        build(model, "host", tmp_path / "b", session=session)
    (line,) = lines
    assert "create_workload for the Mul 'mul': input 1 is referred to, a constant" in line


class _PassesConstants:
    def create_workloads(self, info: WorkloadInfo, descriptor: Descriptor) -> tuple[Workload, ...]:
        floats = Parameter("const float *", "x"), Parameter("float *", "y")
        function = CFunction("pass", (*floats, Parameter("const float *", "z")), "{\n}")
        arguments = (Argument(Role.INPUT), Argument(Role.OUTPUT), Argument(Role.INPUT, 1))
        return (Workload("Passes", function, arguments),)


def test_all_of_several_are_found(model: Path, tmp_path: Path) -> None:
    lines: list[str] = []
    backends = [Spoilt(f"Bad{op}", op, "int oops") for op in ("Neg", "Abs", "Relu")]
    with Session(with_backends(*backends), report=lines.append) as session:
        build(model, "host", tmp_path / "b", session=session)
    assert [line.split()[2] for line in lines] == ["BadNeg", "BadAbs", "BadRelu"]


# Each takes stack in a way that has no bound, or more of it than a board gives; in which words.
POINTER = "calls through a pointer (network_m.c:"
WITHOUT_BOUND = {
    "float (*volatile f)(float) = 0; y[0] = f(x[0]);": POINTER,
    "void (*volatile f)(const float *, float *) = 0; if (x != 0) { f(x, y); return; }": POINTER,
    "int n = (int)x[0]; volatile char a[n]; a[0] = 1;": "takes memory from it by alloca",
    "volatile char *a = __builtin_alloca((int)x[0]); a[0] = 1;": "takes memory from it by alloca",
}
ON_ARM = {
    '__asm__ volatile("blx %0" : : "r"(x) : "lr");': "calls through a pointer, and",
    '__asm__ volatile("mov pc, %0" : : "r"(x));': "calls through a pointer, and",
    '__asm__ volatile("mov r3, sp" "\\n" "mov sp, r3" : : : "r3");': "`mov sp, r3` sets SP",
    "volatile char a[100000]; a[9] = 1;": "takes 100,000 bytes of the stack, which has 8,192 for",
    'volatile int a[9]; a[8] = 1; __asm__ volatile("sub sp, %0" : : "r"(a));': "`sub.w sp, sp, ",
    '__asm__ volatile("push {%0}" "\\n" "pop {pc}" : : "r"(1));': "calls through a pointer, and",
    '__asm__ volatile("mov lr, %0" "\\n" "bx lr" : : "r"(1));': "calls through a pointer, and",
}
OPERATORS = (
    "Neg",
    "Abs",
    "Relu",
    "Ceil",
    "Floor",
    "Exp",
    "Sqrt",
    "Sign",
    "Tanh",
    "Round",
    "Reciprocal",
)


@pytest.fixture
def chain(tmp_path: Path) -> Path:
    """A layer of each of these operators."""
    ends = [helper.make_tensor_value_info(n, TensorProto.FLOAT, [1, 4]) for n in ("x", "y")]
    names = ["x", *OPERATORS[:-1], "y"]
    nodes = [
        helper.make_node(op, [names[at]], [names[at + 1]], op) for at, op in enumerate(OPERATORS)
    ]
    graph = helper.make_graph(nodes, "g", ends[:1], ends[1:])
    file = tmp_path / "m.onnx"
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)]), file)
    return file


@pytest.mark.parametrize(
    ("board", "texts"),
    [
        ("host", dict([*WITHOUT_BOUND.items()][:2])),
        pytest.param("host", WITHOUT_BOUND, marks=pytest.mark.matrix),
        pytest.param("mps2-an386", dict([*ON_ARM.items()][1:3]), marks=pytest.mark.needs_arm_gcc),
        pytest.param(
            "mps2-an386",
            WITHOUT_BOUND | ON_ARM,
            marks=[pytest.mark.needs_arm_gcc, pytest.mark.matrix],
        ),
    ],
)
def test_a_stack_without_a_bound_is_its_backends_fault(
    chain: Path, tmp_path: Path, board: str, texts: dict[str, str]
) -> None:
    lines: list[str] = []
    backends = [Spoilt(f"Bad{op}", op, text) for op, text in zip(OPERATORS, texts, strict=False)]
    with Session(with_backends(*backends), report=lines.append) as session:
        built = build(chain, board, tmp_path / "b", session=session)
    told = {line.split()[2]: line for line in lines}
    assert sorted(told) == sorted(backend.id for backend in backends)
    for op, reason in zip(OPERATORS, texts.values(), strict=False):
        assert "made code for network 'm' that cannot be used: " in told[f"Bad{op}"]
        assert reason in told[f"Bad{op}"] and "_mcu_m_" in told[f"Bad{op}"]
    network = built.networks[0].network
    assert {s.choice.workload.backend for s in network.plan.steps} == {"CpuRef"}
    assert 0 < built.networks[0].stack.bytes < 600


def test_what_ships_with_mcu_deploy_is_not_left_out(model: Path, tmp_path: Path) -> None:
    """It would hide a fault of our own."""
    for text, kind in (("int oops", ToolError), ('puts("x");', HygieneError)):
        registry = with_backends(Spoilt("Bad", "Abs", text), origin=BUILTIN)
        with Session(registry) as session, pytest.raises(kind) as caught:
            build(model, "host", tmp_path / "b", session=session)
        assert ".." not in str(caught.value) and ".;" not in str(caught.value)
        assert not (tmp_path / "b").exists()
