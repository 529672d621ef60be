"""A laboratory for operators: small ONNX graphs through the compiler, the oracle and onnxruntime.

Many networks go into one C file and one process, since a compiler call for each would take minutes:
`run_on_host` compiles all models that it is given with one gcc call and runs them in one go.
"""

from __future__ import annotations

import functools
import io
import re
import subprocess
import tempfile
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import onnx
import onnxruntime as ort
from onnx import TensorProto, helper, numpy_helper

from mcu_deploy import interpreter, resources
from mcu_deploy.backends.interface import CreationOptions
from mcu_deploy.boards import Board, load_board
from mcu_deploy.compiled import Network
from mcu_deploy.compiler import compile_model
from mcu_deploy.errors import McuDeployError
from mcu_deploy.ir import DType, Graph
from mcu_deploy.options import Options
from mcu_deploy.session import Session

Array = npt.NDArray[Any]
# A kernel's loop of one step or none.
_ONE_STEP = re.compile(r"for \(int32_t (\w+) = \d; \1 < 1; \1\+\+")
# The level of optimisation without sanitizers. What an optimiser would make of undefined behaviour
# these find without it.
LEVEL = "-O1"
WARNINGS = ("-Wall", "-Wextra", "-Wpedantic", "-Wconversion", "-Wshadow", "-Wundef", "-Werror")
_CODES = {"float32": "FLOAT", "int8": "INT8", "uint8": "UINT8", "int64": "INT64", "int32": "INT32",
          "int16": "INT16", "uint16": "UINT16", "bool": "BOOL", "float64": "DOUBLE"}  # fmt: skip


@dataclass(frozen=True)
class Case:
    """A model with inputs for it. `exact`: its integer outputs are onnxruntime's in every value;
    otherwise the share that may be a step away is `apart`. shapes: of inputs that the model leaves
    open."""

    name: str
    model: onnx.ModelProto
    inputs: tuple[Array, ...]
    exact: bool = False
    tolerance: float = 1e-5
    apart: float = 0.01
    shapes: Mapping[str, tuple[int, ...]] = field(default_factory=dict)


@dataclass(frozen=True)
class Compiled:
    """A case behind the compiler: one of these, or any value with inputs."""

    case: Any
    network: Network

    @property
    def graph(self) -> Graph:
        return self.network.graph

    @functools.cached_property
    def expected(self) -> list[Array]:
        """What the oracle says."""
        return interpreter.run(self.graph, list(self.case.inputs))


def make_model(
    nodes: Sequence[onnx.NodeProto],
    inputs: Mapping[str, tuple[str, Sequence[int]]],
    outputs: Mapping[str, tuple[str, Sequence[int] | None]],
    constants: Mapping[str, Array] | None = None,
    opset: int = 17,
) -> onnx.ModelProto:
    """An ONNX model; inputs and outputs are (numpy's type name, shape) by tensor name."""

    def info(name: str, type_: tuple[str, Sequence[int] | None]) -> onnx.ValueInfoProto:
        return helper.make_tensor_value_info(name, getattr(TensorProto, _CODES[type_[0]]), type_[1])

    graph = helper.make_graph(
        list(nodes),
        "case",
        [info(n, t) for n, t in inputs.items()],
        [info(n, t) for n, t in outputs.items()],
        [numpy_helper.from_array(np.asarray(v), n) for n, v in (constants or {}).items()],
    )
    return helper.make_model(
        graph,
        opset_imports=[helper.make_opsetid("", opset), helper.make_opsetid("com.microsoft", 1)],
        ir_version=8,
    )


def compile_case(case: Case, folder: Path, index: int, goal: str = "balanced") -> Compiled:
    """Compiles a case to C; raises what the compiler raises."""
    path = folder / f"case_{index}.onnx"
    path.write_bytes(case.model.SerializeToString())
    options = Options(weights="array", optimize_for=goal, shapes=case.shapes)
    network = compile_model(path, _host(), name=f"c{index}", session=_session(), options=options)
    return Compiled(case, network)


def compile_files(cases: Iterable[Any], folder: Path) -> list[Compiled]:
    """Compiles TFLite files to C, each the `content` of a case."""
    found = []
    for index, case in enumerate(cases):
        path = folder / f"case_{index}.tflite"
        path.write_bytes(case.content)
        options = Options(weights="array")
        network = compile_model(path, _host(), name=f"c{index}", options=options)
        found.append(Compiled(case, network))
    return found


@functools.cache
def _host() -> Board:
    """Read once for thousands of cases."""
    return load_board("host")


@functools.cache
def _session() -> Session:
    """One for all cases; the backends that are installed here are not looked for."""
    return Session(options=CreationOptions(dynamic_backends=False))


