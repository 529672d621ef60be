"""Which backends there are, who computes what, and which workload is taken."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from backend_cases import Only
from graph_cases import Net
from typer.testing import CliRunner

from mcu_deploy import backends, choose, selection
from mcu_deploy.arrange import layouts
from mcu_deploy.backends.CpuRef import CpuRef
from mcu_deploy.backends.interface import YES, Backend, Costs, LayoutRule, yes
from mcu_deploy.backends.registry import Registry
from mcu_deploy.choose import Assignment
from mcu_deploy.cli import create_app
from mcu_deploy.errors import BackendFault, UnsupportedError, UsageError
from mcu_deploy.ir import Graph
from mcu_deploy.session import Session


def net() -> Graph:
    built = Net()
    x = built.op("Relu", [built.input(1, 3, 4, 4)], (1, 3, 4, 4))
    return built.finish(built.op("GlobalAveragePool", [x], (1, 3, 1, 1)))


def test_every_folder_of_backends_is_registered_under_its_own_id() -> None:
    registry = Registry.builtin()
    assert registry.is_registered("CpuRef")
    for name in registry.factories:
        assert registry.create(name).id == name


def test_an_id_is_registered_once_and_copies_are_apart() -> None:
    builtin = Registry.builtin()
    more = builtin.with_backend("Only", Only)
    assert more.is_registered("Only")
    assert not builtin.is_registered("Only")
    assert more.create("Only").id == "Only"
    with pytest.raises(UsageError, match="'Only' is registered already"):
        more.with_backend("Only", Only)
    with pytest.raises(UsageError, match=r"no backend 'Best'\. Known are .*CpuRef"):
        builtin.create("Best")


def test_the_default_order_is_by_rank_then_id_for_the_core() -> None:
    registry = Registry(
        {
            "CpuRef": CpuRef,
            "B": lambda: Only("B", cores=("cortex-m4", "cortex-m7")),
            "A": lambda: Only("A", cores=("cortex-m4",)),
            "Late": lambda: Only("Late", rank=2000),
        }
    )

    def ids(core: str) -> list[str]:
        return [b.id for b in registry.preference(core)]

    assert ids("cortex-m4") == ["A", "B", "CpuRef", "Late"]
    assert ids("cortex-m7") == ["B", "CpuRef", "Late"]
    assert ids("host") == ["CpuRef", "Late"]


def test_a_session_takes_named_backends_in_their_order() -> None:
    registry = Registry.builtin().with_backend("M4", lambda: Only("M4", cores=("cortex-m4",)))
    with Session(registry) as session:
        named = session.preference("cortex-m4", ("CpuRef", "M4", "CpuRef"))
        assert [b.id for b in named] == ["CpuRef", "M4"]
        with pytest.raises(UsageError, match=r"'M4' is for cortex-m4, but .* core 'cortex-m0'"):
            session.preference("cortex-m0", ("M4",))
        with pytest.raises(UsageError, match="no backend 'X'"):
            session.preference("cortex-m4", ("X",))
    assert not Session().registry.is_registered("M4")


def test_each_node_goes_to_the_first_backend_that_takes_it() -> None:
    graph = net()
    _, found = choose.assign(graph, (Only(), CpuRef()))
    assert [found.backends[n.id].id for n in graph.nodes] == ["Only", "CpuRef"]
    (refusal,) = found.refusals
    assert (refusal.node.op, refusal.backend) == ("GlobalAveragePool", "Only")
    assert refusal.reason == "it computes Relu only"


def test_nodes_that_nobody_takes_are_listed_with_every_reason() -> None:
    graph = net()
    with pytest.raises(UnsupportedError) as caught:
        choose.assign(graph, (Only(), Only("Other", ("Neg",))))
    text = str(caught.value)
    assert "1 node of the model" in text
    assert (
        "GlobalAveragePool 'globalaveragepool1': Only: it computes Relu only; "
        "Other: it computes Neg only" in text
    )
    with pytest.raises(UnsupportedError, match="2 nodes"):
        choose.assign(graph, ())


def test_inserted_nodes_go_to_the_first_backend_that_has_them() -> None:
    graph = net()
    backends: tuple[Backend, ...] = (Only(), CpuRef())
    graph, assignment = choose.assign(graph, backends)
    after = layouts.assign(graph, assignment)
    choices = selection.select(after, assignment, backends).choices
    assert [(c.layer.op, c.workload.backend) for c in choices] == [
        ("Relu", "Only"), ("Reorder", "CpuRef"), ("GlobalAveragePool", "CpuRef")
    ]  # fmt: skip
    with pytest.raises(UnsupportedError, match=r"No backend has the Reorder .* Add CpuRef"):
        selection.select(after, assignment, (Only(),))


def relu() -> Graph:
    built = Net()
    return built.finish(built.op("Relu", [built.input(4)], (4,)))


def taken(*costs: Costs) -> Costs:
    graph, backend = relu(), Only(costs=costs)
    assignment = Assignment({n.id: backend for n in graph.nodes}, {n.id: YES for n in graph.nodes})
    (choice,) = selection.select(graph, assignment, (backend,)).choices
    return choice.workload.costs


def test_the_cheapest_workload_is_taken() -> None:
    fast, slow = Costs(cycles=10, instructions=90), Costs(cycles=20, instructions=5)
    assert taken(slow, fast) == fast
    assert taken(Costs(instructions=30), Costs(instructions=20)).instructions == 20
    assert taken(Costs(), slow) == slow
    assert taken(slow, Costs(cycles=0)).cycles == 0
    assert taken(Costs(macs=1), Costs(macs=2)).macs == 1


def test_a_backend_without_a_workload_is_named() -> None:
    with pytest.raises(
        BackendFault, match=r"Only answered nonsense .* Relu .*: there is no workload"
    ):
        taken()


def test_a_layer_shows_operands_constants_and_work() -> None:
    built = Net()
    x = built.input(1, 2, 3, 3)
    weights = built.constant(np.ones((4, 2, 1, 1), np.float32))
    graph = built.finish(built.op("Conv", [x, weights], (1, 4, 3, 3), kernel_shape=(1, 1)))
    channels_last = yes(LayoutRule.CHANNELS_LAST)
    assignment = Assignment(
        {n.id: CpuRef() for n in graph.nodes}, {n.id: channels_last for n in graph.nodes}
    )
    (choice,) = selection.select(graph, assignment, (CpuRef(),)).choices
    layer = choice.layer
    assert layer.input(0).constant is None
    assert layer.input(1).memory.shape == (4, 2, 1, 1)
    assert layer.optional(2) is None
    assert layer.macs == 4 * 2 * 9
    assert choice.workload.costs.macs == layer.macs


BROKEN = {
    "Missing": ("import nomodule", "it raised ModuleNotFoundError: No module named 'nomodule'"),
    "Ends": ("raise SystemExit(3)", "it raised SystemExit: 3"),
    "Empty": ("", "it raised AttributeError: module 'mcu_deploy.backends.Empty' has no attribute"),
    "Typo": ("def create(:", "it raised SyntaxError: invalid syntax"),
    "Makes": ("def create(): return 1 / 0", "it raised ZeroDivisionError: division by zero"),
    "Other": (
        "from mcu_deploy.backends.CpuRef import create",
        "it makes the backend 'CpuRef', which is not its name",
    ),
}


def test_a_folder_that_cannot_be_imported_is_skipped_with_a_sentence(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    for name, (source, _) in BROKEN.items():
        (tmp_path / name).mkdir()
        (tmp_path / name / "backend.cmake").touch()
        (tmp_path / name / "__init__.py").write_text(source)
    monkeypatch.setattr(backends, "__path__", [*backends.__path__, str(tmp_path)])
    lines: list[str] = []
    with Session(report=lines.append) as session:
        assert [b.id for b in session.preference("host")] == ["CpuRef"]
        assert {s.id for s in session.skipped} == set(BROKEN)
        with pytest.raises(UsageError, match="backend Typo cannot be used: it raised SyntaxError"):
            session.preference("host", ("Typo",))
    for name, (_, reason) in BROKEN.items():
        assert sum(f"{tmp_path / name} was skipped: {reason}" in line for line in lines) == 1
    for command in ("backends", "operators", "boards", "doctor"):
        result = CliRunner().invoke(create_app(), [command])
        assert result.exit_code == (command == "doctor")
        assert "No module named 'nomodule'" in " ".join((result.output + caplog.text).split())
        assert ("host" if command == "boards" else "CpuRef") in result.output
        caplog.clear()
