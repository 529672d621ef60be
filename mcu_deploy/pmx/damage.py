"""What is said of a file that breaks the rules of its format, in one sentence."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from mcu_deploy.errors import BackendFault, McuDeployError, ModelError, one_line
from mcu_deploy.schema import Misfit

# What Python and numpy raise where a file says something impossible, GraphError and PlanError too.
_SIGNS = (
    ArithmeticError, AssertionError, LookupError, MemoryError, RuntimeError,
    TypeError, ValueError,
)  # fmt: skip


def damaged(path: Path, reason: str) -> ModelError:
    """The sentence for a file that cannot be read."""
    return ModelError(
        f"{path} is damaged or cut short: {one_line(reason, 300)}. Copy it again, or make it anew "
        "with `mcu-deploy optimize`."
    )


@contextmanager
def reading(path: Path) -> Iterator[None]:
    """While a file is read: whatever its bytes lead to becomes a ModelError."""
    try:
        yield
    except (ModelError, BackendFault):  # a backend is no part of the file
        raise
    except McuDeployError as error:  # an option in the file, say, that there is not
        raise damaged(path, str(error).rstrip(".")) from None
    except Misfit as error:
        raise damaged(path, str(error)) from None
    except _SIGNS as error:
        raise damaged(path, f"{type(error).__name__}: {error}".rstrip(": .")) from error
