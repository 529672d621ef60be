"""The kernels, found by themselves: a module with `KERNELS` is all that a new one takes."""

from __future__ import annotations

import functools
from collections.abc import Mapping

from mcu_deploy.backends.CpuRef.kernels.base import Kernel
from mcu_deploy.discovery import modules
from mcu_deploy.operators import label


@functools.cache
def _registry() -> Mapping[tuple[str, str], Kernel]:
    found: dict[tuple[str, str], Kernel] = {}
    for _, module in modules(__name__):
        for kernel in getattr(module, "KERNELS", ()):
            found[kernel.domain, kernel.op] = kernel
    return found


def find(domain: str, op: str) -> Kernel | None:
    """The kernel of an operator, or None."""
    return _registry().get((domain, op))


def names() -> tuple[str, ...]:
    """The operators that have a kernel, without those that the compiler makes itself."""
    return tuple(sorted(label(*key) for key in _registry() if key[0] != "mcu"))
