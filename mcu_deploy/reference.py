"""onnxruntime as the second opinion: its session options are pinned, its version is reported."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from mcu_deploy.errors import ModelError
from mcu_deploy.samples import Array


@dataclass(frozen=True)
class Reference:
    """onnxruntime's outputs: outputs[s][o] is output o of sample s."""

    outputs: tuple[tuple[Array, ...], ...]
    version: str
    settings: str


_SETTINGS = "graph optimisation off, one thread, CPU"


def run_onnxruntime(model: Path, samples: Sequence[Sequence[Array]]) -> Reference:
    """Runs a model on the CPU provider.

    Graph optimisation is off: every operator is computed as the model says it, in the same way on
    every processor (the optimised integer kernels depend on VNNI, and session.x64quantprecision,
    which would repair that, fails in 1.31.1 on models whose biases share a zero point). Raises
    ModelError where onnxruntime refuses the model.
    """
    import onnxruntime

    options = onnxruntime.SessionOptions()
    options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL
    options.intra_op_num_threads = 1
    options.inter_op_num_threads = 1
    options.log_severity_level = 4
    try:
        session = onnxruntime.InferenceSession(
            str(model), options, providers=["CPUExecutionProvider"]
        )
        names = [i.name for i in session.get_inputs()]
        results = tuple(
            tuple(np.asarray(r) for r in session.run(None, dict(zip(names, inputs, strict=True))))
            for inputs in samples
        )
    except Exception as error:  # onnxruntime's exceptions share no base but Exception
        first = str(error).strip().splitlines()[0] if str(error).strip() else type(error).__name__
        raise ModelError(
            f"onnxruntime {onnxruntime.__version__} cannot run the model ({first}). "
            "Validate without it: --no-onnxruntime."
        ) from error
    return Reference(results, str(onnxruntime.__version__), _SETTINGS)
