"""How the commands print: rich for people, JSON for machines."""

from __future__ import annotations

import json
import os
from typing import Any

from rich.console import Console
from rich.markup import escape

from mcu_deploy.errors import McuDeployError

out = Console(highlight=False, soft_wrap=True)
err = Console(stderr=True, highlight=False, soft_wrap=True)


def fail(error: McuDeployError) -> int:
    """Prints an error as one sentence and returns the exit code.

    With MCU_DEPLOY_DEBUG set in the environment the traceback is shown, for developers.
    """
    if os.environ.get("MCU_DEPLOY_DEBUG"):
        err.print_exception()
    err.print(f"[bold red]error:[/] {escape(str(error))}")
    return error.exit_code


def print_json(value: Any) -> None:
    """Prints a value as JSON on standard output, keys in the order given."""
    print(json.dumps(value, indent=2, ensure_ascii=False))
