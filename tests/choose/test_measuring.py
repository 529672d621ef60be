"""Measured costs decide between backends, and between a part and its nodes."""

from __future__ import annotations

import json
import random
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

import pytest
from arm_dsp_cases import TABLE, Case, model
from partition_cases import candidate, wired

from mcu_deploy import choose
from mcu_deploy.backends import measured
from mcu_deploy.backends.ArmDsp.kernels import pointwise, pointwise_shared
from mcu_deploy.backends.CpuRef import CpuRef
from mcu_deploy.backends.interface import Cost, Costs, Known, LayoutRule, Price, Unit, yes
from mcu_deploy.boards import load_board
from mcu_deploy.choose import Assignment, Choosing, Problem, measuring, offers
from mcu_deploy.compiled import Network
from mcu_deploy.compiler import compile_model
from mcu_deploy.ir import Graph, NodeId
from mcu_deploy.options import Options
from mcu_deploy.report import explain
from tests.choose.test_assigning import Fuses, chain, pairs_of_relu, who
from tests.choose.test_cover import part_of, problem_of

M4 = load_board("mps2-an386")
WIDE = Case(16, 8, 6, 5)


def test_all_candidates_and_parts_occur_in_few_covers() -> None:
    for seed in range(20):
        problem = problem_of(random.Random(seed).randint, 6, "ram")
        covers = [*measuring.covers(problem)]
        assert {id(p) for c in covers for p in c.parts} == {id(p) for p in problem.parts}
        for node, candidates in problem.candidates.items():
            alone = [c for c in covers if all(node not in part.nodes for part in c.parts)]
            assert {c.chosen[node] for c in alone} == {*range(len(candidates))}
        assert all(set(cover) == set(problem.candidates) for cover in covers)
        most = max(
            len(candidates) + sum(node in part.nodes for part in problem.parts)
            for node, candidates in problem.candidates.items()
        )
        assert most <= len(covers) < 3 * most


def test_a_part_that_no_cover_has_is_left_out() -> None:
    graph = wired([[], [0], [1]])
    alone = {0: (candidate("A", 9),), 1: (), 2: (candidate("A", 9),)}
    price = Price(Costs(instructions=1))
    first = part_of(graph, [0, 1], "B", price, LayoutRule.NATURAL)
    problem = Problem(graph, alone, parts=(first,))
    (cover,) = measuring.covers(problem)
    assert cover.parts == (first,) and cover[2] == "A"


def test_layers_cost_their_sum_where_all_are_known_in_one_unit() -> None:
    counted, timed = (Cost(5, Unit.CYCLES, known) for known in (Known.COUNTED, Known.MEASURED))
    assert measuring._sum([timed, timed]) == Cost(10, Unit.CYCLES, Known.MEASURED)
    assert measuring._sum([timed, counted]) == Cost(10, Unit.CYCLES, Known.COUNTED)
    assert measuring._sum([timed, None]) is measuring._sum([]) is None
    assert measuring._sum([counted, Cost(5, Unit.INSTRUCTIONS, Known.COUNTED)]) is None


def _compiled(path: Path, *backends: str) -> Network:
    return compile_model(path, M4, options=Options(backends=backends, optimize_for="speed"))


def test_layers_of_other_scales_share_a_function_and_of_other_zero_points_none(
    tmp_path: Path,
) -> None:
    network = _compiled(model([WIDE], tmp_path / "net.onnx"), "CpuRef")
    layer = next(s.choice.layer for s in network.plan.steps if s.choice.layer.macs)

    def key(**changes: object) -> str:
        x = layer.input(0)
        assert x.type.quantization is not None
        type_ = replace(x.type, quantization=replace(x.type.quantization, **changes))
        changed = replace(layer, inputs=(replace(x, type=type_), *layer.inputs[1:]))
        (found,) = offers.estimated(CpuRef(), changed, yes()).code
        return found

    assert key() == key(scale=(9.0,)) != key(zero_point=(9,))


def _costs(network: Network, value: int, unit: str = "cycles") -> dict[str, object]:
    entry = {"value": value, "unit": unit, "known": "measured"}
    return {s.choice.workload.fingerprint: entry for s in network.plan.steps}


def _write(path: Path, entries: Mapping[str, object], core: str = "cortex-m4") -> None:
    content = {"format": measured.FORMAT, "cores": {core: entries}}
    path.with_suffix(".costs.json").write_text(json.dumps(content))


def _computed(network: Network) -> list[str]:
    steps = (s.choice for s in network.plan.steps if s.choice.layer.macs)
    return sorted(f"{c.workload.backend} {c.layer.op}" for c in steps)


