"""The generated C of networks with a memory manager or with moves, and what the report says."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import onnx
import pytest
from memory_cases import move_all_the_time
from sampling import first

from mcu_deploy.api.building import build
from mcu_deploy.boards import load_board
from mcu_deploy.compiled import Network
from mcu_deploy.compiler import compile_model
from mcu_deploy.options import Options, PartitionRequest, PoolRequests, Requests

MEMORY = ("compact", "plain", "mru", "bestfit")
# Two partitions of a network with a branch.
CUT = "/Relu_output_0_QuantizeLinear_Output"
REQUESTS = Requests(
    partitions=(
        PartitionRequest("head", ("input.1",), (CUT,)),
        PartitionRequest("tail", (CUT,), ("37",)),
    )
)


def compiled(models_dir: Path, memory: str, name: str = "net", **options: object) -> Network:
    return compile_model(
        models_dir / "digits_res_qdq_s8s8_pt" / "model.onnx", load_board("mps2-an386"), name=name,
        options=Options(memory=memory, **options),  # type: ignore[arg-type]
    )  # fmt: skip


@pytest.mark.parametrize("requests", first([REQUESTS, Requests()]), ids=["parts", "whole"])
@pytest.mark.parametrize("memory", first(MEMORY, 2))
def test_sources_are_laid_out_as_clang_format_would(
    memory: str,
    requests: Requests,
    models_dir: Path,
    tmp_path: Path,
    repository: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    program = Path(sys.executable).with_name("clang-format")
    if not program.exists():
        pytest.skip("clang-format is not installed; `make setup` installs it into .venv")
    if memory == "compact":
        move_all_the_time(monkeypatch)
    sources = compiled(models_dir, memory, "digits_residual", requests=requests).sources
    for file, text in ((".c", sources.source), (".h", sources.header)):
        assert max(map(len, text.splitlines())) <= 100
        done = subprocess.run(
            [program, f"--style=file:{repository / '.clang-format'}", f"--assume-filename=n{file}"],
            input=text, capture_output=True, text=True, check=True, cwd=tmp_path,
        )  # fmt: skip
        assert done.stdout == text


@pytest.mark.parametrize("memory", MEMORY[1:])
def test_each_buffer_is_taken_and_given_back_once(memory: str, models_dir: Path) -> None:
    network = compiled(models_dir, memory)
    managed, source = network.plan.managed, network.sources.source
    assert managed is not None
    slots = dict(re.findall(r"\b(\w+) = (\d+),", source.split("    enum {")[1].split("}")[0]))
    takes = [
        (slots[name], size)
        for name, size in re.findall(r"_take\(manager, &pointers\[(\w+)\], (\d+)\)", source)
    ]
    gives = [slots[n] for n in re.findall(r"_give\(manager, &pointers\[(\w+)\]\)", source)]
    planned = [take for taken in managed.takes.values() for take in taken]
    assert takes == [(str(take.slot), str(take.bytes)) for take in planned]
    assert sorted(gives) == sorted(slot for slot, _ in takes)
    assert f"MEMORY_PEAK {managed.peak}U" in network.sources.header
    rows = re.findall(r"^ \* +(\d+) +(\d+) +\d+ +\d+  \S.* \(run time\)$", source, re.M)
    assert sorted(int(size) for _, size in rows) == sorted(take.bytes for take in planned)
    assert all(int(at) + int(size) <= managed.bytes for at, size in rows)


def test_each_move_is_a_memmove(models_dir: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    move_all_the_time(monkeypatch)
    network = compiled(models_dir, "compact")
    found = re.findall(r"memmove\(ws \+ (\d+), ws \+ (\d+), (\d+)\);", network.sources.source)
    moves = [(str(m.target), str(m.source), str(m.bytes)) for m in network.plan.moves]
    assert found == moves
    assert moves


def test_fixed_places_call_no_manager_and_move_nothing(models_dir: Path) -> None:
    source = compiled(models_dir, "offline").sources.source
    assert not re.search("managed|manager|memmove|_take|_give", source)


@pytest.mark.needs_host_gcc
@pytest.mark.parametrize("memory", ["offline", "mru", "compact"])
def test_the_report_names_strategy_and_peak(
    memory: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Of a network whose two layers share their constants, which lie in RAM once."""
    move_all_the_time(monkeypatch)
    text = """<ir_version: 8, opset_import: ["" : 17]> net (float[1, 2] x) => (float[1, 2] y)
        <float[2, 2] w = {1, 2, 3, 4}>
        { a = MatMul(x, w) b = Tanh(a) c = MatMul(b, w) y = Add(c, a) }"""
    onnx.save_model(onnx.parser.parse_model(text), tmp_path / "net.onnx")
    options = Options(memory=memory, pools=PoolRequests(hot_weights=300))
    report = build(tmp_path / "net.onnx", "host", tmp_path / "build", options=options).report
    (network,) = report.networks
    assert network.memory == memory
    source = (tmp_path / "build" / "network_net.c").read_text()
    moved = sum(map(int, re.findall(r"memmove\(ws \+ \d+, ws \+ \d+, (\d+)\);", source)))
    hot = map(int, re.findall(r"\{_mcu_net_\w+, +\{\d+, +\d+, (\d+)\}\}", source))
    assert network.hot_weights_bytes == sum(hot) == 16 + 8  # bytes of weights and of biases
    assert network.memory_moved_bytes == moved and (moved > 0) == (memory == "compact")
    assert 0 < network.memory_peak_bytes <= network.arena_bytes
    header = (tmp_path / "build" / "include" / "network_net.h").read_text()
    counted = re.findall(r"MEMORY_PEAK (\d+)U", header)
    assert [int(peak) for peak in counted] == [network.memory_peak_bytes] * (memory == "mru")
