"""A backend as a package would bring it: Relu of float32, and every optional part of the interface.

Its context writes down what it is told of, its profiling context counts, and its memory manager
has a region for each network; the counters of a profile show all three.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from mcu_deploy.backends.interface import (
    YES,
    Argument,
    BackendBase,
    BackendProfiling,
    CFunction,
    Constant,
    Costs,
    CreationOptions,
    Descriptor,
    InPlace,
    Layer,
    LayerCount,
    MemoryManager,
    Operand,
    OptimizationViews,
    Parameter,
    RegionCall,
    RegionManager,
    Role,
    SubgraphView,
    Support,
    Workload,
    WorkloadInfo,
    no,
)
from mcu_deploy.ir import DType

# the constant is there to show that constants travel
BODY = """{
    for (int i = 0; i < %d; i++) {
        y[i] = x[i] > floor[0] ? x[i] : floor[0];
    }
    state[0]++;
}"""

events: list[str] = []


class Context:
    def before_load_network(self, network: int) -> None:
        events.append(f"before load {network}")

    def after_load_network(self, network: int) -> None:
        events.append(f"after load {network}")

    def before_unload_network(self, network: int) -> None:
        events.append(f"before unload {network}")

    def after_unload_network(self, network: int) -> None:
        events.append(f"after unload {network}")


class Profiling:
    def __init__(self, profiling: BackendProfiling) -> None:
        self.profiling = profiling

    def layers_measured(self, network: str, counts: Sequence[LayerCount]) -> None:
        self.profiling.add_counter(f"{network}: instructions", sum(c.count for c in counts))
        for event in events:
            self.profiling.add_counter(event, 1)


class LayerSupport:
    def is_layer_supported(
        self,
        layer: Layer,
        inputs: Sequence[Operand | None],
        outputs: Sequence[Operand],
        params: Mapping[str, Any],
    ) -> Support:
        if layer.op != "Relu":
            return no("it computes Relu only")
        return YES if layer.output.type.dtype is DType.FLOAT32 else no("it computes float32 only")


class Factory:
    def __init__(self, memory: RegionManager) -> None:
        self.memory = memory

    def create_workloads(self, info: WorkloadInfo, descriptor: Descriptor) -> tuple[Workload, ...]:
        state = self.memory.private("runs", 4)
        setup = CFunction("relu_acquire", (Parameter("uint32_t *", "state"),), "{ state[0] += 0; }")
        self.memory.acquire = RegionCall(setup, (state,))
        count = math.prod(info.outputs[0].type.shape)
        function = CFunction(
            "relu",
            (
                Parameter("const float *", "x"),
                Parameter("float *", "y"),
                Parameter("const float *", "floor"),
                Parameter("uint32_t *", "state"),
            ),
            BODY % count,
        )
        arguments = (
            Argument(Role.INPUT), Argument(Role.OUTPUT), Argument(Role.CONSTANT),
            Argument(Role.REGION),
        )  # fmt: skip
        floor = Constant("floor", np.zeros(1, np.float32))
        return (
            Workload(
                Relu.id, function, arguments, (floor,), headers=("stdint.h",),
                in_place=(InPlace(0, 0),), costs=Costs(instructions=6 * count), regions=(state,),
            ),
        )  # fmt: skip


class Relu(BackendBase):
    id = "PyRelu"
    version = (1, 0)
    rank = 50
    operators = ("Relu",)

    def layer_support(self) -> LayerSupport:
        return LayerSupport()

    def estimate(self, layer: Layer) -> Costs:
        return Costs(macs=0, instructions=6 * math.prod(layer.output.type.shape))

    def create_memory_manager(self) -> MemoryManager:
        return RegionManager(self.id)

    def create_workload_factory(self, memory_manager: MemoryManager | None) -> Factory:
        assert isinstance(memory_manager, RegionManager)
        return Factory(memory_manager)

    def create_backend_context(self, options: CreationOptions) -> Context:
        events.append(f"options {dict(options.backend_options.get(self.id, {}))}")
        return Context()

    def create_profiling_context(
        self, options: CreationOptions, profiling: BackendProfiling
    ) -> Profiling:
        return Profiling(profiling)

    def optimize_subgraph(self, view: SubgraphView) -> OptimizationViews:
        print("this is not for the user")
        nodes = list(view.topology.nodes)
        failed = [n for n in nodes if "refuse" in view.node(n).name]
        kept = [n for n in nodes if n not in failed]
        return OptimizationViews(
            failed=(view.part(failed),) if failed else (),
            untouched=(view.part(kept),) if kept else (),
        )
