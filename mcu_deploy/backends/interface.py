"""What a backend implements, in Arm NN's words. Teaching: docs/backends.md.

A backend is an entry point to what it creates: cheap to make, without state, gone when it likes.
What it creates outlives it. This module is all that a backend imports.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol, runtime_checkable

from mcu_deploy.backends.cost import Cost, Costs, Known, Unit
from mcu_deploy.backends.layer import (
    HOST,
    Descriptor,
    Layer,
    Operand,
    Target,
    WorkloadInfo,
    layer_of,
)
from mcu_deploy.backends.proposals import LayoutRule, Make, Price, Proposal, Proposals
from mcu_deploy.backends.workload import (
    STATUS,
    Argument,
    CFunction,
    Constant,
    Fetched,
    InPlace,
    Parameter,
    Region,
    RegionCall,
    RegionKind,
    Role,
    Workload,
)
from mcu_deploy.ir import Graph, NodeId, SubgraphView
from mcu_deploy.options.means import CreationOptions as CreationOptions

__all__ = [
    "API_VERSION", "HOST", "STATUS", "YES", "Argument", "Backend", "BackendBase", "BackendContext",
    "BackendProfiling", "CFunction", "Constant", "Cost", "Costs", "CreationOptions", "Descriptor",
    "Fetched", "HasOtherWays", "InPlace", "Known", "Layer", "LayerCount", "LayerSupport",
    "LayoutRule", "Make", "MemoryManager", "NetworkId", "Operand", "OptimizationViews",
    "Parameter", "Price", "ProfilingContext", "Proposal", "Proposals", "Proposes", "Region",
    "RegionCall", "RegionKind", "RegionManager", "Role", "SubgraphView", "Substitution",
    "Support", "Target", "Unit", "Workload", "WorkloadFactory", "WorkloadInfo", "layer_of", "no",
    "yes",
]  # fmt: skip

# The version of this interface, and of crt/include/mcu/backend.h. A change that breaks backends
# raises the first number, one that does not the second (Arm NN's rule).
API_VERSION = (1, 2)

NetworkId = int


@dataclass(frozen=True)
class Support:
    """Whether a backend can compute a layer: the reason when it says no, the layout when yes.

    A refusal is false: `one(layer) and other(layer)` is the refusal of the first, or what the other
    says.
    """

    supported: bool
    reason: str = ""
    layout: LayoutRule = LayoutRule.NATURAL

    def __bool__(self) -> bool:
        return self.supported


YES = Support(True)


def yes(layout: LayoutRule = LayoutRule.NATURAL) -> Support:
    """Consent, with the layout that the layer's tensors must have."""
    return Support(True, layout=layout)


def no(reason: str) -> Support:
    """A refusal with its reason, a clause that completes "CpuRef: ..."."""
    return Support(False, reason)


class LayerSupport(Protocol):
    """Decides which layers a backend computes (Arm NN: ILayerSupport)."""

    def is_layer_supported(
        self,
        layer: Layer,
        inputs: Sequence[Operand | None],
        outputs: Sequence[Operand],
        params: Mapping[str, Any],
    ) -> Support:
        """Whether the backend computes this layer; layouts are not assigned yet.

        inputs, outputs and params are those of `layer`, by themselves.
        """


class WorkloadFactory(Protocol):
    """Makes the workloads of supported layers (Arm NN: IWorkloadFactory)."""

    def create_workloads(self, info: WorkloadInfo, descriptor: Descriptor) -> tuple[Workload, ...]:
        """The ways there are of computing a supported layer, whose layouts are now assigned.

        `Layer.of(info, descriptor)` is the layer. Never empty.
        """


class MemoryManager(Protocol):
    """Where a backend's workloads ask for memory while a network is planned.

    Arm NN: IMemoryManager. One is made for each network that is loaded, before the factory.
    """

    @property
    def regions(self) -> tuple[Region, ...]:
        """All that was asked for so far."""

    @property
    def acquire(self) -> RegionCall | None:
        """Called on the device at the begin of every run; None: no call is emitted."""

    @property
    def release(self) -> RegionCall | None:
        """Called on the device by mcu_instance_deinit; None: no call is emitted."""


