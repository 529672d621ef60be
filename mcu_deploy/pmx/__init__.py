"""PMX: a compiled model in a file (docs/pmx.md).

What is saved is all that code generation needs: the optimised graph, who computes what, the chosen
workloads with their packed constants, and the plan.
"""

from __future__ import annotations

from pathlib import Path

from mcu_deploy.compiled import CompiledModel
from mcu_deploy.errors import ModelError
from mcu_deploy.files.given import is_file, why_no_file
from mcu_deploy.pmx import backends, content, file
from mcu_deploy.pmx.backends import BackendData, give_data
from mcu_deploy.pmx.content import Saved
from mcu_deploy.pmx.damage import reading
from mcu_deploy.pmx.fitting import require_fit
from mcu_deploy.session import Session

__all__ = ["BackendData", "Saved", "give_data", "load", "pack", "reading", "require_fit"]


def pack(model: CompiledModel, session: Session, *, compress: bool = False) -> bytes:
    """The bytes of the file that holds a model, and what the session's backends save with it.

    Equal models give equal bytes. What is written is read back before it is believed.
    """
    path = Path(f"{model.name}.pmx")
    dense = content.decode(*content.encode(model), path).model
    data = backends.gather_data(dense, session)
    return file.wrap(*content.encode(dense, data, compress=compress))


def load(path: Path) -> Saved:
    """What a .pmx file holds. Raises ModelError for one that is missing, damaged, or of another
    version of the format."""
    if not is_file(path):
        raise ModelError(f"The model file {path} {why_no_file(path)}. Check the path.")
    try:
        raw = path.read_bytes()
    except OSError as error:
        raise ModelError(
            f"The model file {path} cannot be read ({error.strerror}). Check who may read it, or "
            "give another copy."
        ) from error
    return content.decode(*file.unwrap(raw, path), path)
