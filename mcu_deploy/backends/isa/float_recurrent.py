"""LSTM, GRU and RNN of float32, with weights of float32 or of int8: the products of a step are
those of fully connected layers, one of the input and one of the hidden state, and the rest is C. A
GRU that multiplies the state by the reset gate first has a third one, of its last gate. The kernels
of fully connected layers are a backend's own.

A gate's sum is that of the input, from the bias on, and that of the hidden state, from 0.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from mcu_deploy.arithmetic import Array
from mcu_deploy.backends.floats import recurrent as shared
from mcu_deploy.backends.floats.layers import BYTES, Product, row_of
from mcu_deploy.backends.floats.tiles import packed
from mcu_deploy.backends.interface import (
    CFunction,
    Constant,
    Costs,
    Layer,
    Price,
    Proposal,
    SubgraphView,
    Target,
    Workload,
)
from mcu_deploy.backends.isa.assembly import Assembly
from mcu_deploy.backends.isa.window_rows import SCRATCH_BYTES
from mcu_deploy.backends.isa.window_tiles import TilePlan
from mcu_deploy.backends.isa.workloads import NATURAL, Called, called
from mcu_deploy.backends.kit.arguments import Prototype
from mcu_deploy.backends.kit.loops import counter, plus, times
from mcu_deploy.ir import DType, TensorType
from mcu_deploy.operators import recurrent
from mcu_deploy.operators.recurrent import Recurrence, recurrence

# Cycles of the C of a step for each unit, most of them of powers of e; what others than a Cortex-M4
# take of these; cycles of a call; bytes of the C.
_UNIT: Mapping[str, int] = {"LSTM": 265, "GRU": 190, "RNN": 55}
_CORES = {"cortex-m7": 1.0, "cortex-m33": 0.86, "cortex-m55": 1.72}
_CALL, _BODY_BYTES = 40, 350


@dataclass(frozen=True)
class DenseKernels:
    """The kernels of fully connected layers of one row that a backend has. backend: its id; suffix:
    of functions' names; lanes: of a vector; assemble: the kernel that is best for a target."""

    backend: str
    suffix: str
    lanes: int
    assemble: Callable[[Product, Target], tuple[Assembly, TilePlan]]


