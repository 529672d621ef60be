"""Options for one of several networks: `NETWORK::` before the name of a tensor, a layer, a part."""

from __future__ import annotations

import json
from pathlib import Path

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
    one, two = json.loads(done.stdout)["networks"]
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
