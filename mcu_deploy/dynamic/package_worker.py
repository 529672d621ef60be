"""A worker whose backend is a Python object: answers what `worker.py` answers for C.

Runs in its process, with mcu-deploy and the session's sys.path. Nothing here guards against what
the package does to the process; the session does, from outside.
"""

from __future__ import annotations

import itertools
import pkgutil
import socket
from collections.abc import Callable

from mcu_deploy.backends.c_rules import Nonsense
from mcu_deploy.backends.interface import (
    Backend,
    BackendContext,
    Costs,
    CreationOptions,
    MemoryManager,
    Proposal,
    Proposes,
    Support,
    Workload,
    WorkloadFactory,
)
from mcu_deploy.backends.offer_check import check_answer
from mcu_deploy.backends.typed import require_typed
from mcu_deploy.dynamic import codec, offers, wire
from mcu_deploy.dynamic.forms import LOADING, Json, Message
from mcu_deploy.dynamic.wire import Blob, Declined
from mcu_deploy.schema import Misfit

Blobs = list[bytearray]
Answer = tuple[Json, list[Blob]]

# What a package must bring; BackendBase has the rest.
_NEEDED = ("id", "version", "rank", "layer_support", "create_workload_factory")


class _Counters:
    """What a profiling context adds (BackendProfiling)."""

    def __init__(self) -> None:
        self.all: list[tuple[str, int]] = []

    def add_counter(self, name: str, value: int) -> None:
        self.all.append((str(name), int(value)))


