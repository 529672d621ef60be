"""Samples of networks whose runs decide a size, and these networks as they are at each size."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from mcu_deploy.agreement.made_up import drawn, random_samples, random_values
from mcu_deploy.api.folder import ObjectFolder
from mcu_deploy.compiled import Network
from mcu_deploy.errors import RequestError
from mcu_deploy.files.arrays import Array
from mcu_deploy.files.samples import Samples, extent, load_samples, shape_in
from mcu_deploy.ir import TensorType
from mcu_deploy.selection.formulas import Size
from mcu_deploy.session import Session


def samples_in(path: str | Path, network: Network) -> Samples:
    """Reads a file of samples for a network's inputs: where each run decides a size, of that which
    the file's arrays have. Raises UsageError where they have another shape."""
    size = network.selection.size
    if size is None:
        return load_samples(path, network.graph, network.inputs)
    shape = shape_in(path, network.graph, network.inputs, size.tensor)
    rank = network.graph.type(network.inputs[size.tensor]).rank
    found = extent(shape, rank, size.axis)
    found = size.most if found is None else found
    _require(network, size, found)
    return load_samples(path, network.graph, network.inputs, _types(network, size, found))


def made_up(network: Network, sizes: Sequence[int] | None = None) -> Samples:
    """Made-up samples: one for each of these sizes, by default for the least, half the largest and
    the largest; four where all shapes are static. Raises UsageError where it has no such size."""
    size = network.selection.size
    if size is None:
        if sizes is not None:
            raise _has_one(network, "--sizes")
        return random_samples(network.graph, edges=network.inputs)
    chosen = sizes or sorted({size.least, max(size.most // 2, size.least), size.most})
    inputs = drawn(network.graph, network.inputs)
    found: list[tuple[Array, ...]] = []
    for one in chosen:
        _require(network, size, one)
        at = zip(inputs, _types(network, size, one), strict=True)
        found += random_values([of._replace(type=type_) for of, type_ in at], 1).inputs
    said = ", ".join(map(str, chosen))
    return Samples(tuple(found), f"a random generator (seed 0), of the sizes {said}")


def at_sizes(
    folder: ObjectFolder, network: Network, samples: Samples, session: Session | None = None
) -> list[Network]:
    """For each sample the network as it is at its size."""
    size = network.selection.size
    if size is None:
        return [network] * len(samples)
    made = {size.most: network}
    found = []
    for inputs in samples.inputs:
        one = inputs[size.tensor].shape[size.axis]
        if one not in made:
            made[one] = folder.compile_again(network.name, session, one)
        found.append(made[one])
    return found


def at_size(
    folder: ObjectFolder, network: Network, one: int, session: Session | None = None
) -> Network:
    """The network as it is at a size. Raises RequestError where it has no such size."""
    size = network.selection.size
    if size is None:
        raise _has_one(network, "--size")
    _require(network, size, one)
    return network if one == size.most else folder.compile_again(network.name, session, one)


def shapes(network: Network, one: int) -> tuple[tuple[int, ...], ...]:
    """Of the inputs, then of the outputs, at a size that the network has."""
    size = network.selection.size
    assert size is not None
    largest = (network.graph.type(edge) for edge in (*network.inputs, *network.outputs))
    return tuple(size.shape(k, one, type_.shape) for k, type_ in enumerate(largest))


def _has_one(network: Network, option: str) -> RequestError:
    return RequestError(
        f"The network {network.name!r} has one size alone. Build it with a bound, as --shape "
        f"x=N,8:N<=64, or leave {option} out."
    )


def _types(network: Network, size: Size, one: int) -> list[TensorType]:
    """Those of the inputs at a size."""
    largest = [network.graph.type(edge) for edge in network.inputs]
    return [replace(t, shape=size.shape(k, one, t.shape)) for k, t in enumerate(largest)]


def _require(network: Network, size: Size, one: int) -> None:
    if not size.least <= one <= size.most:
        raise RequestError(
            f"The network {network.name!r} runs for sizes from {size.least} to {size.most}, not "
            f"for {one}. Give samples of such a size, or build it with another bound."
        )
