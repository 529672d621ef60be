"""Second opinions: onnxruntime for ONNX models, LiteRT for TFLite models where it is installed.

Their options are pinned, and their versions are reported. Each runs in a child process: a model
that the compiler takes may still end or fill the process that runs it there.
"""

from __future__ import annotations

import contextlib
import functools
import importlib
import itertools
import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

import numpy as np

from mcu_deploy.errors import McuDeployError, ModelError
from mcu_deploy.files.arrays import Array
from mcu_deploy.formats import tflite_file
from mcu_deploy.formats.onnx_reasons import reason
from mcu_deploy.ir import DType
from mcu_deploy.processes import contained

T = TypeVar("T")

# What running a model may take, beyond what this process has.
_ROOM = 1 << 30
_COPIES = 16
_SECONDS = 120
_SECONDS_A_SAMPLE = 10


@dataclass(frozen=True)
class Reference:
    """What another program computes: outputs[s][o] is output o of sample s."""

    outputs: tuple[tuple[Array, ...], ...]
    program: str
    version: str
    settings: str

    def __str__(self) -> str:
        return f"{self.program} {self.version} ({self.settings})"


@dataclass(frozen=True)
class NoReference:
    """Why there is no second opinion on a model, as a clause."""

    reason: str

    def __str__(self) -> str:
        return f"no second opinion: {self.reason}"


@dataclass(frozen=True)
class NamedState:
    """A state: the input and the output by their names, and the input's first value. Without an
    output it is an input that has this value in every run."""

    input: str
    output: str
    first: Array


def run_reference(
    model: Path,
    samples: Sequence[Sequence[Array]],
    states: Sequence[NamedState] = (),
    names: Sequence[str] = (),
) -> Reference | NoReference:
    """The program of the model's own format. Raises ModelError where it refuses the model.

    states: carried from sample to sample; their inputs are not in the samples, and their outputs
    not in the result. States of the model's own that program carries by itself. names: of the
    samples' arrays, by which those are known that are elements of one sequence.
    """
    suffix = model.suffix.lower()
    if suffix == ".onnx":
        return run_onnxruntime(model, samples, states, names)
    if suffix == ".tflite" and states:
        return NoReference("states that TFLite models do not have themselves are not fed to LiteRT")
    if suffix == ".tflite":
        alone = _of_tflite_micro(model)
        return NoReference(alone) if alone else run_litert(model, samples)
    return NoReference(f"no other program runs {suffix} files")


def _of_tflite_micro(model: Path) -> str:
    """What a TFLite model has as TFLite-Micro alone has it, a clause on LiteRT; "" of any other."""
    for operation in tflite_file.parse(model.read_bytes(), str(model)).operations:
        if operation.custom.startswith("Signal"):
            return f"LiteRT lacks {operation.custom}, of TFLite-Micro's signal library"
        if operation.kind == "SVDF" and operation.input(4).type.dtype is DType.INT8:
            return "LiteRT computes an SVDF with a state of int16, and reads int8 as such"
    return ""


_SETTINGS = "graph optimisation off, one thread, CPU"


def run_onnxruntime(
    model: Path,
    samples: Sequence[Sequence[Array]],
    states: Sequence[NamedState] = (),
    names: Sequence[str] = (),
) -> Reference:
    """Runs a model on the CPU provider.

    Graph optimisation is off: every operator is computed as the model says it, in the same way on
    every processor (the optimised integer kernels depend on VNNI, and session.x64quantprecision,
    which would repair that, fails in 1.31.1 on models whose biases share a zero point). Raises
    ModelError where onnxruntime refuses the model.
    """
    results, version = _onnxruntime(model, samples, states, names)
    return Reference(
        tuple(tuple(found.values()) for found in results), "onnxruntime", version, _SETTINGS
    )


def _onnxruntime(
    model: Path,
    samples: Sequence[Sequence[Array]],
    states: Sequence[NamedState],
    names: Sequence[str],
    inner: bool = False,
) -> tuple[list[dict[str, Array]], str]:
    """The outputs of each sample by name (inner: all tensors of the last one), and the version."""
    version = str(onnxruntime_package().__version__)
    return _contained(
        f"onnxruntime {version}", _run_session, model, samples, states, names, inner
    ), version


def _contained(program: str, run: Callable[..., T], model: Path, *arguments: Any) -> T:
    """What `run` returns of the model and the arguments, the samples first. Raises ModelError."""
    return apart(
        run, model, *arguments, memory_bytes=_ROOM + _COPIES * model.stat().st_size,
        cpu_seconds=_SECONDS + _SECONDS_A_SAMPLE * len(arguments[0]),
        failed=lambda why: ModelError(f"{program} {why}. Validate without it: --no-onnxruntime."),
    )  # fmt: skip


