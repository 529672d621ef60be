"""Programs around generated networks: compiled for this machine or an emulated Cortex-M4, and run.

The networks' sources are compiled one by one, two at a time, with warnings as errors; the runtime
once for all programs with the same flags.
"""

from __future__ import annotations

import functools
import subprocess
import tempfile
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
from sanitizers import SANITIZED

from mcu_deploy import interpreter, resources
from mcu_deploy.boards import load_board
from mcu_deploy.compiled import Network
from mcu_deploy.ir import DType

Array = npt.NDArray[Any]

CRT = resources.root() / "crt"
MEMBERS = ("error", "exposed", "instance", "memory_block", "memory_page", "resize", "runtime",
           "tensor")  # fmt: skip
RUNTIME = [CRT / "src" / f"{name}.c" for name in MEMBERS]
WARNINGS = ["-Wall", "-Wextra", "-Wpedantic", "-Wconversion", "-Wshadow", "-Wundef", "-Werror"]
SANITIZERS = ["-O0", "-g", *SANITIZED]
TARGET = resources.root() / "tests" / "crt" / "target"  # start-up with semihosting, linker script

# Runs all models in turn: inputs from standard input, outputs to standard output.
RUN_ALL = """
#define _POSIX_C_SOURCE 200112L
#include <stdio.h>
#include <stdlib.h>
#include "mcu/runtime.h"
@INCLUDES@
static const mcu_model_t *const models[] = {@MODELS@};
int main(void) {
    for (size_t m = 0; m < sizeof models / sizeof models[0]; m++) {
        const mcu_model_t *model = models[m];
        mcu_instance_t instance;
        DLTensor inputs[MCU_MAX_TENSORS], outputs[MCU_MAX_TENSORS];
        void *workspace = NULL; /* of exactly the size, for the sanitizer */
        if (posix_memalign(&workspace, model->workspace_alignment, model->workspace_size) != 0 ||
            mcu_instance_init(&instance, model, workspace, model->workspace_size) != MCU_OK) {
            return 2;
        }
        for (uint32_t i = 0; i < model->num_input_tensors; i++) {
            mcu_instance_input(&instance, i, &inputs[i]);
            inputs[i].data = malloc(model->inputs[i].place.bytes + 1);
            if (fread(inputs[i].data, 1, model->inputs[i].place.bytes, stdin) !=
                model->inputs[i].place.bytes) {
                return 3;
            }
        }
        for (uint32_t i = 0; i < model->num_output_tensors; i++) {
            mcu_instance_output(&instance, i, &outputs[i]);
            outputs[i].data = malloc(model->outputs[i].place.bytes + 1);
        }
        if (mcu_instance_run(&instance, inputs, model->num_input_tensors, outputs,
                             model->num_output_tensors) != MCU_OK) {
            return 4;
        }
        for (uint32_t i = 0; i < model->num_input_tensors; i++) {
            free(inputs[i].data);
        }
        for (uint32_t i = 0; i < model->num_output_tensors; i++) {
            fwrite(outputs[i].data, 1, model->outputs[i].place.bytes, stdout);
            free(outputs[i].data);
        }
        free(workspace);
    }
    return 0;
}
"""

# Prints the names of each model's tensors in hexadecimal, a line each.
PRINT_NAMES = """
#include <stdio.h>
#include "mcu/runtime.h"
@INCLUDES@
static const mcu_model_t *const models[] = {@MODELS@};
static void show(const char *text) {
    for (; *text != 0; text++) {
        printf("%02x", (unsigned)(unsigned char)*text);
    }
    puts("");
}
int main(void) {
    for (size_t m = 0; m < sizeof models / sizeof models[0]; m++) {
        show(models[m]->name);
        for (uint32_t i = 0; i < models[m]->num_input_tensors; i++) {
            show(models[m]->inputs[i].name);
        }
        for (uint32_t i = 0; i < models[m]->num_output_tensors; i++) {
            show(models[m]->outputs[i].name);
        }
    }
    return 0;
}
"""


def run(
    command: Sequence[str | Path],
    *,
    given: bytes = b"",
    timeout: float = 120,
    cwd: Path | None = None,
) -> bytes:
    """Runs a command that must succeed; its standard output."""
    done = subprocess.run(
        [str(part) for part in command], input=given, capture_output=True, check=False,
        timeout=timeout, cwd=cwd,
    )  # fmt: skip
    message = (done.stderr + done.stdout).decode(errors="replace")
    assert done.returncode == 0, f"exit code {done.returncode}: {message[:6000]}"
    return done.stdout


def main_for(text: str, names: Sequence[str]) -> str:
    """One of the programs above, for networks of these names."""
    includes = "\n".join(f'#include "network_{name}.h"' for name in names)
    models = ", ".join(f"mcu_network_{name}" for name in names)
    return text.replace("@INCLUDES@", includes).replace("@MODELS@", models)


def write(networks: Sequence[Network], folder: Path) -> Sequence[str]:
    """Writes the networks' sources into a folder; their names."""
    for network in networks:
        for name, content in network.sources.files.items():
            (folder / name).write_bytes(content)
    return [network.name for network in networks]


