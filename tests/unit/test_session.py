"""Sessions: contexts are told of networks, backends that fail are dropped, threads are apart."""

from __future__ import annotations

import threading
from collections.abc import Callable
from pathlib import Path

import pytest
from backend_cases import Only

from mcu_deploy.backends.interface import (
    Backend,
    BackendContext,
    CreationOptions,
    Descriptor,
    MemoryManager,
    NetworkId,
    Workload,
    WorkloadFactory,
    WorkloadInfo,
)
from mcu_deploy.backends.registry import Registry
from mcu_deploy.boards import load_board
from mcu_deploy.compiled import Network
from mcu_deploy.compiler import compile_model
from mcu_deploy.errors import BackendFault, ModelError, UsageError
from mcu_deploy.options import Options
from mcu_deploy.session import Session

HOST = load_board("host")


class Diary:
    """A backend context that writes down what it is told."""

    def __init__(self) -> None:
        self.entries: list[str] = []
        self.options: list[CreationOptions] = []

    def create(self, options: CreationOptions) -> BackendContext:
        self.options.append(options)
        return self

    def before_load_network(self, network: NetworkId) -> None:
        self.entries.append(f"before load {network}")

    def after_load_network(self, network: NetworkId) -> None:
        self.entries.append(f"after load {network}")

    def before_unload_network(self, network: NetworkId) -> None:
        self.entries.append(f"before unload {network}")

    def after_unload_network(self, network: NetworkId) -> None:
        self.entries.append(f"after unload {network}")


def with_backend(**facts: object) -> Registry:
    return Registry.builtin().with_backend("Only", lambda: Only(ops=None, **facts))  # type: ignore[arg-type]


def kws(kws_dir: Path, session: Session, options: Options | None = None) -> Network:
    return compile_model(kws_dir / "model.onnx", HOST, name="k", session=session, options=options)


def test_a_context_is_told_of_every_network(kws_dir: Path) -> None:
    diary = Diary()
    options = CreationOptions(backend_options={"Only": {"speed": "high"}})
    with Session(with_backend(context=diary.create), options) as session:
        assert diary.entries == []
        one, two = kws(kws_dir, session), kws(kws_dir, session)
        assert (one.id, two.id) == (1, 2)
        assert session.networks == (1, 2)
        assert diary.entries == ["before load 1", "after load 1", "before load 2", "after load 2"]
        session.unload_network(1)
        assert diary.entries[4:] == ["before unload 1", "after unload 1"]
        with pytest.raises(UsageError, match="no network 1"):
            session.unload_network(1)
        with session.loading():
            pass
    assert diary.entries[8:] == [
        "before unload 3", "after unload 3", "before unload 2", "after unload 2"
    ], "the last first"  # fmt: skip
    assert diary.options == [options], "one context for the life of the session"


def test_a_load_that_fails_is_unloaded(kws_dir: Path, tmp_path: Path) -> None:
    diary = Diary()
    with Session(with_backend(context=diary.create)) as session:
        with pytest.raises(UsageError, match="no layer 'nothing'"):
            kws(kws_dir, session, Options(layer_backends={"nothing": "Only"}))
        assert session.networks == ()
        assert diary.entries == ["before load 1", "before unload 1", "after unload 1"]
        broken = tmp_path / "broken.onnx"
        broken.write_bytes(b"no model")
        with pytest.raises(ModelError):
            compile_model(broken, HOST, session=session)
        assert kws(kws_dir, session).id == 2


def test_each_session_has_its_own_contexts_and_backends(kws_dir: Path) -> None:
    diaries = [Diary() for _ in range(4)]
    failures: list[object] = []

    def work(diary: Diary) -> None:
        try:
            with Session(with_backend(context=diary.create)) as session:
                kws(kws_dir, session)
        except Exception as error:
            failures.append(error)

    threads = [threading.Thread(target=work, args=(diary,)) for diary in diaries]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert failures == []
    for diary in diaries:
        assert [e.split()[-1] for e in diary.entries] == ["1"] * 4
        assert len(diary.options) == 1


class Faulty(Only):
    """Breaks its word when it is asked for the third workload."""

    def create_workload_factory(self, memory_manager: MemoryManager | None) -> WorkloadFactory:
        return _FaultyFactory(super().create_workload_factory(memory_manager))


