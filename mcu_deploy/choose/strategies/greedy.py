"""Gives each node to the first backend of the preference that supports it (document 002)."""

from __future__ import annotations

from collections.abc import Mapping

from mcu_deploy.choose.model import Problem
from mcu_deploy.ir import NodeId

NAME = "greedy"


def choose(problem: Problem) -> Mapping[NodeId, str]:
    """The first candidate of each node, or the backend that is fixed."""
    return {
        node: problem.fixed.get(node, candidates[0].backend)
        for node, candidates in problem.candidates.items()
    }