_MAIN = """
#include <stdio.h>
#include <stdlib.h>
static const mcu_model_t *const models[] = {%s};
static int run(const mcu_model_t *model) {
    mcu_instance_t instance;
    DLTensor inputs[MCU_MAX_TENSORS];
    DLTensor outputs[MCU_MAX_TENSORS];
    /* exactly as large as the model says, so that the sanitizer sees a byte too many */
    void *workspace = NULL;
    if (posix_memalign(&workspace, model->workspace_alignment, model->workspace_size) != 0 ||
        mcu_instance_init(&instance, model, workspace, model->workspace_size) != MCU_OK) {
        return 2;
    }
    for (uint32_t i = 0; i < model->num_input_tensors; i++) {
        mcu_instance_input(&instance, i, &inputs[i]);
        const size_t bytes = model->inputs[i].place.bytes;
        if (fread(inputs[i].data, 1, bytes, stdin) != bytes) {
            return 3;
        }
    }
    for (uint32_t i = 0; i < model->num_output_tensors; i++) {
        mcu_instance_output(&instance, i, &outputs[i]);
    }
    const int32_t status = mcu_instance_run(&instance, inputs, model->num_input_tensors,
                                            outputs, model->num_output_tensors);
    fwrite(&status, sizeof status, 1, stdout);
    for (uint32_t i = 0; i < model->num_output_tensors; i++) {
        fwrite(outputs[i].data, 1, model->outputs[i].place.bytes, stdout);
    }
    free(workspace);
    return 0;
}
int main(void) {
    int next = EOF;
    do {
        (void)ungetc(next, stdin);
        for (size_t m = 0; m < sizeof models / sizeof models[0]; m++) {
            const int failed = run(models[m]);
            if (failed != 0) {
                return failed;
            }
        }
        next = getchar();
    } while (next != EOF);
    return 0;
}
"""


def run_on_host(
    compiled: Sequence[Compiled], folder: Path, flags: Sequence[str] = ()
) -> list[list[Array]]:
    """The outputs of all networks, from one executable; warnings are errors."""
    found = run_built(
        build_on_host(compiled, folder, flags), compiled, [c.case.inputs for c in compiled]
    )
    for item, (status, _) in zip(compiled, found, strict=True):
        assert status == 0, f"{item.case.name}: the run ended with {status}"
    return [outputs for _, outputs in found]


def build_on_host(compiled: Sequence[Compiled], folder: Path, flags: Sequence[str] = ()) -> Path:
    """One executable that runs all networks in turn, as often as there are inputs; warnings are
    errors."""
    text = ["#define _POSIX_C_SOURCE 200112L"]
    for item in compiled:
        for name, content in item.network.sources.files.items():
            (folder / name).write_bytes(content)
            loop = _ONE_STEP.search(content.decode(errors="replace"))
            assert loop is None, f"{item.case.name}: {loop}"
        text.append(f'#include "network_{item.network.name}.c"')
    text.append(_MAIN % ", ".join(f"&_mcu_network_{c.network.name}" for c in compiled))
    (folder / "all.c").write_text("\n".join(text))
    is_sanitized = any(flag.startswith("-fsanitize") for flag in flags)
    # -fno-toplevel-reorder and the like stay out: only -ffp-contract matters to the results.
    chosen = ("-ffp-contract=off", "-O0" if is_sanitized else LEVEL, *flags)
    runtime = sorted(map(str, Path(_runtime(chosen).name).glob("*.o")))
    # in the folder: .incbin looks for the weights there
    _gcc(*chosen, "-o", "all", "all.c", *runtime, "-lm", folder=folder)
    return folder / "all"


@functools.cache
def _runtime(flags: tuple[str, ...]) -> tempfile.TemporaryDirectory[str]:
    """The objects of the runtime, made once: most programs are smaller than it."""
    folder = tempfile.TemporaryDirectory(prefix="mcu-deploy-tests-runtime-")
    sources = (resources.crt() / f"src/{name}.c" for name in ("instance", "runtime", "tensor"))
    _gcc(*flags, "-c", *map(str, sources), folder=Path(folder.name))
    return folder


def _gcc(*arguments: str, folder: Path) -> None:
    command = ["gcc", "-std=c99", *WARNINGS, f"-I{resources.crt() / 'include'}", *arguments]
    built = subprocess.run(
        command, cwd=folder, capture_output=True, text=True, check=False, timeout=300
    )
    assert built.returncode == 0, built.stderr[:4000]


def run_built(
    executable: Path, compiled: Sequence[Compiled], inputs: Sequence[Sequence[Array]]
) -> list[tuple[int, list[Array]]]:
    """For each network the status of a run with these inputs, and the outputs."""
    (found,) = run_turns(executable, compiled, [inputs])
    return found


