"""Where results go: single files written whole, and build folders put in place whole.

Nothing is ever deleted to make room: what is new is made aside and takes the place of the old in
one step, or step by step with a journal (docs/build-folders.md).
"""

from mcu_deploy.output.file import require_writable, write_file
from mcu_deploy.output.folder import OutputFolder, locked, settle
from mcu_deploy.output.marker import MARKER, require_outside

__all__ = [
    "MARKER",
    "OutputFolder",
    "locked",
    "require_outside",
    "require_writable",
    "settle",
    "write_file",
]
