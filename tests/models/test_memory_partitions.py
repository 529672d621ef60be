"""Partitions and kept tensors with every memory strategy: part by part what the whole gives."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from memory_cases import move_all_the_time
from network_programs import SANITIZERS, expected, host_program, run
from sampling import first

from mcu_deploy.boards import load_board
from mcu_deploy.compiler import compile_model
from mcu_deploy.files.samples import load_samples
from mcu_deploy.options import Options, PartitionRequest, Requests
from mcu_deploy.plan import memory_strategies

pytestmark = pytest.mark.needs_host_gcc

# Tensors of MLPerf Tiny's image classification: around the first branch, and inside of it.
BEFORE = (
    "model/activation/Relu;model/batch_normalization/FusedBatchNormV3;"
    "model/conv2d/BiasAdd/ReadVariableOp/resource;model/conv2d/BiasAdd;model/conv2d_2/Conv2D;"
    "model/conv2d/Conv2D1"
)
INSIDE = (
    "model/activation_1/Relu;model/batch_normalization_1/FusedBatchNormV3;"
    "model/conv2d_1/BiasAdd/ReadVariableOp/resource;model/conv2d_1/BiasAdd;model/conv2d_2/Conv2D;"
    "model/conv2d_1/Conv2D1"
)
BEHIND = "model/activation_2/Relu;model/add/add"
REQUESTS = Requests(
    keep=(INSIDE,),
    partitions=(
        PartitionRequest("head", ("input_1_int8",), (BEFORE,)),
        PartitionRequest("branch", (BEFORE,), (BEHIND,)),
        PartitionRequest("tail", (BEHIND,), ("Identity_int8",)),
    ),
)

# The input from standard input; to standard output the output of the whole and then that of the
# three parts, in a workspace that held something else before.
MAIN = """
#include <stdio.h>
#include <string.h>
#include "mcu/runtime.h"
@INCLUDES@
MCU_ALIGNED(64) static uint8_t workspace[MCU_NET_WORKSPACE_SIZE];
static mcu_instance_t instance;
int main(void) {
    static uint8_t given[65536];
    size_t size = fread(given, 1, sizeof given, stdin);
    for (int parts = 0; parts < 2; ++parts) {
        DLTensor input, output;
        memset(workspace, parts == 0 ? 0x5A : 0xA5, sizeof workspace);
        if (mcu_instance_init(&instance, mcu_network_net, workspace, sizeof workspace) != MCU_OK ||
            mcu_instance_input(&instance, 0, &input) != MCU_OK ||
            mcu_instance_output(&instance, 0, &output) != MCU_OK ||
            size != mcu_tensor_bytes(&input)) {
            return 2;
        }
        memcpy(input.data, given, size);
        if (parts == 0) {
            if (mcu_instance_run(&instance, &input, 1, &output, 1) != MCU_OK) {
                return 3;
            }
        }
        for (uint32_t p = 0; parts == 1 && p < mcu_network_net->num_partitions; ++p) {
            if (mcu_instance_partition_input(&instance, p, 0, &input) != MCU_OK ||
                mcu_instance_partition_output(&instance, p, 0, &output) != MCU_OK ||
                mcu_instance_run_partition(&instance, p, &input, 1, &output, 1) != MCU_OK) {
                return 4;
            }
        }
        if (mcu_instance_output(&instance, 0, &output) != MCU_OK ||
            fwrite(output.data, 1, mcu_tensor_bytes(&output), stdout) == 0) {
            return 5;
        }
    }
    return 0;
}
"""


@pytest.mark.parametrize("memory", first(sorted(memory_strategies()), 2))
def test_three_parts_give_what_the_whole_gives(
    memory: str, models_dir: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    if memory == "compact":
        move_all_the_time(monkeypatch)
    source = models_dir / "mlperf_ic_int8"
    network = compile_model(
        source / "model.onnx", load_board("host"), name="net",
        options=Options(memory=memory, requests=REQUESTS),
    )  # fmt: skip
    assert len(network.plan.parts) == 3
    assert memory != "compact" or network.plan.moves
    sample = np.asarray(load_samples(source / "io.npz", network.graph).inputs[0][0])
    (wanted,) = expected(network, [sample])
    program = host_program([network], tmp_path, MAIN, SANITIZERS)
    given = network.graph.type(network.graph.inputs[0]).to_memory(sample).tobytes()
    assert run([program], given=given) == 2 * wanted.tobytes()
