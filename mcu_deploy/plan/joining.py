"""Copies at the end of a branch or a round that are not needed, as both edges have one place."""

from __future__ import annotations

from mcu_deploy.ir import Graph
from mcu_deploy.plan.analysis import Analysis
from mcu_deploy.plan.control import Block, blocks
from mcu_deploy.plan.lowering import Lowered
from mcu_deploy.plan.model import Copy


def join(graph: Graph, analysis: Analysis, lowered: Lowered) -> None:
    """Lets a branch write what an If puts out, and a round what a loop carries, where it can."""
    found = {block.node: block for block in blocks(analysis.happenings).values()}
    for node, copy in lowered.branches:
        _join_branch(graph, analysis, copy, found[node])
    for node, copy in reversed(lowered.rounds):  # inner loops first: outer ones carry their results
        _join_round(analysis, copy, found[node])


def _join_branch(graph: Graph, analysis: Analysis, wanted: Copy, block: Block) -> None:
    """What a branch computes and nobody else sees may be the If's output from the begin."""
    storages = analysis.storages.of
    if wanted.source not in storages:
        return  # a constant
    here, there = storages[wanted.target], storages[wanted.source]
    outputs = set(graph.node(block.node).writes)
    if here is there or not (here.is_free and there.is_free) or outputs & set(there.edges):
        return
    if _is_inside(analysis, wanted, block):
        analysis.storages.join(wanted.target, wanted.source)


def _join_round(analysis: Analysis, wanted: Copy, block: Block) -> None:
    """The next value of a state may be written over it behind the last reader of the round."""
    storages = analysis.storages.of
    if wanted.source not in storages or not _is_inside(analysis, wanted, block):
        return
    here = storages[wanted.target]
    copy = next(
        position
        for position in range(block.end, block.begin, -1)
        if analysis.happenings[position] == wanted
    )
    if here.is_free and analysis.may_follow(wanted.target, wanted.source, range(block.begin, copy)):
        analysis.storages.join(wanted.target, wanted.source)


def _is_inside(analysis: Analysis, wanted: Copy, block: Block) -> bool:
    """Whether the source and all that shares its place lives in the stretch alone."""
    there = analysis.storages.of[wanted.source]
    touches = analysis.touches(there, range(analysis.end))
    edges = set(there.edges)
    inside = bool(touches) and block.begin < touches[0] and touches[-1] < block.end
    return inside and not any(edges & (run.begin | run.end) for run in analysis.runs)
