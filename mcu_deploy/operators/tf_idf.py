"""TfIdfVectorizer-9 of integers: how often each n-gram of a pool is in a row, and its weight."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from mcu_deploy.arithmetic import Array
from mcu_deploy.errors import ModelError
from mcu_deploy.operators.base import Call, Operator


class NoPool(ValueError):
    """What is wrong with a pool of n-grams, as a clause."""


@dataclass(frozen=True)
class Gram:
    """An n-gram: its tokens, its place in a row of the output, and what it weighs there."""

    tokens: tuple[int, ...]
    place: int
    weight: float


@dataclass(frozen=True)
class Pool:
    """The n-grams that are looked for, by their lengths; steps: the largest distance of two tokens
    in the row. keeps: whether an n-gram weighs once, however often it is there (IDF)."""

    grams: Mapping[int, tuple[Gram, ...]]
    steps: int
    keeps: bool

    @classmethod
    def of(cls, attributes: Mapping[str, Any]) -> Pool:
        """The pool in a node's attributes. Raises NoPool where they do not fit together."""
        tokens = [int(token) for token in attributes.get("pool_int64s", ())]
        places = [int(place) for place in attributes.get("ngram_indexes", ())]
        begins = [int(begin) for begin in attributes.get("ngram_counts", ())]
        mode, skips = attributes.get("mode"), int(attributes.get("max_skip_count", 0))
        if not tokens:
            raise NoPool("it has no n-grams of integers")
        if mode not in ("TF", "IDF", "TFIDF"):
            raise NoPool("its mode is none of TF, IDF and TFIDF")
        least, most = (int(attributes.get(f"{m}_gram_length", 0)) for m in ("min", "max"))
        if not 1 <= least <= most <= len(begins) or skips < 0:
            raise NoPool("its n-grams have no lengths, or it skips fewer than no tokens")
        found: list[tuple[int, ...]] = []
        for length, (begin, end) in enumerate(
            zip(begins, [*begins[1:], len(tokens)], strict=True), 1
        ):
            if not 0 <= begin <= end <= len(tokens) or (end - begin) % length:
                raise NoPool(f"its {length}-grams are not whole")
            found += (tuple(tokens[at : at + length]) for at in range(begin, end, length))
        weights = attributes.get("weights") or [1.0] * len(places)
        if len(set(found)) < len(found):
            raise NoPool("it has an n-gram twice")
        if len(found) > len(places) or len(weights) != len(places) or min(places) < 0:
            raise NoPool("its n-grams have other places and weights than there are")
        if mode == "TF":
            weights = [1.0] * len(places)
        grams = [Gram(*each) for each in zip(found, places, weights, strict=False)]
        by_length = {
            n: tuple(gram for gram in grams if len(gram.tokens) == n)
            for n in sorted({len(t) for t in found if least <= len(t) <= most})
        }
        return cls(by_length, skips + 1, mode == "IDF")


def _tf_idf(call: Call) -> list[Array]:
    try:
        pool = Pool.of(call.attributes)
    except NoPool as wrong:
        raise ModelError(
            f"A TfIdfVectorizer of the model cannot be computed: {wrong}. Export the model again."
        ) from None
    y = np.zeros(call.results[0].shape, np.float32)
    rows, sums = call.value(0).reshape(-1, call.type(0).shape[-1]), y.reshape(-1, y.shape[-1])
    known = {gram.tokens: gram for grams in pool.grams.values() for gram in grams}
    for row, found in zip(rows.tolist(), sums, strict=True):
        for step in range(1, min(pool.steps, max(len(row) - 1, 1)) + 1):
            for at in range(len(row)):
                for length in pool.grams:
                    end = at + step * (length - 1)
                    gram = known.get(tuple(row[at : end + 1 : step])) if end < len(row) else None
                    if gram is None or (length == 1 and step > 1):
                        continue
                    weight = np.float32(gram.weight)
                    found[gram.place] = weight if pool.keeps else found[gram.place] + weight
    return [y]


OPERATORS = (Operator("TfIdfVectorizer", _tf_idf),)
