"""How near the model of waiting comes to a board: microTVM's code of MLPerf Tiny 1.0, built and
counted here, beside the times that were published of it on a NUCLEO-L4R5ZI.

    python -m benchmarks.microtvm TINY_RESULTS CMSIS > benchmarks/microtvm.csv

TINY_RESULTS: a checkout of github.com/mlcommons/tiny_results_v1.0, of which closed/OctoML is read;
CMSIS: one of github.com/ARM-software/CMSIS_5 at 51263182, which the submission names. It is built
with Zephyr 2.7.3, the gcc 10.3 of its SDK 0.13.2, -O2 and newlib; here with -O2 of the gcc that is
installed, newlib and our start-up. Of the board are taken: 120 MHz and 5 wait states (its overlay;
ST's table of the ranges); dual bank, reads of 8 bytes, as the chip is delivered; caches on, as
after a reset; no prefetch, since Zephyr's soc/arm/st_stm32/stm32l4/soc.c turns none on.
Of the nRF5340, a Cortex-M33 at 128 MHz, no manual that says the wait states of its flash could be
read, so it is modelled without any.
"""

from __future__ import annotations

import re
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from benchmarks.waits import measure, no_prefetch, with_flash
from mcu_deploy import resources
from mcu_deploy.boards import (
    Board,
    load_board,
    platform_defines,
    render_linker_script,
    startup_sources,
)
from mcu_deploy.memory_timing import AT_ONCE, MemoryTiming

TASKS = ("kws", "vww", "ic", "ad")


@dataclass(frozen=True)
class Submission:
    """system, board: its folders in closed/OctoML, of results and of code; machine: the board whose
    machine in QEMU has its core; flash: how its flash answers at its clock."""

    system: str
    board: str
    code: str
    machine: str
    clock_hz: int
    flash: MemoryTiming

    def target(self) -> Board:
        """The machine with the flash; its addresses are like the chip's."""
        machine = with_flash(load_board(self.machine), self.flash)
        return replace(machine, clock_hz=self.clock_hz)


_NUCLEO = ("NUCLEO_L4R5ZI", "NUCLEO_L4R5ZI", "mps2-an386", 120_000_000, no_prefetch())
SUBMISSIONS = (
    Submission("microtvm_cmsis_nn", *_NUCLEO),
    Submission("microtvm_native", *_NUCLEO),
    Submission("microtvm_cmsis_nn", "NRF5340-DK", "NRF5340DK", "mps2-an505", 128_000_000, AT_ONCE),
)

# The marks of crt/firmware/bench_main.c around the second run; of layers it knows nothing.
_MAIN = """
#include <stdint.h>
#include <string.h>
#include "tvm/runtime/c_runtime_api.h"
#include "tvm/runtime/crt/stack_allocator.h"
#include "tvmgen_default.h"
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
MARK(mcu_bench_hook, 8)

static uint8_t workspace[%(workspace)s] __attribute__((aligned(16)));
static tvm_workspace_t app;
static union { int8_t bytes[32768]; float floats[640]; } input;
static int8_t output[4096] __attribute__((aligned(16)));

void *TVMBackendAllocWorkspace(int type, int id, uint64_t size, int code, int bits) {
    void *place = NULL;
    (void)type, (void)id, (void)code, (void)bits;
    return StackMemoryManager_Allocate(&app, (int32_t)size, &place) == 0 ? place : NULL;
}
int TVMBackendFreeWorkspace(int type, int id, void *place) {
    (void)type, (void)id;
    return StackMemoryManager_Free(&app, place);
}
void TVMPlatformAbort(tvm_crt_error_t error) { (void)error; mcu_bench_failed(); for (;;) {} }
void TVMLogf(const char *message, ...) { (void)message; }

static void run(void) {
    void *in = &input, *out = output;
    uint32_t random = 1;
    for (uint32_t i = 0; i < sizeof input; i++) {
        random = random * 1664525u + 1013904223u;
        input.bytes[i] = (int8_t)(random >> 24);
    }
    if (%(floats)s) {
        for (int i = 0; i < 640; i++) { input.floats[i] = (float)(i %% 64) * -0.1f; }
    }
    mcu_bench_begin();
    if (tvmgen_default_run((struct tvmgen_default_inputs *)&in,
                           (struct tvmgen_default_outputs *)&out) != 0) { mcu_bench_failed(); }
    mcu_bench_end();
}

void mcu_firmware_main(void);
void mcu_firmware_main(void) {
    StackMemoryManager_Init(&app, workspace, sizeof workspace);
    run();
    run();
    mcu_bench_done();
    for (;;) {}
}
"""


