"""`profile`: what an inference costs on a board, layer by layer."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from mcu_deploy.device.counting import count_instructions
from mcu_deploy.errors import UsageError
from mcu_deploy.folder import BuildFolder, as_folder
from mcu_deploy.running import Connection, open_device
from mcu_deploy.samples import random_samples


@dataclass(frozen=True)
class LayerCost:
    """A layer's cost in `Profile.unit`, its multiply-accumulates and its share of the total."""

    index: int
    name: str
    op: str
    cost: int
    macs: int
    share: float

    @property
    def per_mac(self) -> float | None:
        return self.cost / self.macs if self.macs else None


@dataclass(frozen=True)
class Profile:
    """One inference: the total of a run without a hook, and the layers.

    unit: "instructions" from an emulator, "cycles" or "ticks" from a board's counter; never mixed.
    """

    network: str
    unit: str
    source: str
    total: int
    macs: int
    layers: tuple[LayerCost, ...]
    stack_bytes: int | None

    @property
    def outside(self) -> int:
        """What is not in any layer: argument checks, copies, the calls themselves."""
        return max(0, self.total - sum(layer.cost for layer in self.layers))


def profile(
    build: BuildFolder | str | Path,
    *,
    model: str | None = None,
    connection: Connection | None = None,
) -> Profile:
    """Counts instructions of bench.elf in an emulator, or reads the counter of a board at a port.

    Raises UsageError for the host, where nothing counts.
    """
    folder = as_folder(build)
    entry = folder.network(model)
    chosen = connection or Connection()
    if chosen.port is not None:
        return _on_board(folder, entry["name"], chosen)
    if folder.board.is_host:
        raise UsageError(
            "On the host nothing counts instructions. Profile on a board: --board mps2-an386."
        )
    if entry["name"] != folder.networks[0]["name"]:
        raise UsageError(
            f"bench.elf runs the first network of the firmware, {folder.networks[0]['name']!r}. "
            f"Build {entry['name']!r} alone to profile it."
        )
    counts = count_instructions(
        folder.board, folder.bench, emulator=chosen.emulator, extra_args=chosen.arguments
    )
    source = f"{counts.emulator} {counts.version}".strip()
    return _profile(entry, counts.layers, counts.total, counts.unit, source, counts.stack_bytes)


def _on_board(folder: BuildFolder, name: str, connection: Connection) -> Profile:
    network = folder.compile_again(name)
    inputs = random_samples(network.graph, 1).inputs[0]
    with open_device(folder, connection) as device:
        result = device.profile(name, list(inputs), repeat=3)
        for index, value in enumerate(inputs):
            device.write_input(name, index, value.tobytes())
        plain = device.run(name, repeat=3)
    total = plain.counter_least
    unit = result.counter_kind.name.lower()
    return _profile(
        folder.network(name), result.layers, total, unit, f"the counter of {folder.board.name}",
        result.run.stack_used,
    )  # fmt: skip


def _profile(
    entry: dict[str, object],
    costs: tuple[int, ...],
    total: int,
    unit: str,
    source: str,
    stack_bytes: int | None,
) -> Profile:
    rows = entry["layers"]
    assert isinstance(rows, list)
    layers = tuple(
        LayerCost(r["index"], r["name"], r["op"], cost, r["macs"], cost / total if total else 0.0)
        for r, cost in zip(rows, costs, strict=True)
    )
    macs = sum(layer.macs for layer in layers)
    return Profile(str(entry["name"]), unit, source, total, macs, layers, stack_bytes)