@pytest.fixture
def one_kernel(monkeypatch: pytest.MonkeyPatch) -> None:
    """Of ArmDsp for each 1x1 convolution."""
    monkeypatch.setattr(pointwise_shared, "propose", lambda view, layer: "")
    monkeypatch.setattr(pointwise, "ways", lambda layer: (False,))


@pytest.mark.usefixtures("one_kernel")
def test_a_measured_cost_takes_a_layer_from_one_backend_to_another(tmp_path: Path) -> None:
    path = model([WIDE, Case(8, 4, 5, 5)], tmp_path / "net.onnx")
    plain = _compiled(path)
    assert _computed(plain) == ["ArmDsp Conv"] * 2
    reference = _compiled(path, "CpuRef")
    slow = next(s for s in plain.plan.steps if s.choice.layer.macs == 16 * 8 * 30)
    dear = {
        slow.choice.workload.fingerprint: _costs(plain, 10**9)[slow.choice.workload.fingerprint]
    }
    _write(path, dear)
    turned = _compiled(path)
    assert _computed(turned) == ["ArmDsp Conv", "CpuRef Conv"]
    row = next(r for r in explain(turned) if r.backend == "CpuRef" and r.op == "Conv")
    lost = next(c for c in row.candidates if c.backend == "ArmDsp")
    assert lost.cost is not None and (lost.cost.value, lost.cost.known) == (10**9, "measured")
    # the other way round: what loses by its estimate wins by what was measured of it
    _write(path, _costs(reference, 1))
    assert _computed(_compiled(path)) == ["CpuRef Conv"] * 2
    # instructions say nothing of cycles, nor another core of this one
    for entries, core in ((_costs(plain, 10**9, "instructions"), "cortex-m4"),
                          (_costs(plain, 10**9), "cortex-m7")):  # fmt: skip
        _write(path, entries, core)
        assert _compiled(path).sources == plain.sources


@pytest.mark.usefixtures("one_kernel")
def test_a_measured_cost_takes_a_part_apart(tmp_path: Path) -> None:
    path = model([TABLE], tmp_path / "net.onnx")
    plain = _compiled(path)
    assert _computed(plain) == ["ArmDsp Conv", "ArmDsp ConvolutionTable"]
    _write(path, _costs(plain, 10**9))
    assert _computed(_compiled(path)) == ["ArmDsp Conv"] * 2


@pytest.mark.usefixtures("one_kernel")
def test_greedy_stays_with_its_backend_and_takes_its_cheapest(tmp_path: Path) -> None:
    path = model([TABLE], tmp_path / "net.onnx")
    _write(path, _costs(_compiled(path, "ArmDsp", "CpuRef"), 10**9))
    assert _computed(_compiled(path, "ArmDsp", "CpuRef")) == ["ArmDsp Conv"] * 2


@pytest.mark.parametrize(
    ("fused", "won"), [(5, ["ReluNeg:Only"]), (None, ["Relu:Only", "Neg:Only"])]
)
def test_what_a_backend_made_of_its_layers_is_priced_too(fused: int | None, won: list[str]) -> None:
    own = {"relu0": Costs(cycles=1), "neg1": Costs(cycles=1), "fused": Costs(cycles=1000)}
    fuses = Fuses(ops=("Relu", "Neg"), optimizes=pairs_of_relu, rank=5, estimated=own)

    def known(graph: Graph, assignment: Assignment) -> dict[NodeId, Cost | None]:
        def cost(node: NodeId) -> Cost | None:
            if graph.node(node).op == "ReluNeg":
                return None if fused is None else Cost(fused, Unit.CYCLES, Known.MEASURED)
            value = 50 if assignment.backends[node].id == "CpuRef" else 10
            return Cost(value, Unit.CYCLES, Known.COUNTED)

        return {node: cost(node) for node in assignment.backends}

    choosing = Choosing(strategy="cost", measured=known)
    graph, assignment = choose.assign(chain("Relu", "Neg"), (fuses, CpuRef()), choosing=choosing)
    assert who(graph, assignment) == won


def test_without_measured_costs_nothing_is_made(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    def never(*_: object) -> None:
        raise AssertionError("nothing was measured")

    monkeypatch.setattr(measuring, "apply", never)
    path = model([WIDE], tmp_path / "net.onnx")
    _write(path, {"0" * 64: {"value": 1, "unit": "cycles", "known": "measured"}}, "cortex-m7")
    _compiled(path)