class RegionManager:
    """The plain memory manager: hands out regions, calls nothing unless it is given something."""

    def __init__(self, backend: str) -> None:
        self._backend = backend
        self._regions: list[Region] = []
        self.acquire: RegionCall | None = None
        self.release: RegionCall | None = None

    @property
    def regions(self) -> tuple[Region, ...]:
        return tuple(self._regions)

    def scratch(self, name: str, size: int) -> Region:
        """`size` bytes that a call may overwrite; what is in them is lost after it."""
        return self._region(RegionKind.SCRATCH, name, size)

    def private(self, name: str, size: int) -> Region:
        """`size` bytes of each instance, zero at first, that keep their content between runs."""
        return self._region(RegionKind.PRIVATE, name, size)

    def _region(self, kind: RegionKind, name: str, size: int) -> Region:
        if size < 1:
            raise ValueError(f"a region must have at least one byte, {name!r} has {size}")
        region = Region(self._backend, len(self._regions), kind, name, size)
        self._regions.append(region)
        return region


class BackendContext(Protocol):
    """Lives as long as the session, and is told of its networks (Arm NN: IBackendContext).

    What several networks share is its to keep. A load that fails is followed by the two unload
    calls, without after_load_network.
    """

    def before_load_network(self, network: NetworkId) -> None: ...

    def after_load_network(self, network: NetworkId) -> None: ...

    def before_unload_network(self, network: NetworkId) -> None: ...

    def after_unload_network(self, network: NetworkId) -> None: ...


@dataclass(frozen=True)
class LayerCount:
    """What was measured of one layer: `count` in `unit` ("instructions", "cycles", "ticks")."""

    index: int
    name: str
    op: str
    macs: int
    count: int
    unit: str


class BackendProfiling(Protocol):
    """The report's side: where a profiling context puts counters of its own."""

    def add_counter(self, name: str, value: int) -> None:
        """A counter that the report shows under the backend's id."""


class ProfilingContext(Protocol):
    """Receives what was measured of a backend's layers (Arm NN: IBackendProfilingContext)."""

    def layers_measured(self, network: str, counts: Sequence[LayerCount]) -> None:
        """Called once for each profile, with the layers of this backend in their order."""


@dataclass(frozen=True)
class Substitution:
    """Part of a view, and what computes the same in its place.

    `replacement` is a graph of its own ids, whose inputs and outputs stand for those of
    `substitutable`, in the same order and of the same types. One node alone gets the replaced
    nodes as its body; of several, each that the interpreter does not know brings its body.
    """

    substitutable: SubgraphView
    replacement: Graph


@dataclass(frozen=True)
class OptimizationViews:
    """What became of a view: each of its nodes is in exactly one of these parts.

    substitutions: optimised; failed: cannot be computed after all, and is offered to the next
    backend; untouched: computed as it is.
    """

    substitutions: tuple[Substitution, ...] = ()
    failed: tuple[SubgraphView, ...] = ()
    untouched: tuple[SubgraphView, ...] = ()

    @classmethod
    def first_of_each(cls, view: SubgraphView, found: Iterable[Substitution]) -> OptimizationViews:
        """Of substitutions that share a node the first holds; what none takes is untouched."""
        substitutions: list[Substitution] = []
        taken: set[NodeId] = set()
        for substitution in found:
            nodes = substitution.substitutable.node_ids
            if taken.isdisjoint(nodes):
                taken |= nodes
                substitutions.append(substitution)
        rest = [node for node in view.topology.nodes if node not in taken]
        return cls(tuple(substitutions), untouched=(view.part(rest),) if rest else ())


