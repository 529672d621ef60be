"""TreeEnsemble: each row of features goes down each tree, and the leaves' weights are summed in the
order of the trees."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any, cast

import numpy as np

from mcu_deploy.arithmetic import Array
from mcu_deploy.backends.CpuRef.kernels.base import Kernel, compute, helper, render
from mcu_deploy.backends.CpuRef.kernels.tree_tables import Tables, tables_of
from mcu_deploy.backends.interface import (
    YES,
    CFunction,
    Constant,
    Layer,
    Support,
    Target,
    Workload,
    no,
)
from mcu_deploy.backends.kit.literals import literal
from mcu_deploy.backends.kit.loops import counter
from mcu_deploy.backends.kit.stems import sizes, stem
from mcu_deploy.ir import DType
from mcu_deploy.operators.trees import MAX, MIN, SUM, Forest, NoForest, aggregate_of

_REAL = (DType.FLOAT32, DType.FLOAT64)
_WHOLE = (DType.INT8, DType.UINT8, DType.INT16, DType.UINT16, DType.INT32, DType.UINT32,
          DType.INT64, DType.UINT64)  # fmt: skip

# Cores that load a word from its own address alone, and so no two narrow ones at once.
_ALIGNED = ("cortex-m0", "cortex-m0plus", "cortex-m23")


def supports(layer: Layer) -> Support:
    x, y, count = layer.input(0).type, layer.output.type, layer.attributes.get("n_targets", 1)
    if y.dtype not in _REAL or x.dtype not in (y.dtype, *_WHOLE):
        return no(f"it computes float32 and float64 of such, or of integers, not {x}")
    if x.rank != 2 or y.shape != (x.shape[0], count):
        return no("its shapes do not fit together")
    try:
        forest = Forest.of(layer.attributes)
        forest.check(x.shape[1], count)
    except NoForest as wrong:
        return no(str(wrong))
    aggregate = aggregate_of(layer.attributes)
    if aggregate not in (SUM, MIN, MAX) or layer.attributes.get("post_transform", 0):
        return no("it gives sums, least or largest weights, without a transform")
    if forest.splits.dtype != x.dtype.numpy or forest.weights.dtype != y.dtype.numpy:
        return no("its splits are of other numbers than its input, or its weights than its output")
    if aggregate != SUM and (forest.starts[1:] == forest.starts[:-1]).any():
        return no("its least or largest leaf is wanted, and some have no weights")
    return YES if tables(layer) is not None else no("its trees are too large")


def tables(layer: Layer) -> Tables | None:
    """The tables of a layer, made once; None where its trees are too large."""
    if "trees" not in layer.known:
        count = int(layer.attributes.get("n_targets", 1))
        layer.known["trees"] = tables_of(compared(layer), count)
    found: Tables | None = layer.known["trees"]
    return found


def compared(layer: Layer) -> Forest:
    """A layer's trees with the splits as they are compared: ranks where `rank` says so."""
    forest = Forest.of(layer.attributes)
    if rank(layer) is None:
        return forest
    # -0 is where 0 is
    return replace(forest, splits=_ranks(forest.splits + forest.splits.dtype.type(0)))


def rank(layer: Layer) -> CFunction | None:
    """The function by which features are integers, for a core that compares real numbers by a
    library; None where they are compared as they are, as where NaN goes below."""
    dtype, forest = layer.input(0).type.dtype, Forest.of(layer.attributes)
    if not dtype.is_float or has_instructions(dtype, layer.target):
        return None
    if forest.lost_below.any() or np.isnan(forest.splits).any():
        return None
    return helper(
        "tree_rank.c.j2", bits=dtype.bits, ctype=dtype.c_type, least=literal(_least(dtype.numpy))
    )


def has_instructions(dtype: DType, target: Target) -> bool:
    """Whether a core compares such real numbers by itself."""
    return dtype is DType.FLOAT32 and target.fpu


def _least(dtype: np.dtype[Any]) -> np.unsignedinteger[Any]:
    """What stands for minus infinity before all is counted from it."""
    bits = np.array(-np.inf, dtype).view(f"u{dtype.itemsize}")
    half = bits.dtype.type((1 << (8 * dtype.itemsize - 1)) - 1)
    return cast(np.unsignedinteger[Any], (bits ^ half)[()])