class PackageBackend:
    """The backend object of one package, and what it has created."""

    def __init__(self) -> None:
        self._backend: Backend
        self._options = CreationOptions()
        self._context: BackendContext | None = None
        self._managers: dict[int, MemoryManager | None] = {}
        self._factories: dict[int, WorkloadFactory] = {}
        self._proposed: dict[int, Proposal] = {}
        self._keys = itertools.count(1)
        self._methods: dict[str, Callable[[Json, Blobs], Answer]] = {
            "describe": self._describe,
            "is_layer_supported": self._is_layer_supported,
            "optimize_subgraph": self._optimize_subgraph,
            "create_workload": self._create_workload,
            "estimate": self._estimate,
            "memory": self._memory,
            "create_context": self._create_context,
            **{name: self._teller(name) for name in LOADING},
            "layers_measured": self._layers_measured,
            "save_data": self._save_data,
            "load_data": self._load_data,
            "propose": self._propose,
            "make": self._make,
            "free": lambda message, blobs: ({}, []),
        }
        self._steps: dict[str, Callable[[Json, Blobs], Answer]] = {
            "load": self._load,
            "GetBackendId": self._identify,
            "GetVersion": lambda message, blobs: ({"version": list(self._backend.version)}, []),
            "BackendFactory": self._list_methods,
        }

    def handle(self, method: str, message: Json, blobs: Blobs) -> Answer:
        """Answers one call. Raises Declined for an exception of the package's.

        SystemExit goes on, and ends the process, as the package asked for.
        """
        try:
            return (self._methods.get(method) or self._steps[method])(message, blobs)
        except Declined:
            raise
        except (Misfit, Nonsense) as error:
            raise Declined(wire.NONSENSE, str(error)) from error
        except Exception as error:
            text = f": {error}" if str(error) else ""
            reason = f"it raised {type(error).__name__}{text}"
            raise Declined(wire.NONSENSE, reason) from error

    def _load(self, message: Json, blobs: Blobs) -> Answer:
        # as EntryPoint.load does; importlib.metadata takes a seventh of a worker's start
        backend = pkgutil.resolve_name(message["value"].partition("[")[0].strip())()
        missing = [name for name in _NEEDED if not hasattr(backend, name)]
        if missing:
            raise Declined(wire.ERROR, f"what {message['value']} makes has no {missing[0]}")
        self._backend = backend
        return {}, []

    def _identify(self, message: Json, blobs: Blobs) -> Answer:
        if not isinstance(self._backend.id, str):
            raise Declined(wire.ERROR, f"its id {self._backend.id!r} is no text")
        return {"id": self._backend.id}, []

    def _list_methods(self, message: Json, blobs: Blobs) -> Answer:
        proposes = isinstance(self._backend, Proposes)
        methods = [n for n in self._methods if proposes or n not in ("propose", "make")]
        return {"methods": methods}, []

    def _describe(self, message: Json, blobs: Blobs) -> Answer:
        for what in ("cores", "operators"):
            names = getattr(self._backend, what)
            if isinstance(names, str):  # whose letters would be taken for names
                raise Declined(wire.ERROR, f"its {what} are {names!r}, and no tuple of names")
        return codec.encode_description(self._backend), []

    def _is_layer_supported(self, message: Json, blobs: Blobs) -> Answer:
        layer = codec.decode_layer(message, blobs)
        support = self._backend.layer_support().is_layer_supported(
            layer, layer.inputs, layer.outputs, layer.attributes
        )
        require_typed(support, Support, "its answer")
        return codec.encode_support(support), []

    def _estimate(self, message: Json, blobs: Blobs) -> Answer:
        costs = self._backend.estimate(codec.decode_layer(message, blobs))
        require_typed(costs, Costs, "its answer")
        return codec.encode_costs(costs), []

    def _optimize_subgraph(self, message: Json, blobs: Blobs) -> Answer:
        # not at the top: a quarter of a worker's start, and few are asked this
        from mcu_deploy.choose import arm_nn

        views = arm_nn.optimize(self._backend, codec.decode_view(message, blobs))
        return _sent(offers.encode_optimization(views))

    def _create_workload(self, message: Json, blobs: Blobs) -> Answer:
        layer = codec.decode_layer(message, blobs)
        number, manager = message["manager"], self._manager(message)
        if number not in self._factories:
            self._factories[number] = self._backend.create_workload_factory(manager)
        made = self._factories[number].create_workloads(layer.info, layer.descriptor)
        require_typed(made, tuple[Workload, ...], "its answer")
        return _sent(codec.encode_workloads(made))

    def _propose(self, message: Json, blobs: Blobs) -> Answer:
        for key in message["forgotten"]:
            self._proposed.pop(key, None)
        view, target = codec.decode_view(message, blobs), codec.decode_target(message)
        assert isinstance(self._backend, Proposes)
        answer = self._backend.propose(view, target)
        check_answer(answer, view.node_ids)
        keys = [next(self._keys) for _ in answer.proposals]
        self._proposed |= zip(keys, answer.proposals, strict=True)
        return _sent(offers.encode_proposals(answer, keys))

    def _make(self, message: Json, blobs: Blobs) -> Answer:
        proposal, layers = self._proposed[message["key"]], codec.decode_layers(message, blobs)
        made = proposal.make(layers, self._manager(message))
        require_typed(made, tuple[Workload, ...], "its answer")
        return _sent(codec.encode_workloads(made))

    def _memory(self, message: Json, blobs: Blobs) -> Answer:
        return codec.encode_memory(self._manager(message)), []

    def _manager(self, message: Json) -> MemoryManager | None:
        """The memory manager of a network, by the number of the session's."""
        number = message["manager"]
        if number not in self._managers:
            self._managers[number] = self._backend.create_memory_manager()
        return self._managers[number]

    def _create_context(self, message: Json, blobs: Blobs) -> Answer:
        options = codec.decode_options(message)
        self._options = CreationOptions(backend_options={self._backend.id: options})
        self._context = self._backend.create_backend_context(self._options)
        return {}, []

    def _teller(self, method: str) -> Callable[[Json, Blobs], Answer]:
        def tell(message: Json, blobs: Blobs) -> Answer:
            if self._context is not None:
                getattr(self._context, method)(message["network"])
            return {}, []

        return tell

    def _layers_measured(self, message: Json, blobs: Blobs) -> Answer:
        network, counts = codec.decode_counts(message)
        counters = _Counters()
        context = self._backend.create_profiling_context(self._options, counters)
        if context is not None:
            context.layers_measured(network, counts)
        return codec.encode_counters(counters.all), []

    def _save_data(self, message: Json, blobs: Blobs) -> Answer:
        save = getattr(self._backend, "save_data", None)  # who extends no BackendBase may lack it
        data = None if save is None else save(codec.decode_view(message, blobs))
        if not isinstance(data, bytes | None):
            raise Declined(wire.NONSENSE, f"it gives a {type(data).__name__}, and no bytes")
        return _sent(codec.encode_saved(data))

    def _load_data(self, message: Json, blobs: Blobs) -> Answer:
        *blobs, data = blobs
        load = getattr(self._backend, "load_data", None)
        if load is not None:
            try:
                load(message["network"], codec.decode_view(message, blobs), bytes(data))
            except ValueError as error:  # how it says that it does not understand its data
                raise Declined(wire.ERROR, str(error)) from error
        return {}, []


def _sent(message: Message) -> Answer:
    answer, blobs = message
    return answer, list(blobs)


def main(descriptor: int) -> None:
    """The life of a worker's process, whose socket has this number."""
    wire.serve(wire.Stream(socket.socket(fileno=descriptor)), PackageBackend().handle)
