"""Kernels by themselves: which bytes they read and write in which order, and runs on one buffer.

`Library` runs kernels, compiled as a network is, with their tensors wherever a test puts them.
`Watched` has them compiled as for the thread sanitizer, with a call before every load and store,
and takes these calls itself. Many kernels go into one gcc call.
"""

from __future__ import annotations

import ctypes
import subprocess
from collections.abc import Mapping, Sequence
from pathlib import Path

import onnx

from mcu_deploy import choose, formats, passes, resources, selection
from mcu_deploy.arrange import layouts
from mcu_deploy.backends.interface import HOST, Layer, Role
from mcu_deploy.backends.registry import Registry
from mcu_deploy.boards import load_board
from mcu_deploy.codegen.constants import array
from mcu_deploy.codegen.symbols import Symbols
from mcu_deploy.selection import Choice
from mcu_deploy.toolchain import network_flags

_INSTEAD = """
void *watched_memcpy(void *y, const void *x, size_t bytes);
#define memcpy watched_memcpy
"""

# What gcc calls before each access (gcc/sanitizer.def), and what stands in for memcpy, which may
# read its source in any order: as if it read all of it at the end.
_WATCHER = """
#include <stddef.h>
#include <stdint.h>
static uintptr_t source, source_end, target, target_end;
static ptrdiff_t farthest, distance;
void watch(uintptr_t x, size_t x_bytes, uintptr_t y, size_t y_bytes);
ptrdiff_t watched(void);
void __tsan_init(void);
void __tsan_func_entry(void *caller);
void __tsan_func_exit(void);
void __tsan_read_range(uintptr_t at, size_t bytes);
void __tsan_write_range(uintptr_t at, size_t bytes);
void *watched_memcpy(void *y, const void *x, size_t bytes);
void watch(uintptr_t x, size_t x_bytes, uintptr_t y, size_t y_bytes) {
    source = x, source_end = x + x_bytes, target = y, target_end = y + y_bytes;
    farthest = distance = -((ptrdiff_t)1 << 40);
}
ptrdiff_t watched(void) { return distance; }
void __tsan_init(void) {}
void __tsan_func_entry(void *caller) { (void)caller; }
void __tsan_func_exit(void) {}
void __tsan_read_range(uintptr_t at, size_t bytes) {
    if (at >= source && at + bytes <= source_end) {
        const ptrdiff_t demand = farthest - (ptrdiff_t)(at - source);
        distance = demand > distance ? demand : distance;
    }
}
void __tsan_write_range(uintptr_t at, size_t bytes) {
    if (at >= target && at + bytes <= target_end) {
        const ptrdiff_t end = (ptrdiff_t)(at + bytes - target);
        farthest = end > farthest ? end : farthest;
    }
}
void *watched_memcpy(void *y, const void *x, size_t bytes) {
    const char *from = x;
    char *to = y;
    for (size_t i = 0; i < bytes; i++) {
        to[i] = from[i];
    }
    __tsan_write_range((uintptr_t)y, bytes);
    __tsan_read_range((uintptr_t)x, bytes);
    return y;
}
#define ACCESS(n) \\
    void __tsan_read##n(uintptr_t at); \\
    void __tsan_write##n(uintptr_t at); \\
    void __tsan_read##n(uintptr_t at) { __tsan_read_range(at, n); } \\
    void __tsan_write##n(uintptr_t at) { __tsan_write_range(at, n); }
ACCESS(1)
ACCESS(2)
ACCESS(4)
ACCESS(8)
"""


def choices(model: onnx.ModelProto, folder: Path) -> list[Choice]:
    """The layers of a model that something is computed for, by CpuRef on the host."""
    path = folder / "model.onnx"
    path.write_bytes(model.SerializeToString())
    return choices_of(path)


def choices_of(model: Path) -> list[Choice]:
    """The same of a model file; those of the graphs in its graph are among them."""
    backends = [Registry.builtin().create("CpuRef")]
    graph = passes.run(formats.load(model))
    graph, assignment = choose.assign(graph, backends, HOST, choose.Choosing())
    graph = layouts.assign(graph, assignment)
    chosen = selection.choices_within(selection.select(graph, assignment, backends, HOST).choices)
    return [choice for choice in chosen if not choice.workload.is_view]


def computed(layer: Layer) -> list[int]:
    """The inputs that lie in memory: those that are there and no constants."""
    return [i for i, o in enumerate(layer.inputs) if o is not None and o.constant is None]


