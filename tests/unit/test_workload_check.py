"""A workload has to fit its layer: arguments, pointers, facts, constants."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from mcu_deploy.backends.c_rules import Nonsense
from mcu_deploy.backends.layer import Layer, layer_of
from mcu_deploy.backends.workload import (
    Argument,
    CFunction,
    Constant,
    InPlace,
    Parameter,
    Region,
    RegionCall,
    RegionKind,
    Role,
    Workload,
)
from mcu_deploy.backends.workload_check import check_call, check_workload
from mcu_deploy.ir import DType, GraphEditor, TensorType

INPUT, OUTPUT, CONSTANT = Argument(Role.INPUT), Argument(Role.OUTPUT), Argument(Role.CONSTANT)
TABLE = Constant("table", np.arange(4, dtype=np.int16))


def layer(
    op: str = "Neg", dtype: DType = DType.FLOAT32, inputs: int = 1, to: DType | None = None
) -> Layer:
    editor = GraphEditor.empty("net")
    type_ = TensorType(dtype, (1, 4))
    editor.inputs = [editor.add_edge(f"x{i}", type_) for i in range(inputs)]
    editor.outputs = [editor.add_edge("y", TensorType(to or dtype, (1, 4)))]
    editor.add_node(op, editor.inputs, editor.outputs, "node", {})
    graph = editor.finish(opset=17)
    return layer_of(graph, next(graph.nodes))


def workload(*pairs: tuple[str, Argument], **rest: object) -> Workload:
    parameters = tuple(Parameter(ctype, f"p{i}") for i, (ctype, _) in enumerate(pairs))
    made = Workload("B", CFunction("f", parameters, "{}"), tuple(a for _, a in pairs))
    return replace(made, **rest)  # type: ignore[arg-type]


def refusal(made: Workload, of: Layer) -> str:
    try:
        check_workload(made, of)
    except Nonsense as nonsense:
        return str(nonsense)
    return ""


@pytest.mark.parametrize(
    ("source", "target", "reason"),
    [
        ("const float *", "float *", ""),
        ("float *", "void *", ""),
        ("float const *", "uint8_t *", ""),
        ("const volatile float *", "unsigned char *", ""),
        ("const void *const", "char *", ""),
        ("const double *", "float *", "the parameter p0 gets input 0, of float, but is 'const d"),
        ("const int8_t *", "float *", "the parameter p0 gets input 0, of float, but is 'const int"),
        ("const float *", "int32_t *", "the parameter p1 gets output 0, of float, but is 'int32_"),
        ("const float **", "float *", "the parameter p0 gets input 0, of float, but is 'const fl"),
        ("const float *", "const float *", "p1 gets output 0, and is a pointer to const"),
        ("float", "float *", "the parameter p0 is no pointer"),
    ],
)
def test_pointers_to_tensors(source: str, target: str, reason: str) -> None:
    said = refusal(workload((source, INPUT), (target, OUTPUT)), layer())
    assert said.startswith(reason) if reason.startswith("the") else reason in said
    assert bool(said) == bool(reason)


def test_bytes_of_one_sign_are_not_those_of_the_other() -> None:
    for dtype, wrong in ((DType.INT8, "uint16_t"), (DType.UINT8, "int8_t"), (DType.BOOL, "int")):
        good = dtype.c_type
        assert not refusal(
            workload((f"const {good} *", INPUT), (f"{good} *", OUTPUT)), layer(dtype=dtype)
        )
        said = refusal(
            workload((f"const {wrong} *", INPUT), (f"{good} *", OUTPUT)), layer(dtype=dtype)
        )
        assert said == f"the parameter p0 gets input 0, of {good}, but is 'const {wrong} *'"


def test_every_output_is_written_and_every_input_read() -> None:
    assert refusal(workload(("const float *", INPUT)), layer()) == (
        "output 0 is no argument: nobody writes it"
    )
    assert refusal(workload(("float *", OUTPUT)), layer()) == (
        "input 0 is no argument: nobody reads it"
    )
    first = workload(("const float *", INPUT), ("float *", OUTPUT))
    assert refusal(first, layer("Add", inputs=2)) == "input 1 is no argument: nobody reads it"
    assert refusal(first, layer("CastLike", inputs=2)) == ""  # of which the type is known


def test_constants() -> None:
    pairs = (("const float *", INPUT), ("float *", OUTPUT))
    for ctype, reason in {
        "const int16_t *": "", "const void *": "", "const short *": "",
        "const int32_t *": "the parameter p2 gets constant 0, of int16_t, but is 'const int32_t *'",
        "int16_t *": "the parameter p2 gets constant 0, and is no pointer to const",
    }.items():  # fmt: skip
        made = workload(*pairs, (ctype, CONSTANT), constants=(TABLE,))
        assert refusal(made, layer()) == reason
    for alignment in (0, -4, 3, 1 << 31):
        made = workload(*pairs, constants=(replace(TABLE, alignment=alignment),))
        assert refusal(made, layer()).startswith(f"the alignment of table is {alignment}, ")


@pytest.mark.parametrize(
    ("ctype", "value", "reason"),
    [
        ("int32_t", -(2**31), ""), ("uint32_t", 2**32 - 1, ""), ("float", 0.1, ""),
        ("int32_t", 2**31, "which is no int32_t"), ("uint32_t", -1, "which is no uint32_t"),
        ("int32_t", 0.5, "which is no int32_t"), ("float", 1e39, "which is no float"),
        ("float", float("nan"), "which is no float"), ("float", -0.0, "which is no float"),
        ("int8_t", 1, "and is 'int8_t', none of int32_t, uint32_t, float"),
        ("const int32_t *", 1, "and is 'const int32_t *', none of"),
    ],
)  # fmt: skip
def test_numbers(ctype: str, value: float, reason: str) -> None:
    pairs = (("const float *", INPUT), ("float *", OUTPUT))
    made = workload(*pairs, (ctype, Argument(Role.SCALAR, value=value)))
    said = refusal(made, layer())
    assert said.startswith(f"the parameter p2 gets the number {float(value)}") == bool(reason)
    assert said.endswith(reason) or reason in said


def test_views() -> None:
    view = Workload("B", None)
    assert refusal(view, layer()) == ""
    assert "not the bytes of its first input" in refusal(view, layer("Cast", to=DType.INT8))
    assert "parameters, but the call 1 arguments" in refusal(
        replace(view, arguments=(INPUT,)), layer()
    )


def test_facts_of_place() -> None:
    made = workload(("const float *", INPUT), ("float *", OUTPUT), in_place=(InPlace(0, 1),))
    assert refusal(made, layer()) == "an in-place fact names output 1 of 1"
    made = replace(made, in_place=(InPlace(0, None, 8),))
    assert refusal(made, layer()) == "an in-place fact is of scratch, and there is none"
    assert refusal(replace(made, scratch_bytes=8), layer()) == ""
    made = replace(made, in_place=(InPlace(0, 0, exactly=True),))
    assert refusal(made, layer()) == ""
    made = replace(made, in_place=(InPlace(0, 0, 4, exactly=True),))
    assert refusal(made, layer()) == (
        "an in-place fact is of one exact place, and has a distance of 4"
    )


def test_what_a_memory_manager_calls() -> None:
    kept = Region("B", 0, RegionKind.PRIVATE, "kept", 8)
    function = CFunction("begin", (Parameter("uint32_t *", "counts"),), "{ counts[0]++; }")
    check_call(RegionCall(function, (kept,)))
    for call, reason in (
        (RegionCall(function), "has 1 parameters, but the call 0 regions"),
        (RegionCall(replace(function, body="{\n#define a\n}"), (kept,)), "holds a directive"),
        (RegionCall(function, (replace(kept, kind=RegionKind.SCRATCH),)), "is not private"),
        (RegionCall(function, (kept,), headers=("tgmath.h",)), "tgmath.h"),
    ):
        with pytest.raises(Nonsense, match=reason):
            check_call(call)
