"""The cores whose time is known, by their names."""

from __future__ import annotations

from collections.abc import Mapping

from mcu_deploy.backends.isa.model import Model
from mcu_deploy.backends.isa.pipeline import M7
from mcu_deploy.backends.isa.single_pipeline import M33
from mcu_deploy.backends.isa.split_pipeline import M85
from mcu_deploy.backends.isa.table_pipeline import M0PLUS, M3, M4
from mcu_deploy.backends.isa.vector_pipeline import M55

MODELS: Mapping[str, Model] = {
    "cortex-m0plus": M0PLUS, "cortex-m3": M3, "cortex-m4": M4, "cortex-m7": M7,
    "cortex-m33": M33, "cortex-m55": M55, "cortex-m85": M85,
}  # fmt: skip
