"""A backend's table of methods: checked once, then called by name.

The only place that calls into the shared object behind its factory. Runs in workers: the standard
library only.
"""

from __future__ import annotations

import ctypes
from collections.abc import Callable
from ctypes import c_char_p, c_int32, c_uint32, c_uint64, c_void_p
from functools import partial
from typing import Any

from . import answers, structs, wire
from .arguments import Arguments
from .memory import optional_text
from .wire import Blob, Declined

Answer = tuple[dict[str, Any], list[Blob]]

_STATUS = {
    structs.ERROR: (wire.ERROR, "it gives no reason"),
    structs.UNSUPPORTED: (wire.UNSUPPORTED, "it has nothing for this layer"),
    structs.OUT_OF_MEMORY: (wire.ERROR, "it ran out of memory"),
}


class Table:
    """The methods of one backend object. A method that is not there is not in `methods`."""

    def __init__(self, table: structs.Backend) -> None:
        self._table = table
        self.methods = [name for name in structs.METHODS if getattr(table, name)]

    @classmethod
    def at(
        cls,
        address: int,
        version: tuple[int, int],
        kind: type[structs.Backend] = structs.Backend,
    ) -> Table:
        """The table that a factory returned. Declines one that cannot be used.

        A shorter table of an older minor version lacks the methods behind its end.
        """
        size = c_uint32.from_address(address).value
        if size < structs.MANDATORY_SIZE:
            raise Declined(
                wire.ERROR,
                f"its table has {size} bytes, and version 1.0 of the interface has "
                f"{structs.MANDATORY_SIZE}",
            )
        table = kind()
        ctypes.memmove(ctypes.byref(table), address, min(size, ctypes.sizeof(kind)))
        if (table.api_major, table.api_minor) != version:
            raise Declined(
                wire.ERROR,
                f"its table says version {table.api_major}.{table.api_minor}, "
                f"but GetVersion {version[0]}.{version[1]}",
            )
        for name in structs.MANDATORY:
            if not getattr(table, name):
                raise Declined(wire.ERROR, f"the method {name} of its table is NULL")
        return cls(table)

    def call(self, method: str, message: dict[str, Any], blobs: list[bytearray]) -> Answer:
        """Calls a method with a message's arguments. Raises Declined."""
        if method not in self.methods:
            raise Declined(wire.UNSUPPORTED, f"it has no method {method}")
        arguments = Arguments(message, blobs)
        match method:
            case "release":
                self._release(message["handle"])
            case "describe":
                read = partial(answers.info, minor=self._table.api_minor)
                return self._answered(method, structs.BackendInfo, read)
            case "is_layer_supported":
                return self._about_graph(method, arguments, structs.Support, answers.support)
            case "optimize_subgraph":
                read = partial(answers.optimization, minor=self._table.api_minor)
                return self._about_graph(method, arguments, structs.Optimization, read)
            case "create_workload":
                read = partial(answers.workloads, minor=self._table.api_minor)
                return self._about_graph(method, arguments, structs.Workloads, read)
            case "estimate":
                return self._about_graph(method, arguments, structs.Costs, answers.costs)
            case "memory":
                return self._answered(method, structs.Memory, answers.memory)
            case "create_context":
                options, count = arguments.options()
                self._check(self._function(method, c_void_p, c_uint32)(options, count))
            case "save_data":
                return self._about_graph(method, arguments, structs.Saved, answers.saved)
            case "load_data":
                data, size = arguments.data()
                function = self._function(method, c_uint32, c_void_p, c_void_p, c_uint64)
                self._check(function(message["network"], arguments.graph(), data, size))
            case "layers_measured":
                network, counts, count = arguments.counts()
                return self._answered(
                    method, structs.Counters, answers.counters,
                    ((c_char_p, network), (c_void_p, counts), (c_uint32, count)),
                )  # fmt: skip
            case "free":
                ctypes.CFUNCTYPE(None, c_void_p)(self._table.free)(self._table.self)
                self.methods = []
            case _:  # before_load_network and its three fellows
                self._check(self._function(method, c_uint32)(message["network"]))
        return {}, []

    def _about_graph(
        self,
        method: str,
        arguments: Arguments,
        kind: type[ctypes.Structure],
        read: Callable[[Any, list[Blob]], dict[str, Any]],
    ) -> Answer:
        return self._answered(method, kind, read, ((c_void_p, arguments.graph()),))

    def _answered(
        self,
        method: str,
        kind: type[ctypes.Structure],
        read: Callable[[Any, list[Blob]], dict[str, Any]],
        arguments: tuple[tuple[type[Any], Any], ...] = (),
    ) -> Answer:
        """Calls a method that fills an answer in, and copies the answer.

        Its handle goes with it, to be given back by "release", so that a fault there has a name.
        """
        answer: Any = kind(ctypes.sizeof(kind))
        types: tuple[type[Any], ...] = (*(t for t, _ in arguments), c_void_p)
        values = (*(v for _, v in arguments), ctypes.addressof(answer))
        status = self._function(method, *types)(*values)
        blobs: list[Blob] = []
        handle = getattr(answer, "handle", None)
        try:
            self._check(status)
            found = read(answer, blobs)
        except Declined:
            self._release(handle)
            raise
        return found | ({"handle": handle} if handle else {}), blobs

    def _release(self, handle: int | None) -> None:
        if handle:
            release = ctypes.CFUNCTYPE(None, c_void_p, c_void_p)(self._table.release)
            release(self._table.self, handle)

    def _function(self, method: str, *types: type[Any]) -> Callable[..., int]:
        function = ctypes.CFUNCTYPE(c_int32, c_void_p, *types)(getattr(self._table, method))
        return lambda *values: int(function(self._table.self, *values))

    def _check(self, status: int) -> None:
        if status == structs.OK:
            return
        if status not in _STATUS:
            raise Declined(wire.NONSENSE, f"the status {status} does not exist")
        kind, reason = _STATUS[status]
        if status == structs.ERROR and self._table.error:
            error = ctypes.CFUNCTYPE(c_void_p, c_void_p)(self._table.error)
            reason = optional_text(error(self._table.self), "the reason of its error") or reason
        raise Declined(kind, reason)