def apart(
    run: Callable[..., T],
    *arguments: Any,
    memory_bytes: int,
    cpu_seconds: int,
    failed: Callable[[str], McuDeployError],
) -> T:
    """What a function that runs a model in another program returns, in a process of its own with
    these limits. failed: the error of a clause that says what went wrong; the project's own errors
    pass."""
    try:
        return contained.call(
            run, *arguments, memory_bytes=memory_bytes, cpu_seconds=cpu_seconds
        )  # fmt: skip
    except McuDeployError:
        raise
    except contained.DidNotReturn as ended:
        clause = str(ended)
    except Exception as error:  # those of onnxruntime share no base but Exception
        clause = f"cannot run the model ({reason(error)})"
    raise failed(clause)


def _run_session(
    model: Path,
    samples: Sequence[Sequence[Array]],
    states: Sequence[NamedState],
    names: Sequence[str],
    inner: bool,
) -> list[dict[str, Array]]:
    session = onnxruntime_session(_with_outputs(model) if inner else str(model))
    carried = {state.input: state.first for state in states}
    taken = {
        i.name: _length(i.name, names) if "seq(" in i.type else None
        for i in session.get_inputs()
        if i.name not in carried
    }
    hidden = set() if inner else {state.output for state in states}
    outputs = [o.name for o in session.get_outputs()]
    results = []
    for inputs in samples:
        arrays = iter(inputs)
        feed = carried | {
            name: next(arrays) if length is None else [*itertools.islice(arrays, length)]
            for name, length in taken.items()
        }
        found = _elements(dict(zip(outputs, session.run(None, feed), strict=True)))
        carried |= {state.input: found[state.output] for state in states if state.output}
        shown = {name: value for name, value in found.items() if name not in hidden}
        results.append(_elements(feed) | shown if inner else shown)
    return results[-1:] if inner else results


def _length(sequence: str, names: Sequence[str]) -> int:
    """How many of these names are those of a sequence's elements."""
    return next(k for k in itertools.count() if f"{sequence}_{k}" not in names)


def _elements(values: Mapping[str, Any]) -> dict[str, Array]:
    """The values, of sequences the elements, as formats/onnx_sequences.py names them."""
    found: dict[str, Array] = {}
    for name, value in values.items():
        if isinstance(value, list):
            found |= {f"{name}_{k}": np.asarray(element) for k, element in enumerate(value)}
        else:
            found[name] = np.asarray(value)
    return found


def _with_outputs(model: Path) -> bytes:
    """A model that puts out all tensors that nodes of its own graph write."""
    import onnx

    loaded = onnx.load(str(model))
    given = {output.name for output in loaded.graph.output}
    written = [name for node in loaded.graph.node for name in node.output if name]
    more = [name for name in dict.fromkeys(written) if name not in given]
    loaded.graph.output.extend(onnx.ValueInfoProto(name=name) for name in more)
    return bytes(loaded.SerializeToString())


def onnxruntime_package() -> Any:
    """onnxruntime, without its telemetry: from 1.32 on it sends events, keeps what it has not sent
    in ~/.cache, and complains where it cannot write there. It reads its switch when it is loaded
    (Privacy.md in its package); a user who has set it has decided."""
    os.environ.setdefault("ORT_DISABLE_TELEMETRY", "1")
    import onnxruntime

    return onnxruntime


def onnxruntime_session(model: str | bytes) -> Any:
    """A session that computes every operator as the model says it, on one thread."""
    onnxruntime = onnxruntime_package()
    options = onnxruntime.SessionOptions()
    options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL
    options.intra_op_num_threads = 1
    options.inter_op_num_threads = 1
    options.log_severity_level = 4
    return onnxruntime.InferenceSession(model, options, providers=["CPUExecutionProvider"])


def reference_tensors(
    model: Path,
    samples: Sequence[Sequence[Array]],
    states: Sequence[NamedState] = (),
    names: Sequence[str] = (),
) -> Mapping[str, Array]:
    """What the program of the model's format has in its tensors, by name, in the last sample.

    Of an ONNX model the inputs and what nodes of its own graph write; nothing where LiteRT is not
    installed, or nobody else runs the format. names: as run_reference has them. Raises ModelError
    where it refuses the model.
    """
    if model.suffix.lower() == ".onnx":
        (found,), _ = _onnxruntime(model, samples, states, names, inner=True)
        return found
    package = _litert() if model.suffix.lower() == ".tflite" else None
    if package is None:
        return {}
    return _contained(f"LiteRT {_version(package)}", _interpreted_tensors, model, samples, package)


