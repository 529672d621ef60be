"""`run --split`: the part of a model before some tensors on the host, the rest on a board."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from mcu_deploy import formats
from mcu_deploy.api import running
from mcu_deploy.api.folder import folder_for
from mcu_deploy.api.running import Connection, Results
from mcu_deploy.files.arrays import Array
from mcu_deploy.files.samples import Samples, load_samples
from mcu_deploy.formats.imported import tell_assumed
from mcu_deploy.options import HEAD, TAIL, Half, Options


@dataclass(frozen=True)
class Split:
    """The results of both halves, and a sentence that says where the second one ran."""

    head: Results
    tail: Results
    where: str
    samples: Samples


def run(
    model: str | Path,
    board: str | Path,
    tensors: Sequence[str],
    samples: str | Path,
    *,
    count: int | None = None,
    options: Options | None = None,
    connection: Connection | None = None,
) -> Split:
    """Runs the first `count` samples (all for None) through both halves.

    Each half is a network of its own, so that the board holds the rest alone. The head is compiled
    for the host, and its outputs are the tail's first inputs, bit for bit.
    """
    chosen = options or Options()
    read = formats.read(model, chosen.shapes, chosen.constant_values)
    tell_assumed(Path(model).name, read.assumed)
    whole = read.graph
    # The halves need not assume again.
    chosen = replace(chosen, shapes={whole.edge_name(e): whole.type(e).shape for e in whole.inputs})
    given = load_samples(samples, whole).first(count)
    names = [whole.edge_name(edge) for edge in whole.inputs]
    known = [dict(zip(names, sample, strict=True)) for sample in given.inputs]
    head = replace(chosen, half=Half(HEAD, tuple(tensors)))
    tail = replace(chosen, half=Half(TAIL, tuple(tensors)))
    with (
        folder_for(model, "host", name="head", options=head) as first,
        folder_for(model, board, name="tail", options=tail) as second,
    ):
        wanted = [tensor.name for tensor in first.network().inputs]
        here = running.run(first, Samples(_pick(known, wanted), given.origin))
        others = [t.name for t in second.network().inputs][len(tensors) :]
        handed = tuple(
            (*outputs, *rest) for outputs, rest in zip(here, _pick(known, others), strict=True)
        )
        there = running.run(second, Samples(handed, given.origin), connection=connection)
        return Split(here, there, running.where(second, connection or Connection()), given)


def _pick(known: Sequence[dict[str, Array]], names: Sequence[str]) -> tuple[tuple[Array, ...], ...]:
    """Of each sample the inputs of these names."""
    return tuple(tuple(sample[name] for name in names) for sample in known)
