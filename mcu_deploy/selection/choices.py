"""What computes each node: values, which the planner, codegen, reports and PMX read."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass

from mcu_deploy.backends.interface import Layer, RegionCall, Workload
from mcu_deploy.selection.formulas import Size


@dataclass(frozen=True)
class Choice:
    """A layer and the workload that computes it."""

    layer: Layer
    workload: Workload


@dataclass(frozen=True)
class Control:
    """An If, Loop or Scan: what computes each of its graphs, by attribute."""

    layer: Layer
    blocks: Mapping[str, tuple[Chosen, ...]]


Chosen = Choice | Control


def every(chosen: Iterable[Chosen]) -> Iterator[Chosen]:
    """Choices and controls, those inside of a control behind it."""
    for item in chosen:
        yield item
        if isinstance(item, Control):
            for block in item.blocks.values():
                yield from every(block)


def choices_within(chosen: Iterable[Chosen]) -> Iterator[Choice]:
    """The choices with those for the graphs inside of If, Loop and Scan, depth first."""
    return (item for item in every(chosen) if isinstance(item, Choice))


@dataclass(frozen=True)
class Selection:
    """The choices in the order of execution, and what the backends' memory managers call.

    acquire: at the begin of every run; release: at the end of an instance. By backend id. size:
    that which each run decides, where there is one.
    """

    choices: tuple[Chosen, ...]
    acquire: tuple[tuple[str, RegionCall], ...] = ()
    release: tuple[tuple[str, RegionCall], ...] = ()
    size: Size | None = None
