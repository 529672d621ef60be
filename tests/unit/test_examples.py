"""The example that ships with the package is what its SOURCE.md says."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import onnxruntime as ort


def test_kws_samples_are_what_onnxruntime_answers(kws_dir: Path) -> None:
    options = ort.SessionOptions()
    options.graph_optimization_level = ort.GraphOptimizationLevel.ORT_DISABLE_ALL
    session = ort.InferenceSession(
        kws_dir / "model.onnx", options, providers=["CPUExecutionProvider"]
    )
    name = session.get_inputs()[0].name
    samples = np.load(kws_dir / "samples.npz")
    assert samples["in0"].shape == (8, 1, 49, 10, 1)
    answers = np.stack([session.run(None, {name: sample})[0] for sample in samples["in0"]])
    np.testing.assert_array_equal(answers, samples["ort0"])


def test_kws_labels_name_the_classes(kws_dir: Path) -> None:
    samples = np.load(kws_dir / "samples.npz")
    classes = (kws_dir / "classes.txt").read_text().split()
    assert len(classes) == samples["ort0"].shape[-1] == 12
    expected = ["no", "unknown", "silence", "stop", "no", "up", "right", "unknown"]
    assert [classes[label] for label in samples["labels"]] == expected
    np.testing.assert_array_equal(samples["ort0"][:, 0].argmax(axis=-1), samples["labels"])
