"""Constants that are another one in another order are found, and come back as they were."""

from __future__ import annotations

import itertools
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sampling import examples

from mcu_deploy.ir import DType
from mcu_deploy.options import Options
from mcu_deploy.pmx.context import ModelReader
from mcu_deploy.pmx.reordered import Reordered, reorders
from mcu_deploy.schema import Misfit

Array = npt.NDArray[Any]


def _back(found: Reordered, source: Array, dtype: DType, shape: tuple[int, ...]) -> Array:
    constants = [found, *[memoryview(source.tobytes())] * 9]
    return ModelReader(Path("m.pmx"), constants).array(dtype, shape, 0)


@pytest.mark.parametrize("order", list(itertools.permutations(range(4))))
def test_every_order_of_four_axes(order: tuple[int, ...]) -> None:
    weights = np.arange(2 * 3 * 4 * 5, dtype=np.int16).reshape(2, 3, 4, 5)
    packed = weights.transpose(order).copy()
    found = reorders([weights, packed])
    assert list(found) == [0]
    assert found[0].source == 1
    unpacked = _back(found[0], packed, DType.INT16, (2, 3, 4, 5))
    assert np.array_equal(unpacked, weights)
    assert not unpacked.flags.writeable


def test_another_shape_of_the_packed_one_does_not_matter() -> None:
    weights = np.arange(60, dtype=np.float32).reshape(10, 6)
    packed = weights.T.copy().reshape(3, 2, 10)
    found = reorders([weights, packed])
    assert np.array_equal(_back(found[0], packed, DType.FLOAT32, (10, 6)), weights)


def test_so_many_axes_are_turned_and_no_more() -> None:
    weights = np.arange(2**5 * 4, dtype=np.int8).reshape(2, 2, 2, 2, 8)
    assert list(reorders([weights, weights.T.copy()])) == [0]
    assert not reorders([weights[None], weights[None].T.copy()])


def test_who_reads_it_in_another_type_gets_the_same_bytes() -> None:
    weights = np.arange(128, dtype=np.int8).reshape(8, 16)
    packed = weights.T.copy()
    found = reorders([weights, packed])[0]
    for dtype, shape in ((DType.UINT8, (8, 16)), (DType.INT8, (128,)), (DType.INT32, (4, 8))):
        assert _back(found, packed, dtype, shape).tobytes() == weights.tobytes()


def test_copies_for_other_types_have_an_end() -> None:
    reader = ModelReader(Path("m.pmx"), [memoryview(bytes(1 << 20))])
    with pytest.raises(Misfit, match="are copies of others"):
        for rank in range(300):
            ones = rank % 30
            split = 1 << (rank // 30)
            reader.array(DType.BOOL, ((1,) * ones) + (split, (1 << 20) // split), 0)


def test_what_is_no_other_order_is_left_alone() -> None:
    rng = np.random.default_rng(3)
    weights = rng.integers(-128, 127, (8, 16)).astype(np.int8)
    shuffled = rng.permutation(weights.ravel())
    assert reorders([weights, shuffled]) == {}
    assert reorders([weights, weights.astype(np.int16).T.copy()]) == {}
    assert reorders([weights[:2, :4], weights[:2, :4].T.copy()]) == {}, "too small to be worth it"


@given(
    shape=st.lists(st.integers(1, 6), min_size=2, max_size=4),
    dtype=st.sampled_from(("int8", "uint8", "int32", "float32", "float64")),
    seed=st.integers(0, 99),
)
@settings(max_examples=examples(150, 40), deadline=None, derandomize=True)
def test_any_weights_come_back(shape: list[int], dtype: str, seed: int) -> None:
    rng = np.random.default_rng(seed)
    weights = rng.integers(0, 3, shape).astype(dtype)  # few values: many orders look alike
    order = rng.permutation(len(shape))
    packed = weights.transpose(order).copy()
    found = reorders([weights, packed])
    if weights.nbytes >= 64:
        assert np.array_equal(
            _back(found[0], packed, DType.of(weights.dtype), tuple(shape)), weights
        )


def test_files_are_about_as_large_as_the_models(models_dir: Path) -> None:
    from pmx_cases import compiled, packed

    model = models_dir / "mlperf_ad_f32" / "model.onnx"
    network = compiled(model, Options(backends=("CpuRef",)))  # which packs no weights
    assert len(packed(network)) < 1.05 * model.stat().st_size
