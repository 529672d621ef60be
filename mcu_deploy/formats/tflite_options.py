"""The options of operators that TFLite does not define, which are a FlexBuffer: a map."""

from __future__ import annotations

from flatbuffers import flexbuffers

from mcu_deploy.formats.tflite_operation import Operation


class CustomOptions:
    """Reads options by name. Those that are read are the only ones looked at, whatever the map
    holds; what Python raises for a damaged one is SIGNS_OF_DAMAGE."""

    def __init__(self, operation: Operation) -> None:
        self._operation = operation
        raw = operation.custom_options
        self._map = flexbuffers.GetRoot(bytearray(raw)).AsMap if raw else {}

    def integer(self, name: str, default: int | None = None) -> int:
        if default is not None and name not in self:
            return default
        return int(self._find(name).AsInt)

    def real(self, name: str) -> float:
        return float(self._find(name).AsFloat)

    def __contains__(self, name: str) -> bool:
        try:
            self._map[name]
        except KeyError:
            return False
        return True

    def _find(self, name: str) -> flexbuffers.Ref:
        if name not in self:
            raise self._operation.damaged(f"it lacks the option {name}")
        return self._map[name]
