"""PMX: what the compiler made of a model (docs/pmx.md). Its files are opened by mcu_deploy.pmx."""

from __future__ import annotations

SUFFIXES = (".pmx",)
COMPILED = True