def compile_all(
    names: Sequence[str], folder: Path, gcc: Sequence[str], more: Sequence[str] = ()
) -> list[Path]:
    """Compiles the networks' sources that lie in a folder, two at a time; their objects, and those
    of the runtime."""
    command = [*gcc, *WARNINGS, *more, f"-I{CRT / 'include'}", "-c"]

    def compile_one(name: str) -> Path:
        target = folder / f"network_{name}.o"
        run([*command, f"network_{name}.c", "-o", target], cwd=folder)
        return target

    with ThreadPoolExecutor(max_workers=2) as pool:
        return [*pool.map(compile_one, names), *_runtime(*command)]


@functools.cache
def _folder() -> tempfile.TemporaryDirectory[str]:
    return tempfile.TemporaryDirectory(prefix="runtime")


@functools.cache
def _runtime(*command: str) -> list[Path]:
    """The objects of the runtime by this command, for all programs of this process."""
    folder = Path(tempfile.mkdtemp(dir=_folder().name))
    run([*command, *RUNTIME], cwd=folder)
    return [folder / f"{source.stem}.o" for source in RUNTIME]


def host_program(
    networks: Sequence[Network], folder: Path, text: str = RUN_ALL, flags: Sequence[str] = ("-O1",)
) -> Path:
    """A program for this machine around networks that were compiled for the host."""
    gcc = ["gcc", *load_board("host").cflags, "-std=c99", "-ffp-contract=off", *flags]
    objects = compile_all(write(networks, folder), folder, gcc)
    main = folder / "main.c"
    main.write_text(main_for(text, [n.name for n in networks]))
    program = folder / "program"
    run([*gcc, f"-I{CRT / 'include'}", main, *objects, "-lm", "-lpthread", "-o", program])
    return program


def link_for_cortex_m4(
    names: Sequence[str], folder: Path, main: str, flags: Sequence[str] = (),
    board: str = "mps2-an386",
) -> Path:  # fmt: skip
    """A program with semihosting for mps2-an386, of networks whose sources lie in a folder.

    board: what its code is for, the same core or a smaller one.
    """
    gcc = ["arm-none-eabi-gcc", *load_board(board).cflags, "-std=c99", "-ffp-contract=off"]
    objects = compile_all(names, folder, [*gcc, "-O2", *flags])
    (folder / "main.c").write_text(main)
    elf = folder / "program.elf"
    include = [f"-I{CRT / 'include'}", f"-I{TARGET.parent}"]
    link: list[str | Path] = ["-nostartfiles", "--specs=nano.specs", "-T", TARGET / "mps2-an386.ld"]
    sources = [TARGET / "startup.c", folder / "main.c"]
    run([*gcc, "-O1", *WARNINGS, *flags, *include, *link, *sources, *objects, "-lm", "-o", elf])
    return elf


def run_on_cortex_m4(
    elf: Path, timeout: float = 120, machine: str = "mps2-an386"
) -> tuple[int, str]:
    """Exit code and printed text of a program with semihosting in QEMU. machine: this one, or one
    with another core and the same memories."""
    command = [
        "qemu-system-arm", "-M", machine, "-nographic", "-monitor", "none", "-serial", "none",
        "-semihosting-config", "enable=on,target=native", "-kernel", str(elf),
    ]  # fmt: skip
    done = subprocess.run(command, capture_output=True, text=True, timeout=timeout, check=False)
    return done.returncode, done.stdout + done.stderr


def expected(network: Network, inputs: Sequence[Array]) -> list[Array]:
    """What the oracle says."""
    return [np.asarray(v) for v in interpreter.run(network.graph, list(inputs))]


def split(raw: bytes, networks: Sequence[Network]) -> list[list[Array]]:
    """The outputs of RUN_ALL, by network."""
    found, at = [], 0
    for network in networks:
        outputs = []
        for edge in network.graph.outputs:
            type_ = network.graph.type(edge)
            piece = raw[at : at + type_.bytes]
            outputs.append(np.frombuffer(piece, dtype=type_.dtype.numpy).reshape(type_.shape))
            at += type_.bytes
        found.append(outputs)
    assert at == len(raw)
    return found


def assert_equal(actual: Sequence[Array], wanted: Sequence[Array]) -> None:
    """Integers bit for bit, floats by 1e-5 of the largest (1e-4 where sums are long)."""
    assert len(actual) == len(wanted)
    for found, value in zip(actual, wanted, strict=True):
        assert found.dtype == value.dtype
        assert found.shape == value.shape
        if value.dtype.kind == "f":
            scale = max(float(np.abs(value[np.isfinite(value)]).max(initial=0)), 1e-30)
            np.testing.assert_allclose(found, value, rtol=0, atol=1e-4 * scale)
        else:
            np.testing.assert_array_equal(found, value)


def c_array(value: Array) -> str:
    """The bytes of an array as the elements of a C array of int8_t."""
    stored = DType.of(value.dtype).to_memory(np.ascontiguousarray(value))
    return ", ".join(map(str, stored.view(np.int8).reshape(-1).tolist()))