def _ranks(numbers: Array) -> Array:
    """As the C in tree_rank.c.j2."""
    bits = numbers.view(f"i{numbers.itemsize}")
    unsigned = f"u{numbers.itemsize}"
    rising = bits.view(unsigned) ^ ((bits >> (8 * numbers.itemsize - 1)).view(unsigned) >> 1)
    return np.asarray(rising - _least(numbers.dtype))


def keeps(layer: Layer) -> str:
    """C's operator by which a value that is there stays in place of a new one; empty where they
    are summed."""
    return {MIN: "<=", MAX: ">="}.get(aggregate_of(layer.attributes), "")


def nothing(layer: Layer) -> str:
    """C for a target's value before the first tree."""
    ctype = layer.output.type.dtype.c_type
    if keeps(layer):
        return f"({ctype})NAN"
    return "0.0F" if ctype == "float" else "0.0"


def computed(layer: Layer, name: str, body: str, constants: Sequence[Constant] = ()) -> Workload:
    """The workload by a function with this body, which may use `nothing` and `rank`."""
    ranked = rank(layer)
    helpers = () if ranked is None else (ranked,)
    headers = ("math.h",) if keeps(layer) else ()
    return compute(layer, name, body, constants, helpers, headers)


def _create(layer: Layer) -> Workload:
    x, y, made = layer.input(0).type, layer.output.type, tables(layer)
    assert made is not None, "asked for workloads of a layer that it does not support"
    body = render(
        "trees.c.j2", r=counter("r", x.shape[0]), columns=x.shape[1], targets=y.shape[1],
        trees=len(made.roots), ctype=y.dtype.c_type,
        keeps=keeps(layer), nothing=nothing(layer),
        **_words(layer, made),
    )  # fmt: skip
    given = {
        "nodes": made.nodes, "roots": made.roots, "splits": made.splits,
        "items": made.items, "weights": made.weights,
    }  # fmt: skip
    constants = [
        Constant(name, table, max(4, table.itemsize))
        for name, table in given.items()
        if table is not None
    ]
    name = stem("trees", x.dtype.value, *sizes(y.shape))
    return computed(layer, name, body, constants)


def _words(layer: Layer, made: Tables) -> dict[str, object]:
    """How the template reads the words of nodes, leaves and items."""
    bits, value, ranked = made.bits, layer.input(0).type.dtype.c_type, rank(layer)
    word_bits, shift = 8 * made.nodes.itemsize, bits + made.is_marked
    flag = 1 << (word_bits - 1)
    place = f"node & 0x{(1 << bits) - 1:x}U" if bits else "0"
    feature = f"node >> {shift}"
    reads_pairs = word_bits == 16 and layer.target.core not in _ALIGNED
    if reads_pairs:  # of a node and the word behind it that leads above
        # Of leaves alone a split may fill the word.
        feature += f" & 0x{max(0, (flag >> shift) - 1):x}U"
    items, target_bits = made.items, made.target_bits
    if ranked is not None:
        value = f"uint{layer.input(0).type.dtype.bits}_t"
    return {
        "value": value, "v": f"x[{feature}]" if ranked is None else f"$tree_rank(x[{feature}])",
        "reads_pairs": reads_pairs, "word_bits": word_bits, "flag": f"0x{flag:x}U",
        "leaf_mask": f"0x{flag - 1:x}U",
        "split": f"({value})({place})" if made.splits is None else f"splits[{place}]",
        "above": _above(layer, made), "items": items is not None, "target_bits": target_bits,
        "item_word": "" if items is None else f"uint{8 * items.itemsize}_t",
        "target": f"said & 0x{(1 << target_bits) - 1:x}U" if target_bits else "0",
        "follows": f"0x{1 << target_bits:x}U",
    }  # fmt: skip


def _above(layer: Layer, made: Tables) -> str:
    """C for whether `v` leads to what is above `split`; it may be NaN."""
    if not layer.input(0).type.dtype.is_float or rank(layer) is not None:
        return "v > split"
    if made.is_marked:
        return f"v > split || (v != v && (node >> {made.bits} & 1U) == 0)"
    lost = Forest.of(layer.attributes).lost_below
    return "v > split" if lost.all() else "!(v <= split)"


KERNELS = (Kernel("TreeEnsemble", supports, _create, domain="ai.onnx.ml"),)
