"""What operators say of themselves is true of what they compute."""

from __future__ import annotations

import numpy as np
import pytest

from mcu_deploy.ir import DType, Quantization, TensorType
from mcu_deploy.operators import Call, Operator, registry
from mcu_deploy.operators.base import evaluate

_X = np.array([[-2.5, -0.5, 0.25], [0.75, 1.5, 3.0]], np.float32)
_ELEMENTWISE = [o for o in registry().values() if o.elementwise and not o.domain]


def _result(operator: Operator, x: np.typing.NDArray[np.float32]) -> np.typing.NDArray[np.float32]:
    type_ = TensorType(DType.FLOAT32, x.shape)
    (result,) = evaluate(operator, Call(operator.name, {}, (x,), (type_,), (type_,)))
    return result


@pytest.mark.parametrize("operator", _ELEMENTWISE, ids=lambda operator: operator.name)
def test_elements_are_made_one_by_one(operator: Operator) -> None:
    """In any shape and order the same numbers give the same numbers."""
    whole = _result(operator, _X)
    assert whole.shape == _X.shape
    mirrored = _result(operator, np.ascontiguousarray(_X[::-1, ::-1]))
    np.testing.assert_array_equal(mirrored[::-1, ::-1], whole)
    np.testing.assert_array_equal(_result(operator, _X.reshape(-1)), whole.reshape(-1))


def test_facts_go_together() -> None:
    for operator in registry().values():
        name = operator.name
        assert not operator.real_parameters or operator.quantized is not None, name
        assert not (operator.has_weights and operator.moves is not None), name
        assert not operator.converts or operator.quantized is None, name


_MONOTONE = [o for o in registry().values() if o.monotone]


@pytest.mark.parametrize("operator", _MONOTONE, ids=lambda o: f"{o.domain}_{o.name}")
def test_results_rise_or_fall_all_the_way(operator: Operator) -> None:
    """Along a chain of tensors, each nowhere lower than the one before, every element of the
    result only rises or only falls; whichever input it is, with the others fixed."""
    count = 2 if operator.broadcasts else 1
    windowed = (1, 3, 3, 3) if operator.name in ("AveragePool", "MaxPool") else (1, 3, 1, 1)
    of_x, of_y = (
        TensorType(DType.INT8, shape, Quantization((scale,), (zero,)))
        for shape, scale, zero in (
            ((1, 3, 4, 4), 0.05, -3), ((1, 3, 4, 4) if count == 2 else windowed, 0.31, 5),
        )
    )  # fmt: skip
    attributes = {"kernel_shape": (2, 2), "axes": (2, 3), "keepdims": 1}
    rng = np.random.default_rng(0)
    for chained in range(count):
        fixed = rng.integers(-128, 128, of_x.shape).astype(np.int8)
        chain = np.sort(rng.integers(-128, 128, (60, *of_x.shape)), axis=0).astype(np.int8)
        results = []
        for x in chain:
            values = tuple(x if i == chained else fixed for i in range(count))
            call = Call(operator.name, attributes, values, (of_x,) * count, (of_y,))
            results.append(evaluate(operator, call)[0].astype(int))
        steps = np.diff(results, axis=0)
        assert np.all((steps >= 0).all(axis=0) | (steps <= 0).all(axis=0))
        assert steps.any()
