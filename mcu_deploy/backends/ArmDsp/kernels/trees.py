"""Ensembles of trees over integers of 8 or 16 bits, whose sums are float32, as code.

The trees are subroutines that are called in turn and return from their leaves (tree_code.py); sums
are in S registers (tree_leaves.py), in the contract's order. The features that most nodes ask for
are in registers. Signed ones become unsigned first, in the scratch.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from contextlib import nullcontext
from dataclasses import replace

import numpy as np

from mcu_deploy.arithmetic import Array
from mcu_deploy.backends.ArmDsp.workloads import proposal
from mcu_deploy.backends.interface import Constant, Layer, Proposal, SubgraphView
from mcu_deploy.backends.isa import Assembly, Kind, Label, Register
from mcu_deploy.backends.isa.dsp.tree_code import Features, TreeCode
from mcu_deploy.backends.isa.dsp.tree_leaves import MOST_SUMS, Leaves
from mcu_deploy.backends.isa.operands import Memory
from mcu_deploy.backends.kit import stems
from mcu_deploy.ir import DType, TensorType
from mcu_deploy.operators.trees import SUM, Forest, NoForest, aggregate_of

OPERATORS = ("ai.onnx.ml::TreeEnsemble",)

_UNSIGNED, _SIGNED = (DType.UINT8, DType.UINT16), (DType.INT8, DType.INT16)
_MOST_NODES, _MOST_LEVELS = 8192, 100
_MOST_BYTES = 4095  # of a row, which offsets reach
_REACH = 32  # features behind a base that short loads reach
_HELD = 7  # registers of features, or of another base
_SATURATED = 255  # what larger integers of 16 bits become, where all splits are below
_UNROLLED = 2  # rounds of four words


def propose(view: SubgraphView, node: Layer) -> Sequence[Proposal] | str:
    """A layer by itself."""
    if reason := _refusal(node):
        return reason
    x, y = node.input(0).type, node.output.type
    made = Trees(Forest.of(node.attributes), x, y.shape[1])
    return [
        proposal(
            view.part([node.node.id]), node.target,
            stems.stem("trees", f"{x.dtype.value}_dsp", *stems.sizes(y.shape)), made.code,
            [Constant("weights", made.weights)], "trees as code", scratch_bytes=made.scratch_bytes,
        )
    ]  # fmt: skip


def _refusal(layer: Layer) -> str:
    """Why the kernel does not compute a layer, a clause; empty where it does."""
    x, y = layer.input(0).type, layer.output.type
    if x.dtype not in (*_UNSIGNED, *_SIGNED) or y.dtype is not DType.FLOAT32:
        return "it takes features that are integers of 8 or 16 bits, and gives float32"
    if not layer.target.fpu:
        return f"it adds in float32, which this {layer.target.core} has no FPU for"
    if aggregate_of(layer.attributes) != SUM or layer.attributes.get("post_transform", 0):
        return "it gives sums, without a transform"
    if x.rank != 2 or y.rank != 2 or not y.elements or x.shape[0] != y.shape[0]:
        return "there is nothing to compute"
    try:
        forest = Forest.of(layer.attributes)
        forest.check(x.shape[1], y.shape[1])
    except NoForest as wrong:
        return str(wrong)
    if forest.splits.dtype != x.dtype.numpy or forest.weights.dtype != y.dtype.numpy:
        return "its splits are of other numbers than its input, or its weights than its output"
    if y.shape[1] > MOST_SUMS or x.shape[1] * x.dtype.bytes > _MOST_BYTES:
        return f"it takes up to {MOST_SUMS} targets, and rows of up to {_MOST_BYTES} bytes"
    if forest.nodes_of_trees > _MOST_NODES or forest.depth > _MOST_LEVELS:
        return f"it takes up to {_MOST_NODES} nodes, on {_MOST_LEVELS} levels"
    return ""


class Trees:
    """The kernel: y[r][t] = the sum of the weights that trees give to target t for x[r].

    weights: what it reads. scratch_bytes: for a row of features that were signed.
    """

    def __init__(self, forest: Forest, x: TensorType, targets: int) -> None:
        code = self.code = Assembly()
        self._type, (self._rows, columns) = x.dtype, x.shape
        self._is_signed, self._row_bytes = x.dtype in _SIGNED, columns * x.dtype.bytes
        self.scratch_bytes = -(-self._row_bytes // 4) * 4 if self._is_signed else 0
        self._is_saturated, splits = _unsigned(forest.splits)
        self._forest = replace(forest, splits=splits)
        code.note("y[r][t] = the sum of the weights that trees give to t. weights: these, float32;")
        code.note("then items of leaves: a weight, whether another item follows, a target.")
        names = "x y weights scratch" if self._is_signed else "x y weights"
        self._given, self._y, weights, *_ = arguments = code.arguments(names)
        self._x = arguments[3 if self._is_signed else 0]
        self._free, table = code.register("free"), code.register("table", "r8")
        self._next_x, self._next_y, self._left = code.registers(
            "next_x next_y rows_left", kind=Kind.SINGLE
        )
        code.mov(table, weights)
        trees = [(code.label(), code.label()) for _ in forest.roots]
        leaves = Leaves(code, forest, targets, table, [back for _, back in trees])
        features = self._run(leaves, trees)
        done = code.label()
        code.b(done)
        with code.times(self._rows):
            leaves.routine()
            writing = TreeCode(code, self._forest, features, leaves)
            for (tree, _), root in zip(trees, forest.roots.tolist(), strict=True):
                code.place(tree)
                writing.tree(root)
            writing.finish()
        code.place(done)
        self.weights = leaves.table

    def _run(self, leaves: Leaves, trees: Sequence[tuple[Label, Label]]) -> Features:
        """Calls the trees for each row; gives where they find features."""
        code, free, y = self.code, self._free, self._y
        leaves.load()
        code.vmov(self._next_y, y)
        if self._is_signed:
            code.vmov(self._next_x, self._given)
        if self._rows > 1:
            code.number(free, self._rows)
            code.vmov(self._left, free)
        with code.repeat(self._rows) if self._rows > 1 else nullcontext():
            if self._is_signed:
                self._make_unsigned()
            features = self._features()
            code.movs(free, 0)
            for total in leaves.sums:
                code.vmov(total, free)
            for tree, back in trees:
                code.bl(tree)
                code.place(back)
            code.vmov(y, self._next_y)
            code.vstmia(y.moving, leaves.sums)
            if self._rows > 1:
                code.vmov(self._next_y, y)
                if not self._is_signed:
                    code.offset(self._x, self._row_bytes, free)
                code.vmov(free, self._left)
                code.subs(free, free, 1)
                code.vmov(self._left, free)
        return features

    def _features(self) -> Features:
        """Loads those that most nodes ask for, and a base of others that are far."""
        code, size = self.code, self._type.bytes
        load = "ldrb" if size == 1 else "ldrh"
        uses = Counter(self._forest.features.tolist())
        held = [f for f, _ in uses.most_common(_HELD - (max(uses) >= _REACH))]
        blocks = Counter(f // _REACH * _REACH for f in uses.elements() if f not in held)
        del blocks[0]
        block = max(blocks, key=lambda b: blocks[b], default=0)
        base = code.register("x_base") if block else self._x
        code.offset(base, block * size, self._free, self._x)

        def memory(feature: int) -> Memory:
            if block <= feature < block + _REACH:
                return base[(feature - block) * size]
            return self._x[feature * size]

        # The last one is compared in 32 bits.
        places = [""] * (len(held) - 1) + ["r12"]
        registers = {f: code.register(f"x{f}", at) for f, at in zip(held, places, strict=True)}
        for feature, register in registers.items():
            getattr(code, load)(register, memory(feature))
        return Features(registers, memory, load)

    def _make_unsigned(self) -> None:
        """A row of signed features, to the scratch."""
        code, size, words = self.code, self._type.bytes, self.code.registers("w0 w1 w2 w3")
        source, into, left, flip = code.registers("source into rounds_left flip")
        is_aligned = self._rows == 1 or self._row_bytes % 4 == 0
        code.vmov(source, self._next_x)
        code.mov(into, self._x)
        if not self._is_saturated:
            code.number(flip, 0x8080_8080 if size == 1 else 0x8000_8000)

        def change(word: Register) -> None:
            if self._is_saturated:
                code.usat16(word, 8, word)
            else:
                code.eor(word, word, flip)

        def four() -> None:
            if is_aligned:
                code.ldmia(source.moving, words)
            for word in words:
                if not is_aligned:
                    code.ldr(word, source.after(4))
                change(word)
            code.stmia(into.moving, words)

        rounds, rest = divmod(self._row_bytes, 4 * len(words))
        if rounds > _UNROLLED:
            code.number(left, rounds // (_UNROLLED // 2))
        code.unroll(rounds, _UNROLLED, four, lambda: code.subs(left, left, 1))
        for load, store, step in (("ldr", "str", 4), ("ldrh", "strh", 2), ("ldrb", "strb", 1)):
            for _ in range(rest // step):
                getattr(code, load)(words[0], source.after(step))
                change(words[0])
                getattr(code, store)(words[0], into.after(step))
            rest %= step
        code.vmov(self._next_x, source)


def _unsigned(splits: Array) -> tuple[bool, Array]:
    """Whether features are saturated to bytes that are not negative, as none of the splits tells
    those apart that become one; and splits of unsigned features. Signed ones are counted from the
    least, where they are not saturated."""
    wide = splits.astype(np.int64)
    if splits.dtype.kind == "u":
        return False, wide
    if splits.itemsize == 2 and wide.min() >= 0 and wide.max() < _SATURATED:
        return True, wide
    return False, wide - np.iinfo(splits.dtype).min
