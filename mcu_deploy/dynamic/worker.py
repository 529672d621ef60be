"""A worker's side: loads one shared object, and answers a session's calls into it.

Runs in the worker's process: the standard library only. Nothing here guards against what the shared
object does to the process; the session does, from outside.
"""

from __future__ import annotations

import ctypes
import os
import socket
from typing import Any

from . import wire
from .memory import MAX_ID, text_at
from .table import Table
from .wire import Blob, Declined

SYMBOLS = ("GetBackendId", "GetVersion", "BackendFactory")

_libc = ctypes.CDLL(None)
_libc.dlopen.restype = ctypes.c_void_p
_libc.dlopen.argtypes = [ctypes.c_char_p, ctypes.c_int]
_libc.dlsym.restype = ctypes.c_void_p
_libc.dlsym.argtypes = [ctypes.c_void_p, ctypes.c_char_p]
_libc.dlerror.restype = ctypes.c_char_p
_libc.dlerror.argtypes = []


class SharedObject:
    """One shared object, and what it exports."""

    def __init__(self) -> None:
        self._symbols: dict[str, int] = {}
        self._version = (0, 0)
        self._table: Table | None = None

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
        # ctypes.CDLL would add RTLD_NOW, which refuses objects that lack what they never call
        handle = _libc.dlopen(os.fsencode(message["path"]), os.RTLD_LAZY | os.RTLD_LOCAL)
        if not handle:
            raise Declined(wire.ERROR, _loader_error())
        for name in SYMBOLS:
            address = _libc.dlsym(handle, name.encode())
            if not address:
                raise Declined(wire.ERROR, f"it does not export {name}: {_loader_error()}")
            self._symbols[name] = address
        return {}

    def _identify(self, message: dict[str, Any]) -> dict[str, Any]:
        function = ctypes.CFUNCTYPE(ctypes.c_void_p)(self._symbols["GetBackendId"])
        return {"id": text_at(function(), "the id", limit=MAX_ID)}

    def _ask_version(self, message: dict[str, Any]) -> dict[str, Any]:
        number = ctypes.POINTER(ctypes.c_uint32)
        function = ctypes.CFUNCTYPE(None, number, number)(self._symbols["GetVersion"])
        major, minor = ctypes.c_uint32(), ctypes.c_uint32()
        function(ctypes.byref(major), ctypes.byref(minor))
        self._version = (major.value, minor.value)
        return {"version": self._version}

    def _create(self, message: dict[str, Any]) -> dict[str, Any]:
        factory = ctypes.CFUNCTYPE(ctypes.c_void_p)(self._symbols["BackendFactory"])
        address = factory()
        if not address:
            raise Declined(wire.ERROR, "BackendFactory returned NULL")
        self._table = Table.at(address, self._version)
        return {"methods": self._table.methods}


def _loader_error() -> str:
    text = _libc.dlerror()
    return text.decode("utf-8", "replace") if text else "the loader gives no reason"


def serve_shared_object(end: socket.socket) -> None:
    """The life of a worker's process."""
    wire.serve(wire.Connection(end), SharedObject().handle)
