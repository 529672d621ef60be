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

    network: as it is at the sample's size, where each run decides one. crcs: of the layers'
    outputs; None where the run was not watched.
    """

    network: Network
    inputs: Sequence[Array]
    states: Mapping[str, Array]
    outputs: Sequence[Array]
    stack_used: int
    crcs: tuple[LayerCrc, ...] | None = None

    def again(self, device: Device) -> None:
        """Gives the device the states back, so that the sample can run once more."""
        for name, value in self.states.items():
            device.set_state(self.network.name, name, value)

    def layers(self, device: Device) -> tuple[LayerCrc, ...]:
        """The CRC of each layer's output; runs the sample again if it was not watched."""
        if self.crcs is not None:
            return self.crcs
        self.again(device)
        return device.watch(self.network.name, self.inputs)[0]


def run_samples(
    device: Device, network: Network | Sequence[Network], samples: Samples, *, watch: bool
) -> list[DeviceRun]:
    """Runs every sample; states go from one to the next.

    network: where each run decides a size, as it is at that of each sample. watch: asks for the
    layers' CRCs in the same run. Lanes run at once only where nothing watches, so a network that
    has them is not watched.
    """
    runs: list[DeviceRun] = []
    each = _each(network, samples)
    for inputs in counted("samples on the device", samples.inputs):
        network = each[len(runs)]
        names = [state.name for state in network.plan.exposure.states]
        parallel = bool(network.plan.parallel)
        states = {name: device.state(network.name, name) for name in names}
        crcs = None
        if watch and not parallel:
            crcs, result = device.watch(network.name, inputs)
        else:
            device.write_inputs(network.name, inputs)
            result = device.run(network.name, bare=parallel)
        outputs = device.outputs(network.name)
        runs.append(DeviceRun(network, inputs, states, outputs, result.stack_used, crcs))
    return runs


def _each(network: Network | Sequence[Network], samples: Samples) -> Sequence[Network]:
    return [network] * len(samples) if isinstance(network, Network) else network


def run_oracle(network: Network | Sequence[Network], samples: Samples) -> list[dict[EdgeId, Array]]:
    """The value of every edge for each sample; states go from sample to sample. network: as of
    `run_samples`."""
    carried: list[Array] | None = None
    found: list[dict[EdgeId, Array]] = []
    each = _each(network, samples)
    for inputs in counted("samples by the oracle", samples.inputs):
        network = each[len(found)]
        states = network.plan.exposure.states
        if carried is None:
            carried = [state.first(network.graph) for state in states]
        given = dict(zip(network.inputs, inputs, strict=True))
        given |= {state.input: value for state, value in zip(states, carried, strict=True)}
        values = interpreter.run_all(network.graph, [given[e] for e in network.graph.inputs])
        carried = [values[state.output] for state in states]
        found.append(values)
    return found
