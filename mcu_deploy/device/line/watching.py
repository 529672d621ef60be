"""What a run reports of its layers, put together from the events of several runs.

Events that were lost are not repeated, but runs can be.
"""

from __future__ import annotations

from mcu_deploy.device.line import messages
from mcu_deploy.device.line.codes import RunFlag, Type
from mcu_deploy.device.line.framing import Frame
from mcu_deploy.device.line.messages import LayerCrc, LayerTime, RunResult


class LayerCrcs:
    """The CRC-32 of each output of each layer."""

    flag = RunFlag.LAYER_CRC

    def __init__(self) -> None:
        self._found: dict[tuple[int, int], LayerCrc] = {}
        self._counts: dict[int, int] = {}
        self._arrived = 0

    def note(self, event: Frame) -> None:
        """Takes a LAYER_CRC event."""
        if event.type == Type.LAYER_CRC:
            crc = messages.unpack_layer_crc(event.payload)
            self._found[crc.layer, crc.output] = crc
            self._counts[crc.layer] = crc.num_outputs
            self._arrived += crc.output == 0

    def is_complete(self, result: RunResult, num_layers: int) -> bool:
        """Whether every output of every layer that ran is known."""
        calls, self._arrived = self._arrived, 0
        every = len(self._counts) == num_layers or calls == result.layers
        return every and len(self._found) == sum(self._counts.values())

    def in_order(self) -> tuple[LayerCrc, ...]:
        """By layer and output."""
        return tuple(self._found[key] for key in sorted(self._found))


class LayerTimes:
    """The counter's difference over each layer, the least of the repetitions."""

    flag = RunFlag.LAYER_TIME

    def __init__(self) -> None:
        self._least: dict[int, int] = {}
        self._calls: dict[int, list[LayerTime]] = {}

    def note(self, event: Frame) -> None:
        """Takes a LAYER_TIME event."""
        if event.type == Type.LAYER_TIME:
            call = messages.unpack_layer_time(event.payload)
            self._calls.setdefault(call.repetition, []).append(call)

    def is_complete(self, result: RunResult, num_layers: int) -> bool:
        """Whether one repetition, or each layer in one of them, is known as a whole."""
        for calls in self._calls.values():
            layers = {call.layer for call in calls}
            if len(calls) == result.layers or len(layers) == len(calls):  # none runs twice
                for layer in layers:
                    took = sum(call.counter for call in calls if call.layer == layer)
                    self._least[layer] = min(took, self._least.get(layer, took))
        whole = any(len(calls) == result.layers for calls in self._calls.values())
        self._calls.clear()
        return whole or len(self._least) == num_layers

    def costs(self, num_layers: int) -> tuple[int, ...]:
        """Of each layer; 0 for one that does not run."""
        return tuple(self._least.get(layer, 0) for layer in range(num_layers))


Watch = LayerCrcs | LayerTimes
"""Takes the events of runs, each asked for with its flag, until nothing is missing."""
