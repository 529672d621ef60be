"""A worker's side: loads one shared object, and answers a session's calls into it.

Runs in the worker's process: the standard library, and cffi's compiled module. Nothing here guards
against what the shared object does to the process; the session does, from outside.
"""

from __future__ import annotations

import os
import socket
from typing import Any

from . import wire
from .memory import MAX_ID, BackendMemory, declared
from .table import MethodTable
from .wire import Blob, Declined

SYMBOLS = ("GetBackendId", "GetVersion", "BackendFactory")


class SharedObject:
    """One shared object, and what it exports."""

    def __init__(self) -> None:
        self._memory: BackendMemory
        self._library: Any = None
        self._version = (0, 0)
        self._table: MethodTable | None = None

    def handle(
        self, method: str, message: dict[str, Any], blobs: list[bytearray]
    ) -> tuple[dict[str, Any], list[Blob]]:
        """Answers one call. Raises Declined."""
        if self._table is not None:
            return self._table.call(method, message, blobs)
        steps = {
            "load": self._load,
            "GetBackendId": self._identify,
            "GetVersion": self._ask_version,
            "BackendFactory": self._create,
        }
        return steps[method](message), []

    def _load(self, message: dict[str, Any]) -> dict[str, Any]:
        ffi = declared(message)
        loader = ffi.dlopen(None)
        dlopen, dlsym, dlerror = loader.dlopen, loader.dlsym, loader.dlerror
        path = os.fsencode(message["path"])  # which cffi would have to be UTF-8
        # lazily: an object may lack what it never calls
        handle = dlopen(path, os.RTLD_LAZY | os.RTLD_LOCAL)
        if not handle:
            raise Declined(wire.ERROR, _said(ffi, dlerror()))
        for name in SYMBOLS:
            if not dlsym(handle, name.encode()):
                raise Declined(wire.ERROR, f"it does not export {name}: {_said(ffi, dlerror())}")
        self._memory, self._library = BackendMemory(ffi), ffi.dlopen(handle)
        return {}

    def _identify(self, message: dict[str, Any]) -> dict[str, Any]:
        return {"id": self._memory.text(self._library.GetBackendId(), "the id", limit=MAX_ID)}

    def _ask_version(self, message: dict[str, Any]) -> dict[str, Any]:
        version = self._memory.ffi.new("uint32_t[2]")
        self._library.GetVersion(version, version + 1)
        self._version = (version[0], version[1])
        return {"version": self._version}

    def _create(self, message: dict[str, Any]) -> dict[str, Any]:
        made = self._library.BackendFactory()
        if not made:
            raise Declined(wire.ERROR, "BackendFactory returned NULL")
        self._table = MethodTable(self._memory, made, self._version)
        return {"methods": self._table.methods}


def _said(ffi: Any, said: Any) -> str:
    """The loader's reason."""
    text: bytes = ffi.string(said) if said else b"the loader gives no reason"
    return text.decode("utf-8", "replace")


def serve_shared_object(end: socket.socket) -> None:
    """The life of a worker's process."""
    wire.serve(wire.Stream(end), SharedObject().handle)
