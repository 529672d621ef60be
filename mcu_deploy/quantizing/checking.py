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
_LABELS = "labels"


def require_good(file: SampleFile, net: Net) -> None:
    """Raises RequestError for one sample alone, infinite values and NaN, and inputs of float32 that
    are the same number everywhere."""
    if len(file) < _LEAST:
        raise RequestError(
            f"{file.path} holds one sample, from which no range can be told. Give some hundreds, "
            "of all that the model will see."
        )
    lows = [np.inf] * len(net.inputs)
    highs = [-np.inf] * len(net.inputs)
    for number, inputs in enumerate(file):
        for index, (name, value) in enumerate(zip(net.inputs, inputs, strict=True)):
            if value.dtype.kind != "f":
                continue
            if not np.isfinite(value).all():
                raise RequestError(
                    f"Sample {number} in {file.path} has infinite values or NaN in its input "
                    f"{index} ({name[:80]!r}). Leave it out, or mend it."
                )
            lows[index] = min(lows[index], float(value.min(initial=np.inf)))
            highs[index] = max(highs[index], float(value.max(initial=-np.inf)))
    for index, name in enumerate(net.inputs):
        if net.is_float(name) and lows[index] == highs[index]:
            raise RequestError(
                f"Input {index} ({name[:80]!r}) is {lows[index]:g} everywhere in all samples of "
                f"{file.path}, so no range of it can be told. Give samples as the model will see "
                "them."
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
