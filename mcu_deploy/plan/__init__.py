"""Where everything lives that needs RAM: one plan over tensors and scratch alike.

`make` gives a plan; `check.check` proves it from the definition, without the planner.
"""

from mcu_deploy.plan.model import Buffer, Plan, Step, Tensor
from mcu_deploy.plan.planner import Options, make

__all__ = ["Buffer", "Options", "Plan", "Step", "Tensor", "make"]
