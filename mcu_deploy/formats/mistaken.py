"""What a file really is whose ending says that it is a model: known by its first bytes.

A clone without Git LFS, a page saved in the place of a download, a model with another's ending:
called damaged, such a file would be exported again, for nothing.
"""

from __future__ import annotations

import re
from collections.abc import Mapping

_CONVERT = "Convert the model to ONNX or TFLite; another ending does not do that."

# What files begin with, what they are then, and what to do.
_BEGINNINGS: Mapping[re.Pattern[bytes], tuple[str, str]] = {
    re.compile(rb"version https://git-lfs"): (
        "a pointer of Git LFS, in the place of the model",
        "Fetch the model with `git lfs pull`.",
    ),
    re.compile(rb"\s*<(!doctype|html|\?xml)", re.IGNORECASE): (
        "a page of the web",
        "Download the file itself (on GitHub: Raw).",
    ),
    re.compile(rb"\x89HDF\r\n"): ("an HDF5 file, as Keras writes them", _CONVERT),
    re.compile(rb"PK\x03\x04"): ("a zip file, as PyTorch and Keras write them", _CONVERT),
    re.compile(rb"\x1f\x8b"): ("packed by gzip", "Unpack it with gunzip."),
    re.compile(rb".{4}TFL3", re.DOTALL): ("a TFLite file", "Give it the ending .tflite."),
    # The first field is nearly always the version of the format, a small number; the next is text.
    re.compile(rb"\x08[\x01-\x1f][\x12\x1a\x22\x3a\x42]"): (
        "to all appearance an ONNX file",
        "Give it the ending .onnx.",
    ),
}


def other_kind(content: bytes, ending: str) -> str:
    """What a file that cannot be read is by its first bytes, and what to do: two sentences, of
    which the first begins behind "is". "" where nothing is known of such bytes, or they are what
    the file's ending says."""
    for beginning, (what, remedy) in _BEGINNINGS.items():
        if beginning.match(content) and remedy != f"Give it the ending {ending}.":
            return f"{what}, whatever its ending says. {remedy}"
    return ""
