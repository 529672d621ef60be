"""Costs that were measured: a file beside the model, which builds only read (docs/costs.md)."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from mcu_deploy.backends.cost import Cost, Known, Unit
from mcu_deploy.backends.workload import Workload
from mcu_deploy.errors import ModelError

SUFFIX = ".costs.json"
FORMAT = "mcu-deploy costs 1"

_UNITS = {"cycles": Unit.CYCLES, "instructions": Unit.INSTRUCTIONS}
_KNOWN = {"measured": Known.MEASURED, "counted": Known.COUNTED}


@dataclass(frozen=True)
class MeasuredCosts:
    """What workloads cost on one core, by their fingerprints; content: the file's bytes."""

    file: Path | None = None
    content: bytes = b""
    by_fingerprint: Mapping[str, Cost] = field(default_factory=dict)

    def has(self, workload: Workload) -> bool:
        return self.of(workload) is not None

    def of(self, workload: Workload) -> Cost | None:
        """What a workload costs, where it was measured."""
        return self.by_fingerprint.get(workload.fingerprint) if self.by_fingerprint else None

    def applied(self, workload: Workload) -> Workload:
        """The workload with its measured cost in the place of the backend's own."""
        cost = self.of(workload)
        return workload if cost is None else replace(workload, costs=workload.costs.known_as(cost))

    def with_costs(self, file: Path, core: str, costs: Mapping[str, Cost]) -> MeasuredCosts:
        """With more costs on the core that these are of; what the file says of others stays."""
        cores = json.loads(self.content)["cores"] if self.content else {}
        cores[core] = cores.get(core, {}) | {
            fingerprint: {"value": c.value, "unit": c.unit.value, "known": c.known.value}
            for fingerprint, c in costs.items()
        }
        whole = {"format": FORMAT, "cores": cores}
        content = (json.dumps(whole, indent=2, sort_keys=True) + "\n").encode()
        return MeasuredCosts(file, content, {**self.by_fingerprint, **costs})


NOT_MEASURED = MeasuredCosts()


def file_beside(model: Path) -> Path:
    """Where the costs of a model are kept."""
    return model.with_suffix(SUFFIX)


def beside(model: Path, core: str) -> MeasuredCosts:
    """The costs for a core in the file beside a model, MODEL.costs.json; none where there is none.

    Raises ModelError with a sentence for a file that is damaged.
    """
    file = file_beside(model)
    if not file.is_file():
        return NOT_MEASURED
    try:
        content = file.read_bytes()
        return MeasuredCosts(file, content, _costs(_parsed(content), core))
    except (OSError, ValueError, RecursionError) as error:
        reason = error.strerror if isinstance(error, OSError) else str(error)
        raise ModelError(
            f"The measured costs {file} cannot be used: {reason}. Take the file away, to measure "
            "them again (mcu-deploy tune) or to build with the backends' own estimates."
        ) from None


def _parsed(content: bytes) -> Any:
    def members(pairs: Iterable[tuple[str, Any]]) -> dict[str, Any]:
        made: dict[str, Any] = {}
        for key, value in pairs:
            _require(key not in made, f"{key[:80]!r} stands in it twice")
            made[key] = value
        return made

    try:
        return json.loads(content, object_pairs_hook=members)
    except (json.JSONDecodeError, UnicodeDecodeError):
        raise ValueError("it is no JSON") from None


def _costs(content: Any, core: str) -> dict[str, Cost]:
    """All entries are checked, and those of one core taken."""
    _require(isinstance(content, dict), "it holds no JSON object")
    _require(content.get("format") == FORMAT, f"its format is not {FORMAT!r}")
    cores = content.get("cores")
    _require(isinstance(cores, dict), "it has no cores")
    found = {}
    for name, entries in cores.items():
        _require(isinstance(entries, dict), f"its core {name[:80]!r} has no costs")
        for fingerprint, entry in entries.items():
            is_digest = len(fingerprint) == 64 and set(fingerprint) <= set("0123456789abcdef")
            _require(is_digest, f"{fingerprint[:80]!r} is no fingerprint")
            cost = _cost(entry, f"the cost of {fingerprint[:12]} on {name[:80]!r}")
            if name == core:
                found[fingerprint] = cost
    return found


def _cost(entry: Any, what: str) -> Cost:
    is_whole = isinstance(entry, dict) and set(entry) == {"value", "unit", "known"}
    _require(is_whole, f"{what} is not of value, unit and known")
    value, unit, known = entry["value"], entry["unit"], entry["known"]
    _require(type(value) is int and 0 <= value < 2**63, f"{what} has the value {value!r:.80}")
    _require(unit in (*_UNITS,), f"{what} is in {unit!r:.80}, not in cycles or instructions")
    _require(known in (*_KNOWN,), f"{what} is {known!r:.80}, neither measured nor counted")
    return Cost(value, _UNITS[unit], _KNOWN[known])


def _require(holds: bool, otherwise: str) -> None:
    if not holds:
        raise ValueError(otherwise)
