"""Where buffers lie that must not meet: the search for the smallest arena.

`solve` takes a `PlacementProblem`, plain numbers without graphs or steps, and gives a `Placement`.
"""

from mcu_deploy.plan.placement.bound import clique_bound
from mcu_deploy.plan.placement.model import Placement, PlacementProblem
from mcu_deploy.plan.placement.solve import EFFORT, solve

__all__ = ["EFFORT", "Placement", "PlacementProblem", "clique_bound", "solve"]
