"""Compiled models for the tests of .pmx files, and contents with a checksum that fits."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

from mcu_deploy import pmx
from mcu_deploy.backends.interface import CreationOptions
from mcu_deploy.boards import load_board
from mcu_deploy.compiled import Network
from mcu_deploy.compiler import compile_model
from mcu_deploy.options import Options, PartitionRequest, Requests
from mcu_deploy.pmx import file
from mcu_deploy.session import Session

BOARD = "mps2-an386"


def session() -> Session:
    """With the built-in backends only: nothing is searched for."""
    return Session(options=CreationOptions(dynamic_backends=False))


def compiled(
    path: Path, options: Options | None = None, name: str | None = None, board: str = BOARD
) -> Network:
    """A model, or what a .pmx file holds, up to its C source."""
    with session() as own:
        return compile_model(path, load_board(board), name=name, session=own, options=options)


def packed(network: Network, *, compress: bool = False) -> bytes:
    """The .pmx file of a network."""
    with session() as own:
        return pmx.pack(network, own, compress=compress)


def content_of(raw: bytes) -> tuple[Any, bytes]:
    """The tree and the data of a sound file."""
    tree, data = file.unwrap(raw, Path("sound.pmx"))
    return tree, bytes(data)


def small_model(folder: Path) -> Path:
    """A convolution with a fused Relu, a pool, a branch and a layer of weights: 3 kB, all kinds."""
    rng = np.random.default_rng(7)

    def weights(name: str, *shape: int) -> onnx.TensorProto:
        return numpy_helper.from_array(rng.normal(size=shape).astype(np.float32), name)

    graph = helper.make_graph(
        [
            helper.make_node("Conv", ["x", "w", "b"], ["conv"], "conv", pads=[1, 1, 1, 1]),
            helper.make_node("Relu", ["conv"], ["relu"], "relu"),
            helper.make_node("MaxPool", ["relu"], ["pool"], "pool", kernel_shape=[2, 2],
                             strides=[2, 2]),
            helper.make_node("Sigmoid", ["pool"], ["gate"], "gate"),
            helper.make_node("Mul", ["pool", "gate"], ["gated"], "gated"),
            helper.make_node("Flatten", ["gated"], ["flat"], "flat"),
            helper.make_node("Gemm", ["flat", "w2", "b2"], ["y"], "gemm"),
        ],
        "small",
        [helper.make_tensor_value_info("x", TensorProto.FLOAT, [1, 2, 4, 4])],
        [helper.make_tensor_value_info("y", TensorProto.FLOAT, [1, 3])],
        [weights("w", 3, 2, 3, 3), weights("b", 3), weights("w2", 12, 3), weights("b2", 3)],
    )  # fmt: skip
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)
    path = folder / "small.onnx"
    onnx.save(model, str(path))
    return path


def small_network(folder: Path, memory: str = "offline") -> Network:
    """The small model with a kept tensor and two partitions, by CpuRef, whose kernels read weights
    in another order of axes than the model has."""
    requests = Requests(
        keep=("gate",),
        partitions=(
            PartitionRequest("head", ("x",), ("pool",)),
            PartitionRequest("tail", ("pool",), ("y",)),
        ),
    )
    options = Options(requests=requests, memory=memory, backends=("CpuRef",))
    return compiled(small_model(folder), options)
