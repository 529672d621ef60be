"""Outputs of as many elements as the values say, which another program gives without the room."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from mcu_deploy.files.arrays import Array
from mcu_deploy.ir import EdgeId, Graph


def with_room(
    graph: Graph,
    outputs: Sequence[EdgeId],
    ours: Sequence[Sequence[Array]],
    theirs: Sequence[Sequence[Array]],
) -> list[list[Array]]:
    """[sample][output]: another program's outputs, as the graph has them.

    Behind their elements they have what ours have, which means nothing. Behind the outputs come the
    counts, which are extents there. All others are as they were.
    """
    counts: dict[EdgeId, tuple[str, int]] = {}
    for node in graph.nodes:
        attributes = graph.attributes(node.id)
        if "counted" in attributes:
            counts[node.writes[-1]] = attributes["counted"], attributes["counted_axis"]
    if not counts:
        return [list(sample) for sample in theirs]
    places = {graph.edge_name(edge): place for place, edge in enumerate(outputs)}

    def of_sample(ours: Sequence[Array], theirs: Sequence[Array]) -> list[Array]:
        found = []
        for edge, own, other in zip(outputs, ours, theirs, strict=False):
            extents = zip(own.shape, other.shape, strict=False)
            if own.ndim == other.ndim and edge not in counts and all(a >= b for a, b in extents):
                whole = np.array(own, other.dtype)
                whole[tuple(slice(extent) for extent in other.shape)] = other
                found.append(whole)
            else:
                found.append(other)
        for edge in outputs[len(theirs) :]:
            name, axis = counts[edge]
            found.append(np.asarray(theirs[places[name]].shape[axis], np.int64))
        return found

    return [of_sample(*sample) for sample in zip(ours, theirs, strict=True)]
