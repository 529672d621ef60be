"""The version of mcu-deploy, which pyproject.toml reads here."""

VERSION = "0.2.0"
