"""Samples on a device, each run once: outputs, and where they are asked for the layers' CRCs; the
same samples in the oracle."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from mcu_deploy import interpreter
from mcu_deploy.compiled import Network
from mcu_deploy.device import Device, LayerCrc
from mcu_deploy.files.arrays import Array
from mcu_deploy.files.samples import Samples
from mcu_deploy.ir import EdgeId
from mcu_deploy.output.progress import counted


@dataclass(frozen=True)
class DeviceRun:
    """A sample's inputs, the states before it, its outputs, and the deepest stack so far.

    crcs: of the layers' outputs; None where the run was not watched.
    """

    inputs: Sequence[Array]
    states: Mapping[str, Array]
    outputs: Sequence[Array]
    stack_used: int
    crcs: tuple[LayerCrc, ...] | None = None

    def again(self, device: Device, network: Network) -> None:
        """Gives the device the states back, so that the sample can run once more."""
        for name, value in self.states.items():
            device.set_state(network.name, name, value)

    def layers(self, device: Device, network: Network) -> tuple[LayerCrc, ...]:
        """The CRC of each layer's output; runs the sample again if it was not watched."""
        if self.crcs is not None:
            return self.crcs
        self.again(device, network)
        return device.watch(network.name, self.inputs)[0]


def run_samples(
    device: Device, network: Network, samples: Samples, *, watch: bool
) -> list[DeviceRun]:
    """Runs every sample; states go from one to the next.

    watch: asks for the layers' CRCs in the same run. Lanes run at once only where nothing watches,
    so a network that has them is not watched.
    """
    runs = []
    names = [state.name for state in network.plan.exposure.states]
    parallel = bool(network.plan.parallel)
    for inputs in counted("samples on the device", samples.inputs):
        states = {name: device.state(network.name, name) for name in names}
        crcs = None
        if watch and not parallel:
            crcs, result = device.watch(network.name, inputs)
        else:
            device.write_inputs(network.name, inputs)
            result = device.run(network.name, bare=parallel)
        outputs = device.outputs(network.name)
        runs.append(DeviceRun(inputs, states, outputs, result.stack_used, crcs))
    return runs


def run_oracle(network: Network, samples: Samples) -> list[dict[EdgeId, Array]]:
    """The value of every edge for each sample; states go from sample to sample."""
    states = {state.input: state.first(network.graph) for state in network.plan.exposure.states}
    found = []
    for inputs in counted("samples by the oracle", samples.inputs):
        given = dict(zip(network.inputs, inputs, strict=True)) | states
        values = interpreter.run_all(network.graph, [given[e] for e in network.graph.inputs])
        states = {s.input: values[s.output] for s in network.plan.exposure.states}
        found.append(values)
    return found
