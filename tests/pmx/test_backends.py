"""Backends take part: they save data of their own, and get it back for the loaded network."""

from __future__ import annotations

import logging
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

import pytest
from backend_cases import Only
from pmx_cases import BOARD, small_model

from mcu_deploy import pmx
from mcu_deploy.backends.interface import CreationOptions, NetworkId, SubgraphView
from mcu_deploy.backends.registry import Registry
from mcu_deploy.boards import load_board
from mcu_deploy.compiled import Network
from mcu_deploy.compiler import compile_model
from mcu_deploy.errors import BackendFault
from mcu_deploy.session import Session


@dataclass
class Saving(Only):
    """Saves the ids and names of its nodes, and keeps what it gets back."""

    id: str = "Saving"
    ops: tuple[str, ...] | None = ("Conv", "Sigmoid", "Mul")
    got: list[tuple[NetworkId, dict[int, str], bytes]] = field(default_factory=list)
    refuses: bool = False

    def save_data(self, view: SubgraphView) -> bytes | None:
        return repr({node.id: node.name for node in view.nodes}).encode()

    def load_data(self, network: NetworkId, view: SubgraphView, data: bytes) -> None:
        if self.refuses:
            raise ValueError("version 2 of its data is not known")
        self.got.append((network, {node.id: node.name for node in view.nodes}, data))


def _session(*backends: Only) -> Session:
    registry = Registry.builtin()
    for backend in backends:
        registry = registry.with_backend(backend.id, lambda own=backend: own)
    return Session(registry, CreationOptions(dynamic_backends=False))


def _save(folder: Path, backend: Only) -> tuple[Path, Network]:
    with _session(backend) as session:
        network = compile_model(small_model(folder), load_board(BOARD), session=session)
        path = folder / "m.pmx"
        path.write_bytes(pmx.pack(network, session))
    return path, network


def test_what_is_saved_comes_back_with_the_same_ids(tmp_path: Path) -> None:
    path, network = _save(tmp_path, Saving())
    backend = Saving()
    with _session(backend) as session:
        loaded = compile_model(path, load_board(BOARD), session=session)
        ((number, nodes, data),) = backend.got
        assert number in session.networks
    assert {"gate", "gated"} < set(nodes.values())
    assert data == repr(nodes).encode(), "ids are those of the file already when it is saved"
    assert loaded.sources.files == network.sources.files
    ids = [node.id for node in network.graph.nodes if node.name in nodes.values()]
    assert sorted(nodes) != ids, "else nothing was mapped"


def test_without_the_backend_its_workloads_are_still_there(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    path, network = _save(tmp_path, Saving())
    logger = logging.getLogger("mcu_deploy")
    logger.propagate = True
    with _session() as session, caplog.at_level(logging.WARNING, "mcu_deploy"):
        loaded = compile_model(path, load_board(BOARD), session=session)
        again = pmx.pack(loaded, session)
    assert loaded.sources.files == network.sources.files
    assert "Saving" in {s.choice.workload.backend for s in loaded.plan.steps}
    assert "What the backend Saving saved is not used: it is not there." in caplog.text
    (tmp_path / "again.pmx").write_bytes(again)
    assert pmx.load(tmp_path / "again.pmx").data == ()


def test_a_backend_for_another_version_of_the_interface(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    path, _ = _save(tmp_path, Saving())
    newer = Saving(version=(2, 0))
    logging.getLogger("mcu_deploy").propagate = True
    with _session(newer) as session, caplog.at_level(logging.WARNING, "mcu_deploy"):
        compile_model(path, load_board(BOARD), session=session)
    assert newer.got == []
    assert "it was for version 1 of the interface" in caplog.text


def test_a_backend_that_does_not_know_its_data(tmp_path: Path) -> None:
    path, _ = _save(tmp_path, Saving())
    with (
        _session(Saving(refuses=True)) as session,
        pytest.raises(BackendFault, match="cannot use what it saved: version 2 of its data"),
    ):
        compile_model(path, load_board(BOARD), session=session)


def test_a_backend_that_saves_something_else(tmp_path: Path) -> None:
    backend = Saving()
    backend.save_data = lambda view: "text"  # type: ignore[method-assign,assignment,return-value]
    with pytest.raises(BackendFault, match="gives a str to be saved, and no bytes"):
        _save(tmp_path, backend)


def test_backends_without_data_take_no_part(tmp_path: Path) -> None:
    make: Callable[[], Only] = lambda: Only(ops=("Sigmoid",))  # noqa: E731
    path, network = _save(tmp_path, make())
    assert pmx.load(path).data == ()
    assert network.assignment.backends
