"""Puts a configuration that CMake wrote into the wheel: `$MCU_DEPLOY_CONFIGURATION` names its file.

Without the variable the wheel has none, and nothing is switched off (mcu_deploy/configuration.py).
An editable installation reads the variable itself, each time it runs.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface


class ConfigurationHook(BuildHookInterface):
    """Called by hatchling before it builds a wheel."""

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        name = os.environ.get("MCU_DEPLOY_CONFIGURATION")
        if name and version != "editable":
            if not Path(name).is_file():
                raise FileNotFoundError(
                    f"MCU_DEPLOY_CONFIGURATION names {name}, which is no file. Correct or unset it."
                )
            build_data["force_include"][name] = "mcu_deploy/_data/configuration.json"
