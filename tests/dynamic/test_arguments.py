"""What a backend is given: a graph, printed by C as it sees it."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import graph_cases
import pytest
from dynamic import mock_objects
from dynamic.codec_cases import quantized_layer
from dynamic.worker_cases import created

from mcu_deploy.backends.layer import HOST, Target
from mcu_deploy.dynamic import codec
from mcu_deploy.ir import view

pytestmark = pytest.mark.needs_host_gcc

CONV = """\
conv opset 17 size 1 for cortex-m55 1 0 1 in 0 out 1
node 0 ::Conv conv in 0 2 - out 1
  kernel_shape 3 3
  group 1
  auto_pad 'SAME_UPPER'
  alpha 0.5
  activation 0 inf
  value dtype 0 shape 2 axis -1 data 01 00
  empty
  words 'a' 'ü'
  flag 3
edge 0 x dtype 1 shape 1 2 4 4 layout 0 2 3 1 q 0.100000001 -128 axis -1 from - to 0
edge 2 w dtype 1 shape 3 2 3 3 q 0.5 0 q 0.25 0 q 0.125 0 axis 0 data WEIGHTS from - to 0
edge 1 y dtype 1 shape 1 3 4 4 q 0.100000001 -128 axis -1 from 0 to
"""

PART = """\
net opset 17 size 1 for host 1 0 0 in 1 out 3 4
node 1 ::Sigmoid sigmoid1 in 1 out 2
node 2 ::Add add2 in 2 1 out 3
node 3 ::Mul mul3 in 2 3 out 4
edge 1 relu0_out dtype 9 shape 1 2 axis -1 from - to 1 2
edge 2 sigmoid1_out dtype 9 shape 1 2 axis -1 from 1 to 2 3
edge 3 add2_out dtype 9 shape 1 2 axis -1 from 2 to 3
edge 4 mul3_out dtype 9 shape 1 2 axis -1 from 3 to
"""


@pytest.fixture(autouse=True)
def order(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MOCK_Mock", "is_layer_supported dump")


def seen(message: tuple[dict[str, Any], list[memoryview]]) -> str:
    with created(mock_objects.compiled(), 5.0) as worker:
        answer, _ = worker.call("is_layer_supported", *message)
    return str(answer["reason"])


def test_a_layer() -> None:
    layer = replace(quantized_layer(), target=Target("cortex-m55", dsp=False, mve=True))
    weights = " ".join(f"{value:02x}" for value in range(54))
    assert seen(codec.encode_layer(layer)) == CONV.replace("WEIGHTS", weights)


def test_a_part_of_a_graph() -> None:
    """With its own ids, producers and consumers; the whole goes on behind it."""
    net = graph_cases.Net()
    relu = net.op("Relu", [net.input(1, 2)], (1, 2))
    sigmoid = net.op("Sigmoid", [relu], (1, 2))
    total = net.op("Add", [sigmoid, relu], (1, 2))
    product = net.op("Mul", [sigmoid, total], (1, 2))
    last = net.op("Add", [product, total], (1, 2))
    graph = net.finish(last)
    assert seen(codec.encode_view(view(graph, [1, 2, 3]), HOST)) == PART
