"""Trains a small network in scikit-learn and writes FOLDER/float.onnx and FOLDER/samples.npz.

python from_sklearn.py FOLDER         (pip install scikit-learn skl2onnx)
"""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
import onnx
from onnx.utils import Extractor
from skl2onnx import to_onnx
from sklearn.datasets import load_digits
from sklearn.neural_network import MLPClassifier

folder = Path(sys.argv[1])
folder.mkdir(parents=True, exist_ok=True)
digits = load_digits()
x, labels = (digits.data / 16).astype(np.float32), digits.target
network = MLPClassifier((32,), random_state=0, max_iter=100).fit(x[300:], labels[300:])

# Without zipmap, which makes dictionaries of the scores, and without what makes a label of them.
model = to_onnx(network, x[:1], options={id(network): {"zipmap": False}}, target_opset=17)
scores = model.graph.output[1].name
model = Extractor(model).extract_model([model.graph.input[0].name], [scores])
onnx.save(model, folder / "float.onnx")
np.savez(folder / "samples.npz", in0=x[:300, None], labels=labels[:300])
