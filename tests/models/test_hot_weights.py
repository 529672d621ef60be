"""Weights in RAM (--hot-weights): each instance reads its own copy, and gives the oracle's bits."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from network_programs import (
    c_array,
    expected,
    host_program,
    link_for_cortex_m4,
    run,
    run_on_cortex_m4,
    write,
)

from mcu_deploy.boards import load_board
from mcu_deploy.compiled import Network
from mcu_deploy.compiler import compile_model
from mcu_deploy.files.samples import load_samples
from mcu_deploy.options import Options, PoolRequests
from mcu_deploy.plan.hot import content

# Two instances, each with a copy: what is done to one is the other's no business, and a damaged
# copy is seen in the results, as nobody reads the constants in flash. 0: all is as it should be.
MAIN = """\
#include <string.h>
#include "network_net.h"
MCU_ALIGNED(16) static const int8_t given[] = {%(given)s};
static const int8_t expected[] = {%(expected)s};
typedef struct memory {
    MCU_ALIGNED(MCU_NET_WORKSPACE_ALIGNMENT) uint8_t workspace[MCU_NET_WORKSPACE_SIZE];
    MCU_ALIGNED(MCU_NET_WORKSPACE_ALIGNMENT) uint8_t hot[MCU_NET_HOT_SIZE];
} memory_t;
static memory_t memories[2];
static mcu_instance_t instances[2];
static int32_t init(int i) {
    const mcu_pool_t pools[] = {{memories[i].workspace, sizeof memories[i].workspace},
                                {memories[i].hot, sizeof memories[i].hot}};
    memset(&memories[i], 0xA5, sizeof memories[i]);
    return mcu_instance_init_pools(&instances[i], mcu_network_net, pools, 2);
}
static int is_right(int i) {
    DLTensor input, output;
    (void)mcu_instance_input(&instances[i], 0, &input);
    (void)mcu_instance_output(&instances[i], 0, &output);
    memcpy(input.data, given, sizeof given);
    return mcu_instance_run(&instances[i], &input, 1, &output, 1) == MCU_OK &&
           memcmp(output.data, expected, sizeof expected) == 0;
}
int main(void) {
    if (init(0) != MCU_OK || init(1) != MCU_OK) {
        return 1;
    }
    if (!is_right(0) || !is_right(1) || !is_right(0)) {
        return 2;
    }
    memset(memories[0].hot, 0x40, sizeof memories[0].hot);
    if (is_right(0) || !is_right(1)) {
        return 3;
    }
    if (mcu_instance_deinit(&instances[0]) != MCU_OK || init(0) != MCU_OK || !is_right(0)) {
        return 4;
    }
    return mcu_instance_init(&instances[0], mcu_network_net, memories[0].workspace,
                             sizeof memories[0].workspace) == MCU_ERROR_POOL_COUNT
               ? 0
               : 5;
}
"""


def _compile(models_dir: Path, board: str, options: Options) -> tuple[Network, str]:
    """The network, and a main for its first sample."""
    source = models_dir / "mlperf_kws_int8"
    # What stands in its weights are weights alone: main spoils them, and the run goes on.
    options = replace(options, backends=("CpuRef",))
    network = compile_model(source / "model.onnx", load_board(board), name="net", options=options)
    sample = load_samples(source / "io.npz", network.graph).first(1)
    inputs = [np.asarray(value) for value in sample.inputs[0]]
    outputs = expected(network, inputs)
    return network, MAIN % {"given": c_array(inputs[0]), "expected": c_array(outputs[0])}


CASES = [
    pytest.param(Options(pools=PoolRequests(hot_weights=3000)), id="incbin"),
    pytest.param(
        Options(pools=PoolRequests(hot_weights=3000), weights="array"),
        id="array",
        marks=pytest.mark.matrix,
    ),
    pytest.param(
        Options(pools=PoolRequests(hot_weights=3000), memory="mru"),
        id="mru",
        marks=pytest.mark.matrix,
    ),
    pytest.param(Options(pools=PoolRequests(hot_weights=10**6), memory="compact"), id="all"),
]


@pytest.mark.needs_arm_gcc
@pytest.mark.needs_qemu
@pytest.mark.parametrize("options", CASES)
def test_two_instances_on_a_cortex_m4(options: Options, models_dir: Path, tmp_path: Path) -> None:
    network, main = _compile(models_dir, "mps2-an386", options)
    elf = link_for_cortex_m4(write([network], tmp_path), tmp_path, main)
    code, text = run_on_cortex_m4(elf)
    assert code == 0, f"{code}: {text}"


@pytest.mark.needs_host_gcc
@pytest.mark.parametrize("options", CASES[:2])
def test_two_instances_on_the_host(options: Options, models_dir: Path, tmp_path: Path) -> None:
    network, main = _compile(models_dir, "host", options)
    assert network.plan.pools[-1].memory == ""
    run([host_program([network], tmp_path, main)])


def test_as_much_is_moved_as_was_allowed(models_dir: Path) -> None:
    """Whole arrays, and each once."""
    moved = {}
    for allowed in (0, 8, 1000, 3000, 10**6):
        network, _ = _compile(
            models_dir, "mps2-an386", Options(pools=PoolRequests(hot_weights=allowed))
        )
        plan = network.plan
        moved[allowed] = sum({hot.place: hot.bytes for hot in plan.hot}.values())
        assert moved[allowed] <= allowed
        assert ("hot" in [pool.name for pool in plan.pools]) == bool(moved[allowed])
    assert moved[0] == moved[8] == 0 < moved[1000] < moved[3000] < moved[10**6]
    constants = [c for step in plan.steps for c in step.choice.workload.constants]
    assert moved[10**6] == sum({content(c): c.value.nbytes for c in constants}.values())
