"""Archives of files, the same bytes whenever they are made: sorted, without dates and owners."""

from __future__ import annotations

import io
import tarfile
import zipfile
from collections.abc import Mapping

_MODE = 0o644
_EPOCH = (1980, 1, 1, 0, 0, 0)  # the earliest date that a zip can say


def pack(files: Mapping[str, bytes], *, as_tar: bool) -> bytes:
    """The files as one: a tar, or a zip, as .pack files are."""
    return _tar(files) if as_tar else _zip(files)


def _tar(files: Mapping[str, bytes]) -> bytes:
    stream = io.BytesIO()
    with tarfile.open(fileobj=stream, mode="w", format=tarfile.USTAR_FORMAT) as archive:
        for name, content in sorted(files.items()):
            member = tarfile.TarInfo(f"./{name}")  # as `tar -c .` names it, and TVM looks for it
            member.size = len(content)
            member.mode = _MODE
            archive.addfile(member, io.BytesIO(content))
    return stream.getvalue()


def _zip(files: Mapping[str, bytes]) -> bytes:
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w", zipfile.ZIP_DEFLATED, compresslevel=9) as archive:
        for name, content in sorted(files.items()):
            member = zipfile.ZipInfo(name, _EPOCH)
            member.compress_type = zipfile.ZIP_DEFLATED
            member.create_system = 3  # Unix, whose permissions follow
            member.external_attr = _MODE << 16
            archive.writestr(member, content)
    return stream.getvalue()
