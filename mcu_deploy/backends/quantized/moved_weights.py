"""Products whose weights, without their zero point, are no int8, as those of uint8: moved ones.

A filter's weights less its move are int8, and sum(w x) = sum((w - move) x) + move sum(x). The sum
of a tile's taps is made once for all filters, and is one more tap, whose weight is the move: it has
16 bits, so that each stands for 128 taps at most.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from mcu_deploy.arithmetic import Array
from mcu_deploy.backends.quantized.dense_product import DenseProduct
from mcu_deploy.backends.quantized.layers import bytes_refusal

TAPS_OF_SUM = 128  # of 255 at most
_MOST_TAPS = 5 * TAPS_OF_SUM  # whose last sums are in reach of an offset from the first
_LARGEST = 127  # of a move, and of weights where there is room


def in_bytes(product: DenseProduct) -> DenseProduct:
    """A narrow product with its weights moved, if they have to be and can be."""
    taps = int(product.weights.shape[1])
    if not bytes_refusal(product.layer) or taps > _MOST_TAPS or product.layer.is_waited_for:
        return product
    moves = moves_of(product.weights)
    if np.abs(moves).max() > _LARGEST:
        return product
    weights = product.weights - moves[:, None]
    if taps % 2:
        weights = np.pad(weights, ((0, 0), (0, 1)))
    sums = -(-taps // TAPS_OF_SUM)
    behind = np.zeros((len(moves), sums + sums % 2), np.int64)
    behind[:, :sums] = moves[:, None]
    return replace(product, weights=np.concatenate([weights, behind], 1), summed=taps)


def moves_of(weights: Array) -> Array:
    """Of each filter [filter, ...] the least move that leaves int8, without -128 if possible."""
    low, high = (of(weights.reshape(len(weights), -1), axis=1) for of in (np.min, np.max))
    moves: Array = np.maximum(np.minimum(low + _LARGEST, 0), high - _LARGEST)
    return moves
