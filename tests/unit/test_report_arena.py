"""The picture of memory over time, against a run that is painted byte by byte."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
import report_cases
import report_values

import mcu_deploy
from mcu_deploy import resources
from mcu_deploy.boards import load_board
from mcu_deploy.compiler import compile_model
from mcu_deploy.options import Options
from mcu_deploy.report import NetworkReport, joint_arena
from mcu_deploy.report.page.arena import Arena, arenas, ticks, unplaced
from mcu_deploy.report.places import BufferReport, MoveReport, PoolReport


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> mcu_deploy.Build:
    return report_cases.build(tmp_path_factory.mktemp("arena"), "balanced", "host")


@pytest.mark.needs_host_gcc
def test_a_real_network_is_drawn_as_it_is_planned(built: mcu_deploy.Build) -> None:
    network = built.report.networks[0]
    (arena,) = arenas(network)
    assert arena.bytes == network.arena_bytes
    before = min(b.first for b in network.buffers)
    painted = [bytearray(arena.bytes) for _ in arena.rows]
    for buffer in network.buffers:
        assert buffer.offset is not None
        for at in range(buffer.first, buffer.last + 1):
            end = buffer.offset + buffer.bytes
            painted[at - before][buffer.offset : end] = b"\1" * buffer.bytes
    assert [row.used for row in arena.rows] == [sum(row) for row in painted]
    assert arena.peak == max(map(sum, painted)) == arena.rows[arena.peak_row].used
    assert [row.is_peak for row in arena.rows].index(True) == arena.peak_row
    named = {row.layer: row.label for row in arena.rows if row.layer is not None}
    assert named == {layer.index: layer.short for layer in network.layers}


@pytest.mark.needs_host_gcc
def test_each_layers_output_is_said_to_lie_where_it_lies(built: mcu_deploy.Build) -> None:
    network = built.report.networks[0]
    (arena,) = arenas(network)
    for layer in network.layers:
        for output in layer.outputs:
            assert output.offset is not None
            (box,) = (b for b in arena.boxes if layer.short in b.holds and b.kind != "scratch")
            assert box.offset <= output.offset and output.offset + output.bytes <= box.end
            row = next(i for i, r in enumerate(arena.rows) if r.label == layer.short)
            assert box.first <= row <= box.last


def test_networks_that_take_turns_save_the_smaller_workspace() -> None:
    """What is not the workspace, buffers of the caller here, each of them has."""
    board, folder = load_board("host"), resources.examples()
    models = [folder / "sine" / "model.tflite", folder / "kws" / "model.onnx"]
    small, large = (compile_model(m, board, options=Options(io="caller")) for m in models)
    assert 0 < small.plan.bytes < large.plan.bytes
    assert joint_arena([small, large], False) == small.ram_bytes + large.ram_bytes
    shared = small.ram_bytes + large.ram_bytes - small.plan.bytes
    assert joint_arena([small, large], True) == joint_arena([large, small], True) == shared


def network(*buffers: BufferReport, size: int = 100) -> NetworkReport:
    """A network of as many layers as there must be, with a pool for these."""
    example = report_values.report().networks[0]
    last = max(b.last for b in buffers)
    layers = tuple(
        replace(
            example.layers[0], index=i, position=i, short=f"layer_{i}", outputs=(), scratch=()
        )
        for i in range(last)
    )  # fmt: skip
    pools = (PoolReport("workspace", size, "sram"), PoolReport("empty", 0, "sram"))
    return replace(example, buffers=buffers, layers=layers, pools=pools, positions=last)


def buffer(first: int, last: int, offset: int | None, size: int, **more: Any) -> BufferReport:
    plain = BufferReport(first + 1, "workspace", offset, size, first, last, False, f"t{first}", ())
    return replace(plain, **more)


def test_what_overlaps_counts_once_and_is_said() -> None:
    (arena,) = arenas(network(buffer(-1, 1, 0, 60), buffer(1, 3, 40, 50)))
    assert [row.used for row in arena.rows] == [60, 60, 90, 50, 50]
    assert [row.label for row in arena.rows] == ["before", "layer_0", "layer_1", "layer_2", "after"]
    assert (arena.peak, arena.peak_row, arena.overlaps) == (90, 2, True)
    (apart,) = arenas(network(buffer(-1, 1, 0, 40), buffer(1, 3, 40, 50)))
    assert not apart.overlaps
    assert [(b.x, b.width) for b in apart.boxes] == [(0.0, 40.0), (40.0, 50.0)]


def test_a_buffer_that_moves_is_a_box_for_each_place() -> None:
    moving = buffer(0, 4, 50, 20, moves=(MoveReport(0, 50), MoveReport(2, 0), MoveReport(4, 30)))
    (arena,) = arenas(network(moving))
    boxes = [(b.first, b.last, b.offset, b.since, b.until) for b in arena.boxes]
    assert boxes == [
        (0, 1, 50, "layer_0", "layer_1"),
        (2, 3, 0, "layer_2", "layer_3"),
        (4, 4, 30, "after", "after"),
    ]
    assert {row.used for row in arena.rows} == {20}


def test_kinds_and_names() -> None:
    (arena,) = arenas(
        network(
            buffer(-1, 0, 0, 8, holds="image;x"),
            buffer(0, 0, 8, 8, holds="scratch of layer_0", id=7),
            buffer(-1, 2, 16, 8, holds="pointers", persistent=True, id=8),
            buffer(1, 2, 24, 8, holds="result"),
        )
    )
    found = {(b.label, b.kind) for b in arena.boxes}
    assert found == {
        ("image", "input"), ("scratch", "scratch"), ("pointers", "persistent"),
        ("result", "output"),
    }  # fmt: skip


def test_what_has_no_place_is_listed() -> None:
    made = network(buffer(0, 1, None, 40, pool="run time"), buffer(1, 2, 0, 40))
    (left,) = unplaced(made)
    assert (left.label, left.bytes, left.where) == ("t0", 40, "run time")
    (arena,) = arenas(made)
    assert [b.label for b in arena.boxes] == ["t1"]


def test_two_pictures_can_have_one_scale() -> None:
    (arena,) = arenas(network(buffer(0, 1, 50, 50)), scale=200)
    assert (arena.bytes, arena.scale) == (100, 200)
    assert (arena.boxes[0].x, arena.boxes[0].width) == (25.0, 25.0)


@pytest.mark.parametrize("scale", [1, 7, 100, 9040, 2**20 + 1])
def test_an_axis_has_few_round_numbers(scale: int) -> None:
    found = ticks(scale)
    assert found[0] == (0, 0.0) and 1 <= len(found) <= 5
    assert all(at.bit_count() <= 2 and x == 100 * at / scale < 93 for at, x in found)


def test_many_layers_stay_a_picture_of_bounded_height() -> None:
    def arena(layers: int) -> Arena:
        return arenas(network(*(buffer(i, i + 1, 0, 100) for i in range(layers))))[0]

    few, many = arena(20), arena(640)
    assert few.is_labelled and all(row.is_named for row in few.rows)
    assert [row.is_named for row in many.rows].count(True) == 1, "only the peak has room for a name"
    assert many.height * len(many.rows) < 4000
