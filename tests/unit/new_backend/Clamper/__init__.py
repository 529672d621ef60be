"""Clamper: Relu of float32 tensors, and nothing else."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from mcu_deploy.backends.interface import (
    Argument,
    Backend,
    BackendBase,
    CFunction,
    Descriptor,
    InPlace,
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
from mcu_deploy.backends.kit import c_files
from mcu_deploy.ir import DType

NOT_BELOW_ZERO = c_files.helper(Path(__file__).parent, "c/not_below_zero.c")


class Clamper(BackendBase):
    id = "Clamper"
    rank = 5
    operators = ("Relu",)

    def layer_support(self) -> LayerSupport:
        return _LayerSupport()

    def create_workload_factory(self, memory_manager: MemoryManager | None) -> WorkloadFactory:
        return _WorkloadFactory()


class _LayerSupport:
    def is_layer_supported(
        self,
        layer: Layer,
        inputs: Sequence[Operand | None],
        outputs: Sequence[Operand],
        params: Mapping[str, Any],
    ) -> Support:
        if layer.op != "Relu" or layer.domain:
            return no("it computes Relu only")
        if outputs[0].type.dtype is not DType.FLOAT32:
            return no("it computes float32 only")
        return yes(LayoutRule.SAME)


class _WorkloadFactory:
    def create_workloads(self, info: WorkloadInfo, descriptor: Descriptor) -> tuple[Workload, ...]:
        count = info.outputs[0].type.elements
        function = CFunction(
            "clamp",
            (Parameter("const float *", "x"), Parameter("float *", "y")),
            f"""{{
    for (int32_t i = 0; i < {count}; ++i) {{
        y[i] = $not_below_zero(x[i]);
    }}
}}""",
        )
        return (
            Workload(
                "Clamper", function, (Argument(Role.INPUT), Argument(Role.OUTPUT)),
                helpers=(NOT_BELOW_ZERO,), in_place=(InPlace(0, 0),),
            ),
        )  # fmt: skip


def create() -> Backend:
    return Clamper()
