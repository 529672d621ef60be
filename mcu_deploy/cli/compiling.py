"""The options of `build` and `optimize` that say how a model is compiled."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Annotated

import typer

from mcu_deploy.errors import UsageError

if TYPE_CHECKING:
    from mcu_deploy.compiler import Options

Backends = Annotated[
    str, typer.Option("--backend", help="Backend ids in order of preference, by commas.")
]
LayerBackends = Annotated[
    list[str] | None,
    typer.Option("--layer-backend", metavar="LAYER=ID", help="Who computes a layer (repeatable)."),
]
Strategy = Annotated[
    str,
    typer.Option(
        "--strategy",
        help="greedy: the first backend of the preference; cost: the cheapest, with the "
        "conversions between them.",
    ),
]
Keep = Annotated[
    list[str] | None,
    typer.Option("--keep", metavar="TENSOR", help="Readable after a run (repeatable)."),
]
Partitions = Annotated[
    list[str] | None,
    typer.Option(
        "--partition",
        metavar="NAME=IN,..:OUT,..",
        help="A part that can be run alone, between these tensors (repeatable).",
    ),
]
States = Annotated[
    list[str] | None,
    typer.Option(
        "--state",
        metavar="INPUT=OUTPUT",
        help="The output of one run is the input of the next (repeatable).",
    ),
]
InOut = Annotated[
    str, typer.Option("--io", help="arena: inputs and outputs have places there; caller: not.")
]
Memory = Annotated[
    str,
    typer.Option(
        "--memory",
        help="offline: fixed places; compact: tensors move between layers where that saves "
        "memory; plain, mru, bestfit: from a memory manager at run time.",
    ),
]
Schedule = Annotated[
    str,
    typer.Option(
        "--schedule",
        help="sequential: one layer after the other; parallel: independent parts of the network "
        "on the two cores of a board that has two.",
    ),
]
Arena = Annotated[
    str,
    typer.Option(
        "--arena",
        help="For several models. separate: a workspace each; shared: one, in which they "
        "take turns.",
    ),
]
Pools = Annotated[
    str,
    typer.Option(
        "--pools",
        help="off: tensors lie in one memory; auto: in several, by benefit, the fastest first.",
    ),
]
Pinned = Annotated[
    list[str] | None,
    typer.Option("--pool", metavar="TENSOR=NAME", help="The memory of a tensor (repeatable)."),
]
HotWeights = Annotated[
    int,
    typer.Option(
        "--hot-weights", metavar="BYTES", help="Copy up to so many bytes of weights to fast RAM."
    ),
]
Shapes = Annotated[
    list[str] | None, typer.Option("--shape", help="INPUT=1,3,96,96 binds symbolic shapes.")
]
Layers = Annotated[
    str,
    typer.Option("--layers", help="all: no fusion and no memory reuse, for `validate --layers`."),
]


def compile_options(
    *,
    backend: str,
    layer_backend: Sequence[str] | None,
    strategy: str,
    keep: Sequence[str] | None,
    partition: Sequence[str] | None,
    state: Sequence[str] | None,
    io: str,
    memory: str,
    schedule: str,
    arena: str,
    pools: str,
    pool: Sequence[str] | None,
    hot_weights: int,
    shape: Sequence[str] | None,
    layers: str,
) -> Options:
    """The compiler's options. Raises UsageError for values that make no sense."""
    from mcu_deploy import exposing, memory_pools
    from mcu_deploy.compiler import Options
    from mcu_deploy.folder import parse_shapes
    from mcu_deploy.plan import memory_strategies, schedules

    require_known("--io", io, ("arena", "caller"))
    require_known("--memory", memory, memory_strategies())
    require_known("--schedule", schedule, schedules.names())
    require_known("--arena", arena, ("separate", "shared"))
    require_known("--pools", pools, ("off", "auto"))
    require_known("--layers", layers, ("built", "all"))
    return Options(
        backends=tuple(b for b in backend.split(",") if b),
        layer_backends=_layer_backends(layer_backend or []),
        strategy=strategy,
        layers_all=layers == "all",
        shapes=parse_shapes(shape or []),
        requests=exposing.Requests(
            tuple(keep or ()),
            tuple(map(exposing.parse_partition, partition or ())),
            tuple(map(exposing.parse_state, state or ())),
        ),
        io=io,
        arena=arena,
        memory=memory,
        pools=memory_pools.parse(pools, pool or (), hot_weights),
        schedule=schedule,
    )


def require_known(option: str, value: str, known: Sequence[str]) -> None:
    """Raises UsageError for a value that an option does not have."""
    if value not in known:
        listed = " or ".join(known) if len(known) == 2 else f"one of {', '.join(known)}"
        raise UsageError(f"{option} {value} is not known; it is {listed}.")


def _layer_backends(texts: Sequence[str]) -> dict[str, str]:
    found: dict[str, str] = {}
    for text in texts:
        layer, separator, backend = text.rpartition("=")
        if not (separator and layer and backend):
            raise UsageError(f"--layer-backend {text} is not of the form LAYER=ID.")
        if found.setdefault(layer, backend) != backend:
            raise UsageError(
                f"--layer-backend names the layer {layer!r} twice, with {found[layer]} and "
                f"{backend}; name it once."
            )
    return found
