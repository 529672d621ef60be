"""Every int8 model with every memory strategy on an emulated Cortex-M4: the oracle's bits, and the
memory manager's peak as the compiler said it would be.

The fixed sample: three models with one sample. The whole matrix: all of them.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
from memory_cases import move_all_the_time
from network_programs import c_array, expected, link_for_cortex_m4, run_on_cortex_m4, write
from sampling import first

from mcu_deploy.boards import load_board
from mcu_deploy.compiled import Network
from mcu_deploy.compiler import compile_model
from mcu_deploy.files.samples import load_samples
from mcu_deploy.options import Options
from mcu_deploy.plan import memory_strategies

pytestmark = [pytest.mark.needs_arm_gcc, pytest.mark.needs_qemu]

Array = npt.NDArray[Any]

SAMPLE = ("mlperf_kws_int8",)
OTHERS = (
    "mlperf_ad_int8",
    "digits_res_qdq_s8s8_pt",
    "arm_kws_cnn_s_int8", "cfu_mnv2_160_035", "digits_cnn_qdq_s8s8_pc", "digits_cnn_qdq_u8s8_pt",
    "mcunet_person_det", "micro_kws_m_int8", "micro_kws_m_qdq", "micro_kws_m_qoperator",
    "mlperf_ic_int8", "mlperf_vww_int8", "st_yamnet_256", "tflm_hello_world_int8",
    "qnn_mnist_int8", "tflm_mnist_lstm_int8", "tflm_person_detect_int8",
)  # fmt: skip

# Runs twice, as each run must begin with a fresh manager; 0: all is as it should be.
MAIN = """\
#include <string.h>
#include "network_net.h"
%(arrays)s
MCU_ALIGNED(MCU_NET_WORKSPACE_ALIGNMENT) static uint8_t workspace[MCU_NET_WORKSPACE_SIZE];
static mcu_instance_t instance;
static const int8_t *const given[] = {%(given)s};
static const int8_t *const expected[] = {%(expected)s};
int main(void) {
    DLTensor inputs[MCU_MAX_TENSORS], outputs[MCU_MAX_TENSORS];
    const mcu_model_t *const model = mcu_network_net;
    memset(workspace, 0xA5, sizeof workspace);
    if (mcu_instance_init(&instance, model, workspace, sizeof workspace) != MCU_OK) {
        return 1;
    }
    for (int run = 0; run < 2; ++run) {
        for (uint32_t i = 0; i < model->num_input_tensors; ++i) {
            (void)mcu_instance_input(&instance, i, &inputs[i]);
            memcpy(inputs[i].data, given[i], mcu_tensor_bytes(&inputs[i]));
        }
        for (uint32_t i = 0; i < model->num_output_tensors; ++i) {
            (void)mcu_instance_output(&instance, i, &outputs[i]);
        }
        if (mcu_instance_run(&instance, inputs, model->num_input_tensors, outputs,
                             model->num_output_tensors) != MCU_OK) {
            return 2;
        }
        for (uint32_t i = 0; i < model->num_output_tensors; ++i) {
            if (memcmp(outputs[i].data, expected[i], mcu_tensor_bytes(&outputs[i])) != 0) {
                return 3;
            }
        }
#ifdef MCU_NET_MEMORY_MANAGER
        if (MCU_NET_MEMORY_MANAGER(&instance)->peak != MCU_NET_MEMORY_PEAK) {
            return 4;
        }
#endif
    }
    return 0;
}
"""


def _main(inputs: list[Array], outputs: list[Array]) -> str:
    arrays = [
        f"MCU_ALIGNED(16) static const int8_t {stem}{i}[] = {{{c_array(value)}}};"
        for stem, values in (("in", inputs), ("out", outputs))
        for i, value in enumerate(values)
    ]
    return MAIN % {
        "arrays": "\n".join(arrays),
        "given": ", ".join(f"in{i}" for i in range(len(inputs))),
        "expected": ", ".join(f"out{i}" for i in range(len(outputs))),
    }


def _run(model: str, memory: str, models_dir: Path, folder: Path) -> Network:
    """Compiles a model for the board, runs it with the first sample, and compares."""
    source = models_dir / model
    options = Options(memory=memory)
    network = compile_model(
        source / "model.onnx", load_board("mps2-an386"), name="net", options=options
    )
    sample = load_samples(source / "io.npz", network.graph).first(1)
    inputs = [np.asarray(value) for value in sample.inputs[0]]
    outputs = expected(network, inputs)
    elf = link_for_cortex_m4(write([network], folder), folder, _main(inputs, outputs))
    code, text = run_on_cortex_m4(elf, timeout=600)
    assert code == 0, f"{code}: {text}"
    return network


@pytest.mark.parametrize("memory", memory_strategies())
@pytest.mark.parametrize(
    "model", [*SAMPLE, *(pytest.param(name, marks=pytest.mark.matrix) for name in OTHERS)]
)
def test_int8_models_give_the_oracles_bits(
    model: str, memory: str, models_dir: Path, tmp_path: Path
) -> None:
    network = _run(model, memory, models_dir, tmp_path)
    assert network.plan.memory == memory
    assert network.plan.peak_bytes <= network.plan.arena_bytes


@pytest.mark.parametrize("model", first(["digits_res_qdq_s8s8_pt", "mlperf_kws_int8"]))
def test_tensors_keep_their_values_when_they_move(
    model: str, models_dir: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """No model of the pack needs a move, so here everything moves before every layer."""
    move_all_the_time(monkeypatch)
    network = _run(model, "compact", models_dir, tmp_path)
    assert len(network.plan.moves) >= len(network.plan.steps) // 2
