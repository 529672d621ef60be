"""firmware_models.c: the table of the networks that a firmware holds."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from mcu_deploy.codegen.network import environment
from mcu_deploy.codegen.text import fill


@dataclass(frozen=True)
class FirmwareModel:
    """A network in a firmware: identity (hexadecimal SHA-256) and the bound of its stack."""

    name: str
    source_sha256: str
    object_sha256: str
    stack_bytes: int


def firmware_models(models: Sequence[FirmwareModel]) -> str:
    """The C source of the table."""
    return (
        environment().get_template("firmware_models.c.j2").render(models=models, bytes_of=_bytes_of)
    )


def _bytes_of(digest: str) -> str:
    return fill((f"0x{byte:02x}" for byte in bytes.fromhex(digest)), indent=12)
