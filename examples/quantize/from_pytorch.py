"""Trains a small network in PyTorch and writes FOLDER/float.onnx and FOLDER/samples.npz.

python from_pytorch.py FOLDER         (pip install torch onnxscript scikit-learn)
"""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
import torch
from sklearn.datasets import load_digits
from torch import nn

folder = Path(sys.argv[1])
folder.mkdir(parents=True, exist_ok=True)
torch.manual_seed(0)
digits = load_digits()
x = torch.tensor(digits.images / 16, dtype=torch.float32)[:, None]
labels = torch.tensor(digits.target)
network = nn.Sequential(
    nn.Conv2d(1, 8, 3, padding=1), nn.BatchNorm2d(8), nn.ReLU(), nn.MaxPool2d(2),
    nn.Conv2d(8, 16, 3, padding=1), nn.BatchNorm2d(16), nn.ReLU(), nn.MaxPool2d(2),
    nn.Flatten(), nn.Linear(64, 10),
)  # fmt: skip
optimizer = torch.optim.Adam(network.parameters(), lr=0.01)
for _ in range(60):
    optimizer.zero_grad()
    nn.functional.cross_entropy(network(x[300:]), labels[300:]).backward()
    optimizer.step()

network.eval()  # batch normalization with what it learned, no dropout
torch.onnx.export(network, (x[:1],), folder / "float.onnx", dynamo=True, external_data=False)
np.savez(folder / "samples.npz", in0=x[:300, None].numpy(), labels=digits.target[:300])
