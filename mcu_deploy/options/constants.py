"""The value of an input that is no input any more, as an option holds it: in numbers and texts."""

from __future__ import annotations

from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any

from mcu_deploy.errors import RequestError, UsageError
from mcu_deploy.options.checked import Checked

if TYPE_CHECKING:
    import numpy as np

FLAG, FORM = "--constant-input", "INPUT=FILE"


@dataclass(frozen=True)
class ConstantInput(Checked):
    """dtype: numpy's name of the element type. elements: the bytes, in row-major order and
    little-endian, as hexadecimal digits."""

    dtype: str
    shape: tuple[int, ...]
    elements: str

    @classmethod
    def of(cls, value: Any) -> ConstantInput:
        """An array, or what numpy makes one of."""
        import numpy as np

        array = np.asarray(value, order="C")
        ordered = array.astype(array.dtype.newbyteorder("<"), copy=False)
        return cls(array.dtype.name, array.shape, ordered.tobytes().hex())

    @property
    def value(self) -> np.ndarray[Any, Any]:
        """The array. Raises UsageError where type, shape and bytes do not fit together."""
        import numpy as np

        try:
            dtype = np.dtype(self.dtype).newbyteorder("<")
            return np.frombuffer(bytes.fromhex(self.elements), dtype).reshape(self.shape)
        except (TypeError, ValueError) as error:
            raise UsageError(
                f"{FLAG}: the bytes are no {self.dtype} of shape {list(self.shape)} ({error}). "
                "Make the value with ConstantInput.of(array)."
            ) from None


def read(text: str) -> tuple[str, ConstantInput]:
    """INPUT=FILE, an .npy, or an .npz that has an array of the input's name or one alone.

    Raises UsageError for what is not of this form or no such file, RequestError for an .npz that
    has several arrays, none of the name.
    """
    name, separator, path = text.rpartition("=")
    if not (separator and name and path):
        raise UsageError(f"{FLAG} {text} is not of the form {FORM}.")
    if not Path(path).is_file():
        what = "is a folder" if Path(path).is_dir() else "does not exist"
        raise RequestError(f"{FLAG} names the file {path}, which {what}. Check the path.")
    file = import_module("mcu_deploy.files.arrays").ArrayFile(Path(path))
    if file.names is None:
        return name, ConstantInput.of(file.read())
    found = name if name in file.names else file.names[0] if len(file.names) == 1 else None
    if found is None:
        raise RequestError(
            f"{path} has no array {name!r}, and not one alone. Name the value of {FLAG} {name} so."
        )
    return name, ConstantInput.of(file.read(found))
