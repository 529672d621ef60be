"""A worker as a `Backend`: what the framework calls goes to the backend's process and back."""

from __future__ import annotations

import itertools
import weakref
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from typing import Any

from mcu_deploy.backends.c_rules import Nonsense, require
from mcu_deploy.backends.cost import Costs
from mcu_deploy.backends.interface import (
    BackendBase,
    BackendContext,
    BackendProfiling,
    CreationOptions,
    Descriptor,
    LayerCount,
    LayerSupport,
    Make,
    MemoryManager,
    NetworkId,
    OptimizationViews,
    ProfilingContext,
    Proposals,
    Support,
    Target,
    WorkloadFactory,
    WorkloadInfo,
    no,
)
from mcu_deploy.backends.layer import HOST, Layer, Operand
from mcu_deploy.backends.workload import Region, RegionCall, Workload
from mcu_deploy.dynamic import codec, offers
from mcu_deploy.dynamic.forms import LOADING, Json, Message
from mcu_deploy.dynamic.process import Worker
from mcu_deploy.dynamic.regions import NetworkRegions
from mcu_deploy.dynamic.wire import Blob, Declined
from mcu_deploy.errors import BackendFault, one_line
from mcu_deploy.ir import SubgraphView, TensorType


class DynamicBackend(BackendBase):
    """A backend in a worker whose factory was called (`Worker.create`).

    Every method may raise BackendFault: the backend crashed, hung, answered nonsense, or says that
    it failed.
    """

    def __init__(self, worker: Worker) -> None:
        self._worker = worker
        self._numbers = itertools.count()
        self._target = HOST
        self.id = worker.id
        self.version = worker.version
        try:
            description = codec.decode_description(worker.description)
        except Nonsense as error:
            raise worker.nonsense("describe", str(error)) from None
        self.rank = description.rank
        self.cores = description.cores
        self.operators = description.operators
        self._bodies = description.bodies

    def has(self, method: str) -> bool:
        """Whether the backend has an optional method."""
        return method in self._worker.methods

    def layer_support(self) -> LayerSupport:
        return self

    def is_layer_supported(
        self,
        layer: Layer,
        inputs: Sequence[Operand | None],
        outputs: Sequence[Operand],
        params: Mapping[str, Any],
    ) -> Support:
        holds_graphs = not layer.domain and layer.op in ("If", "Loop", "Scan")
        if reason := _wordless(holds_graphs, [o.type for o in (*inputs, *outputs) if o]):
            return no(reason)
        try:
            answer, _ = self.ask_about(layer, "is_layer_supported")
        except Declined as declined:
            return no(one_line(declined.reason))
        with self.understanding(_named("is_layer_supported", layer)):
            return codec.decode_support(answer)

    def estimate(self, layer: Layer) -> Costs:
        """A backend that gives no estimate has costs that are not known."""
        if not self.has("estimate"):
            return Costs(macs=layer.macs)
        try:
            answer, _ = self.ask_about(layer, "estimate")
        except Declined:
            return Costs(macs=layer.macs)
        with self.understanding(_named("estimate", layer)):
            return codec.decode_costs(answer, layer)

    def create_memory_manager(self) -> MemoryManager:
        return DynamicMemoryManager(self, next(self._numbers))

    def create_workload_factory(self, memory_manager: MemoryManager | None) -> WorkloadFactory:
        """`memory_manager`: one that this backend made; None: regions belong to no network."""
        if not isinstance(memory_manager, DynamicMemoryManager):
            memory_manager = DynamicMemoryManager(self, next(self._numbers))
        return memory_manager

    def create_backend_context(self, options: CreationOptions) -> BackendContext | None:
        if not {"create_context", *LOADING} & set(self._worker.methods):
            return None
        self.tell("create_context", codec.encode_options(options.backend_options.get(self.id, {})))
        return _Context(self)

    def create_profiling_context(
        self, options: CreationOptions, profiling: BackendProfiling
    ) -> ProfilingContext | None:
        if not self.has("layers_measured"):
            return None
        return _Profiling(self, profiling)

    def optimize_subgraph(self, view: SubgraphView) -> OptimizationViews:
        """The view is sent with the target of the last layer that the backend was asked about."""
        method = "optimize_subgraph"
        if not self.has(method):
            return OptimizationViews(untouched=(view,))
        message, blobs = codec.encode_view(view, self._target, bodies=self._bodies)
        answer, out = self.ask(method, message, blobs)
        with self.understanding(method):
            return offers.decode_optimization(answer, out, view)

    def save_data(self, view: SubgraphView) -> bytes | None:
        method = "save_data"
        if not self.has(method):
            return None
        _, out = self.ask(method, *codec.encode_own(view, bodies=self._bodies))
        with self.understanding(method):
            return codec.decode_saved(out)

    def load_data(self, network: NetworkId, view: SubgraphView, data: bytes) -> None:
        method = "load_data"
        if not self.has(method):
            return
        message, blobs = codec.encode_own(view, bodies=self._bodies)
        try:
            self._worker.call(method, message | {"network": network}, [*blobs, data])
        except Declined as declined:
            raise ValueError(one_line(declined.reason).rstrip(".")) from None

    def encoded(self, layers: Sequence[Layer]) -> Message:
        """Layers as they are sent."""
        return codec.encode_layers(layers, bodies=self._bodies)

    def ask_about(
        self, layer: Layer, method: str, extra: Mapping[str, Any] | None = None
    ) -> tuple[Json, list[bytearray]]:
        """Calls a method with a layer. Raises Declined where the backend says no."""
        self._target = layer.target
        message, blobs = codec.encode_layer(layer, bodies=self._bodies)
        return self._worker.call(method, message | dict(extra or {}), blobs, _title(layer))

    def ask(
        self, method: str, message: Json, blobs: Sequence[Blob] = ()
    ) -> tuple[Json, list[bytearray]]:
        """Calls a method that must not say no."""
        with self.insisting(method):
            return self._worker.call(method, message, blobs)

    def tell(self, method: str, message: Json) -> None:
        """Calls a method without an answer, if the backend has it."""
        if self.has(method):
            self.ask(method, message)

    @contextmanager
    def insisting(self, what: str) -> Iterator[None]:
        """Makes a fault of a method's no. The process lives on."""
        try:
            yield
        except Declined as declined:
            raise BackendFault.of(
                self.id, f"failed in {what}: {one_line(declined.reason)}"
            ) from None

    @contextmanager
    def understanding(self, what: str) -> Iterator[None]:
        """Makes a fault of an answer that cannot be used, and ends the process."""
        try:
            yield
        except Nonsense as nonsense:
            raise self._worker.nonsense(what, str(nonsense)) from None


