"""Records what TFLite-Micro and LiteRT compute for the cases of test_tflite.py,
test_tflite_plain.py, test_tflite_svdf.py, test_tflite_signal.py and test_tflite_detection.py.

Run by hand where the packages are installed, which no test needs:

    pip install tflite-micro ai-edge-litert
    python -m tests.operators.record_tflite

TFLite-Micro's reference kernels compute what it has; the rest, and the hybrid layers, LiteRT's.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from operators import detection_cases, signal_cases, svdf_cases, test_tflite_plain
from operators.tflite_cases import RECORDED, all_cases


def _micro(content: bytes, runs: Sequence[tuple[Any, ...]]) -> list[Any]:
    """The first output of each run, one after the other."""
    from tflite_micro.python.tflite_micro import runtime

    interpreter = runtime.Interpreter.from_bytes(content, arena_size=1 << 20)
    found = []
    for inputs in runs:
        for index, value in enumerate(inputs):
            interpreter.set_input(value, index)
        interpreter.invoke()
        found.append(interpreter.get_output(0))
    return found


def _litert(content: bytes, inputs: tuple[Any, ...], reference: bool = True) -> list[Any]:
    """reference: by its reference kernels, of which that of a SUM of int8 gives -1 (LiteRT 2.3)."""
    from ai_edge_litert.interpreter import Interpreter, OpResolverType

    plain = OpResolverType.BUILTIN_WITHOUT_DEFAULT_DELEGATES
    kind = OpResolverType.BUILTIN_REF if reference else plain
    interpreter = Interpreter(model_content=content, experimental_op_resolver_type=kind)
    interpreter.allocate_tensors()
    for detail, value in zip(interpreter.get_input_details(), inputs, strict=True):
        interpreter.set_tensor(detail["index"], value)
    interpreter.invoke()
    return [np.array(interpreter.get_tensor(d["index"])) for d in interpreter.get_output_details()]


def main() -> None:
    """Writes the outputs, by the cases' names."""
    found = {}
    for case in all_cases():
        if case.name.startswith(("hybrid", "LiteRT")):
            (found[case.name],) = _litert(case.content, case.inputs)
        else:
            (found[case.name],) = _micro(case.content, [case.inputs])
    np.savez_compressed(RECORDED, **found)
    print(f"{len(found)} outputs in {RECORDED}")
    record_plain()
    for recorded, made in (
        (svdf_cases.RECORDED, svdf_cases.streams()),
        (signal_cases.RECORDED, (*signal_cases.streams(), *signal_cases.kept())),
    ):
        streams = {
            stream.name: np.stack(_micro(stream.content, [(x,) for x in stream.inputs]))
            for stream in made
        }
        np.savez_compressed(recorded, **streams)
        print({name: len(np.unique(value)) for name, value in streams.items()})
    ends = {}
    for case in detection_cases.cases():
        *values, count = _litert(case.content, case.inputs)
        for value in values:
            value[:, int(count[0]) :] = 0  # LiteRT leaves there what was in its memory
        names = (f"{case.name} {output}" for output in detection_cases.OUTPUTS)
        ends |= dict(zip(names, (*values, count), strict=True))
    np.savez_compressed(detection_cases.RECORDED, **ends)
    print({name: int(value[0]) for name, value in ends.items() if name.endswith("count")})


def record_plain() -> None:
    """Of test_tflite_plain.py: all outputs, by `keys`."""
    found = {}
    for case in test_tflite_plain.all_cases():
        outputs = _litert(case.content, case.inputs, reference=False)
        found |= dict(zip(test_tflite_plain.keys(case, len(outputs)), outputs, strict=True))
    np.savez_compressed(test_tflite_plain.RECORDED, **found)
    print(f"{len(found)} outputs in {test_tflite_plain.RECORDED}")


if __name__ == "__main__":
    main()