@dataclass(frozen=True)
class _Rows:
    """A product of each step. products: of each direction; array: what their stream is called; x,
    y: in C what is multiplied, and where the results go."""

    dense: DenseKernels
    array: str
    products: tuple[Product, ...]
    x: str
    y: str
    code: Assembly
    plan: TilePlan

    @property
    def kernel(self) -> Called:
        product = self.products[0]
        stem = f"dense_{product.depth}x{product.filters}_{product.kind}{self.dense.suffix}"
        x, y = (TensorType(DType.FLOAT32, (n,)) for n in (product.depth, product.filters))
        return called(stem, x, y, self.code)

    def call(self, scratch: str) -> str:
        """C; scratch: where the kernel's begins."""
        d = counter("d", len(self.products))
        stream = plus(self.array, times(d, self.plan.stream_bytes // BYTES))
        return f"${self.kernel.stem}({self.x}, {self.y}, {stream}, (uint8_t *)({scratch}));"

    def packed(self) -> Constant:
        streams = [
            packed(product, self.plan.vectors, self.dense.lanes) for product in self.products
        ]
        return Constant(self.array, np.concatenate(streams).view(np.uint32))


def propose(view: SubgraphView, node: Layer, dense: DenseKernels) -> Sequence[Proposal] | str:
    """A recurrent layer by itself."""
    supported = shared.supports(node)
    if not supported:
        return supported.reason
    if shared.are_computed(node):
        return "its weights or its biases are computed at run time"
    r = recurrence(node.call)
    rows = _rows(node, r, dense)
    code = {key: size for one in rows for key, size in one.kernel.bytes.items()}
    steps, core = r.steps * r.batch * r.directions, node.target.core
    cycles = _UNIT[r.op] * _CORES.get(core, 1) * r.hidden
    cycles += sum(one.code.time(node.target) + _CALL for one in rows)
    flash = sum(one.plan.stream_bytes for one in rows) * r.directions
    waits = round(steps * sum(one.code.waits(node.target) for one in rows))
    costs = Costs(node.macs, cycles=round(steps * cycles), flash=flash, waits=waits)
    made = shared.made(node, r, _products(r, rows, node, []))
    code |= {made.body: _BODY_BYTES}
    price = Price(costs, code, made.scratch_bytes, made.in_place)

    def make(layers: Sequence[Layer], _: object) -> tuple[Workload, ...]:
        (layer,) = layers
        functions = {one.kernel.stem: one.kernel.function(layer.target) for one in rows}
        found = shared.made(layer, r, _products(r, rows, layer, [*functions.values()]))
        given = found.given
        stem = f"{found.stem}{dense.suffix}"
        function = CFunction(stem, tuple(given.parameters), found.body)
        return (
            Workload(
                dense.backend, function, tuple(given.arguments), tuple(given.constants),
                found.helpers, found.headers, found.scratch_bytes, found.in_place, costs,
            ),
        )  # fmt: skip

    title = f"{r.op}, {rows[0].products[0].title}"
    return [Proposal(view.part([node.node.id]), price, make, layouts=NATURAL, title=title)]


def _products(
    r: Recurrence, rows: Sequence[_Rows], layer: Layer, kernels: Sequence[CFunction]
) -> shared.GateProducts:
    def give(given: Prototype) -> None:
        given.array(*[one.packed() for one in rows])

    floats = 2 * r.rows
    scratch = plus("gates", floats)
    calls = {one.array.replace("_weights", ""): one.call(scratch) for one in rows}
    values = {
        **calls, "first_row": "",
        "from_x": lambda bias, row: f"gates[{row}]",
        "from_h": lambda start, row, state: (
            f"of_h[{row}]" if start.startswith("bias") else f"{start} + of_h[{row}]"
        ),
    }  # fmt: skip
    kind = "weights8" if layer.domain == "mcu" else "float32"
    return shared.GateProducts(
        kind, give, tuple(kernels), floats + SCRATCH_BYTES // BYTES, 0, values
    )  # fmt: skip


def _rows(layer: Layer, r: Recurrence, dense: DenseKernels) -> list[_Rows]:
    hidden, biases = r.hidden, shared.bias_of(layer, r)
    of_h = np.zeros((r.directions, r.rows), np.float32)
    if r.linear_before_reset:
        of_h[:, 2 * hidden :] = biases[:, r.rows :]
    found = [_of(dense, layer, "of_x_weights", recurrent.W, slice(r.rows), biases, "at", "gates")]
    split = 2 * hidden if r.op == "GRU" and not r.linear_before_reset else r.rows
    found.append(_of(dense, layer, "of_h_weights", recurrent.R, slice(split), of_h, "h", "of_h"))
    if split < r.rows:
        rest = slice(split, r.rows)
        y = plus("of_h", split)
        found.append(_of(dense, layer, "of_reset_weights", recurrent.R, rest, of_h, "reset", y))
    return found


def _of(
    dense: DenseKernels, layer: Layer, array: str, index: int, rows: slice, biases: Array,
    x: str, y: str,
) -> _Rows:  # fmt: skip
    """The product of some rows of W or of R. biases: [direction, row]."""
    operand = layer.input(index)
    scales: Array | None = None
    if layer.domain == "mcu":
        scales = np.broadcast_to(operand.type.scaling.scales, operand.type.shape[:2])
    products = tuple(
        Product(
            np.ascontiguousarray(weights[rows, :, None, None]), bias[rows], weights.shape[1], 1,
            row_of(1), (-np.inf, np.inf), None if scales is None else scales[d, rows],
        )
        for d, (weights, bias) in enumerate(zip(operand.value, biases, strict=True))
    )  # fmt: skip
    code, plan = dense.assemble(products[0], layer.target)
    return _Rows(dense, array, products, x, y, code, plan)
