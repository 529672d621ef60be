"""What takes long, as tasks: values that say all of their input, done here or by other machines.

A task is a frozen dataclass of bytes, texts, numbers and options, without any path or anything
that is open. A function of a module makes its record of it, the same one wherever that is. Who does
so is decided in `running`, and nowhere else.
"""

from mcu_deploy.options.means import HERE, Workers
from mcu_deploy.tasks.results import KeptResults
from mcu_deploy.tasks.running import run_tasks

__all__ = ["HERE", "KeptResults", "Workers", "run_tasks"]