# Where the same interpreter is installed from: its new package and its old one.
_LITERT = ("ai_edge_litert", "tflite_runtime")


def run_litert(model: Path, samples: Sequence[Sequence[Array]]) -> Reference | NoReference:
    """Runs a TFLite model with LiteRT's reference kernels, where a package has them; a model with
    an operator that has none (CEIL, ELU, ROUND), or a wrong one (SUM of integers), with the
    optimized ones.

    They round the sums of fully-connected layers once, and TFLite-Micro's twice, so the values of
    such layers may be a step apart (docs/arithmetic.md). Raises ModelError where LiteRT refuses the
    model.
    """
    package = _litert()
    if package is None:
        return NoReference(
            "LiteRT is not installed (`pip install 'mcu-deploy[litert]'`), and onnxruntime reads "
            "no .tflite"
        )
    version = _version(package)
    results, kernels = _contained(f"LiteRT {version}", _interpret, model, samples, package)
    return Reference(results, "LiteRT", version, f"{kernels} kernels, one thread")


def _litert() -> str | None:
    """The package that has LiteRT's interpreter."""
    for package in _LITERT:
        with contextlib.suppress(ImportError):
            importlib.import_module(f"{package}.interpreter")
            return package
    return None


def _version(package: str) -> str:
    return str(getattr(importlib.import_module(package), "__version__", "of no version"))


def _interpreted_tensors(
    model: Path, samples: Sequence[Sequence[Array]], package: str
) -> dict[str, Array]:
    """All tensors of the last sample, by name."""
    interpreter, _ = _interpreter(model, package, experimental_preserve_all_tensors=True)
    for inputs in samples:
        _invoke(interpreter, inputs)
    found = {}
    for detail in interpreter.get_tensor_details():
        if detail["dtype"] is np.object_:  # a handle of a variable, which LiteRT crashes on
            continue
        with contextlib.suppress(ValueError):  # a tensor that no operator of the model computes
            found[detail["name"]] = np.array(interpreter.get_tensor(detail["index"]))
    return found


def _interpret(
    model: Path, samples: Sequence[Sequence[Array]], package: str
) -> tuple[tuple[tuple[Array, ...], ...], str]:
    """The outputs of each sample, and which kernels computed them."""
    interpreter, kernels = _interpreter(model, package)
    results: list[tuple[Array, ...]] = []
    for inputs in samples:
        _invoke(interpreter, inputs)
        outputs = interpreter.get_output_details()
        results.append(tuple(np.array(interpreter.get_tensor(d["index"])) for d in outputs))
    return tuple(results), kernels


def _invoke(interpreter: Any, inputs: Sequence[Array]) -> None:
    """One run. What is a state here keeps what the run before left: variables that have operators
    of their own, and those of SVDF; an LSTM begins anew (docs/arithmetic.md)."""
    if not any(operator["op_name"] == "SVDF" for operator in interpreter._get_ops_details()):
        interpreter.reset_all_variables()
    for detail, value in zip(interpreter.get_input_details(), inputs, strict=True):
        interpreter.set_tensor(detail["index"], value)
    interpreter.invoke()


def _interpreter(model: Path, package: str, **more: Any) -> tuple[Any, str]:
    """LiteRT's interpreter of a model, and the word for its kernels."""
    program: Any = importlib.import_module(f"{package}.interpreter")
    resolvers = program.OpResolverType
    make = functools.partial(program.Interpreter, str(model), num_threads=1, **more)
    kernels, interpreter = "reference", None
    try:
        interpreter = make(experimental_op_resolver_type=resolvers.BUILTIN_REF)
    except ValueError as error:
        if "Didn't find op" not in str(error):
            raise
    if interpreter is None or _sums_integers(interpreter):
        kernels = "optimized"
        optimized = resolvers.BUILTIN_WITHOUT_DEFAULT_DELEGATES
        interpreter = make(experimental_op_resolver_type=optimized)
    interpreter.allocate_tensors()
    return interpreter, kernels


def _sums_integers(interpreter: Any) -> bool:
    """Whether there is a SUM of int8 or int16, of which LiteRT 2.3's reference kernel gives -1 for
    most elements."""
    types = {detail["index"]: detail["dtype"] for detail in interpreter.get_tensor_details()}
    return any(
        operator["op_name"] == "SUM" and types.get(operator["inputs"][0]) in (np.int8, np.int16)
        for operator in interpreter._get_ops_details()
    )
