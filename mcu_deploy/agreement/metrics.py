"""How far two tensors are apart: ACC, RMSE, MAE, cosine, equal values, largest difference."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from mcu_deploy.files.arrays import Array


@dataclass(frozen=True)
class Metrics:
    """Over all samples of one output.

    acc: the share of samples with the same largest element (1.0 where an output has one element
    only); rmse, mae, worst: of the differences, in the tensor's own unit (steps for integers);
    relative: worst over the largest magnitude of the reference; cosine: of the flattened tensors;
    equal: the share of equal values.
    """

    acc: float
    rmse: float
    mae: float
    cosine: float
    equal: float
    worst: float
    relative: float

    def as_json(self) -> dict[str, Any]:
        return asdict(self)


def compare(ours: Sequence[Array], theirs: Sequence[Array]) -> Metrics:
    """Compares outputs sample by sample; `theirs` is the reference."""
    flat = [[np.asarray(x).reshape(-1).astype(np.float64) for x in side] for side in (ours, theirs)]
    pairs = list(zip(*flat, strict=True))
    a, b = map(np.concatenate, flat)  # samples may differ in their size
    if a.size == 0:
        return Metrics(1.0, 0.0, 0.0, 1.0, 1.0, 0.0, 0.0)
    same = (a == b) | (np.isnan(a) & np.isnan(b))
    with np.errstate(invalid="ignore"):  # infinities
        difference = np.where(same, 0.0, np.abs(a - b))
        norm = float(np.linalg.norm(a) * np.linalg.norm(b))
        agrees = same.all()
        cosine = float((a * b).sum() / norm) if norm and not agrees else float(agrees)
    magnitude = float(np.abs(b).max())
    worst = float(difference.max())
    return Metrics(
        acc=float(np.mean([x.argmax() == y.argmax() for x, y in pairs if x.size])),
        rmse=float(np.sqrt((difference**2).mean())),
        mae=float(difference.mean()),
        cosine=float(np.minimum(1.0, cosine)),
        equal=float(same.mean()),
        worst=worst,
        relative=worst / magnitude if magnitude else worst,
    )
