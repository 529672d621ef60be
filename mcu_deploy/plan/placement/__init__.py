"""Where buffers lie that must not meet: the search for the smallest arena.

`solve` takes a `Problem`, plain numbers without graphs or steps, and gives a `Placement`. The
strategies that it tries are the modules of `strategies/`.
"""

from mcu_deploy.plan.placement.bound import clique_bound
from mcu_deploy.plan.placement.model import Placement, Problem, violations
from mcu_deploy.plan.placement.solve import EFFORT, solve

__all__ = ["EFFORT", "Placement", "Problem", "clique_bound", "solve", "violations"]
