"""The declarations of crt/include/mcu/backend.h, for those who read and write its structs by cffi.

cffi parses them once in a session, which takes it longer than a worker needs to start. What it
makes of them is Python source, which the workers load in a few milliseconds.
"""

from __future__ import annotations

import functools
import io
from pathlib import Path
from typing import Any

from mcu_deploy import resources

# What begins the lines before and behind them.
_BEGIN, _END = "/* ---- Declarations ----", "/* ---- End of the declarations ----"
# What loads a shared object: POSIX' dlfcn.h.
_LOADER = """
void *dlopen(const char *path, int mode);
void *dlsym(void *handle, const char *name);
char *dlerror(void);
"""


def text() -> str:
    """The declarations as they stand in the header."""
    header = resources.root() / "crt" / "include" / "mcu" / "backend.h"
    _, _, behind = header.read_text("utf-8").partition(_BEGIN)
    found, end, _ = behind.partition("*/")[2].partition(_END)
    assert end, f"{header} has no declarations"
    return found


@functools.cache
def tables() -> dict[str, str]:
    """What `memory.declared` takes: the source, and the folder of the module that it imports."""
    import _cffi_backend
    import cffi  # slow to import, and only shared objects ask for it
    from cffi.recompiler import make_py_source

    ffi: Any = cffi.FFI()
    ffi.cdef(text().replace("MCU_BACKEND_EXPORT", "") + _LOADER)
    source = io.StringIO()
    make_py_source(ffi, "declarations", source)
    return {"declarations": source.getvalue(), "cffi": str(Path(_cffi_backend.__file__).parent)}