class Backend(Protocol):
    """What a backend implements (Arm NN: IBackendInternal). `BackendBase` has what is optional."""

    @property
    def id(self) -> str:
        """Unique: letters, digits and underscores."""

    @property
    def version(self) -> tuple[int, int]:
        """The API_VERSION that it was written for: (major, minor)."""

    @property
    def cores(self) -> tuple[str, ...]:
        """The cores it is for; empty: all."""

    @property
    def rank(self) -> int:
        """The lower, the earlier in the default preference. CpuRef has 1000."""

    @property
    def operators(self) -> tuple[str, ...]:
        """The operators that it has kernels for, alone or in a chain: "Conv", "domain::Name". They
        are shown, and a model of which one operator is nobody's is refused before anything is
        priced. Empty: who does not say is asked about all."""

    def layer_support(self) -> LayerSupport:
        """The object that decides which layers it computes."""

    def estimate(self, layer: Layer) -> Costs:
        """What a supported layer will cost, before layouts are assigned."""

    def create_memory_manager(self) -> MemoryManager | None:
        """Called for each network, before the workload factory is made; None: it needs none."""

    def create_workload_factory(self, memory_manager: MemoryManager | None) -> WorkloadFactory:
        """The object that makes workloads, with the manager that was made for the network."""

    def create_backend_context(self, options: CreationOptions) -> BackendContext | None:
        """Called once in a session; None: it need not be told of networks."""

    def create_profiling_context(
        self, options: CreationOptions, profiling: BackendProfiling
    ) -> ProfilingContext | None:
        """Called when something is profiled; None: it need not be told."""

    def optimize_subgraph(self, view: SubgraphView) -> OptimizationViews:
        """Optimises a partition that was given to it. The view cannot be changed."""

    def save_data(self, view: SubgraphView) -> bytes | None:
        """What a .pmx file shall keep of it beside its workloads; None: nothing.

        view: its nodes, with the ids that they will have when the file is loaded. The bytes are
        its own business: let them begin with a version of its own.
        """

    def load_data(self, network: NetworkId, view: SubgraphView, data: bytes) -> None:
        """Gets back what `save_data` gave, between before_load_network and after_load_network.

        The workloads need not be made again: they are in the file. Raises ValueError with a clause
        for data that it does not understand.
        """


class _Nothing:
    """What a backend that proposes says of single layers."""

    def is_layer_supported(
        self,
        layer: Layer,
        inputs: Sequence[Operand | None],
        outputs: Sequence[Operand],
        params: Mapping[str, Any],
    ) -> Support:
        return no("it proposes nothing for this operator")


@runtime_checkable
class Proposes(Protocol):
    """A backend that answers with proposals. One that has no `propose` answers in Arm NN's words
    (layer support, estimates, optimised subgraphs), of which the framework makes the same."""

    def propose(self, view: SubgraphView, target: Target) -> Proposals:
        """All that the backend would compute of a view: every alternative that could be best.

        Proposals may share nodes; a part must be convex. Asked again where the graph changed.
        """


@runtime_checkable
class HasOtherWays(Protocol):
    """A backend in Arm NN's words, built in, that computes some layers in more ways than one."""

    def other_ways(self, view: SubgraphView, layer: Layer) -> Sequence[Proposal]:
        """What competes with the way that `estimate` is of, for a layer that it supports. view: of
        the layer's node alone."""


class BackendBase:
    """The optional methods of a backend, doing nothing."""

    id = ""
    version = API_VERSION
    cores: tuple[str, ...] = ()
    rank = 500
    operators: tuple[str, ...] = ()

    def layer_support(self) -> LayerSupport:
        return _Nothing()

    def estimate(self, layer: Layer) -> Costs:
        return Costs(macs=layer.macs)

    def create_workload_factory(self, memory_manager: MemoryManager | None) -> WorkloadFactory:
        raise NotImplementedError(f"the backend {self.id} supports layers and makes no workloads")

    def create_memory_manager(self) -> MemoryManager | None:
        return None

    def create_backend_context(self, options: CreationOptions) -> BackendContext | None:
        return None

    def create_profiling_context(
        self, options: CreationOptions, profiling: BackendProfiling
    ) -> ProfilingContext | None:
        return None

    def optimize_subgraph(self, view: SubgraphView) -> OptimizationViews:
        return OptimizationViews(untouched=(view,))

    def save_data(self, view: SubgraphView) -> bytes | None:
        return None

    def load_data(self, network: NetworkId, view: SubgraphView, data: bytes) -> None:
        pass


Factory = Callable[[], Backend]
