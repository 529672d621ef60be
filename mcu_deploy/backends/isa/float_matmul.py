"""Products of float32 matrices that are both computed: C lays the columns of the second out as the
stream of weights of a fully connected layer, whose kernel, a backend's own, multiplies the rows of
the first with it."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from mcu_deploy.backends import floats
from mcu_deploy.backends.floats.layers import BYTES, Product, is_of_floats, row_of, types_refusal
from mcu_deploy.backends.interface import Layer, Proposal, SubgraphView
from mcu_deploy.backends.isa.float_recurrent import DenseKernels
from mcu_deploy.backends.isa.window_rows import SCRATCH_BYTES
from mcu_deploy.backends.isa.window_tiles import TilePlan
from mcu_deploy.backends.isa.workloads import NATURAL, called
from mcu_deploy.backends.kit.kit import Kit
from mcu_deploy.backends.kit.loops import counters
from mcu_deploy.backends.kit.stems import stem
from mcu_deploy.backends.quantized.matrices import MatrixProduct, in_place
from mcu_deploy.ir import DType, TensorType

_KIT = Kit("floats", Path(floats.__file__).parent)

# Cycles of the C: of a matrix; of a part of a row that is copied, and of each word of it.
_MATRIX, _PART, _WORD = 60, 14, 2.0
_BODY_BYTES = 180


@dataclass(frozen=True)
class _Block:
    """So many neighbours of columns that are met at a time, from a column on. width: of the stream;
    filled: of that, columns that there are."""

    begin: int
    width: int
    filled: int
    count: int


def propose(
    view: SubgraphView, node: Layer, dense: DenseKernels, driver: Callable[..., Proposal]
) -> Sequence[Proposal] | str:
    """A product by itself. driver: as the backend's kernels are called."""
    a, b, y = node.input(0), node.input(1), node.output.type
    if not is_of_floats(node) or b.constant is not None:
        return ""
    if reason := types_refusal(a.type, b.type):
        return reason
    if a.constant is not None:
        return "its first matrix is constant"
    product = MatrixProduct(a.type, b.type, y)
    if not y.elements or not product.depth:
        return "there is nothing to compute"
    rows, depth, columns = product.rows, product.depth, product.columns
    code, plan = dense.assemble(
        Product(
            np.zeros((columns, depth, 1, 1), np.float32), np.zeros(columns, np.float32), depth, 1,
            row_of(rows), node.call.activation,
        ), node.target,
    )  # fmt: skip
    loops, times = product.loops, int(np.prod(product.loops.extents))
    kernel = called(
        f"rows_{rows}x{depth}x{columns}_f32{dense.suffix}",
        TensorType(DType.FLOAT32, (rows, depth)), TensorType(DType.FLOAT32, (rows, columns)),
        code, calls=times,
    )  # fmt: skip
    blocks = [*_blocks(plan, columns)]
    a_at, b_at, y_at = (loops.index(operand) for operand in range(3))
    body = _KIT.render(
        "matmul.c.j2", loops=counters("i", loops.extents), a_at=a_at, b_at=b_at, y_at=y_at,
        blocks=blocks, depth=depth, columns=columns, kernel=kernel.stem, behind=plan.stream_bytes,
    )  # fmt: skip
    parts = (1 + depth) * sum(block.count for block in blocks)
    copied = _MATRIX + _PART * parts + _WORD * plan.stream_bytes / BYTES
    return [driver(
        view.part([node.node.id]), stem("matmul", f"float32{dense.suffix}", rows, depth, columns),
        (body, _BODY_BYTES), (), [kernel], "matmul, float32", macs=node.macs,
        cycles=times * (code.time(node.target) + copied),
        scratch_bytes=plan.stream_bytes + SCRATCH_BYTES, in_place=in_place(node, product),
        layouts=NATURAL, operands={"a": 0, "b": 1},
    )]  # fmt: skip


def _blocks(plan: TilePlan, columns: int) -> Iterator[_Block]:
    """As the stream has them, neighbours of one width at once."""
    begin = 0
    for width, same in itertools.groupby(plan.lanes * count for count in plan.vectors):
        whole, rest = divmod(min(width * len([*same]), columns - begin), width)
        if whole:
            yield _Block(begin, width, width, whole)
        if rest:
            yield _Block(begin + width * whole, width, rest, 1)
        begin += width * whole + rest
