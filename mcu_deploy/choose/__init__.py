"""Who computes what: the cover of the graph by the backends' proposals that is best for the goal.

`assign` asks all backends (offers.py) and lets a strategy choose (strategies/, one file each, which
search.py and goals.py serve). Backends that are written in Arm NN's words are let optimise what
they got (arm_nn.py), in groups without a cycle between them (convex.py). Only what has won is
applied. `selection` then makes the workloads.
"""

from mcu_deploy.choose.assigning import Choosing, assign, covers
from mcu_deploy.choose.model import Assignment, Candidate, Cover, Group, Part, Problem, Rejection
