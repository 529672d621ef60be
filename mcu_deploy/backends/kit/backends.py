"""What the backends that ship are made of: they answer for each layer by itself, or by families of
kernels."""

from __future__ import annotations

import functools
from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from typing import Any, ClassVar

from mcu_deploy.backends.interface import (
    BackendBase,
    Descriptor,
    Layer,
    LayerSupport,
    MemoryManager,
    Operand,
    Proposals,
    SubgraphView,
    Support,
    Target,
    Workload,
    WorkloadFactory,
    WorkloadInfo,
)
from mcu_deploy.backends.kit import families


class LayerBackend(BackendBase, ABC):
    """A backend that says all in Arm NN's words, of a layer alone."""

    @abstractmethod
    def supports(self, layer: Layer) -> Support:
        """As `is_layer_supported` has it."""

    @abstractmethod
    def workloads(self, layer: Layer) -> tuple[Workload, ...]:
        """As `create_workloads` has it."""

    def layer_support(self) -> LayerSupport:
        return self

    def create_workload_factory(self, memory_manager: MemoryManager | None) -> WorkloadFactory:
        return self

    def is_layer_supported(
        self,
        layer: Layer,
        inputs: Sequence[Operand | None],
        outputs: Sequence[Operand],
        params: Mapping[str, Any],
    ) -> Support:
        return self.supports(layer)

    def create_workloads(self, info: WorkloadInfo, descriptor: Descriptor) -> tuple[Workload, ...]:
        return self.workloads(Layer.of(info, descriptor))


class FamilyBackend(BackendBase):
    """A backend of kernels, one file a family. kernels: the package of these files."""

    kernels: ClassVar[str]

    # They are loaded where somebody asks for them.
    @functools.cached_property
    def operators(self) -> tuple[str, ...]:  # type: ignore[override]
        return families.operators(self.kernels)

    def lacks(self, target: Target) -> str:
        """What a target has not that all of its kernels need, a clause."""
        return ""

    def asking(self) -> families.Asking:
        """How families are asked about a layer."""
        return families.ask

    def propose(self, view: SubgraphView, target: Target) -> Proposals:
        return families.propose(self.kernels, view, target, self.lacks(target), self.asking())
