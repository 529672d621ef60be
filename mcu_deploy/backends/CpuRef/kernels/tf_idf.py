"""TfIdfVectorizer of integers: each n-gram of a row is searched among those of the pool."""

from __future__ import annotations

import numpy as np

from mcu_deploy.backends.CpuRef.kernels.base import Kernel, helper, render
from mcu_deploy.backends.CpuRef.kernels.whole import whole
from mcu_deploy.backends.interface import YES, Constant, Layer, Support, Workload, no
from mcu_deploy.backends.kit.loops import counter
from mcu_deploy.ir import DType
from mcu_deploy.operators.tf_idf import Gram, NoPool, Pool

# Tokens of a row: so many times as many are counted in 32 bits.
_TOKENS = 1 << 15


def _supports(layer: Layer) -> Support:
    x, y = layer.input(0).type, layer.output.type
    if x.dtype not in (DType.INT32, DType.INT64) or y.dtype is not DType.FLOAT32:
        return no(f"it computes float32 of int32 and int64, not of {x}")
    if x.rank not in (1, 2) or y.rank != x.rank or x.shape[:-1] != y.shape[:-1]:
        return no("its shapes do not fit together")
    if x.shape[-1] > _TOKENS:
        return no(f"its rows have more than {_TOKENS} tokens")
    try:
        pool = Pool.of(layer.attributes)
    except NoPool as wrong:
        return no(str(wrong))
    places = [gram.place for grams in pool.grams.values() for gram in grams]
    return YES if max(places, default=0) < y.shape[-1] else no("its shapes do not fit together")


def _create(layer: Layer) -> Workload:
    x, y, pool = layer.input(0).type, layer.output.type, Pool.of(layer.attributes)
    size, integers = x.shape[-1], np.iinfo(x.dtype.numpy)
    searched: dict[int, list[Gram]] = {}
    for length, grams in pool.grams.items():
        there = [g for g in grams if all(integers.min <= t <= integers.max for t in g.tokens)]
        if there and length <= size:
            searched[length] = sorted(there, key=lambda gram: gram.tokens)
    every = [gram for grams in searched.values() for gram in grams]
    longer = [length for length in searched if length > 1]
    steps = min(pool.steps, (size - 1) // (longer[0] - 1)) if longer else 1
    weights = np.array([gram.weight for gram in every], np.float32)
    tokens = _narrow([token for gram in every for token in gram.tokens])
    constants = [
        Constant("pool", tokens, max(4, tokens.itemsize)),
        Constant("places", _narrow([g.place for g in every])),
    ]
    if (weights != 1).any():
        constants.append(Constant("weights", weights))
    body = render(
        "tf_idf.c.j2", r=counter("r", y.elements // y.shape[-1]), n=counter("n", y.shape[-1]),
        s=counter("s", steps), at=counter("at", size), size=size, width=y.shape[-1],
        searched={length: len(grams) for length, grams in searched.items()},
        adds="=" if pool.keeps else "+=", is_weighted=len(constants) > 2,
    )  # fmt: skip
    found = helper("gram.c.j2", ctype=x.dtype.c_type, pool_type=f"int{8 * tokens.itemsize}_t")
    return whole(
        layer, body, constants=constants if every else (), helpers=(found,) if every else ()
    )


def _narrow(numbers: list[int]) -> np.ndarray:
    """Integers in the narrowest signed type that has them all."""
    for dtype in (np.int8, np.int16, np.int32):
        bounds = np.iinfo(dtype)
        if bounds.min <= min(numbers, default=0) and max(numbers, default=0) <= bounds.max:
            return np.array(numbers, dtype)
    return np.array(numbers, np.int64)


KERNELS = (Kernel("TfIdfVectorizer", _supports, _create),)
