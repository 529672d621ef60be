"""Pools and weights in RAM in .pmx files: the same bytes, and no board without the memories."""

from __future__ import annotations

from pathlib import Path

import pytest
from pmx_cases import compiled, packed

from mcu_deploy.compiled import Network
from mcu_deploy.errors import UsageError
from mcu_deploy.options import Options, PoolRequests

POOLS = PoolRequests(True, {"input_1": "sram12"}, hot_weights=3000)


@pytest.fixture(scope="module")
def pair(kws_dir: Path, tmp_path_factory: pytest.TempPathFactory) -> tuple[Network, Path]:
    """A network in two memories, and the file that holds it."""
    path = tmp_path_factory.mktemp("pools") / "saved.pmx"
    network = compiled(
        kws_dir / "model.onnx", Options(pools=POOLS), board="stm32f746", name="words"
    )
    path.write_bytes(packed(network))
    return network, path


def test_what_is_saved_is_what_is_loaded(pair: tuple[Network, Path]) -> None:
    network, path = pair
    loaded = compiled(path, board="stm32f746")
    assert [pool.memory for pool in network.plan.pools] == ["sram12", "dtcm", "dtcm"]
    assert len(network.plan.hot) > 0
    assert (loaded.plan.pools, loaded.plan.hot) == (network.plan.pools, network.plan.hot)
    assert loaded.options.pools == POOLS
    assert loaded.sources.source == network.sources.source
    assert loaded.sources.header == network.sources.header


def test_the_options_may_be_given_again_for_any_network_of_a_firmware(
    pair: tuple[Network, Path],
) -> None:
    behind_another = PoolRequests(True, {"input_1": "sram12"}, 3000, {"dtcm": 40_000})
    assert compiled(pair[1], Options(pools=behind_another), board="stm32f746").plan.hot


def test_others_are_refused(pair: tuple[Network, Path]) -> None:
    with pytest.raises(UsageError, match="--pools, --pool or --hot-weights"):
        compiled(pair[1], Options(pools=PoolRequests(hot_weights=1)), board="stm32f746")
    with pytest.raises(UsageError, match="in the memory 'sram12', which mps2-an500 does not have"):
        compiled(pair[1], board="mps2-an500")