class ProposingBackend(DynamicBackend):
    """A dynamic backend that has `propose`."""

    def __init__(self, worker: Worker) -> None:
        super().__init__(worker)
        self._forgotten: list[int] = []

    def layer_support(self) -> LayerSupport:
        own = self.has("is_layer_supported")
        return super().layer_support() if own else BackendBase.layer_support(self)

    def propose(self, view: SubgraphView, target: Target) -> Proposals:
        """A package keeps what makes a proposal until nobody here has it any more."""
        method = "propose"
        wordless = {}
        for node in view.nodes:
            types = [view.type(edge) for edge in (*node.reads, *node.writes)]
            if reason := _wordless(bool(view.subgraphs(node.id)), types):
                wordless[node.id] = reason
        seen = view.part([node for node in view.topology.nodes if node not in wordless])
        if not seen.topology.nodes:
            return Proposals(refused=wordless)
        message, blobs = codec.encode_view(seen, target, bodies=self._bodies)
        forgotten, self._forgotten[:] = [*self._forgotten], ()
        answer, out = self.ask(method, message | {"forgotten": forgotten}, blobs)
        with self.understanding(method):
            found = offers.decode_proposals(answer, out, seen, self._maker)
        return replace(found, refused={**found.refused, **wordless})

    def _maker(self, key: int) -> Make:
        def make(layers: Sequence[Layer], manager: DynamicMemoryManager) -> Sequence[Workload]:
            return manager.create_proposed(key, layers)

        weakref.finalize(make, self._forgotten.append, key)
        return make


