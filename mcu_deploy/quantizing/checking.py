"""Samples that nothing can be learned from, each with a sentence."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from mcu_deploy.errors import RequestError
from mcu_deploy.files.arrays import Array, ArrayFile
from mcu_deploy.files.given import is_file, why_no_file
from mcu_deploy.files.samples import SampleFile
from mcu_deploy.quantizing.net import Net

_LEAST = 2
_MOST_TIMES = 1 << 15  # what the steps of int16 span
_LABELS = "labels"


def require_good(file: SampleFile, net: Net) -> None:
    """Raises RequestError for one sample alone or many times, infinite values and NaN, inputs of
    float32 that are the same number everywhere, and a sample that goes so far beyond the others
    that integers would tell these from nothing."""
    if len(file) < _LEAST:
        raise RequestError(
            f"{file.path} holds one sample, from which no range can be told. Give some hundreds, "
            "of all that the model will see."
        )
    floats = [index for index, name in enumerate(net.inputs) if net.is_float(name)]
    lows, highs = np.full((2, len(floats), len(file)), 0.0)
    first: tuple[Array, ...] = ()
    all_equal = True
    for number, inputs in enumerate(file):
        first = first or inputs
        all_equal = all_equal and all(map(np.array_equal, first, inputs))
        for place, index in enumerate(floats):
            value = inputs[index]
            if not np.isfinite(value).all():
                raise RequestError(
                    f"Sample {number} in {file.path} has infinite values or NaN in its input "
                    f"{_called(net, index)}. Leave it out, or mend it."
                )
            lows[place, number] = value.min(initial=np.inf)
            highs[place, number] = value.max(initial=-np.inf)
    for place, index in enumerate(floats):
        if lows[place].min() == highs[place].max():
            raise RequestError(
                f"Input {_called(net, index)} is {lows[place, 0]:g} everywhere in all samples of "
                f"{file.path}, so no range of it can be told. Give samples as the model will see "
                "them."
            )
        _require_alike(file, _called(net, index), np.maximum(-lows[place], highs[place]))
    if first and all_equal:
        raise RequestError(
            f"The {len(file)} samples in {file.path} are all the same, from which no range can be "
            "told. Give some hundreds, of all that the model will see."
        )


def _called(net: Net, index: int) -> str:
    return f"{index} ({net.inputs[index][:80]!r})"


def _require_alike(file: SampleFile, called: str, largest: Array) -> None:
    """largest: [samples], the largest magnitude of each."""
    usual, most = float(np.median(largest)), int(largest.argmax())
    if usual > 0 and largest[most] > usual * _MOST_TIMES:
        raise RequestError(
            f"Sample {most} in {file.path} reaches {largest[most]:g} in its input {called}, and "
            f"half of the samples stay within {usual:g}: integers that reach so far have no step "
            "for the others. Leave it out, or mend it."
        )


def classes(file: SampleFile, given: str | Path | None, net: Net) -> Array | None:
    """[samples]: the class of each, from an .npy or an array of the samples' file; None where there
    is none. Raises RequestError where they do not fit the samples or the first output."""
    found = _read(file, given)
    if found is None:
        return None
    origin = f"The classes in {file.path if given is None else given}"
    values = found.reshape(-1)
    if found.dtype.kind not in "iu" or values.size != len(file):
        raise RequestError(
            f"{origin} are {found.dtype}{list(found.shape)}; they must be whole numbers, one for "
            f"each of the {len(file)} samples."
        )
    shape = net.shape(net.outputs[0]) or ()
    count = int(np.prod(shape))
    if count < 2:
        raise RequestError(
            f"{origin} say which element of the first output is to be the largest, and "
            f"{net.outputs[0][:80]!r} has one element only. Leave them out."
        )
    if values.min() < 0 or values.max() >= count:
        raise RequestError(
            f"{origin} go from {values.min()} to {values.max()}, and the first output has "
            f"{count} elements, which are counted from 0."
        )
    return np.asarray(values)


def _read(file: SampleFile, given: str | Path | None) -> Array | None:
    names = ArrayFile(file.path).names or ()
    if given is None:
        return ArrayFile(file.path).read(_LABELS) if _LABELS in names else None
    if str(given) in names:
        return ArrayFile(file.path).read(str(given))
    path = Path(given)
    if not is_file(path):
        raise RequestError(
            f"--labels {given} is no array in {file.path}, and as a file it {why_no_file(path)}. "
            "Give the name of an array, or an .npy."
        )
    arrays = ArrayFile(path)
    if arrays.names is None:
        return arrays.read()
    if _LABELS in arrays.names:
        return arrays.read(_LABELS)
    raise RequestError(f"{path} has no array called {_LABELS}. Name it so, or give an .npy.")
