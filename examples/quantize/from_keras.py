"""Trains a small network in Keras and writes FOLDER/int8.tflite and FOLDER/int8.npz.

python from_keras.py FOLDER           (pip install tensorflow scikit-learn)
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path

import keras
import numpy as np
import tensorflow as tf
from sklearn.datasets import load_digits

folder = Path(sys.argv[1])
folder.mkdir(parents=True, exist_ok=True)
keras.utils.set_random_seed(0)
digits = load_digits()
x, labels = (digits.images[..., None] / 16).astype(np.float32), digits.target
layers = keras.layers
network = keras.Sequential(
    [
        layers.Input((8, 8, 1), batch_size=1),
        layers.Conv2D(8, 3, padding="same", activation="relu"), layers.MaxPool2D(2),
        layers.Conv2D(16, 3, padding="same", activation="relu"), layers.MaxPool2D(2),
        layers.Flatten(), layers.Dense(10, activation="softmax"),
    ]
)  # fmt: skip
trained = keras.Sequential([layers.Input((8, 8, 1)), *network.layers])
trained.compile("adam", "sparse_categorical_crossentropy")
trained.fit(x[300:], labels[300:], epochs=20, verbose=0)


def samples() -> Iterator[list[np.ndarray]]:
    """What the converter finds the scales by."""
    for sample in x[300:600]:
        yield [sample[None]]


converter = tf.lite.TFLiteConverter.from_keras_model(network)
converter.optimizations = [tf.lite.Optimize.DEFAULT]
converter.representative_dataset = samples
converter.target_spec.supported_ops = [tf.lite.OpsSet.TFLITE_BUILTINS_INT8]
converter.inference_input_type = converter.inference_output_type = tf.int8
(folder / "int8.tflite").write_bytes(converter.convert())

# What a program on the microcontroller does as well: real numbers by the input's scale, to int8.
interpreter = tf.lite.Interpreter(str(folder / "int8.tflite"))
scale, zero_point = interpreter.get_input_details()[0]["quantization"]
quantized = np.clip(np.rint(x[:300] / scale) + zero_point, -128, 127).astype(np.int8)
np.savez(folder / "int8.npz", in0=quantized[:, None], labels=labels[:300])
