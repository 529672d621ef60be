"""The models on a device, and whether they are those that were just built."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from mcu_deploy.device.protocol import TensorInfo
from mcu_deploy.errors import DeviceError


@dataclass(frozen=True)
class ExpectedModel:
    """A model that was just built, and that the device has to run. SHA-256 in lower-case hex."""

    name: str
    source_sha256: str
    object_sha256: str


@dataclass(frozen=True)
class ModelInfo:
    """A model on the device. SHA-256 in lower-case hex; sizes in bytes; stack_bytes 0: unknown."""

    index: int
    name: str
    source_sha256: str
    object_sha256: str
    inputs: tuple[TensorInfo, ...]
    outputs: tuple[TensorInfo, ...]
    num_layers: int
    workspace_bytes: int
    stack_bytes: int
    abi_version: int


def refuse_other_models(
    board: str, models: Sequence[ModelInfo], expect: Sequence[ExpectedModel]
) -> None:
    """DeviceError, with what to do, where one of `expect` is not among `models` as it was built."""
    has = {model.name: model for model in models}
    for wanted in expect:
        name = wanted.name.encode()[:63].decode(errors="replace")
        found = has.get(name)
        if found is None:
            names = ", ".join(has) or "no model"
            raise DeviceError(
                f"The firmware on board {board} has {names}, not {wanted.name}: it is not the one "
                "that was just built; load firmware.elf of this build."
            )
        if found.source_sha256 != wanted.source_sha256:
            raise DeviceError(
                f"The model {wanted.name} on board {board} was built from another model file "
                f"(SHA-256 {found.source_sha256[:12]}..., not {wanted.source_sha256[:12]}...); "
                "load firmware.elf of this build."
            )
        if found.object_sha256 != wanted.object_sha256:
            raise DeviceError(
                f"The model {wanted.name} on board {board} is another build of the same model file "
                f"(object {found.object_sha256[:12]}..., not {wanted.object_sha256[:12]}...); "
                "load firmware.elf of this build."
            )
