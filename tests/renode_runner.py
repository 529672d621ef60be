"""Where Renode's own test runner is, which its packages have beside the emulator."""

from __future__ import annotations

import functools
import importlib.util
import os
import shutil
import subprocess
import tempfile
from pathlib import Path

_INSTALLED = ("/opt/renode", "/usr/lib/renode", "/usr/local/lib/renode")


def has_robot() -> bool:
    """Whether Robot Framework is in this environment."""
    return importlib.util.find_spec("robot.api") is not None


def renode_test() -> Path | None:
    """`renode-test`: on the PATH, or beside the Renode that mcu-deploy finds. None where it is not
    there, or its Python packages are not."""
    if not has_robot() or not all(importlib.util.find_spec(name) for name in ("psutil", "yaml")):
        return None
    if path := shutil.which("renode-test"):
        return Path(path)
    beside = [folder / "renode-test" for folder in _folders()]
    return next((path for path in beside if path.is_file()), None)


@functools.cache
def has_helium() -> bool:
    """Whether the Renode that mcu-deploy finds has what Helium kernels need: renode/helium.resc."""
    from mcu_deploy.device.emulators.renode import find_renode
    from mcu_deploy.errors import ToolError

    try:
        program = find_renode().path
    except ToolError:
        return False
    script = Path(__file__).parents[1] / "renode" / "helium.resc"
    with tempfile.TemporaryDirectory(prefix="mcu-deploy-") as folder:
        ours = {**os.environ, "XDG_CONFIG_HOME": folder, "TMPDIR": folder}
        command = [program, "--disable-gui", "--plain", "--console", "--hide-log"]
        done = subprocess.run(
            [*command, "-e", f"include @{script}", "-e", "q"],
            stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=600, env=ours,
        )  # fmt: skip
    return done.returncode == 0 and "There was an error" not in done.stdout


def renode_platforms() -> Path | None:
    """The folder `platforms` of the Renode that is installed, if it is where it is usually."""
    runner = shutil.which("renode-test")
    places = [*([Path(runner).resolve().parent] if runner else []), *_folders()]
    return next((p / "platforms" for p in places if (p / "platforms" / "cpus").is_dir()), None)


def _folders() -> list[Path]:
    # not at the top: pytest must start, and say what is missing, where the package is broken
    from mcu_deploy.device.emulators.renode import find_renode
    from mcu_deploy.errors import ToolError

    try:
        program = find_renode().path.resolve()
    except ToolError:
        return []
    return [program.parent, program.parent.parent, *map(Path, _INSTALLED)]
