"""A small network written by hand, and small C programs, for the tests of the toolchain."""

from __future__ import annotations

import struct
import subprocess
from pathlib import Path

NETWORK = """\
#include "mcu/internal.h"
#include "mcu/runtime.h"
#include <math.h>
#include <string.h>
extern const mcu_model_t _mcu_network_NAME;
__asm__(".section .rodata._mcu_NAME_weights,\\"a\\"\\n.balign 16\\n_mcu_NAME_weights:\\n"
        ".incbin \\"network_NAME.weights.bin\\"\\n.previous\\n");
extern const float _mcu_NAME_weights[];
static const int64_t _mcu_NAME_shape[2] = {1, 16};
static const mcu_tensor_info_t _mcu_NAME_input = {
    "x", _mcu_NAME_shape, {0, 0, 64}, 0, 0, 2, {kDLFloat, 32, 1}};
static const mcu_tensor_info_t _mcu_NAME_output = {
    "y", _mcu_NAME_shape, {64, 0, 64}, 0, 0, 2, {kDLFloat, 32, 1}};
static const mcu_layer_info_t _mcu_NAME_layers[1] = {{0, 1}};
static const mcu_region_t _mcu_NAME_places[1] = {{64, 0, 64}};
static void _mcu_NAME_0(const float *x, const float *w, float *y) {
    volatile float products[16];
    for (int i = 0; i < 16; i++) {
        products[i] = x[i] * w[i];
    }
    for (int i = 0; i < 16; i++) {
        y[i] = expf(products[i]) / (float)(1 + i);
    }
}
static int32_t _mcu_NAME_run_func(void *args, void *ids, int32_t count, void *value, void *code,
                                  void *handle) {
    mcu_instance_t *instance = handle;
    (void)value;
    (void)code;
    int32_t status = _mcu_run_begin(&_mcu_network_NAME, NULL, args, ids, count, handle);
    if (status != MCU_OK) {
        return status;
    }
    _mcu_layer_event(instance, 0, MCU_LAYER_BEGIN);
    _mcu_NAME_0((const float *)instance->workspace, _mcu_NAME_weights,
                (float *)(instance->workspace + 64));
    _mcu_layer_event(instance, 0, MCU_LAYER_END);
    return _mcu_run_end(&_mcu_network_NAME, NULL, args, handle);
}
const mcu_model_t _mcu_network_NAME = {
    _mcu_NAME_run_func, 1, 1, MCU_MODEL_ABI_VERSION, 128, 16, 1, "NAME", &_mcu_NAME_input,
    &_mcu_NAME_output, _mcu_NAME_layers, _mcu_NAME_places};
"""

MODELS = """\
#include "mcu/firmware.h"
#include "mcu/runtime.h"
extern const mcu_model_t _mcu_network_NAME;
static uint8_t workspace[ARENA] MCU_ALIGNED(16) __attribute__((section(".bss.mcu_workspace")));
static mcu_instance_t instance;
static const mcu_pool_t pools[] = {{workspace, 128}};
const mcu_firmware_model_t mcu_firmware_models[] = {
    {&_mcu_network_NAME, &instance, pools, NULL, 0, {1}, {2}, NULL}};
const uint32_t mcu_firmware_num_models = 1;
DLTensor mcu_firmware_tensors[2];
"""


def write_network(folder: Path, name: str = "toy", weights: int = 1024, arena: int = 128) -> None:
    """network_<name>.c with `weights` floats, and a firmware_models.c with it and its arena."""
    folder.mkdir(parents=True, exist_ok=True)
    (folder / f"network_{name}.c").write_text(NETWORK.replace("NAME", name))
    values = [1 + i % 7 / 8 for i in range(weights)]
    (folder / f"network_{name}.weights.bin").write_bytes(struct.pack(f"<{weights}f", *values))
    models = MODELS.replace("NAME", name).replace("ARENA", str(arena))
    (folder / "firmware_models.c").write_text(models)


def link_program(
    folder: Path, source: str, *flags: str, name: str = "program", objects: tuple[str, ...] = ()
) -> Path:
    """Compiles and links a C program for Arm without start-up; its call graph is <name>.ci."""
    (folder / f"{name}.c").write_text(source)
    common = ["arm-none-eabi-gcc", *flags, "-mthumb"]
    compiled = ["-O2", "-std=gnu99", "-fcallgraph-info=su", "-c", f"{name}.c", "-o", f"{name}.o"]
    subprocess.run([*common, *compiled], cwd=folder, check=True)
    linked = ["--specs=nano.specs", "-nostartfiles", "-Wl,-e,entry", f"{name}.o", *objects, "-lm"]
    subprocess.run([*common, *linked, "-o", f"{name}.elf"], cwd=folder, check=True)
    return folder / f"{name}.elf"
