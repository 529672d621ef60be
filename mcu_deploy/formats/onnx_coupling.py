"""Probabilities of classes from those of each two, found step by step as libsvm does.

Wu, Lin and Weng: Probability estimates for multi-class classification by pairwise coupling, 2004,
the second method.
"""

from __future__ import annotations

import itertools

import numpy as np
from onnx import TensorProto, helper

from mcu_deploy.formats.onnx_body import Body

_STEPS = 100
_CLOSE = 0.005


def coupled(b: Body, shares: str, rows: int, classes: int) -> str:
    """[rows, classes]: of [rows, pairs] probabilities of the first class of each two."""
    q = _matrix(b, shares, rows, classes)
    first = b.constant(np.full((rows, classes), 1 / np.float32(classes)), np.float32)
    going = b.constant(True, np.bool_)
    steps = b.constant(_STEPS, np.int64)
    inner = b.inner("step_")
    p, goes = _step(inner, q, rows, classes)
    infos = [
        helper.make_tensor_value_info(*info)
        for info in (
            ("step_number", TensorProto.INT64, ()), ("step_going", TensorProto.BOOL, ()),
            ("step_p", TensorProto.FLOAT, (rows, classes)),
        )
    ]  # fmt: skip
    results = [
        helper.make_tensor_value_info(goes, TensorProto.BOOL, ()),
        helper.make_tensor_value_info(p, TensorProto.FLOAT, (rows, classes)),
    ]
    body = helper.make_graph(inner.nodes, "step", infos, results)
    return b("Loop", steps, going, first, body=body)


def _matrix(b: Body, shares: str, rows: int, classes: int) -> str:
    """[rows, classes, classes]: of which the probabilities minimise p Q p."""
    pairs = [*itertools.combinations(range(classes), 2)]
    chosen = np.zeros((len(pairs), classes, classes), np.float32)
    base = np.zeros((classes, classes), np.float32)
    for place, (i, j) in enumerate(pairs):
        chosen[place, i, j], chosen[place, j, i], base[j, i] = 1, -1, 1
    flat = b("MatMul", shares, b.real(chosen.reshape(len(pairs), -1)))
    flat = b("Add", flat, b.real(base.reshape(-1)))
    of_two = b.reshape(flat, (rows, classes, classes))
    others = b("Neg", b("Mul", of_two, b.transpose(of_two, (0, 2, 1))))
    squares = b.reduced("ReduceSum", b("Mul", of_two, of_two), [1])
    own = b.constant(np.eye(classes, dtype=bool), np.bool_)
    return b("Where", own, squares, others)


def _step(b: Body, q: str, rows: int, classes: int) -> tuple[str, str]:
    """New probabilities, and whether any row still moves; rows that do not stay."""

    def column(x: str, index: int) -> str:
        return b("Gather", x, b.constant([index], np.int64), axis=1)

    p = "step_p"
    qp = b.reduced("ReduceSum", b("Mul", q, b.reshape(p, (rows, 1, classes))), [2], 0)
    pqp = b.reduced("ReduceSum", b("Mul", p, qp), [1])
    error = b.reduced("ReduceMax", b("Abs", b("Sub", qp, pqp)), [1])
    moves = b("Not", b("Less", error, b.real(_CLOSE / classes)))
    for index in range(classes):
        row = b.reshape(b("Gather", q, b.constant([index], np.int64), axis=1), (rows, classes))
        of_it, own = column(qp, index), column(row, index)
        by = b("Div", b("Sub", pqp, of_it), own)
        rest = b("Add", b.real(1), by)
        only = b.real(np.arange(classes) == index)
        grown = b("Add", p, b("Mul", by, only))
        twice = b("Add", b("Mul", by, own), b("Mul", b.real(2), of_it))
        pqp = b("Div", b("Div", b("Add", pqp, b("Mul", by, twice)), rest), rest)
        qp = b("Div", b("Add", qp, b("Mul", by, row)), rest)
        p = b("Div", grown, rest)
    going = b.reduced("ReduceMax", b.cast(moves), [0, 1], 0)
    return b("Where", moves, p, "step_p"), b("Greater", going, b.real(0))
