"""What operators say of themselves is true of what they compute."""

from __future__ import annotations

import numpy as np
import pytest

from mcu_deploy.ir import DType, TensorType
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
