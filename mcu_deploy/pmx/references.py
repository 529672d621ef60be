"""What a record refers to: layers and choices by the id of their node, memory managers by name."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from mcu_deploy.backends.layer import Layer
from mcu_deploy.choose.select import Choice
from mcu_deploy.plan import managers
from mcu_deploy.plan.managers import Configuration
from mcu_deploy.pmx import pmx_generated as fb
from mcu_deploy.pmx.constants import numbers
from mcu_deploy.pmx.context import Reader, Writer
from mcu_deploy.pmx.damage import Damage

Encode = Callable[[Writer, Any], Any]
Decode = Callable[[Reader, Any], Any]


def encode_layer(writer: Writer, value: Layer) -> int:
    return writer.ids.node(value.node.id)


def encode_choice(writer: Writer, value: Choice) -> int:
    return writer.ids.node(value.layer.node.id)


def read_choice(table: type, name: str) -> Decode:
    get = getattr(table, name)
    return lambda reader, table: reader.choices[get(table)]


def read_layer(table: type, name: str) -> Decode:
    get = getattr(table, name)
    return lambda reader, table: reader.layer(get(table))


def encode_configuration(writer: Writer, value: Configuration) -> fb.ConfigurationT:
    """A strategy is a file that may be added, so it is told by what its manager is told."""
    made = fb.ConfigurationT()
    strategy = next(n for n in managers.names() if value in managers.configurations(n))
    made.strategy = writer.number(strategy)
    made.arguments = list(value.entry_points.arguments)
    return made


def decode_configuration(reader: Reader, table: fb.Configuration) -> Configuration:
    strategy = reader.lists[str][table.Strategy()]
    arguments = tuple(numbers(table.ArgumentsAsNumpy()))
    for known in managers.configurations(strategy):
        if known.entry_points.arguments == arguments:
            return known
    raise Damage(f"the memory strategy {strategy!r} cannot be set up as it wants")