def run_turns(
    executable: Path, compiled: Sequence[Compiled], turns: Sequence[Sequence[Sequence[Array]]]
) -> list[list[tuple[int, list[Array]]]]:
    """The same of each turn, of which each has inputs for all networks; in one process."""
    given = b"".join(
        DType.of(value.dtype).to_memory(np.ascontiguousarray(value)).tobytes()
        for inputs in turns
        for v in inputs
        for value in v
    )
    result = subprocess.run(
        [str(executable)], input=given, capture_output=True, check=False, timeout=300
    )
    assert result.returncode == 0, result.stderr.decode(errors="replace")[:4000]
    memory = io.BytesIO(result.stdout)
    found = [[_result(item, memory) for item in compiled] for _ in turns]
    assert not memory.read()
    return found


def _result(item: Compiled, memory: io.BytesIO) -> tuple[int, list[Array]]:
    status = int.from_bytes(memory.read(4), "little", signed=True)
    types = [item.graph.type(edge) for edge in item.graph.outputs]
    return status, [t.dtype.from_memory(memory.read(t.bytes), t.shape) for t in types]


def run_onnxruntime(model: onnx.ModelProto, inputs: Sequence[Array], optimise: bool) -> list[Array]:
    """onnxruntime's outputs, on one thread, with its graph optimisations on or off."""
    options = ort.SessionOptions()
    options.log_severity_level = 4
    options.intra_op_num_threads = 1
    levels = ort.GraphOptimizationLevel
    options.graph_optimization_level = levels.ORT_ENABLE_ALL if optimise else levels.ORT_DISABLE_ALL
    # Without this its AVX2 kernels saturate sums of two products at 16 bits.
    options.add_session_config_entry("session.x64quantprecision", "1")
    session = ort.InferenceSession(
        model.SerializeToString(), options, providers=["CPUExecutionProvider"]
    )
    names = [i.name for i in session.get_inputs()]
    found = session.run(None, dict(zip(names, inputs, strict=True)))
    return [np.asarray(v) for v in found]


def relative_error(actual: Array, wanted: Array) -> float:
    """The largest difference relative to the largest magnitude; NaN and infinity must agree."""
    a, w = actual.astype(np.float64), wanted.astype(np.float64)
    assert a.shape == w.shape, f"shape {a.shape}, wanted {w.shape}"
    if not a.size:
        return 0.0
    odd = ~np.isfinite(w)
    assert np.array_equal(a[odd], w[odd], equal_nan=True), "NaN or infinity differ"
    finite = ~odd
    if not finite.any():
        return 0.0
    scale = max(float(np.abs(w[finite]).max()), 1e-30)
    return float(np.abs(a[finite] - w[finite]).max()) / scale


def check_device(compiled: Compiled, device: Sequence[Array]) -> None:
    """The device gives the oracle's bits for integers, and its values for float32."""
    for actual, wanted in zip(device, compiled.expected, strict=True):
        assert actual.dtype == wanted.dtype
        assert actual.shape == wanted.shape
        if DType.of(wanted.dtype).wide.is_float:
            error = relative_error(actual, wanted)
            assert error <= compiled.case.tolerance, f"relative error {error:g}"
        else:
            assert np.array_equal(actual, wanted), (
                f"{np.count_nonzero(actual != wanted)} of {wanted.size} values differ"
            )


def check_oracle(case: Case, outputs: Sequence[Array]) -> None:
    """The oracle against onnxruntime: exactly, or mostly, and within a step; or by tolerance."""
    reference = run_onnxruntime(case.model, case.inputs, optimise=case.exact)
    for actual, wanted in zip(outputs, reference, strict=True):
        assert actual.dtype == wanted.dtype
        if wanted.dtype.kind == "f":
            error = relative_error(actual, wanted)
            assert error <= case.tolerance, f"relative error {error:g}"
            continue
        assert actual.shape == wanted.shape
        difference = np.abs(actual.astype(np.int64) - wanted.astype(np.int64))
        if case.exact:
            assert not difference.any(), f"{np.count_nonzero(difference)} of {wanted.size} differ"
        elif difference.size:
            assert difference.max() <= 1, f"differs by {difference.max()} steps"
            share = np.count_nonzero(difference) / difference.size
            is_near = share <= case.apart or difference.size < 200
            assert is_near, f"{share:.1%} of the values differ"


def check_cases(cases: Sequence[Case], folder: Path, flags: Sequence[str] = ()) -> None:
    """Compiles and runs all cases in one process and reports every failure by its case's name."""
    failures: list[str] = []
    compiled: list[Compiled] = []
    for index, case in enumerate(cases):
        try:
            compiled.append(compile_case(case, folder, index))
        except McuDeployError as error:
            failures.append(f"{case.name}: does not compile: {error}")
    for item, device in zip(compiled, run_on_host(compiled, folder, flags), strict=True):
        for check in (
            lambda i=item, d=device: check_device(i, d),
            lambda i=item: check_oracle(i.case, i.expected),
        ):
            try:
                check()
            except AssertionError as error:
                failures.append(f"{item.case.name}: {error}")
    assert not failures, f"{len(failures)} failures:\n" + "\n".join(failures)
