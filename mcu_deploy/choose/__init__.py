"""Gives each node to a backend, without a cycle between the partitions that arise.

`assign` asks all backends about all nodes (offers.py), lets a strategy choose (strategies/, one
file each), groups what belongs together (convex.py), and lets each backend optimise what it got
(optimizing.py).
"""

from mcu_deploy.choose.assigning import Options, assign, unsupported
from mcu_deploy.choose.model import (
    Assignment,
    Candidate,
    Partition,
    Problem,
    Refusal,
    Strategy,
)

__all__ = [
    "Assignment",
    "Candidate",
    "Options",
    "Partition",
    "Problem",
    "Refusal",
    "Strategy",
    "assign",
    "unsupported",
]
