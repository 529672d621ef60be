"""What a user asks of a new project's firmware, as it was typed."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from mcu_deploy.options.flags import option


@dataclass(frozen=True)
class OwnModel:
    """A model with a sample, the names of its classes, and the name of its network; None where
    nothing was said."""

    model: Path | str | None = option(
        None, "--model", "Your model; one that ships with mcu-deploy by default."
    )
    data: Path | str | None = option(
        None, "--data", "An .npz whose first sample the firmware runs on; a made-up one by default."
    )
    labels: Path | str | None = option(
        None, "--labels", "A text with a class a line; by default one that lies beside the model "
        "or in it.",
    )  # fmt: skip
    name: str | None = option(None, "--name", "Of the network; made of the file's by default.")


NO_MODEL = OwnModel()