class _FaultyFactory:
    def __init__(self, inner: WorkloadFactory) -> None:
        self.inner = inner
        self.calls = 0

    def create_workloads(self, info: WorkloadInfo, descriptor: Descriptor) -> tuple[Workload, ...]:
        self.calls += 1
        if self.calls == 3:
            raise BackendFault("Faulty", "The backend Faulty crashed.")
        return self.inner.create_workloads(info, descriptor)


def reporting(lines: list[str], create: Callable[[], Backend]) -> Session:
    return Session(Registry.builtin().with_backend("Faulty", create), report=lines.append)


def test_the_layers_of_a_backend_that_fails_go_to_the_next(kws_dir: Path) -> None:
    lines: list[str] = []
    with reporting(lines, lambda: Faulty("Faulty", None)) as session:
        network = kws(kws_dir, session)
        assert {s.choice.workload.backend for s in network.plan.steps} == {"CpuRef"}
        assert lines == ["The backend Faulty crashed. Its layers go to the next backend."]
        assert kws(kws_dir, session).sources == network.sources
        assert len(lines) == 1, "it is gone for the rest of the session"
        with pytest.raises(UsageError, match=r"named none is left: The backend Faulty crashed"):
            session.preference("host", ("Faulty",))
        assert [b.id for b in session.preference("host", ("Faulty", "CpuRef"))] == ["CpuRef"]
    with Session() as alone:
        assert kws(kws_dir, alone).sources == network.sources


def test_a_layer_that_was_promised_to_it_is_an_error(kws_dir: Path) -> None:
    lines: list[str] = []
    with reporting(lines, lambda: Faulty("Faulty", None)) as session:
        plain = kws(kws_dir, session, Options(backends=("CpuRef",)))
        layer = plain.plan.steps[0].choice.layer.name
        options = Options(layer_backends={layer: "Faulty"})
        with pytest.raises(UsageError, match=r"--layer-backend .*=Faulty: the backend Faulty cann"):
            kws(kws_dir, session, options)


def test_a_session_without_backends_says_so(kws_dir: Path) -> None:
    options = CreationOptions(dynamic_backends=False)
    with (
        Session(Registry({}), options) as session,
        pytest.raises(UsageError, match=r"no backend for the core 'host'.*nothing can be compiled"),
    ):
        kws(kws_dir, session)
    with (
        Session(Registry({"Faulty": lambda: Faulty("Faulty", None)}), options) as session,
        pytest.raises(UsageError, match=r"core 'host' is left: The backend Faulty crashed"),
    ):
        kws(kws_dir, session)


def test_two_backends_that_alternate_give_the_same_numbers(kws_dir: Path) -> None:
    """Layer by layer another backend: the same plan of memory, as the kernels are the same."""
    with Session(with_backend()) as session:
        plain = kws(kws_dir, session, Options(backends=("CpuRef",)))
        names = [s.choice.layer.name for s in plain.plan.steps]
        turns = dict(zip(names, ["Only", "CpuRef"] * len(names), strict=False))
        mixed = kws(kws_dir, session, Options(layer_backends=turns))
    assert [s.choice.workload.backend for s in mixed.plan.steps] == list(turns.values())
    assert mixed.sources.weights == plain.sources.weights
    assert mixed.plan.places == plain.plan.places


@pytest.mark.parametrize(
    ("method", "then"),
    [
        ("before_load_network", "Its layers go to the next backend."),
        ("after_load_network", "The network keeps the code that it made; it takes no part in"),
        ("before_unload_network", "It takes no part in other networks."),
        ("after_unload_network", "It takes no part in other networks."),
    ],
)
def test_what_becomes_of_the_layers_is_said_as_it_is(method: str, then: str, kws_dir: Path) -> None:
    class Failing(Diary):
        def fail(self, network: NetworkId) -> None:
            raise BackendFault("Failing", f"The backend Failing failed in {method}.")

    diary, lines = Failing(), []
    setattr(diary, method, diary.fail)
    backend = Only("Failing", None, context=diary.create)
    registry = Registry.builtin().with_backend("Failing", lambda: backend)
    with Session(registry, report=lines.append) as session:
        network = compile_model(kws_dir / "model.onnx", HOST, session=session)
    (line,) = lines
    assert line.startswith(f"The backend Failing failed in {method}. {then}")
    makers = {step.choice.workload.backend for step in network.plan.steps}
    assert makers == {"CpuRef" if method == "before_load_network" else "Failing"}
    methods = ("before_load", "after_load", "before_unload", "after_unload")
    told = methods.index(method.removesuffix("_network"))
    assert len(diary.entries) == told, "it is told of nothing more"