def build(target: Board, code: Path, cmsis: Path, folder: Path) -> Path:
    """Builds a submission's network with two runs and marks around them.

    code: its folder of a task; cmsis: with CMSIS/NN."""
    settings = (code / "CMakeLists.txt").read_text()
    workspace = re.search(r"WORKSPACE_SIZE=(\d+)", settings)
    assert workspace is not None
    main = folder / "main.c"
    main.write_text(
        _MAIN % {"workspace": workspace[1], "floats": int("TARGET_MODEL=3" in settings)}
    )
    sources = [main, code / "crt/src/runtime/crt/memory/stack_allocator.c"]
    sources += sorted((code / "model/codegen/host/src").glob("*.c"))
    include = [code / "include", code / "model/codegen/host/include", code / "crt_config"]
    include += [code / "crt/include"]
    if "ENABLE_CMSIS TRUE" in settings:
        sources += sorted(
            path
            for path in (cmsis / "CMSIS/NN/Source").glob("*/*.c")
            if path.parent.name in settings
        )
        include += [cmsis / "CMSIS/Core/Include", cmsis / "CMSIS/NN/Include"]
    return _linked(target, sources, include, folder)


def _linked(target: Board, sources: Sequence[Path], include: Sequence[Path], folder: Path) -> Path:
    script = folder / "link.ld"
    script.write_text(render_linker_script(target))
    flags = [*target.cflags, "-O2", "-ffunction-sections", "-fdata-sections", "-w"]
    flags += [f"-I{path}" for path in include]
    own = [f"-I{resources.crt() / 'include'}", f"-I{resources.boards() / 'common'}"]
    own += platform_defines(target)
    objects = []
    for number, source in enumerate((*startup_sources(target), *sources)):
        made = folder / f"{number}.o"
        more = own if source in startup_sources(target) else []
        if source.name == "main.c":
            more = ["-fno-function-sections"]  # nobody calls some of the marks
        command = ["arm-none-eabi-gcc", *flags, *more, "-c", str(source), "-o", str(made)]
        subprocess.run(command, check=True)
        objects.append(str(made))
    elf = folder / "bench.elf"
    command = ["arm-none-eabi-gcc", *target.cflags, "-nostartfiles"]
    command += ["-Wl,--gc-sections", f"-Wl,-T,{script}", *objects, "-lm", "-o", str(elf)]
    subprocess.run(command, check=True)
    return elf


def published(results: Path, clock_hz: int) -> float:
    """The median throughput that a submission's log says, as cycles of an inference."""
    log = (results / "performance" / "results.txt").read_text()
    (rate,) = re.findall(r"Median throughput is ([\d.]+) inf", log)
    return clock_hz / float(rate)


def main(tiny: str, cmsis: str) -> None:
    octo = Path(tiny).resolve() / "closed" / "OctoML"
    print("system,board,task,published,without,ratio,modelled,off,code,data")
    for each in SUBMISSIONS:
        for task in TASKS:
            results = octo / "results" / each.system / each.board / task
            wanted = published(results, each.clock_hz)
            with tempfile.TemporaryDirectory() as scratch:
                code = octo / "code" / each.system / each.code / task
                target = each.target()
                elf = build(target, code, Path(cmsis).resolve(), Path(scratch))
                found = measure(target, elf)
                without, time = found.cycles, found.time
            print(
                f"{each.system},{each.board},{task},{wanted:.0f},{without},{wanted / without:.3f},"
                f"{time.cycles},{time.cycles / wanted - 1:+.1%},{time.code_share:.1%},"
                f"{time.data_share:.1%}",
                flush=True,
            )


if __name__ == "__main__":
    main(*sys.argv[1:])
