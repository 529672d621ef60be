"""Options for one of several networks: `NETWORK::` before the name of a tensor, a layer, a part."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from command_line import call
from pmx_cases import small_model

from mcu_deploy.api.folder import open_folder
from mcu_deploy.api.several import options_of
from mcu_deploy.options import Options, PartitionRequest, PoolRequests, Requests, StateRequest

BOTH = ("kws", "vww")


def test_a_prefix_means_one_network_and_is_taken_off() -> None:
    asked = Options(
        layer_backends={"kws::conv_1": "CpuRef", "conv_2": "CpuRef"},
        shapes={"x": (1, 2), "vww::x": (3, 4)},
        pools=PoolRequests(pinned={"vww::y": "dtcm"}),
        requests=Requests(
            keep=("a", "kws::b:0", "vww::aten::c"),
            partitions=(PartitionRequest("kws::front", ("a",), ("b",)),),
            states=(StateRequest("vww::in", "out"),),
        ),
    )
    kws, vww = (options_of(asked, name, BOTH) for name in BOTH)
    assert kws.requests.keep == ("a", "b:0")
    assert vww.requests.keep == ("a", "aten::c")
    assert kws.requests.partitions == (PartitionRequest("front", ("a",), ("b",)),)
    assert (vww.requests.partitions, kws.requests.states) == ((), ())
    assert vww.requests.states == (StateRequest("in", "out"),)
    assert (kws.shapes, vww.shapes) == ({"x": (1, 2)}, {"x": (3, 4)})
    assert (kws.pools.pinned, vww.pools.pinned) == ({}, {"y": "dtcm"})
    assert kws.layer_backends == {"conv_1": "CpuRef", "conv_2": "CpuRef"}
    assert vww.layer_backends == {"conv_2": "CpuRef"}


@pytest.mark.parametrize("networks", [("kws",), ("other", "vww")])
def test_colons_that_no_network_stands_before_belong_to_the_name(networks: tuple[str, ...]) -> None:
    asked = Options(requests=Requests(keep=("kws::b", "b::0", "::", "b")))
    assert options_of(asked, networks[0], networks) == asked
    doubled = Options(requests=Requests(keep=("kws::kws::b",)))
    assert options_of(doubled, "kws", BOTH).requests.keep == ("kws::b",)


@pytest.mark.needs_host_gcc
def test_a_firmware_keeps_a_tensor_of_one_model(tmp_path: Path) -> None:
    model = small_model(tmp_path)
    names = ("--name", "one", "--name", "two")
    words = ("build", model, model, "--board", "host", *names, "-o", tmp_path / "b")
    done = call(*words, "--keep", "two::pool", "--partition", "one::half=x:pool", "--json")
    assert done.returncode == 0, done.stderr
    report = json.loads(done.stdout)
    one, two = networks = report["networks"]
    assert ([k["name"] for k in one["kept"]], [p["name"] for p in one["partitions"]]) == (
        [], ["half"],
    )  # fmt: skip
    assert ([k["name"] for k in two["kept"]], two["partitions"]) == (["pool"], [])
    folder = open_folder(tmp_path / "b")
    again = [folder.compile_again(name).plan.exposure for name in ("one", "two")]
    assert [len(shown.kept) for shown in again] == [0, 1]
    for wrong in ("two::pol", "pol"):
        done = call(*words, "--keep", wrong)
        assert done.returncode == 1
        said = done.stderr.replace("\n", " ")
        network = "two" if "::" in wrong else "one"
        assert f"Network {network}: --keep pol names 'pol'" in said
        assert f"as in --keep {network}::TENSOR" in said
    _assert_figures(report, networks, tmp_path / "b")


def _assert_figures(report: Any, networks: Sequence[Any], folder: Path) -> None:
    """Those of the networks are what was linked, and those of all their sums."""
    for network in networks:
        flash, data = _linked(folder / "obj" / f"network_{network['name']}.elf")
        parts = network["ram_parts"]
        assert (network["flash_bytes"], parts["data"]) == (flash, data)
        assert sum(network["flash_parts"].values()) == flash
        # On this machine a DLTensor has 48 bytes, of which there are an input and an output.
        assert (parts["tensors"], parts["instance"]) == (2 * 48, 7 * 8)
        assert parts["stack"] == network["stack_bytes"] > 0
        assert parts["arena"] == network["arena_bytes"] > 0
        assert sum(parts.values()) == network["ram_bytes"]
        of_least = network["arena_bytes"] / network["arena_lower_bound_bytes"]
        assert network["arena_ratio"] == pytest.approx(of_least) != 1
        weights = folder / f"network_{network['name']}.weights.bin"
        assert network["weights_bytes"] == weights.stat().st_size
    for key in ("flash_bytes", "ram_bytes", "arena_bytes", "arena_lower_bound_bytes", "macs"):
        assert report[key] == sum(network[key] for network in networks) > 0
    assert report["stack_bytes"] == max(network["stack_bytes"] for network in networks)
    whole = (report["firmware_flash_bytes"], report["firmware_ram_bytes"])
    assert whole == _linked(folder / "firmware.elf")


def _linked(image: Path) -> tuple[int, int]:
    """The bytes of flash and of RAM without stacks, as binutils count them."""
    said = subprocess.run(["size", image], capture_output=True, text=True, check=True).stdout
    text, data, bss = map(int, said.splitlines()[1].split()[:3])
    return text + data, data + bss
