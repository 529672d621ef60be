"""Keywords for Robot Framework: `Library    mcu_deploy.robot` (docs/renode-ci.md).

Nothing here imports Robot Framework before a keyword runs: it is no dependency of mcu-deploy.
"""

from mcu_deploy.robot.keywords import Keywords

robot = Keywords  # Robot Framework takes the class that is called as its module

__all__ = ["Keywords", "robot"]