class Library:
    """Kernels as functions of addresses: the k-th one is that of the k-th choice."""

    def __init__(self, made: Sequence[Choice], folder: Path, name: str = "kernels") -> None:
        source = folder / f"{name}.c"
        source.write_text(_source(made))
        flags = (*network_flags(load_board("host"), name), *WARNINGS)
        self._open(_shared(folder, name, [(source, flags)]), made)

    def _open(self, library: ctypes.CDLL, made: Sequence[Choice]) -> None:
        self._library = library
        largest = max(choice.workload.scratch_bytes for choice in made)
        self._scratch = (ctypes.c_double * (largest // 8 + 2))()

    def run(self, index: int, inputs: Mapping[int, int], outputs: Sequence[int]) -> None:
        """Runs a kernel on tensors at these addresses."""
        size = max(inputs, default=-1) + 1
        given = (ctypes.c_void_p * max(size, 1))(*(inputs.get(i) for i in range(size)))
        targets = (ctypes.c_void_p * len(outputs))(*outputs)
        getattr(self._library, f"kernel_{index}")(given, targets, self._scratch)


WARNINGS = ("-Wall", "-Wextra", "-Wpedantic", "-Wconversion", "-Werror")


class Watched(Library):
    """Kernels whose every access is seen."""

    def __init__(self, made: Sequence[Choice], folder: Path) -> None:
        source, watcher = folder / "watched.c", folder / "watcher.c"
        source.write_text(_source(made, _INSTEAD))
        watcher.write_text(_WATCHER)
        instrumented = ("-std=c99", "-O0", "-fsanitize=thread")
        sources = [(source, instrumented), (watcher, ("-std=c99", "-O1"))]
        self._open(_shared(folder, "watched", sources), made)
        self._library.watched.restype = ctypes.c_ssize_t

    def distance(
        self,
        index: int,
        inputs: Mapping[int, int],
        outputs: Sequence[int],
        source: tuple[int, int],
        target: tuple[int, int],
    ) -> int:
        """Runs a kernel on apart tensors. The maximum over its writes to `target` (address, bytes)
        of the write's end minus the lowest byte of `source` that is read thereafter."""
        self._library.watch(*(ctypes.c_size_t(number) for number in (*source, *target)))
        self.run(index, inputs, outputs)
        return int(self._library.watched())


def _source(made: Sequence[Choice], macro: str = "") -> str:
    symbols = Symbols("lab")
    calls = []
    for index, choice in enumerate(made):
        work = choice.workload
        assert work.function is not None
        names = [symbols.constant(constant, f"layer{index}") for constant in work.constants]
        function = symbols.kernel(work.helpers, work.function)
        arrays = {Role.INPUT: "x", Role.OUTPUT: "y"}
        arguments = [
            names[a.index] if a.role is Role.CONSTANT
            else "scratch" if a.role is Role.SCRATCH
            else f"{arrays[a.role]}[{a.index}]"
            for a in work.arguments
        ]  # fmt: skip
        head = f"void kernel_{index}(void *const *x, void *const *y, void *scratch)"
        call = f"(void){function}({', '.join(arguments)});"
        calls.append(f"{head};\n{head} {{\n    (void)x, (void)scratch;\n    {call}\n}}")
    return "\n".join(
        [
            "#include <math.h>\n#include <stdint.h>\n#include <string.h>",
            '#include "mcu/internal.h"\n#include "mcu/runtime.h"',
            macro,
            *(array(constant) for constant in symbols.constants),
            *(function.text for function in symbols.functions),
            *calls,
        ]
    )


def _shared(folder: Path, name: str, sources: Sequence[tuple[Path, Sequence[str]]]) -> ctypes.CDLL:
    objects = []
    for source, flags in sources:
        objects.append(str(source.with_suffix(".o")))
        _gcc(
            *flags,
            f"-I{resources.crt() / 'include'}",
            "-fPIC",
            "-c",
            str(source),
            "-o",
            objects[-1],
        )
    target = folder / f"lib{name}.so"
    _gcc("-shared", "-o", str(target), *objects, "-lm")
    return ctypes.CDLL(str(target))


def _gcc(*arguments: str) -> None:
    built = subprocess.run(
        ["gcc", *arguments], capture_output=True, text=True, check=False, timeout=300
    )
    assert built.returncode == 0, built.stderr[:4000]
