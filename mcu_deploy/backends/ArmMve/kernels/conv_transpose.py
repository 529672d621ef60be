"""Transposed convolutions: of each row of the image the rows of the output, by kernels of
convolutions.

A row of the output is one of a convolution with a stride of 1 (quantized/transposed.py), and its
kernel takes what that row's windows lie on for the whole image. Rows that are above or below the
image are copied with its zero point. The driver is C.
"""

from __future__ import annotations

import functools
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from mcu_deploy.backends.ArmMve.kernels import convolution, pointwise
from mcu_deploy.backends.ArmMve.workloads import ID, driver
from mcu_deploy.backends.interface import (
    CFunction,
    Constant,
    Layer,
    Proposal,
    SubgraphView,
    Target,
    Workload,
)
from mcu_deploy.backends.kit.kit import Kit
from mcu_deploy.backends.quantized.transposed import of_one_row, rows_of

OPERATORS = ("ConvTranspose", "tflite::ConvTranspose")
_KIT = Kit(ID, Path(__file__).resolve().parents[1])
_FAMILIES = pointwise, convolution
# Cycles of the driver: of a row at the border and of each byte of its image.
_BORDER, _BYTE = 60, 0.4
_DRIVER_BYTES = 80


@dataclass(frozen=True)
class Rows:
    """What computes some of the rows of the output, one at a time. layer: of all of them; row: of
    one; quickest: of the proposals for that, as of the layer's node. number: of the row."""

    layer: Layer
    row: Layer
    quickest: Proposal
    number: int

    @property
    def count(self) -> int:
        return self.layer.output.type.shape[2]

    @property
    def rows(self) -> int:
        """Of the image under a window."""
        return self.row.input(0).type.shape[2]

    @property
    def above(self) -> int:
        """In rows of the image, where windows begin above it."""
        return int(self.layer.attributes["pads"][0])

    @property
    def cut(self) -> int:
        """Rows that have windows above or below the image."""
        _, _, below, _ = self.layer.attributes["pads"]
        return min(self.count, self.above + int(below))

    @property
    def is_cut(self) -> bool:
        return self.cut > 0

    @property
    def cycles(self) -> float:
        costs, image = self.quickest.price.costs, self.row.input(0).type
        assert costs.cycles is not None
        border = self.cut * (_BORDER + _BYTE * image.bytes)
        return self.count * costs.cycles + border

    @property
    def stem(self) -> str:
        """A name that functions of different code do not share."""
        (key,) = self.quickest.price.code
        stem, digest = key.split()
        return f"{stem.removesuffix('_mve')}_row_{digest[:8]}_mve"

    @property
    def bytes(self) -> Mapping[str, int]:
        """As `Price` has the code."""
        (size,) = self.quickest.price.code.values()
        return {self.stem: size}

    @functools.cached_property
    def _made(self) -> Workload:
        (made,) = self.quickest.make([self.row], None)
        return made

    def function(self, _: Target) -> CFunction:
        """The kernel."""
        assert self._made.function is not None
        return replace(self._made.function, stem=self.stem)

    def constant(self) -> Constant:
        """What it reads."""
        (constant,) = self._made.constants
        return replace(constant, stem=self.weights)

    @property
    def weights(self) -> str:
        """What the driver calls the kernel's constant."""
        return f"weights{self.number or ''}"


def propose(view: SubgraphView, node: Layer) -> Sequence[Proposal] | str:
    """A transposed convolution by itself."""
    layers = rows_of(node)
    if isinstance(layers, str):
        return layers
    found = []
    for number, layer in enumerate(layers):
        row = of_one_row(layer)
        answers = [family.propose(view, row) for family in _FAMILIES]
        proposals = [one for a in answers if not isinstance(a, str) for one in a]
        if not proposals:
            reasons = [answer for answer in answers if isinstance(answer, str) and answer]
            return reasons[0] if reasons else "its rows have no kernel"
        quickest = min(proposals, key=lambda one: one.price.costs.cycles or 0)
        found.append(Rows(layer, row, quickest, number))
    return [_proposal(view, node, found)]


def _proposal(view: SubgraphView, node: Layer, rows: Sequence[Rows]) -> Proposal:
    x, y = node.input(0).type, node.output.type
    prices = [one.quickest.price for one in rows]
    of_kernels = -(-max(price.scratch_bytes for price in prices) // 16) * 16
    read = x.shape[1] * x.shape[-1]
    most = max((one.rows for one in rows if one.is_cut), default=0)
    body = _KIT.render(
        "transposed.c.j2", rows=rows, border=of_kernels if most else None, read=read,
        written=y.shape[1] * y.shape[-1], height=rows[0].layer.input(0).type.shape[2],
        ctype=x.dtype.c_type, zero=x.scaling.zero_point[0],
    )  # fmt: skip
    return driver(
        view.part([node.node.id]),
        "conv_transpose_{}x{}_mve".format(*node.input(1).type.shape[:2]),
        (body, _DRIVER_BYTES * len(rows)), lambda: [one.constant() for one in rows], rows,
        "rows of conv", macs=node.macs, cycles=sum(one.cycles for one in rows),
        constant_bytes=sum(price.costs.flash or 0 for price in prices),
        scratch_bytes=of_kernels + most * read,
    )  # fmt: skip
