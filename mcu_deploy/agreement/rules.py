"""What is asked of a tensor before two values of it agree. docs/arithmetic.md, "Agreement".

Integers: every bit, as long as only integers lie before them. A sum of float32 depends on the order
of its terms, and a function of the C library on the library: behind one of these a quantized value
may lie one step away. float32: a share of the tensor's largest magnitude; narrower floats: a step.
Terms of a sum may cancel: what a layer writes may be far below them.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

import numpy as np

from mcu_deploy import interpreter, operators
from mcu_deploy.backends.layer import layer_of
from mcu_deploy.files.arrays import Array
from mcu_deploy.ir import DType, EdgeId, Graph, Node
from mcu_deploy.operators.base import evaluate

BITS, STEP, SHARE = "bits", "step", "share"
# Of the largest magnitude; the second one where a sum is longer than so many terms.
_FLOAT, _FLOAT_LONG, _LONG = 1e-5, 1e-4, 1000
# What is left of a float32 sum of terms that cancel: of a recurrent layer's, which lie around 1,
# and of products', as a share of the sum of their magnitudes.
_RECURRENT, _CANCELLED, _CANCELLED_SHARE = ("LSTM", "GRU", "RNN"), 1e-7, 1e-6


@dataclass(frozen=True)
class Rule:
    """kind: BITS, STEP or SHARE. limit: steps, or a share of the largest magnitude; least: what is
    allowed of values whatever their magnitude."""

    kind: str
    limit: float = 0.0
    least: float = 0.0

    def __str__(self) -> str:
        if self.kind == BITS:
            return "no difference"
        if self.kind == STEP:
            return "one step, as a float sum lies before"
        share = f"{self.limit:g} of the largest value"
        return f"{share}, or {self.least:.3g}" if self.least else share

    def broken(self, ours: Array, theirs: Array) -> Array:
        """Where two values of a tensor do not agree."""
        if self.kind == BITS:
            return np.asarray(ours != theirs)
        with np.errstate(invalid="ignore", over="ignore"):
            a, b = ours.astype(np.float64), theirs.astype(np.float64)
            limit = self.limit
            if self.kind == SHARE:
                finite = np.abs(b[np.isfinite(b)])
                limit = max(limit * (float(finite.max(initial=0.0)) or 1.0), self.least)
            fits = (np.abs(a - b) <= limit) | (a == b) | (np.isnan(a) & np.isnan(b))
        return np.asarray(~fits)


EQUAL = Rule(BITS)
ONE_STEP = Rule(STEP, 1.0)


@dataclass(frozen=True)
class _Before:
    """What lies before an edge: whether float results are rounded otherwise elsewhere; the terms of
    the longest sum."""

    loose: bool = False
    terms: int = 0


def rules(graph: Graph) -> dict[EdgeId, Rule]:
    """What is asked of every edge that a node writes, where a whole network is computed twice."""
    return {edge: _rule(graph, edge, before) for edge, before in _walk(graph).items()}


def judge_layer(
    graph: Graph, node: Node, edge: EdgeId, values: Mapping[EdgeId, Array], theirs: Array
) -> tuple[Rule, Array]:
    """What is asked of an edge that a node writes, where it is computed twice of the same inputs,
    and where its value and another one do not agree. values: of all that it reads and writes."""
    rule = _rule(graph, edge, _own(graph, node))
    wrong = rule.broken(values[edge], theirs)
    if rule.kind == SHARE and wrong.any():
        is_recurrent = node.op in _RECURRENT
        least = _CANCELLED if is_recurrent else _CANCELLED_SHARE * _terms(graph, node, values)
        rule = replace(rule, least=least)
        wrong = rule.broken(values[edge], theirs)
    return rule, wrong


def _terms(graph: Graph, node: Node, values: Mapping[EdgeId, Array]) -> float:
    """The largest sum of products' magnitudes that a layer of float32 adds up; 0 for others."""
    operator = operators.find(node.domain, node.op)
    call = interpreter.node_call(graph, node, values)
    if operator is None or not operator.has_weights or call.results[0].dtype is not DType.FLOAT32:
        return 0.0
    attributes = {k: v for k, v in call.attributes.items() if k != "activation"}
    magnitudes = tuple(None if v is None else np.abs(v) for v in call.values)
    (sums,) = evaluate(operator, replace(call, attributes=attributes, values=magnitudes))
    return float(sums[np.isfinite(sums)].max(initial=0.0))


def _rule(graph: Graph, edge: EdgeId, before: _Before) -> Rule:
    dtype = graph.type(edge).dtype
    if dtype.is_narrow and dtype.wide is DType.FLOAT32:
        return Rule(SHARE, dtype.step if before.loose else 0.0)
    if dtype.is_float:
        return Rule(SHARE, _FLOAT_LONG if before.terms > _LONG else _FLOAT)
    return ONE_STEP if before.loose else EQUAL


def _walk(graph: Graph) -> dict[EdgeId, _Before]:
    known: dict[EdgeId, _Before] = {}
    for node in graph.nodes:
        found = [_own(graph, node), *(known[e] for e in node.reads if e in known)]
        merged = _Before(any(b.loose for b in found), max(b.terms for b in found))
        known.update(dict.fromkeys(node.writes, merged))
    return known


def _own(graph: Graph, node: Node) -> _Before:
    """What a node itself adds."""
    inner = list(graph.subgraphs(node.id).values())
    operator, body = operators.find(node.domain, node.op), graph.body(node.id)
    if body is not None and (operator is None or (node.domain, node.op) == ("mcu", "Table")):
        inner.append(body)
    if inner:
        # No tensor between its nodes is compared: their roundings add up.
        found = [_own(g, each) for g in inner for each in g.nodes]
        return _Before(any(b.loose for b in found), sum(b.terms for b in found))
    real = any(graph.type(e).dtype.is_float for e in (*node.reads, *node.writes))
    if not real or (operator is not None and (operator.exact or operator.moves is not None)):
        return _Before()
    written = max(1, sum(graph.type(e).elements for e in node.writes))
    read = max((graph.type(e).elements for e in node.reads if graph.constant(e) is None), default=0)
    return _Before(True, max(layer_of(graph, node).macs, read) // written)
