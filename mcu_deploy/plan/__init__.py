"""Where everything lives that needs RAM: one plan over tensors and scratch alike.

`make` gives a plan; `check` proves one from the definition, without the planner.
"""

from mcu_deploy.plan.check import check
from mcu_deploy.plan.model import Buffer, Plan, PlanError, Step, Tensor
from mcu_deploy.plan.planner import Options, make

__all__ = ["Buffer", "Options", "Plan", "PlanError", "Step", "Tensor", "check", "make"]
