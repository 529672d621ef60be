"""Second opinions: onnxruntime for ONNX models, LiteRT for TFLite models where it is installed.

Their options are pinned, and their versions are reported. Each runs in a child process: a model
that the compiler takes may still end or fill the process that runs it there.
"""

from __future__ import annotations

import importlib
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from mcu_deploy import contained
from mcu_deploy.arrays import Array
from mcu_deploy.errors import McuDeployError, ModelError
from mcu_deploy.formats.onnx_reasons import reason

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
class Carried:
    """A state: the input and the output by their names, and the input's first value."""

    input: str
    output: str
    first: Array


def run_reference(
    model: Path, samples: Sequence[Sequence[Array]], states: Sequence[Carried] = ()
) -> Reference | NoReference:
    """The program of the model's own format. Raises ModelError where it refuses the model.

    states: carried from sample to sample; their inputs are not in the samples, and their outputs
    not in the result.
    """
    suffix = model.suffix.lower()
    if suffix == ".onnx":
        return run_onnxruntime(model, samples, states)
    if suffix == ".tflite" and states:
        return NoReference("states of TFLite models are not fed to LiteRT")
    if suffix == ".tflite":
        return run_litert(model, samples)
    return NoReference(f"no other program runs {suffix} files")


_SETTINGS = "graph optimisation off, one thread, CPU"


def run_onnxruntime(
    model: Path, samples: Sequence[Sequence[Array]], states: Sequence[Carried] = ()
) -> Reference:
    """Runs a model on the CPU provider.

    Graph optimisation is off: every operator is computed as the model says it, in the same way on
    every processor (the optimised integer kernels depend on VNNI, and session.x64quantprecision,
    which would repair that, fails in 1.31.1 on models whose biases share a zero point). Raises
    ModelError where onnxruntime refuses the model.
    """
    import onnxruntime

    version = str(onnxruntime.__version__)
    results = _contained(f"onnxruntime {version}", _run_session, model, samples, states)
    return Reference(results, "onnxruntime", version, _SETTINGS)


def _contained(
    program: str, run: Callable[..., tuple[tuple[Array, ...], ...]], model: Path, *arguments: Any
) -> tuple[tuple[Array, ...], ...]:
    """What `run` returns of the model and the arguments, the samples first. Raises ModelError."""
    try:
        return contained.call(
            run, model, *arguments,
            memory_bytes=_ROOM + _COPIES * model.stat().st_size,
            cpu_seconds=_SECONDS + _SECONDS_A_SAMPLE * len(arguments[0]),
        )  # fmt: skip
    except McuDeployError:
        raise
    except contained.Ended as ended:
        clause = str(ended)
    except Exception as error:  # those of onnxruntime share no base but Exception
        clause = f"cannot run the model ({reason(error)})"
    raise ModelError(f"{program} {clause}. Validate without it: --no-onnxruntime.")


def _run_session(
    model: Path, samples: Sequence[Sequence[Array]], states: Sequence[Carried]
) -> tuple[tuple[Array, ...], ...]:
    import onnxruntime

    options = onnxruntime.SessionOptions()
    options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL
    options.intra_op_num_threads = 1
    options.inter_op_num_threads = 1
    options.log_severity_level = 4
    session = onnxruntime.InferenceSession(str(model), options, providers=["CPUExecutionProvider"])
    return tuple(_step_by_step(session, samples, states))


def _step_by_step(
    session: Any, samples: Sequence[Sequence[Array]], states: Sequence[Carried]
) -> Iterator[tuple[Array, ...]]:
    """The outputs of each sample, with the states of the one before."""
    carried = {state.input: state.first for state in states}
    names = [i.name for i in session.get_inputs() if i.name not in carried]
    hidden = {state.output for state in states}
    outputs = [o.name for o in session.get_outputs()]
    for inputs in samples:
        feed = dict(zip(names, inputs, strict=True)) | carried
        found = dict(zip(outputs, map(np.asarray, session.run(None, feed)), strict=True))
        carried = {state.input: found[state.output] for state in states}
        yield tuple(found[name] for name in outputs if name not in hidden)


# Where the same interpreter is installed from: its new package and its old one.
_LITERT = ("ai_edge_litert", "tflite_runtime")


def run_litert(model: Path, samples: Sequence[Sequence[Array]]) -> Reference | NoReference:
    """Runs a TFLite model with LiteRT's reference kernels, where a package has them.

    They round the sums of fully-connected layers once, and TFLite-Micro's twice, so the values of
    such layers may be a step apart (docs/arithmetic.md). Raises ModelError where LiteRT refuses the
    model.
    """
    for package in _LITERT:
        try:
            importlib.import_module(f"{package}.interpreter")
        except ImportError:
            continue
        version = str(getattr(importlib.import_module(package), "__version__", "of no version"))
        results = _contained(f"LiteRT {version}", _interpret, model, samples, package)
        return Reference(results, "LiteRT", version, "reference kernels, one thread")
    return NoReference(
        "LiteRT is not installed (`pip install ai-edge-litert`), and onnxruntime reads no .tflite"
    )


def _interpret(
    model: Path, samples: Sequence[Sequence[Array]], package: str
) -> tuple[tuple[Array, ...], ...]:
    program: Any = importlib.import_module(f"{package}.interpreter")
    interpreter = program.Interpreter(
        model_path=str(model),
        experimental_op_resolver_type=program.OpResolverType.BUILTIN_REF,
        num_threads=1,
    )
    interpreter.allocate_tensors()
    results = []
    for inputs in samples:
        for detail, value in zip(interpreter.get_input_details(), inputs, strict=True):
            interpreter.set_tensor(detail["index"], value)
        interpreter.invoke()
        outputs = interpreter.get_output_details()
        results.append(tuple(np.array(interpreter.get_tensor(d["index"])) for d in outputs))
    return tuple(results)
