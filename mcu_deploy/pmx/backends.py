"""The backends' part: what each saves of its own beside its workloads, and gets back."""

from __future__ import annotations

import logging
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from mcu_deploy.backends.interface import Backend, NetworkId, SubgraphView
from mcu_deploy.compiled import CompiledModel
from mcu_deploy.errors import BackendFault
from mcu_deploy.ir import view
from mcu_deploy.session import Session

_log = logging.getLogger("mcu_deploy")


@dataclass(frozen=True)
class BackendData:
    """What a backend saved of its own. version: of the interface that it was written for."""

    backend: str
    version: tuple[int, int]
    data: bytes


def gather_data(model: CompiledModel, session: Session) -> tuple[BackendData, ...]:
    """What the backends of a model want to be saved, by their ids.

    model: with the ids that it will have when it is loaded, so that no backend has to map any.
    """
    found = []
    for backend_id, own in _parts(model):
        if not session.registry.is_registered(backend_id):
            continue  # of a model that was loaded: only its workloads are there
        backend = session.registry.create(backend_id)
        save = getattr(backend, "save_data", None)  # who extends no BackendBase may lack it
        try:
            data = None if save is None else save(own)
        except BackendFault as fault:
            session.drop(fault, "It saves nothing; its layers are in the file all the same.")
            continue
        if data is None:
            continue
        if not isinstance(data, bytes):
            raise BackendFault.of(
                backend_id, f"gives a {type(data).__name__} to be saved, and no bytes"
            )
        found.append(BackendData(backend_id, _version(backend), data))
    return tuple(found)


def give_data(
    model: CompiledModel, saved: Sequence[BackendData], session: Session, network: NetworkId
) -> None:
    """Gives each backend of the session what it saved.

    Its workloads are in the file: without the backend, or with one of another major version of the
    interface, the network is what it was, and a warning says that the data is not used.
    """
    parts = dict(_parts(model))
    for item in saved:
        known = session.registry.is_registered(item.backend) and item.backend in parts
        backend = session.registry.create(item.backend) if known else None
        load = getattr(backend, "load_data", None)
        if load is None:
            _log.warning("What the backend %s saved is not used: it is not there.", item.backend)
        elif backend is not None and _version(backend)[0] != item.version[0]:
            _log.warning(
                "What the backend %s saved is not used: it was for version %s of the interface.",
                item.backend,
                item.version[0],
            )
        else:
            try:
                load(network, parts[item.backend], item.data)
            except BackendFault as fault:
                session.drop(fault, "What it saved is not used; its layers are in the file.")
            except ValueError as error:
                raise BackendFault(
                    item.backend,
                    f"The backend {item.backend} cannot use what it saved: {error}. Make the file "
                    "anew with `mcu-deploy optimize`.",
                ) from error


def _parts(model: CompiledModel) -> Iterator[tuple[str, SubgraphView]]:
    """Each backend's id with a view of its nodes, in the order of the ids."""
    backends = {node: backend.id for node, backend in model.assignment.backends.items()}
    nodes = model.graph.topology.nodes
    for backend_id in sorted(set(backends.values())):
        yield backend_id, view(model.graph, [n for n in nodes if backends.get(n) == backend_id])


def _version(backend: Backend) -> tuple[int, int]:
    major, minor = backend.version
    return int(major), int(minor)
