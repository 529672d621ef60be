"""Whether a loaded model can be given to code generation: its plan is proven, as each new one is.

A file with a right checksum may still be nonsense: made by a program with a fault, or by one that
wants to do harm. The C functions in it are believed, as a library's are: see docs/pmx.md.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from mcu_deploy import plan
from mcu_deploy.backends.c_rules import Nonsense
from mcu_deploy.backends.interface import Workload
from mcu_deploy.backends.workload_check import check_call, check_workload
from mcu_deploy.compiled import CompiledModel
from mcu_deploy.errors import shorten
from mcu_deploy.plan.pieces import movable
from mcu_deploy.schema import Clause
from mcu_deploy.selection import choices_within

# More than any board has; beyond, checking itself would take the host's memory and time.
_MOST_POOL_BYTES = 1 << 31
_MOST_MANAGED_BYTES = 1 << 26
_MOST_PARTS = 1000


def check(model: CompiledModel) -> None:
    """Raises Misfit, PlanError, or what Python raises, where something does not fit together."""
    made = model.plan
    if any(pool.bytes > _MOST_POOL_BYTES for pool in made.pools):
        raise Clause("its plan has more memory than any board")
    if made.managed is not None and made.managed.bytes > _MOST_MANAGED_BYTES:
        raise Clause("its plan gives a memory manager more memory than any board has")
    if len(made.parts) > _MOST_PARTS:
        raise Clause(f"its plan has {len(made.parts)} partitions, and {_MOST_PARTS} at most may be")
    _require_distinct("partitions", [part.name for part in made.parts])
    _require_distinct("kept tensors", [kept.name for kept in made.exposure.kept])
    _require_distinct("states", [state.name for state in made.exposure.states])
    for choice in choices_within(model.selection.choices):
        if choice.workload == Workload(choice.workload.backend, None) and movable(choice.layer):
            continue  # the planner's: no backend says that of these
        try:
            check_workload(choice.workload, choice.layer)
        except Nonsense as error:
            raise Clause(f"the workload of {choice.layer.name!r}: {error}") from None
    for backend, call in model.calls:
        try:
            check_call(call)
        except Nonsense as error:
            raise Clause(f"what the backend {backend} calls: {error}") from None
    plan.check(model.graph, model.selection.choices, made, [call for _, call in model.calls])


def _require_distinct(what: str, names: Sequence[str]) -> None:
    """By its name each is asked for. Raises Misfit where two have one."""
    (name, count), *_ = Counter(names).most_common(1) or [("", 0)]
    if count > 1:
        raise Clause(f"{count} of the {what} of its plan are called {shorten(name)!r}")
