"""Options for one of several networks: `--keep kws::TENSOR`.

A name without `NETWORK::` before it is meant for every network of the build. What begins like that,
with a network that is built, is meant for that one alone, whatever its tensors are called: one that
is itself called `kws::x` is typed `kws::kws::x`.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from typing import TypeVar

from mcu_deploy.errors import RequestError
from mcu_deploy.options import Options

T = TypeVar("T")

SEPARATOR = "::"


def options_of(options: Options, network: str, networks: Sequence[str]) -> Options:
    """What of a build's options is meant for one of its networks; names without their prefixes."""
    if len(networks) < 2:
        return options

    def mine(name: str) -> str | None:
        prefix, separator, rest = name.partition(SEPARATOR)
        if not separator or prefix not in networks:
            return name
        return rest if prefix == network else None

    def of(table: Mapping[str, T]) -> dict[str, T]:
        # What is said of this network alone comes last, and holds.
        names = sorted(table, key=lambda name: mine(name) != name)
        return {own: table[name] for name in names if (own := mine(name)) is not None}

    asked = options.requests
    return replace(
        options,
        layer_backends=of(options.layer_backends),
        shapes=of(options.shapes),
        constant_inputs=of(options.constant_inputs),
        pools=replace(options.pools, pinned=of(options.pools.pinned)),
        requests=replace(
            asked,
            keep=tuple(own for name in asked.keep if (own := mine(name)) is not None),
            partitions=tuple(
                replace(part, name=own)
                for part in asked.partitions
                if (own := mine(part.name)) is not None
            ),
            states=tuple(
                replace(state, input=own)
                for state in asked.states
                if (own := mine(state.input)) is not None
            ),
        ),
    )


@contextmanager
def one_of(network: str, networks: Sequence[str]) -> Iterator[None]:
    """Lets what a network of several cannot do name the network, and how to ask it of another."""
    try:
        yield
    except RequestError as error:
        if len(networks) > 1:
            error.args = (
                f"Network {network}: {error} What is asked of one network alone begins with its "
                f"name, as in --keep {network}{SEPARATOR}TENSOR.",
            )
        raise
