"""Layers that differ in numbers share a function, whose helpers may be functions in RAM."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import onnx
import pytest
from onnx import TensorProto, helper

import mcu_deploy
from mcu_deploy.backends.interface import (
    Argument,
    Backend,
    BackendBase,
    CFunction,
    Descriptor,
    Layer,
    LayerSupport,
    LayoutRule,
    MemoryManager,
    Operand,
    Parameter,
    Role,
    Support,
    Workload,
    WorkloadFactory,
    WorkloadInfo,
    no,
    yes,
)
from mcu_deploy.backends.registry import Registry
from mcu_deploy.elf.reader import load_elf
from mcu_deploy.session import Session
from mcu_deploy.toolchain.sizes import object_sizes

LEAK = CFunction(
    "leak", (Parameter("float", "x"), Parameter("float", "alpha")),
    "{\n    return x < 0.0F ? alpha * x : x;\n}", "float", attributes=('section(".ramfunc")',),
)  # fmt: skip
LEAKY = CFunction(
    "leaky",
    (
        Parameter("const float *", "x"), Parameter("float *", "y"), Parameter("uint32_t", "count"),
        Parameter("float", "alpha"), Parameter("int32_t", "step"),
    ),
    "{\n    for (uint32_t i = 0; i < count; i++, x += step, y += step) {\n"
    "        *y = $leak(*x, alpha);\n    }\n}",
)  # fmt: skip


OPSET = [helper.make_opsetid("", 17)]


class Leaky(BackendBase):
    """Computes LeakyRelu of any size and factor with one function."""

    id = "Leaky"
    rank = 1

    def layer_support(self) -> LayerSupport:
        return _Support()

    def create_workload_factory(self, memory_manager: MemoryManager | None) -> WorkloadFactory:
        return _Factory()


class _Support:
    def is_layer_supported(
        self,
        layer: Layer,
        inputs: Sequence[Operand | None],
        outputs: Sequence[Operand],
        params: Mapping[str, Any],
    ) -> Support:
        return yes(LayoutRule.SAME) if layer.op == "LeakyRelu" else no("it computes LeakyRelu")


class _Factory:
    def create_workloads(self, info: WorkloadInfo, descriptor: Descriptor) -> tuple[Workload, ...]:
        numbers = (info.outputs[0].type.elements, descriptor.params["alpha"], 1)
        arguments = (
            Argument(Role.INPUT), Argument(Role.OUTPUT),
            *(Argument(Role.SCALAR, value=number) for number in numbers),
        )  # fmt: skip
        return (Workload("Leaky", LEAKY, arguments, helpers=(LEAK,)),)


@pytest.mark.parametrize(
    "board",
    [
        pytest.param("host", marks=pytest.mark.needs_host_gcc),
        pytest.param("mps2-an386", marks=[pytest.mark.needs_arm_gcc, pytest.mark.needs_qemu]),
    ],
)
def test_two_layers_have_one_function(board: str, tmp_path: Path) -> None:
    tensors = [helper.make_tensor_value_info(name, TensorProto.FLOAT, [40]) for name in ("x", "y")]
    nodes = [
        helper.make_node("LeakyRelu", ["x"], ["m"], "one", alpha=-0.1),
        helper.make_node("LeakyRelu", ["m"], ["y"], "two", alpha=0.25),
    ]
    graph = helper.make_graph(nodes, "g", tensors[:1], tensors[1:])
    path, out = tmp_path / "leaky.onnx", tmp_path / "build"
    onnx.save(helper.make_model(graph, opset_imports=OPSET, ir_version=8), path)

    def create() -> Backend:
        return Leaky()

    registry = Registry.builtin().with_backend("Leaky", create)
    with Session(registry) as session:
        mcu_deploy.build(path, board, out, session=session)
        assert mcu_deploy.validate(out, session=session).passed
        mcu_deploy.optimize_model(path, board, tmp_path / "leaky.pmx", session=session)
        mcu_deploy.build(tmp_path / "leaky.pmx", board, tmp_path / "again", session=session)
    text, again = ((f / "network_leaky.c").read_text() for f in (out, tmp_path / "again"))
    assert text == again, "a .pmx file keeps numbers and attributes"
    assert len(re.findall(r"^MCU_FUNCTION", text, re.M)) == 2
    numbers = re.findall(r"_mcu_leaky_leaky\([^;]*,\s*(\w+),\s*(\S+),\s*(\S+)\)\);", text)
    assert numbers == [("40U", "-0.1F", "1"), ("40U", "0.25F", "1")]
    assert object_sizes(out / "network_leaky.o").data > 0
    if board != "host":
        elf = load_elf(out / "firmware.elf")
        (leak,) = (s for s in elf.symbols if s.name == "_mcu_leaky_leak")
        section = elf.section_of(leak)
        assert section is not None and section.name == ".data"
