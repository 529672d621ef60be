"""What lives longer than one compile: the registry of backends, their contexts, the networks.

Arm NN's runtime, in an ahead-of-time compiler: to load a network is to compile it in
the session, to unload it is to drop it. A session is a context manager, and sessions in different
threads share nothing.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from typing import TYPE_CHECKING

from mcu_deploy.backends.interface import Backend, BackendContext, CreationOptions, NetworkId
from mcu_deploy.backends.registry import Registry
from mcu_deploy.errors import BackendFault, RequestError, UsageError

if TYPE_CHECKING:
    from mcu_deploy.dynamic.loading import Loaded, Skipped

_log = logging.getLogger("mcu_deploy")

_NEXT = "Its layers go to the next backend."
# What is true of a backend that fails when a network is made already, or was given up.
_THEN = {
    "after_load_network": "The network keeps the code that it made; it takes no part in others.",
    "before_unload_network": "It takes no part in other networks.",
    "after_unload_network": "It takes no part in other networks.",
}


class Session:
    """Owns a registry of backends, their contexts, and the networks that were compiled in it.

    registry: the static backends, by default those that ship with mcu-deploy. options: passed to
    every context. report: gets one line for each backend that is skipped or dropped; by default
    the logger "mcu_deploy". Dynamic backends are looked for at the first use of the registry.
    """

    def __init__(
        self,
        registry: Registry | None = None,
        options: CreationOptions | None = None,
        report: Callable[[str], None] | None = None,
    ) -> None:
        self.options = options if options is not None else CreationOptions()
        self._static = registry
        self._report = report if report is not None else _log.warning
        self._registry: Registry | None = None
        self._loaded: Loaded | None = None
        self._contexts: dict[str, BackendContext] | None = None
        self._dropped: dict[str, str] = {}
        self._networks: list[NetworkId] = []
        self._next_network: NetworkId = 1

    def __enter__(self) -> Session:
        return self

    def __exit__(self, *raised: object) -> None:
        self.close()

    def close(self) -> None:
        """Unloads all networks, the last first, and ends the dynamic backends."""
        for network in reversed(self._networks.copy()):
            self.unload_network(network)
        self._contexts = None
        if self._loaded is not None:
            self._loaded.close()
            self._loaded = None
        self._registry = None

    @property
    def registry(self) -> Registry:
        """The static backends and the dynamic ones that could be loaded."""
        if self._registry is None:
            from mcu_deploy.dynamic import loading

            registry = self._static if self._static is not None else Registry.builtin()
            for folder, reason in registry.skipped.items():
                self._report(f"{folder} was skipped: {reason}.")
            self._loaded = loading.load(self.options, registry.ids, self._report)
            for backend in self._loaded.backends:
                registry = registry.with_backend(backend.id, backend.factory, backend.origin)
            self._registry = registry
        return self._registry

    @property
    def skipped(self) -> tuple[Skipped, ...]:
        """The backends that were found and could not be used, with the reasons."""
        from mcu_deploy.dynamic.loading import Skipped

        folders = self.registry.skipped.items()
        own = tuple(Skipped(str(folder), folder.name, reason) for folder, reason in folders)
        return (*own, *self._loaded.skipped) if self._loaded is not None else own

    @property
    def networks(self) -> tuple[NetworkId, ...]:
        """The networks that are loaded."""
        return tuple(self._networks)

    def preference(self, core: str, named: Sequence[str] = ()) -> tuple[Backend, ...]:
        """The backends in order of preference: those named, or the core's default order.

        Of those named the ones that were dropped are left out. Raises UsageError for a name that
        is unknown or not for the core, and where there is no backend at all.
        """
        alive = [n for n in named if n not in self._dropped]
        if named and not alive:
            raise RequestError(
                f"Of the backends {', '.join(named)} that were named none is left: "
                f"{' '.join(self._dropped[n] for n in named)} Name another with --backend."
            )
        found = (
            tuple(self.named(name, core, "--backend") for name in dict.fromkeys(alive))
            if alive
            else self.registry.preference(core)
        )
        if not found and self._dropped:
            raise RequestError(
                f"No backend for the core {core!r} is left: {' '.join(self._dropped.values())}"
            )
        if not found:
            raise RequestError(
                f"There is no backend for the core {core!r}, so nothing can be compiled. Install "
                "mcu-deploy again, or load a dynamic backend; `mcu-deploy backends` lists what was "
                "found."
            )
        return found

    def named(self, backend_id: str, core: str, asked_by: str) -> Backend:
        """The backend that an option names. Raises UsageError with the reason where it is none."""
        reasons = [s.reason for s in self.skipped if s.id == backend_id]
        reasons += [self._dropped[backend_id]] if backend_id in self._dropped else []
        if reasons and not self.registry.is_registered(backend_id):
            raise RequestError(
                f"{asked_by}: the backend {backend_id} cannot be used: {reasons[0].rstrip('.')}."
            )
        return self.registry.named(backend_id, core)

    def require_options(self) -> None:
        """Raises UsageError where options were given for a backend that there is not."""
        for backend_id in self.options.backend_options:
            if backend_id not in {skipped.id for skipped in self.skipped}:
                self.registry.create(backend_id)

    def drop(self, fault: BackendFault, then: str = _NEXT) -> None:
        """Takes a backend that broke its word out of the session, and reports it in one line.

        then: what becomes of its layers.

        Raises the fault itself where the session has no such backend, so that nobody tries again.
        """
        if not self.registry.is_registered(fault.backend):
            raise fault
        self._registry = self.registry.without(fault.backend)
        self._dropped[fault.backend] = str(fault)
        if self._contexts is not None:
            self._contexts.pop(fault.backend, None)
        self._report(f"{fault} {then}")

    @contextmanager
    def loading(self) -> Iterator[NetworkId]:
        """Brackets the compilation of a network: the contexts are told before and after it."""
        network = self._next_network
        self._next_network += 1
        self._tell("before_load_network", network)
        try:
            yield network
        except BaseException:
            self._tell("before_unload_network", network)
            self._tell("after_unload_network", network)
            raise
        self._networks.append(network)
        self._tell("after_load_network", network)

    def unload_network(self, network: NetworkId) -> None:
        """Forgets a network. Raises UsageError for one that is not loaded."""
        if network not in self._networks:
            raise UsageError(f"The session has no network {network}; it was never loaded, or is "
                             "unloaded already.")  # fmt: skip
        self._tell("before_unload_network", network)
        self._networks.remove(network)
        self._tell("after_unload_network", network)

    def _tell(self, what: str, network: NetworkId) -> None:
        for backend, context in list(self._all_contexts().items()):
            try:
                getattr(context, what)(network)
            except BackendFault as fault:
                assert fault.backend == backend
                self.drop(fault, _THEN.get(what, _NEXT))

    def _all_contexts(self) -> dict[str, BackendContext]:
        """The context of each backend that has one, made once."""
        if self._contexts is None:
            self._contexts = {}
            for backend_id in self.registry.ids:
                try:
                    backend = self.registry.create(backend_id)
                    context = backend.create_backend_context(self.options)
                except BackendFault as fault:
                    self.drop(fault)
                    continue
                if context is not None:
                    self._contexts[backend_id] = context
        return self._contexts


def session_or_own(
    session: Session | None, options: CreationOptions | None = None
) -> AbstractContextManager[Session]:
    """The session that was given, which stays open, or one with these options for the block."""
    return Session(options=options) if session is None else nullcontext(session)