class DynamicMemoryManager:
    """The regions of a dynamic backend in one network, and its factory of workloads there.

    What the backend wants called at the begin and the end is asked for when it is looked up, and
    again after workloads were made: it may depend on all of them.
    """

    def __init__(self, backend: DynamicBackend, number: int) -> None:
        self._backend = backend
        self._regions = NetworkRegions(backend.id)
        self._calls: tuple[RegionCall | None, RegionCall | None] | None = None
        self._number = number

    @property
    def regions(self) -> tuple[Region, ...]:
        """All that workloads and calls have asked for so far."""
        self._ask()
        return self._regions.all

    @property
    def acquire(self) -> RegionCall | None:
        return self._ask()[0]

    @property
    def release(self) -> RegionCall | None:
        return self._ask()[1]

    def create_workloads(self, info: WorkloadInfo, descriptor: Descriptor) -> tuple[Workload, ...]:
        """The backend's workloads of a layer, with the regions of this network."""
        return self._created(Layer.of(info, descriptor), self._manager)

    def create_proposed(self, key: int, layers: Sequence[Layer]) -> tuple[Workload, ...]:
        """The workloads of the layers that a proposal has become."""
        backend, message = self._backend, self._manager | {"key": key}
        if not backend.has("make"):  # in C each layer is made by itself
            made = [(layer, self._created(layer, message)) for layer in layers]
            for layer, ways in made:
                with backend.understanding(_named("create_workload", layer)):
                    require(len(ways) == 1, f"there are {len(ways)} workloads for what it proposed")
            return tuple(ways[0] for _, ways in made)
        self._calls = None
        sent, blobs = backend.encoded(layers)
        answer, out = backend.ask("make", sent | message, blobs)
        with backend.understanding("make"):
            return codec.decode_made(answer, out, layers, self._regions)

    def _created(self, layer: Layer, extra: Json) -> tuple[Workload, ...]:
        backend, what = self._backend, _named("create_workload", layer)
        self._calls = None
        with backend.insisting(what):
            answer, blobs = backend.ask_about(layer, "create_workload", extra)
        with backend.understanding(what):
            return codec.decode_workloads(answer, blobs, layer, self._regions)

    @property
    def _manager(self) -> Json:
        """What tells networks apart, for workers that have a manager object for each."""
        return {"manager": self._number}

    def _ask(self) -> tuple[RegionCall | None, RegionCall | None]:
        if self._calls is None:
            self._calls = (None, None)
            if self._backend.has("memory"):
                answer, _ = self._backend.ask("memory", self._manager)
                with self._backend.understanding("memory"):
                    self._calls = codec.decode_memory(answer, self._regions)
        return self._calls


def _wordless(holds_graphs: bool, types: Iterable[TensorType]) -> str:
    """Why a node cannot be told of, a clause; empty where it can."""
    if holds_graphs:
        what = "it holds graphs"
    elif any(type_.dtype.is_narrow for type_ in types):
        what = "it has a type of few bits"
    else:
        return ""
    return f"{what}, of which the interface of dynamic backends has no words"


class _Context:
    """Tells the backend of networks; what it has no method for, it is not told."""

    def __init__(self, backend: DynamicBackend) -> None:
        self._backend = backend

    def before_load_network(self, network: NetworkId) -> None:
        self._backend.tell("before_load_network", {"network": network})

    def after_load_network(self, network: NetworkId) -> None:
        self._backend.tell("after_load_network", {"network": network})

    def before_unload_network(self, network: NetworkId) -> None:
        self._backend.tell("before_unload_network", {"network": network})

    def after_unload_network(self, network: NetworkId) -> None:
        self._backend.tell("after_unload_network", {"network": network})


class _Profiling:
    def __init__(self, backend: DynamicBackend, profiling: BackendProfiling) -> None:
        self._backend = backend
        self._profiling = profiling

    def layers_measured(self, network: str, counts: Sequence[LayerCount]) -> None:
        method = "layers_measured"
        answer, _ = self._backend.ask(method, codec.encode_counts(network, counts))
        with self._backend.understanding(method):
            counters = codec.decode_counters(answer)
        for name, value in counters:
            self._profiling.add_counter(name, value)


def _title(layer: Layer) -> str:
    return f"the {one_line(layer.op)} {one_line(layer.name)!r}"


def _named(method: str, layer: Layer) -> str:
    return f"{method} for {_title(layer)}"
