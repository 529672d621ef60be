"""1x1 convolution of int8 by one function for all layers: their sizes are numbers.

The products of a tile (see core.py) are a loop of eight steps of four channels, which a layer
enters in the middle if its steps are no multiple of eight; or, where flash counts most, of one
step. The first takes a few per cent longer than a function for the layer's own channels
(pointwise.py), the other a fifth; and a network of many shapes needs it once. For `size` there is a
third, which rounds in float32: a factor a filter is all that it needs for that, as CpuRef.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from mcu_deploy.arithmetic import Array
from mcu_deploy.backends.ArmDsp import core
from mcu_deploy.backends.ArmDsp.kernels import pointwise
from mcu_deploy.backends.ArmDsp.layers import Convolution, read
from mcu_deploy.backends.ArmDsp.product import Product
from mcu_deploy.backends.ArmDsp.six_sums import EVEN, ODD
from mcu_deploy.backends.ArmDsp.workloads import CHANNELS_LAST, workload
from mcu_deploy.backends.interface import (
    Constant,
    Costs,
    Layer,
    Price,
    Proposal,
    SubgraphView,
    Workload,
)
from mcu_deploy.backends.isa import Assembly

OPERATORS = ("Conv", "tflite::Conv")


class Way(NamedTuple):
    """steps: of the loop, of four channels each; is_real: it rounds in float32."""

    steps: int
    is_real: bool = False


WAYS = {"any": Way(8), "any_small": Way(1), "any_small_real": Way(1, is_real=True)}
_STEP_BYTES = 68
# Behind a tile's activations and `STATE`; then bytes that take results of pixels that do not exist.
_INPUT, _WEIGHTS, _TILES, _BACK, _CHANNELS, _FILTERS, _NOWHERE = 16, 20, 24, 28, 32, 36, 40


@dataclass(frozen=True, eq=False)
class Steps(Product):
    """The products, by a loop of so many `steps`. s9: where the first round begins; s10: the
    activations' end."""

    steps: int = 1
    end: str = ""

    @property
    def begins_early(self) -> bool:
        return False

    @property
    def first(self) -> int:
        """Steps of the first round."""
        return (self.pairs // 2 - 1) % self.steps + 1

    def multiply(self, code: Assembly) -> None:
        """The six sums: see core.py."""
        code("mov r0, r2", "mov r1, r2", "mov r3, r5", "mov r4, r5")
        if self.steps > 1:
            code("vmov r6, s9", "bx r6")
        rounds = -(-self.pairs // 2 // self.steps)
        with code.repeat(rounds):
            for step in range(self.steps, 0, -1):
                if self.steps > 1:
                    code.target()
                with code.times((rounds - (step > self.first)) / rounds):
                    self._step(code)
            if self.steps > 1:
                code.place(self.end)
            code("vmov r6, s10", "cmp r12, r6")

    def _step(self, code: Assembly) -> None:
        code("ldmia lr!, {r9, r10}")
        for word in ("r9", "r10"):
            code("ldmia r12!, {r6-r8}")
            core.multiply_add(code, ODD, word)
            code(f"sxtb16 {word}, {word}")
            core.multiply_add(code, EVEN, word)


def propose(view: SubgraphView, node: Layer) -> Sequence[Proposal] | str:
    """A 1x1 convolution by itself, by the loop, and by the chain if that is long enough."""
    layer = read(node)
    if isinstance(layer, str) or not layer.is_pixelwise or pointwise.refusal(layer):
        return ""
    part = view.part([node.node.id])
    may_be_real = layer.fixed is None and node.target.fpu
    ways = [kind for kind, way in WAYS.items() if may_be_real or not way.is_real]
    return [_proposal(part, layer, kind) for kind in ways]


def _proposal(part: SubgraphView, layer: Convolution, kind: str) -> Proposal:
    channels, filters = layer.x.shape[1], layer.y.shape[1]
    way = WAYS[kind]
    code = assemble(layer, way)
    stem = f"conv1x1_{kind}_dsp"
    product = _product(layer, way)
    bytes_ = product.constant_bytes + numbers(product).nbytes
    price = Price(
        Costs(layer.pixels * channels * filters, cycles=round(code.cycles), flash=bytes_),
        {f"{stem} {code.digest}": code.bytes},
        6 * channels + _NOWHERE + filters,
        (pointwise.in_place(layer),),
    )

    def make(layers: Sequence[Layer], _: Any) -> tuple[Workload, ...]:
        stream = np.concatenate([numbers(product), product.pack()])
        return (workload(layers[0], stem, code, (Constant("weights", stream),), price),)

    title = ", rounded in float32" * way.is_real
    return Proposal(
        part, price, make, layouts=CHANNELS_LAST, title=f"conv1x1 of any size{title}",
        only_for="size" if way.is_real else "",
    )  # fmt: skip


def _product(layer: Convolution, way: Way, end: str = "") -> Steps:
    """Its taps are in the order in which SXTB16 widens four bytes: (0, 2), (1, 3)."""
    filters, channels = layer.weights.shape[:2]
    order = np.arange(0, channels, 4)[:, None] + np.array([0, 2, 1, 3])
    weights = layer.weights.reshape(filters, channels)[:, order.reshape(-1)]
    return Steps(layer, weights, unrolls_all=True, is_real=way.is_real, steps=way.steps, end=end)


def numbers(product: Steps) -> Array:
    """What stands in front of the weights."""
    layer = product.layer
    filters, channels = layer.weights.shape[:2]
    rest = layer.pixels % 3
    values = [
        6 * channels, filters, filters - 2, 2 * filters - 2, -(-layer.pixels // 3),
        (3 - rest) % 3 * channels, channels, _STEP_BYTES * product.first,
    ]  # fmt: skip
    return np.array(values, np.uint32)


def assemble(layer: Convolution, way: Way) -> Assembly:
    """The kernel. r0: pixels, r1: output, r2: numbers and packed stream, r3: scratch.

    s8: a tile's activations, s9 and s10: as `Steps` has them.
    """
    channels = layer.weights.shape[1]
    code = Assembly()
    product = _product(layer, way, code.label())
    code.note("The layer's sizes go behind the pixels of a tile, to r12.")
    code("ldmia r2!, {r4-r11}", "add r12, r3, r4", "vmov s8, r3", "add r4, r1, r5")
    code("strd r1, r4, [r12]", "strd r6, r7, [r12, #8]", f"strd r8, r9, [r12, #{_TILES}]")
    code(f"str r0, [r12, #{_INPUT}]", f"str r2, [r12, #{_WEIGHTS}]")
    code(f"strd r10, r5, [r12, #{_CHANNELS}]", "vmov s10, r12")
    if way.steps > 1:
        code(f"adr r4, {product.end}f", "sub r4, r4, r11", "orr r4, r4, #1", "vmov s9, r4")
    code.note("Three pixels, widened to int16: two channels a word, of all three in turn.")
    with code.repeat(-(-layer.pixels // 3), "b"):
        code(f"ldr r9, [r12, #{_INPUT}]", f"ldr r8, [r12, #{_CHANNELS}]", "add r10, r9, r8")
        code("add r11, r10, r8", "mov r8, r10", "vmov lr, s8")
        with code.repeat(channels // 4):
            code("ldr r0, [r9], #4", "ldr r1, [r10], #4", "ldr r2, [r11], #4")
            code(*(f"{layer.extend} r{3 + n}, r{n}, ror #8" for n in range(3)))
            code(*(f"{layer.extend} r{n}, r{n}" for n in range(3)), "stmia lr!, {r0-r5}")
            code("cmp r9, r8")
        code("mov r12, lr", f"ldr lr, [r12, #{_WEIGHTS}]")
        core.assemble(product, code, "vmov r12, s8", multiply=product.multiply)
        done, ready = code.label(), code.label()
        code.note("The next three pixels.")
        code(f"ldrd r0, r5, [r12, #{_TILES}]", "ldr r1, [r12]", f"ldr r4, [r12, #{_INPUT}]")
        code(f"ldrd r2, r3, [r12, #{_CHANNELS}]", "subs r0, r0, #1", f"str r0, [r12, #{_TILES}]")
        code(f"beq {done}f", "add r2, r2, r2, lsl #1", "add r4, r4, r2", "add r1, r1, r3, lsl #1")
        # The last tile takes the last three pixels: those that others had go nowhere, one or two.
        code("cmp r0, #1", f"bne {ready}f", f"cbz r5, {ready}f")
        with code.rarely():
            two = code.label()
            code("sub r4, r4, r5", f"add r6, r12, #{_NOWHERE}", "sub r7, r1, r6", "sub r7, r7, #2")
            code("mov r1, r6", f"ldr r2, [r12, #{_CHANNELS}]", "cmp r5, r2", "mvn r2, #1")
            code(f"bne {two}f", "mov r2, r7", "add r7, r7, r3")
            code.place(two)
            code("strd r2, r7, [r12, #8]")
        code.place(ready)
        code("add r2, r1, r3", "strd r1, r2, [r12]", f"str r4, [r12, #{_INPUT}]")
    code.place(done)
    return code
