"""Instructions counted on programs whose number of instructions is known by hand."""

from __future__ import annotations

from pathlib import Path

import pytest
from emulated_firmware import link
from sampling import first

from mcu_deploy import resources
from mcu_deploy.boards import load_board
from mcu_deploy.device.counting import Counts, count_instructions, read_bench
from mcu_deploy.device.emulators import launcher_named
from mcu_deploy.device.emulators.interface import EmulatorJob
from mcu_deploy.device.emulators.trace import is_whole
from mcu_deploy.errors import DeviceError, ToolError, UsageError

pytestmark = pytest.mark.needs_arm_gcc
qemu = pytest.mark.needs_qemu
renode = pytest.mark.needs_renode

MARKS = """
#include "mcu/firmware.h"
#include "mcu/platform.h"
#define MARK(name, n) \\
    void name(void); \\
    __attribute__((noipa, used)) void name(void) { __asm volatile("" ::"i"(n) : "memory"); }
MARK(mcu_bench_begin, 1)
MARK(mcu_bench_end, 2)
MARK(mcu_bench_layer_begin, 3)
MARK(mcu_bench_layer_end, 4)
MARK(mcu_bench_tick, 5)
MARK(mcu_bench_done, 6)
MARK(mcu_bench_failed, 7)
void mcu_bench_hook(int instance, int layer, int event);
__attribute__((noipa, used)) void mcu_bench_hook(int instance, int layer, int event) {
    if (event == 0) mcu_bench_layer_begin(); else mcu_bench_layer_end();
}
"""

# Assembly, so that no compiler has a say in the number of instructions. In r4 the turns of a loop.
KNOWN = (
    MARKS
    + """
__attribute__((naked)) void mcu_firmware_main(void) {
    __asm volatile(
        ".syntax unified\\n"
        "bl mcu_bench_begin\\n"
        "movw r4, #1000\\n"              /* 1 */
        "1: subs r4, #1\\n"              /* 1000 */
        "bne 1b\\n"                      /* 1000 */
        "cmp r4, #1\\n"                  /* 1 */
        "itt eq\\n"                      /* 1 */
        "addeq r4, #1\\n"                /* 1: not executed, but counted */
        "addeq r4, #1\\n"                /* 1 */
        "bl mcu_bench_end\\n"            /* 1 */
        "movs r2, #0\\n"
        "bl mcu_bench_hook\\n"
        "movs r4, #50\\n"                /* layer 0: 1 + 100, and 2 to reach the hook */
        "1: subs r4, #1\\n"
        "bne 1b\\n"
        "movs r2, #1\\n"
        "bl mcu_bench_hook\\n"
        "movs r2, #0\\n"
        "bl mcu_bench_hook\\n"
        "nop\\n"                         /* layer 1: 3, and 2 to reach the hook */
        "nop\\n"
        "nop\\n"
        "movs r2, #1\\n"
        "bl mcu_bench_hook\\n"
        "bl mcu_bench_tick\\n"
        "bl mcu_bench_tick\\n"
        "bl mcu_bench_tick\\n"
        "bl mcu_bench_done\\n"
        "b .\\n");
}
"""
)
KNOWN_TOTAL = 1 + 2 * 1000 + 4 + 1
KNOWN_LAYERS = (1 + 2 * 50 + 2, 3 + 2)

