"""The names of a network's classes: a file of the user's, one beside the model, or in it."""

from __future__ import annotations

import io
import zipfile
import zlib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from mcu_deploy.errors import RequestError
from mcu_deploy.files.given import is_file, why_no_file

_LARGEST_FILE = 1 << 20
_MOST = 1024
_BESIDE = ("labels.txt", "classes.txt")
# What most models are, and what zipfile raises for damaged ones.
_NO_ZIP = (zipfile.BadZipFile, zlib.error, EOFError, NotImplementedError, RuntimeError, ValueError)


@dataclass(frozen=True)
class Labels:
    """names: one for each element of the first output, in order; origin: where they are from."""

    names: tuple[str, ...]
    origin: str


def labels_for(model: Path, elements: int, given: Path | None) -> Labels | None:
    """The names of the `elements` of a network's first output, one a line of a text file.

    That is `given`; or MODEL.txt, labels.txt or classes.txt beside the model, or a text packed into
    a TFLite file as its metadata, where it has so many lines; or else class 0, class 1 and so on.
    None for an output that has no classes: of one element, or of more than 1,024. RequestError
    where `given` has another number of lines.
    """
    if given is not None:
        return _given(given, elements)
    if not 2 <= elements <= _MOST:
        return None
    for text, origin in (*_beside(model), *_packed(model)):
        names = _lines(text)
        if names is not None and len(names) == elements:
            return Labels(names, origin)
    return Labels(tuple(f"class {index}" for index in range(elements)), "made up")


def _given(file: Path, elements: int) -> Labels:
    if not is_file(file):
        raise RequestError(f"The labels' file {file} {why_no_file(file)}. Check the path.")
    names = _lines(_content(file))
    if names is None:
        raise RequestError(f"{file} is no text in UTF-8 of at most 1 MB. Give one label a line.")
    if len(names) != elements:
        raise RequestError(
            f"{file} has {len(names):,} labels, and the model's first output {elements:,} "
            "elements. Give one label a line for each element."
        )
    return Labels(names, file.name)


def _beside(model: Path) -> Iterator[tuple[bytes, str]]:
    for name in (f"{model.stem}.txt", *_BESIDE):
        if is_file(model.with_name(name)):
            yield _content(model.with_name(name)), name


def _packed(model: Path) -> Iterator[tuple[bytes, str]]:
    """The texts that TensorFlow's metadata writer appends to a .tflite file, as a zip
    (tensorflow.org/lite/models/convert/metadata, "Associated files")."""
    try:
        with zipfile.ZipFile(io.BytesIO(model.read_bytes())) as archive:
            for member in archive.infolist():
                if member.filename.endswith(".txt") and member.file_size <= _LARGEST_FILE:
                    with archive.open(member) as stream:
                        yield stream.read(_LARGEST_FILE + 1), f"{member.filename} in {model.name}"
    except _NO_ZIP:
        return


def _content(file: Path) -> bytes:
    with file.open("rb") as stream:
        return stream.read(_LARGEST_FILE + 1)


def _lines(content: bytes) -> tuple[str, ...] | None:
    """The lines with anything in them; None for what is no text, or too much of it."""
    if len(content) > _LARGEST_FILE:
        return None
    try:
        text = content.decode("utf-8-sig")
    except UnicodeDecodeError:
        return None
    return tuple(line.strip() for line in text.splitlines() if line.strip())
