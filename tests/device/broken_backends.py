"""Backends that compute something else than they should, for tests of who finds that."""

from __future__ import annotations

from dataclasses import dataclass, replace

from mcu_deploy.backends.CpuRef import CpuRef
from mcu_deploy.backends.interface import (
    Descriptor,
    MemoryManager,
    Workload,
    WorkloadFactory,
    WorkloadInfo,
)


class Broken(CpuRef):
    """CpuRef with one mistake: the sums of an AveragePool begin with 4000."""

    id = "Broken"
    rank = 0
    broken_op = "AveragePool"
    right = "sum = 0.0F"
    wrong = "sum = 4000.0F"

    def create_workload_factory(self, memory_manager: MemoryManager | None) -> WorkloadFactory:
        return _BrokenFactory(self, super().create_workload_factory(memory_manager))


class Endless(Broken):
    """CpuRef with one mistake: the loop of an AveragePool does not end."""

    id = "Endless"
    wrong = "sum = 0.0F; for (;;) {}"


@dataclass
class _BrokenFactory:
    backend: Broken
    reference: WorkloadFactory

    def create_workloads(self, info: WorkloadInfo, descriptor: Descriptor) -> tuple[Workload, ...]:
        (workload,) = self.reference.create_workloads(info, descriptor)
        workload = replace(workload, backend=self.backend.id)
        function = workload.function
        if descriptor.node.op != self.backend.broken_op or function is None:
            return (workload,)
        body = function.body.replace(self.backend.right, self.backend.wrong)
        assert body != function.body
        return (replace(workload, function=replace(function, body=body)),)
