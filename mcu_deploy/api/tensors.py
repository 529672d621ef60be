"""Inputs and outputs of a network on a device, as a notebook meets them: samples and batches."""

from __future__ import annotations

import enum
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from mcu_deploy import arithmetic
from mcu_deploy.errors import RequestError, shorten
from mcu_deploy.files.arrays import Array
from mcu_deploy.ir import DType, Quantization, TensorType
from mcu_deploy.report import TensorReport


class Batch(enum.Enum):
    """How an array holds samples: it is one; an axis in front counts them; or the tensor's own
    first axis does, which has the size 1."""

    NONE = enum.auto()
    IN_FRONT = enum.auto()
    OWN_AXIS = enum.auto()


@dataclass(frozen=True)
class Tensor:
    """An input or an output. scale, zero_point: None where it is not quantized; a real number is
    scale * (value - zero_point)."""

    name: str
    dtype: np.dtype[np.generic]
    shape: tuple[int, ...]
    scale: float | None
    zero_point: int | None

    @classmethod
    def of(cls, report: TensorReport) -> Tensor:
        """What the build's report says of it."""
        dtype = DType(report.dtype).numpy
        return cls(report.name, np.dtype(dtype), report.shape, report.scale, report.zero_point)

    def __str__(self) -> str:
        return f"{self.dtype}[{','.join(map(str, self.shape))}]"

    @property
    def called(self) -> str:
        """Its name in sentences."""
        return repr(shorten(self.name))

    def quantize(self, real: npt.ArrayLike) -> Array:
        """Real numbers as this tensor has them: round_half_even(real / scale) + zero_point, held
        within the type (QuantizeLinear of ONNX, docs/arithmetic.md). RequestError where the
        tensor is not quantized."""
        return arithmetic.quantize(np.asarray(real, np.float32), self._type())

    def dequantize(self, values: npt.ArrayLike) -> npt.NDArray[np.float32]:
        """The float32 numbers that values of this tensor stand for. Errors as of `quantize`."""
        return arithmetic.dequantize(np.asarray(values), self._type())

    def _type(self) -> TensorType:
        if self.scale is None or self.zero_point is None:
            raise RequestError(
                f"The tensor {self.called} is {self} and not quantized: it has no scale. Use its "
                "values as they are."
            )
        scaling = Quantization((self.scale,), (self.zero_point,))
        return TensorType(DType(self.dtype.name), self.shape, scaling)

    def samples(self, given: npt.ArrayLike) -> tuple[Array, Batch]:
        """One sample or a batch of them as an array [samples, *shape] of the tensor's type.

        Integers must lie in the type's range; real numbers become floats of the type's size.
        RequestError where shape or values do not fit.
        """
        try:
            array = np.asarray(given)
        except ValueError as error:
            raise RequestError(
                f"What was given for the input {self.called} is no array: its parts differ in "
                "length. Give an array."
            ) from error
        batch = self._batch(array.shape)
        return self._converted(array).reshape(-1, *self.shape), batch

    def _batch(self, shape: tuple[int, ...]) -> Batch:
        if shape == self.shape:
            return Batch.NONE
        if shape and shape[0]:
            if shape[1:] == self.shape:
                return Batch.IN_FRONT
            if self.shape[:1] == (1,) and shape[1:] == self.shape[1:]:
                return Batch.OWN_AXIS
        raise RequestError(
            f"The input {self.called} is {self}, and an array of shape {list(shape)} was given. "
            f"Give {list(self.shape)}, or several samples behind one another as "
            f"[samples, {', '.join(map(str, self.shape))}]."
        )

    def _converted(self, array: Array) -> Array:
        type_ = DType(self.dtype.name)
        kinds = {"f": "fiu", "i": "iu", "u": "iu", "b": "b"}[type_.wide.numpy.kind]
        if array.dtype == self.dtype:
            return array
        if array.dtype.kind not in kinds:
            how = (
                "It is quantized: give integers, as its quantize() makes them of real numbers."
                if self.scale is not None and array.dtype.kind == "f"
                else "Convert the array."
            )
            raise RequestError(
                f"The input {self.called} is {self}, and {array.dtype} was given. {how}"
            )
        if kinds == "iu" and array.size:
            least, most = type_.range
            low, high = int(array.min()), int(array.max())
            if low < least or high > most:
                raise RequestError(
                    f"The input {self.called} is {self}, and values from {low} to {high} were "
                    f"given. Give integers from {least} to {most}."
                )
        with np.errstate(over="ignore"):  # to infinity, as in any conversion
            return array.astype(self.dtype)


def join(outputs: Sequence[Array], batch: Batch) -> Array:
    """The outputs of samples as one array, in the way in which the samples were one."""
    if batch is Batch.NONE:
        return np.array(outputs[0])
    if batch is Batch.OWN_AXIS and outputs[0].shape[:1] == (1,):
        return np.concatenate(outputs)
    return np.stack(outputs)
