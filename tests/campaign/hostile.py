"""Hostile backends: each deed at each place where a backend is called."""

from __future__ import annotations

import os
import re
from unittest import mock

from dynamic import hostile_cases, mock_objects
from dynamic.hostile_cases import CALLS, DEEDS, SLOW
from dynamic.worker_cases import SECONDS

from mcu_deploy.dynamic.process import LoadError, WorkerPool
from mcu_deploy.errors import BackendFault

_EXPORTED = ("load", "GetBackendId", "BackendFactory", "describe")


def every() -> list[tuple[str, str]]:
    """(deed, place), so that the first ones have all deeds and all places. What does not return
    from `describe` is ended by another clock than the one that is made short here."""
    places = [*_EXPORTED, *CALLS]
    deeds = list(DEEDS)
    turns = [
        (deed, places[(number + turn) % len(places)])
        for turn in range(len(places))
        for number, deed in enumerate(deeds)
    ]
    return [(deed, place) for deed, place in turns if place != "describe" or deed not in SLOW]


def complaint(deed: str, place: str) -> str:
    """What is wrong with how a backend's deed is answered; "" where nothing is: one line that says
    what it did, and another backend is well."""
    mock_objects.named("Good")
    hostile_cases.mock(deed)  # compiled before time is measured
    with (
        mock.patch.dict(os.environ, {"MOCK_Mock": f"{place} {deed}"}),
        WorkerPool(SECONDS) as pool,
    ):
        good = pool.open(mock_objects.named("Good"))
        good.create()
        if place in _EXPORTED:
            pool.timeout = hostile_cases.seconds(deed)
        try:
            worker = pool.open(hostile_cases.mock(deed))
            worker.create()
            pool.timeout = hostile_cases.seconds(deed)
            worker.call(place if place in CALLS else "is_layer_supported", CALLS.get(place, {}))
        except (LoadError, BackendFault) as error:
            said = str(error)
        else:
            return f"{deed} in {place}: nothing is reported"
        pool.timeout = SECONDS
        if "\n" in said or not re.search(hostile_cases.pattern(deed), said):
            return f"{deed} in {place}: reported as {said!r}"
        if not hostile_cases.is_well(good):
            return f"{deed} in {place}: another backend is ill"
    return ""
