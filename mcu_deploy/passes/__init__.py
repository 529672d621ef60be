"""Simplification of the graph, before any backend sees it: one file a pass.

A pass is a function from a graph to a graph. `run` calls them in the order in which they stand.
These are the generic ones, which always run; those that a backend calls by itself, in its
`optimize_subgraph`, are in `optional`.
"""

from __future__ import annotations

from collections.abc import Callable

from mcu_deploy.errors import ModelError
from mcu_deploy.ir import Graph, GraphEditor
from mcu_deploy.passes import (
    activations,
    batch_normalization,
    constants,
    floats,
    gemm,
    identities,
    moves,
    pads,
    qdq,
    quantization,
    subgraphs,
    tables,
    taps,
    thinning,
    tree_functions,
    trees,
    weights,
    widening,
)

Pass = Callable[[Graph], Graph]


def passes(*, fuse: bool = True) -> tuple[tuple[str, Pass], ...]:
    """The passes by name, in order.

    fuse: whether operators are merged where the model's arithmetic does not ask for it, and tensors
    lose channels, or kernels taps.
    """
    return (
        ("widen narrow types", widening.widen),
        ("annotate quantization", quantization.annotate),
        ("remove identities", identities.remove),
        ("move integers", moves.commute),
        ("fold batch normalization", batch_normalization.fold),
        ("fuse MatMul and Add", lambda g: gemm.fuse(g, everywhere=fuse)),
        ("fuse activations", lambda g: activations.fuse(g, everywhere=fuse)),
        ("fold functions of trees", lambda g: tree_functions.fold(g) if fuse else g),
        ("give trees all features", tree_functions.choose),
        ("add trees", lambda g: tree_functions.add(g) if fuse else g),
        ("compare integers in trees", trees.compare_integers),
        ("lower quantized operators", qdq.lower),
        ("say what stays in float", floats.explain),
        ("keep quantized weights", weights.keep),
        ("fold constants", constants.fold),
        ("take constant branches", subgraphs.take_branches),
        ("remove identities again", identities.remove),
        ("make tables of functions of a byte", lambda g: tables.fuse(g) if fuse else g),
        ("fold pads", lambda g: pads.fold(g) if fuse else g),
        ("remove taps that add nothing", lambda g: taps.remove(g) if fuse else g),
        ("remove constant channels", lambda g: thinning.remove(g) if fuse else g),
        ("give constants to subgraphs", subgraphs.give_constants),
        ("simplify subgraphs", lambda g: _subgraphs(g, fuse)),
    )


def _subgraphs(graph: Graph, fuse: bool) -> Graph:
    """The graph with the graphs of its If, Loop and Scan nodes simplified as it is itself."""
    if not graph.data.subgraphs:
        return graph
    editor = GraphEditor(graph)
    for node, held in graph.data.subgraphs.items():
        editor.subgraphs[node] = {name: run(inner, fuse=fuse) for name, inner in held.items()}
    return editor.finish()


def run(graph: Graph, *, fuse: bool = True) -> Graph:
    """Simplifies a graph. The result computes the same outputs, by docs/arithmetic.md.

    fuse: see `passes`.
    """
    for name, function in passes(fuse=fuse):
        try:
            graph = function(graph)
        except (ArithmeticError, LookupError, MemoryError, TypeError, ValueError) as error:
            raise ModelError(
                f"The model cannot be simplified ({name}: {error}): sizes or values in it do not "
                "fit together. Check it with onnx.checker, and export it again."
            ) from error
    return graph
