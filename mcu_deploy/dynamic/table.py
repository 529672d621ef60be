"""A backend's table of methods: checked once, then called by name.

The only place that calls into the shared object behind its factory. Runs in workers: the standard
library, and cffi's compiled module.
"""

from __future__ import annotations

from typing import Any

from . import wire
from .answers import Answers
from .arguments import Arguments
from .memory import BackendMemory
from .wire import Blob, Declined

Answer = tuple[dict[str, Any], list[Blob]]

MANDATORY = ("describe", "create_workload", "release", "free")
_STATUS = {
    "MCU_BACKEND_ERROR": (wire.ERROR, "it gives no reason"),
    "MCU_BACKEND_UNSUPPORTED": (wire.UNSUPPORTED, "it has nothing for this layer"),
    "MCU_BACKEND_OUT_OF_MEMORY": (wire.ERROR, "it ran out of memory"),
}


class MethodTable:
    """The methods of one backend object. A method that is not there is not in `methods`."""

    def __init__(self, memory: BackendMemory, at: Any, version: tuple[int, int]) -> None:
        """at: what a factory returned, with the version that GetVersion says. Declines a table that
        cannot be used. A shorter one of an older minor version lacks the methods behind its end.
        """
        ffi = memory.ffi
        size, shortest = ffi.cast("uint32_t *", at)[0], ffi.offsetof("mcu_backend_t", "save_data")
        if size < shortest:
            reason = f"its table has {size} bytes, and version 1.0 of the interface has {shortest}"
            raise Declined(wire.ERROR, reason)
        table = ffi.new("mcu_backend_t *")
        ffi.memmove(table, ffi.cast("char *", at), min(size, ffi.sizeof("mcu_backend_t")))
        said = (table.api_major, table.api_minor)
        if said != version:
            reason = "its table says version {}.{}, but GetVersion {}.{}".format(*said, *version)
            raise Declined(wire.ERROR, reason)
        fields = ffi.typeof("mcu_backend_t").fields
        methods = [name for name, field in fields if field.type.kind == "function"]
        self.methods = [name for name in methods if getattr(table, name)]
        self._memory, self._table = memory, table
        asked = "propose" if "propose" in self.methods else "is_layer_supported"
        for name in (*MANDATORY, asked):
            if name not in self.methods:
                raise Declined(wire.ERROR, f"the method {name} of its table is NULL")

    def call(self, method: str, message: dict[str, Any], blobs: list[bytearray]) -> Answer:
        """Calls a method with a message's arguments. Raises Declined."""
        if method not in self.methods:
            raise Declined(wire.UNSUPPORTED, f"it has no method {method}")
        arguments = Arguments(self._memory, message, blobs)
        match method:
            case "release":
                self._release(self._memory.ffi.cast("void *", message["handle"]))
            case "free":
                self._table.free(self._table.self)
                self.methods = []
            case "describe" | "memory":
                return self._called(method)
            case "create_context":
                return self._called(method, *arguments.options())
            case "load_data":
                return self._called(
                    method, message["network"], arguments.graph(), *arguments.data()
                )
            case "layers_measured":
                return self._called(method, *arguments.counts())
            case _ if method.endswith("_network"):
                return self._called(method, message["network"])
            case _:
                return self._called(method, arguments.graph())
        return {}, []

    def _called(self, method: str, *given: Any) -> Answer:
        """Calls a method, and copies what it answers, if it does.

        The answer's handle goes with it, to be given back by "release", so that a fault there has a
        name.
        """
        ffi, function = self._memory.ffi, getattr(self._table, method)
        kinds = ffi.typeof(function).args
        if len(kinds) == len(given) + 1:  # self and what is given: it has no answer
            self._check(function(self._table.self, *given))
            return {}, []
        answer = ffi.new(kinds[-1])
        answer.struct_size = ffi.sizeof(answer[0])
        status = function(self._table.self, *given, answer)
        handle = getattr(answer, "handle", ffi.NULL)
        reader = Answers(self._memory, self._table.api_minor)
        try:
            self._check(status)
            found = reader.read(answer)
        except Declined:
            self._release(handle)
            raise
        held = {"handle": int(ffi.cast("uintptr_t", handle))} if handle else {}
        return found | held, reader.blobs

    def _release(self, handle: Any) -> None:
        if handle:
            self._table.release(self._table.self, handle)

    def _check(self, status: int) -> None:
        name = self._memory.ffi.typeof("mcu_backend_status_t").elements.get(status)
        if name == "MCU_BACKEND_OK":
            return
        if name is None:
            raise Declined(wire.NONSENSE, f"the status {status} does not exist")
        kind, reason = _STATUS[name]
        if name == "MCU_BACKEND_ERROR" and self._table.error:
            said = self._table.error(self._table.self)
            reason = self._memory.optional_text(said, "the reason of its error") or reason
        raise Declined(kind, reason)
