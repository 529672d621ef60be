"""Records what TFLite-Micro computes for test_streaming_models.py.

Run by hand where the package is installed, which no test needs:

    pip install tflite-micro
    python -m tests.models.record_streaming
"""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from models.streaming_models import FOLDER, MODELS, RECORDED, windows, with_inner_output
from tflite_models import Array


def _micro(content: bytes, given: Array) -> Array:
    from tflite_micro.python.tflite_micro import runtime

    interpreter = runtime.Interpreter.from_bytes(content)
    found = []
    for window in given:
        interpreter.set_input(window, 0)
        interpreter.invoke()
        found.append(interpreter.get_output(0))
    return np.stack(found)


def main() -> None:
    """Writes windows and outputs, by the models' names."""
    found = {}
    for name in MODELS:
        content = (FOLDER / f"{name}.tflite").read_bytes()
        found[f"{name}:x"] = windows((1, 3, 40))
        found[f"{name}:y"] = _micro(content, found[f"{name}:x"])
        found[f"{name}:inner"] = _micro(with_inner_output(content), found[f"{name}:x"])
    np.savez_compressed(RECORDED, **found)
    print({key: len(np.unique(value)) for key, value in found.items()})


if __name__ == "__main__":
    main()
