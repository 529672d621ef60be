"""Resize and Upsample of an ONNX file as one of two operators: ONNX's Resize, which picks the
nearest elements, and mcu-deploy's own, which makes new ones."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from mcu_deploy.arithmetic import Array


def operator(op: str, domain: str, attributes: Mapping[str, Any]) -> tuple[str, str]:
    """The operator that a node is, and its domain."""
    if domain or op not in ("Resize", "Upsample"):
        return op, domain
    return "Resize", "" if attributes.get("mode", "nearest") == "nearest" else "mcu"


def scales(op: str, domain: str, attributes: Mapping[str, Any]) -> Array | None:
    """The scales that Upsample-7 has as an attribute; newer ones have them as an input."""
    given = attributes.get("scales") if op == "Upsample" and not domain else None
    return None if given is None else np.array(given, np.float32)
