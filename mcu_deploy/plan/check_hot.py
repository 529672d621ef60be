"""Proves where constants lie in RAM: each aligned and inside of its pool, equal ones at one place.

That nothing else lies there is for `check` to see.
"""

from __future__ import annotations

from mcu_deploy.plan.model import Plan, PlanError
from mcu_deploy.plan.stretch import Stretch


def hot_places(plan: Plan) -> list[tuple[str, Stretch]]:
    """What lies where, each stretch once. Raises PlanError for a place that cannot be."""
    found: dict[tuple[int, int], tuple[str, Stretch]] = {}
    contents: dict[tuple[int, int], bytes] = {}
    for hot in plan.hot:
        choice = plan.steps[hot.step].choice
        constant = choice.workload.constants[hot.constant]
        what = f"the constant {constant.stem!r} of {choice.layer.name!r}"
        pool, offset = at = (hot.place.pool, hot.place.offset)
        raw = constant.value.tobytes()
        if hot.bytes != len(raw) or contents.setdefault(at, raw) != raw:
            raise PlanError(f"{what} is not what is copied to its place in RAM")
        if offset % max(plan.alignment, constant.alignment):
            raise PlanError(f"{what} lies at {offset}, where it is not aligned")
        if not 0 <= pool < len(plan.pools):
            raise PlanError(f"{what} lies in pool {pool}, of which there is none")
        if offset < 0 or offset + hot.bytes > plan.pools[pool].bytes:
            raise PlanError(f"{what} lies outside of the {plan.pools[pool].name}")
        found.setdefault(at, (what, Stretch(("pool", pool), offset, offset + hot.bytes)))
    return list(found.values())
