"""Where buffers lie that a memory manager gives at run time."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from mcu_deploy.plan.model import InPool, Plan, PlanError


def with_addresses(plan: Plan, positions: Sequence[int]) -> Plan:
    """The plan with an offset for what a manager gives in a run of these positions.

    What another run alone takes stays behind its pointer.
    """
    if plan.managed is None:
        return plan
    try:
        addresses, peak = plan.managed.addresses(positions)
    except ValueError as error:
        raise PlanError(f"the memory manager fails: {error}") from error
    if peak > plan.managed.peak:
        raise PlanError(f"the memory manager gives {peak} bytes, not {plan.managed.peak}")
    sizes = {buffer.id: buffer.bytes for buffer in plan.buffers}
    for buffer, offset in addresses.items():
        if offset + sizes[buffer] > plan.managed.bytes:
            raise PlanError(f"buffer {buffer} lies outside of the manager's block")
    for buffer, place in plan.places.items():
        if isinstance(place, InPool) and place.pool == 0 and place.offset < plan.managed.end:
            raise PlanError(f"buffer {buffer} lies in the manager's block")
    places = {b: InPool(0, offset) for b, offset in addresses.items()}
    return replace(plan, places={**plan.places, **places})