# A network as the code generator would write it, but with loops of known length for layers.
NETWORK = """
#include <stddef.h>
#include "mcu/firmware.h"
#include "mcu/internal.h"
#include "mcu/runtime.h"

static const int64_t shape[1] = {4};
static const mcu_tensor_info_t input = {"x", shape, {0, 0, 4}, 0.0f, 0, 1, {kDLInt, 8, 1}};
static const mcu_tensor_info_t output = {"y", shape, {4, 0, 4}, 0.0f, 0, 1, {kDLInt, 8, 1}};
static const mcu_layer_info_t layers[3] = {{0, 0}, {0, 0}, {0, 1}};
static const mcu_region_t layer_outputs[1] = {{4, 0, 4}};
extern const mcu_model_t _mcu_network_loops;

#define LOOP(turns) \\
    __asm volatile("movw r3, #" #turns "\\n1: subs r3, #1\\nbne 1b" ::: "r3", "cc", "memory")

static int32_t run(void *args, void *arg_type_ids, int32_t num_args, void *out_ret_value,
                   void *out_ret_tcode, void *resource_handle) {
    (void)out_ret_value;
    (void)out_ret_tcode;
    int32_t status =
        _mcu_run_begin(&_mcu_network_loops, NULL, args, arg_type_ids, num_args, resource_handle);
    if (status != MCU_OK) {
        return status;
    }
    mcu_instance_t *instance = resource_handle;
    _mcu_layer_event(instance, 0, MCU_LAYER_BEGIN);
    LOOP(100);
    _mcu_layer_event(instance, 0, MCU_LAYER_END);
    _mcu_layer_event(instance, 1, MCU_LAYER_BEGIN);
    LOOP(2100);
    _mcu_layer_event(instance, 1, MCU_LAYER_END);
    _mcu_layer_event(instance, 2, MCU_LAYER_BEGIN);
    LOOP(30100);
    _mcu_layer_event(instance, 2, MCU_LAYER_END);
    return _mcu_run_end(&_mcu_network_loops, NULL, args, resource_handle);
}

const mcu_model_t _mcu_network_loops = {
    .run_func = run, .num_input_tensors = 1, .num_output_tensors = 1,
    .abi_version = MCU_MODEL_ABI_VERSION, .workspace_size = 8, .workspace_alignment = 4,
    .num_layers = 3, .name = "loops", .inputs = &input, .outputs = &output, .layers = layers,
    .layer_outputs = layer_outputs};
static uint8_t workspace[WORKSPACE] MCU_ALIGNED(4);
static mcu_instance_t instance;
static const mcu_pool_t pools[1] = {{workspace, sizeof workspace}};
const mcu_firmware_model_t mcu_firmware_models[1] = {
    {.model = &_mcu_network_loops, .instance = &instance, .pools = pools}};
const uint32_t mcu_firmware_num_models = 1;
DLTensor mcu_firmware_tensors[2];
"""


def _count(board: str, elf: Path, emulator: str | None = None, timeout: float = 60.0) -> Counts:
    return count_instructions(load_board(board), elf, emulator=emulator, timeout=timeout)


def _bench(board: str, folder: Path, workspace: int = 8) -> Path:
    """bench.elf of the network of loops: the shipped bench_main.c and runtime."""
    crt = resources.crt()
    parts = [crt / "firmware" / name for name in ("bench_main.c", "prepare.c")]
    parts += [crt / "src" / name for name in ("runtime.c", "instance.c", "exposed.c", "tensor.c")]
    source = NETWORK.replace("WORKSPACE]", f"{workspace}]")
    return link(board, folder, source, [part for part in parts if part.is_file()])


@qemu
@pytest.mark.parametrize(
    "board", first(["mps2-an386", "mps3-an547", "mps2-an385", "mps2-an500", "mps2-an521"], 2)
)
def test_known_program_in_qemu(board: str, tmp_path: Path) -> None:
    elf = link(board, tmp_path, KNOWN)
    counts = _count(board, elf)
    assert counts.total == KNOWN_TOTAL
    assert counts.layers == KNOWN_LAYERS
    assert counts.stack_bytes == 3 * 4
    assert counts.emulator == "qemu"
    assert _count(board, elf) == counts  # a second run differs in nothing


@pytest.mark.matrix  # the sample counts in Renode below
@renode
def test_known_program_in_renode(tmp_path: Path) -> None:
    counts = _count("stm32f746", link("stm32f746", tmp_path, KNOWN))
    assert counts.total == KNOWN_TOTAL
    assert counts.layers == KNOWN_LAYERS
    assert counts.stack_bytes == 3 * 4
    assert counts.emulator == "renode"


@qemu
@pytest.mark.parametrize("full", first(["events.txt", "histograms.txt"]))
def test_counts_that_a_full_disk_cuts_are_an_error(full: str, tmp_path: Path) -> None:
    bench = read_bench(link("mps2-an386", tmp_path, KNOWN), by_address=True)
    emulator = launcher_named("qemu")
    job = EmulatorJob(load_board("mps2-an386"), bench.elf, emulator.find(), (), tmp_path)
    trace = emulator.trace(job, bench.marks, 60)
    assert trace.finished and len(trace.histograms) == 3
    files = tmp_path / "events.txt", tmp_path / "histograms.txt"
    for file in files:
        assert is_whole(file)
        lines = file.read_text().splitlines(keepends=True)
        assert lines[-1] == f"end {len(lines) - 1}\n"
        file.unlink()
    (tmp_path / full).symlink_to("/dev/full")  # each write fails with ENOSPC
    said = rf"QEMU cannot count .*: {full} ends in its middle, as on a full disk\. Make room in"
    with pytest.raises(ToolError, match=said):
        emulator.trace(job, bench.marks, 60)


