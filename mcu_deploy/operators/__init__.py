"""What each operator means: its values in numpy, and its multiply-accumulates.

One file a family; a module of this package with `OPERATORS` (a tuple of `Operator`) is found by
itself. The interpreter runs these functions; the backends are compared with them.
"""

from __future__ import annotations

import functools
from collections.abc import Mapping

from mcu_deploy.discovery import modules
from mcu_deploy.errors import UnsupportedError
from mcu_deploy.operators.base import Call, Operator

__all__ = ["Call", "Operator", "find", "label", "lookup", "registry"]


@functools.cache
def registry() -> Mapping[tuple[str, str], Operator]:
    """All operators by (domain, name)."""
    found: dict[tuple[str, str], Operator] = {}
    for _, module in modules(__name__):
        for operator in getattr(module, "OPERATORS", ()):
            found[operator.domain, operator.name] = operator
    return found


def label(domain: str, name: str) -> str:
    """An operator as people read it: "Conv", or "domain::Name" beside ONNX's own and mcu-deploy's,
    which has the name of the one that it stands for."""
    return f"{domain}::{name}" if domain not in ("", "mcu") else name


def find(domain: str, name: str) -> Operator | None:
    """The operator, or None where the interpreter does not know it."""
    return registry().get((domain, name))


def lookup(domain: str, name: str) -> Operator:
    """The operator; raises UnsupportedError where the interpreter does not know it."""
    operator = find(domain, name)
    if operator is None:
        raise UnsupportedError(
            f"The operator {label(domain, name)} is not known to mcu-deploy's interpreter. "
            "`mcu-deploy operators` lists those that are."
        )
    return operator
