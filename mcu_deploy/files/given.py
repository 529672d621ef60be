"""Paths that a user gives: too long for a file system, or where we may not look, they are nothing.

pathlib raises for these, where it says no for a path that is not there.
"""

from __future__ import annotations

import os
from pathlib import Path


def is_file(path: Path) -> bool:
    """Whether a regular file is there: no folder, and no pipe or device, which may have no end."""
    return os.path.isfile(path)  # noqa: PTH113


def is_folder(path: Path) -> bool:
    """Whether a folder is there."""
    return os.path.isdir(path)  # noqa: PTH112


def why_no_file(path: Path) -> str:
    """Why `is_file` says no: the end of a sentence that begins with the path."""
    if is_folder(path):
        return "is a folder"
    return "is no regular file" if os.path.exists(path) else "does not exist"  # noqa: PTH110