@qemu
def test_counts_by_address_add_up(tmp_path: Path) -> None:
    board = load_board("mps2-an386")
    elf = link(board.name, tmp_path, KNOWN)
    counts = count_instructions(board, elf, by_address=True, timeout=60)
    assert sum(counts.by_address.values()) == counts.total == KNOWN_TOTAL
    assert sorted(counts.by_address.values())[-2:] == [1000, 1000]
    assert tuple(sum(h.values()) for h in counts.layers_by_address) == counts.layers == KNOWN_LAYERS
    assert sorted(counts.layers_by_address[0].values())[-2:] == [50, 50]


@qemu
def test_layers_of_a_network(tmp_path: Path) -> None:
    counts = _count("mps2-an386", _bench("mps2-an386", tmp_path))
    least, second, third = counts.layers
    # Loops of the same code: the differences are the turns, two instructions each.
    assert (second - least, third - least) == (2 * 2000, 2 * 30000)
    # A layer's own count is its loop (and the movw before it) and the call of the hook.
    assert 1 + 2 * 100 + 2 <= least <= 1 + 2 * 100 + 6
    # The whole run is the loops, and the runtime's work around them: a few hundred instructions.
    loops = 2 * (100 + 2100 + 30100)
    assert loops < counts.total < loops + 800
    assert 0 < counts.stack_bytes < 1024


@pytest.mark.matrix
@qemu
@renode
def test_both_emulators_count_the_same(tmp_path: Path) -> None:
    elf = _bench("netduinoplus2", tmp_path)
    in_qemu = _count("netduinoplus2", elf, "qemu")
    in_renode = _count("netduinoplus2", elf, "renode")
    assert in_qemu.total == in_renode.total
    assert in_qemu.layers == in_renode.layers
    assert in_qemu.stack_bytes == in_renode.stack_bytes


@qemu
def test_an_error_of_the_runtime_is_told_by_its_code(tmp_path: Path) -> None:
    elf = _bench("mps2-an386", tmp_path, workspace=4)  # the model needs 8
    with pytest.raises(DeviceError, match=r"first run: the runtime returned the error code -11 "):
        _count("mps2-an386", elf)


@qemu
@pytest.mark.parametrize(
    ("body", "sentence"),
    [
        ('__asm volatile("udf #0");', r"faulted in its first run"),
        ("mcu_bench_begin(); mcu_platform_reset();", r"restarted in its second run"),
        (  # it sleeps, so that time to start on a busy machine costs nothing
            'for (;;) { __asm volatile("wfi"); }',
            r"did not end within 5 s, and was stopped in its first run",
        ),
    ],
)
def test_a_run_that_goes_wrong(body: str, sentence: str, tmp_path: Path) -> None:
    elf = link("mps2-an386", tmp_path, f"{MARKS}\nvoid mcu_firmware_main(void) {{ {body} }}")
    with pytest.raises(DeviceError, match=sentence):
        _count("mps2-an386", elf, timeout=5.0 if "wfi" in body else 60.0)


def test_files_that_are_no_bench(tmp_path: Path) -> None:
    board = load_board("mps2-an386")
    text = tmp_path / "text.elf"
    text.write_text("not an ELF at all")
    with pytest.raises(ToolError, match="This is no ELF file"):
        count_instructions(board, text)
    with pytest.raises(ToolError, match="is not there"):
        count_instructions(board, tmp_path / "absent.elf")
    other = link("mps2-an386", tmp_path, "void mcu_firmware_main(void) {}")
    with pytest.raises(UsageError, match="no function mcu_bench_begin"):
        count_instructions(board, other)


@pytest.mark.needs_host_gcc
def test_the_host_counts_nothing(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="for microcontrollers only"):
        count_instructions(load_board("host"), link("mps2-an386", tmp_path, KNOWN))
