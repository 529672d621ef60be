"""Folds a Pad into the convolution or pool behind it, by the rules of the generic pass.

Of use where a model was built without fusion (`passes.run(graph, fuse=False)`), but a backend's
kernels pad for nothing.
"""

from __future__ import annotations

from mcu_deploy.backends.interface import SubgraphView, Substitution
from mcu_deploy.passes import pads


def optimize(view: SubgraphView) -> tuple[Substitution, ...]:
    """Each Pad that nothing but a Conv, AveragePool or MaxPool reads."""
    found: list[Substitution] = []
    for pad in view.nodes:
        reader = view.sole_consumer(pad.writes[0]) if pad.op == "Pad" else None
        if reader is not None:
            part = view.part([pad.id, reader.id])
            folded = pads.fold(part)
            if len(folded.topology.nodes) == 1:
                found.append(Substitution(part, folded))
    return tuple(found)
