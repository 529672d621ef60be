"""Which backends fit this interface (Arm NN's rule)."""

from __future__ import annotations

Version = tuple[int, int]


def is_compatible(backend: Version, api: Version) -> bool:
    """Whether a backend written for one version of the interface works with another.

    The major version must be the same, and the backend's minor version not newer.
    (Arm NN's first plan let a newer minor pass; its guide does not.)
    """
    return backend[0] == api[0] and backend[1] <= api[1]


def why_incompatible(backend: Version, api: Version) -> str:
    """The reason for which `is_compatible` says no, and the remedy; a clause without full stop."""
    needs, has = f"{backend[0]}.{backend[1]}", f"{api[0]}.{api[1]}"
    head = f"it is written for version {needs} of the backend interface, mcu-deploy has {has}"
    if backend > api:
        return f"{head}; update mcu-deploy, or build the backend for {has}"
    return f"{head}; build the backend for {has}"
