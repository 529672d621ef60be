"""Where everything lives that needs RAM: one plan over tensors and scratch alike.

`make` gives a plan; `check` proves one from the definition, without the planner.
"""

from mcu_deploy.arrange.exposure import Exposure, Kept, Partition, State
from mcu_deploy.options import memory_strategies
from mcu_deploy.plan.check import check
from mcu_deploy.plan.copies import make_without_copies
from mcu_deploy.plan.dividing import Memories
from mcu_deploy.plan.model import (
    Copy,
    InPool,
    InSlot,
    Parallel,
    Place,
    PlacedTensor,
    Plan,
    PlanError,
    PlannedPart,
    PoolUse,
    Step,
)
from mcu_deploy.plan.planner import OFFLINE, Planning, make
