"""TfIdfVectorizer of integers: device, oracle and onnxruntime."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from network_programs import SANITIZERS
from onnx import helper
from operators.lab import Case, check_cases, compile_case, make_model

from mcu_deploy.errors import McuDeployError

# Two tokens, four pairs, two triples; tokens that meet nothing are 9.
POOL = [5, -300, 5, 5, -300, 5, 7, 7, 5, 7, 5, 5, 5, 7, 7, 7]
BASE: dict[str, Any] = {
    "mode": "TFIDF", "min_gram_length": 1, "max_gram_length": 3, "max_skip_count": 0,
    "ngram_counts": [0, 2, 10], "ngram_indexes": [4, 0, 1, 7, 6, 2, 8, 3], "pool_int64s": POOL,
    "weights": [0.1, 2.0, 0.3, 1e9, -1.0, 0.7, 11.0, 0.0],
}  # fmt: skip


def _case(
    name: str,
    shape: tuple[int, ...] = (3, 20),
    dtype: str = "int64",
    without: str = "",
    **more: Any,
) -> Case:
    attributes = {key: value for key, value in (BASE | more).items() if key != without}
    node = helper.make_node("TfIdfVectorizer", ["x"], ["y"], **attributes)
    x = np.random.default_rng(8).choice([5, 5, 7, 7, -300, 9], shape).astype(dtype)
    return Case(name, make_model([node], {"x": (dtype, shape)}, {"y": ("float32", None)}), (x,))


@pytest.mark.needs_host_gcc
def test_grams_are_those_of_onnxruntime(tmp_path: Path) -> None:
    """Weights that two n-grams add at one place are added in onnxruntime's order too."""
    one_place = {"ngram_indexes": [1, 1, 0, 1, 1, 2, 1, 0]}
    wide = [2**40 if token == 7 else token for token in POOL]
    check_cases(
        [
            *(_case(f"{mode} {skips}", mode=mode, max_skip_count=skips)
              for mode in ("TF", "IDF", "TFIDF") for skips in (0, 1, 6)),
            *(_case(f"{mode} at one place", mode=mode, max_skip_count=3, **one_place)
              for mode in ("TF", "IDF", "TFIDF")),
            _case("IDF without weights", mode="IDF", without="weights"),
            _case("TFIDF without weights", without="weights"),
            _case("a vector", (20,), max_skip_count=2),
            _case("int32", dtype="int32", max_skip_count=2),
            _case("tokens beyond int32", pool_int64s=wide),
            _case("tokens beyond int32 in int32", dtype="int32", pool_int64s=wide),
            _case("a row of one", (4, 1), max_skip_count=5),
            _case("a row of two", (4, 2), max_skip_count=5),
            _case("single tokens", max_gram_length=1, max_skip_count=5),
            _case("pairs alone", min_gram_length=2, max_gram_length=2, max_skip_count=40),
            _case("triples alone", min_gram_length=3, max_skip_count=4),
            _case("triples in short rows", (4, 2), min_gram_length=3),
        ],
        tmp_path,
        SANITIZERS,
    )  # fmt: skip


@pytest.mark.parametrize(
    ("wrong", "why"),
    [
        ({"ngram_counts": [0, 3, 10]}, "2-grams are not whole"),
        ({"ngram_counts": [0, 10, 2]}, "2-grams are not whole"),
        ({"pool_int64s": [5, 5, *POOL[2:]]}, "an n-gram twice"),
        ({"weights": [1.0]}, "other places and weights"),
        ({"min_gram_length": 0}, "no lengths"),
        ({"max_gram_length": 4}, "no lengths"),
        ({"mode": "DF"}, "none of TF, IDF and TFIDF"),
        ({"without": "pool_int64s"}, "no n-grams of integers"),
    ],
)
def test_a_pool_that_does_not_fit_is_refused(
    tmp_path: Path, wrong: dict[str, Any], why: str
) -> None:
    with pytest.raises(McuDeployError, match=why):
        compile_case(_case("wrong", **wrong), tmp_path, 0)
