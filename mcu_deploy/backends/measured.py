"""Costs that were measured: a file beside the model, which builds only read (docs/costs.md)."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Annotated, Any, Literal

from mcu_deploy.backends.cost import Cost, Known, Unit
from mcu_deploy.backends.layer import Target
from mcu_deploy.backends.workload import Workload
from mcu_deploy.errors import ModelError
from mcu_deploy.memory_timing import Cache, MemoryTiming
from mcu_deploy.schema import Clause, Misfit, Whole, made

SUFFIX = ".costs.json"
FORMAT = "mcu-deploy costs 1"


@dataclass(frozen=True)
class MeasuredCosts:
    """What workloads cost on one core and its memory, by their fingerprints; content: the file's
    bytes."""

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

    def with_costs(self, file: Path, target: Target, costs: Mapping[str, Cost]) -> MeasuredCosts:
        """With more costs on the target that these are of; what the file says of others stays."""
        cores = json.loads(self.content)["cores"] if self.content else {}
        core = kept_under(target)
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


def kept_under(target: Target) -> str:
    """What the file calls a target: its core, and how the memory of code and constants answers
    where the core waits for it, since the costs have that in them."""
    memory = target.memory
    if memory is None or memory.answers_at_once:
        return target.core
    words = [f"{memory.wait_states} wait states", f"{memory.read_bytes} bytes a read"]
    words += [
        f"{cache.lines} lines of {cache.line_bytes} bytes in {cache.ways} ways for {what}"
        f" ({cache.policy})"
        for what, cache in _caches(memory)
    ]
    words += ["prefetch"] if memory.prefetch else []
    return f"{target.core}: {', '.join(words)}"


def _caches(memory: MemoryTiming) -> Iterator[tuple[str, Cache]]:
    if memory.unified and memory.instruction_cache is not None:
        yield "both", memory.instruction_cache
        return
    for what, cache in (("code", memory.instruction_cache), ("data", memory.data_cache)):
        if cache is not None:
            yield what, cache


def beside(model: Path, target: Target) -> MeasuredCosts:
    """The costs for a target in the file beside a model, MODEL.costs.json; none where there is
    none. What was measured on a board counts for all boards of the core that have no other cost;
    what was counted does so only where no memory waits.

    Raises ModelError with a sentence for a file that is damaged.
    """
    file = file_beside(model)
    if not file.is_file():
        return NOT_MEASURED
    try:
        content = file.read_bytes()
        of_core, own = _costs(_parsed(content), target.core, kept_under(target))
        measured = {p: cost for p, cost in of_core.items() if cost.known is Known.MEASURED}
        return MeasuredCosts(file, content, measured | own)
    except (OSError, ValueError, RecursionError) as error:
        reason = error.strerror if isinstance(error, OSError) else str(error)
        raise ModelError(
            f"The measured costs {file} cannot be used: {reason}. Take the file away, to measure "
            "them again (mcu-deploy tune) or to build with the backends' own estimates."
        ) from None


def _parsed(content: bytes) -> Any:
    def members(pairs: Iterable[tuple[str, Any]]) -> dict[str, Any]:
        found: dict[str, Any] = {}
        for key, value in pairs:
            if key in found:
                raise ValueError(f"{key[:80]!r} stands in it twice")
            found[key] = value
        return found

    try:
        return json.loads(content, object_pairs_hook=members)
    except (json.JSONDecodeError, UnicodeDecodeError):
        raise ValueError("it is no JSON") from None


@dataclass(frozen=True)
class _Cost:
    value: Annotated[int, Whole(0, 2**63)]
    unit: Literal["cycles", "instructions"]
    known: Literal["measured", "counted"]

    def cost(self) -> Cost:
        return Cost(self.value, Unit(self.unit), Known(self.known))


def _fingerprint(value: str) -> str:
    if len(value) != 64 or not {*value} <= {*"0123456789abcdef"}:
        raise Clause(f"{value[:80]!r} is no fingerprint")
    return value


@dataclass(frozen=True)
class _File:
    format: Literal["mcu-deploy costs 1"]
    cores: Mapping[str, Mapping[Annotated[str, _fingerprint], _Cost]]


def _costs(content: Any, *wanted: str) -> list[dict[str, Cost]]:
    """All entries are checked, and those under these names taken."""
    try:
        cores = made(_File, content).cores
    except Misfit as misfit:
        raise ValueError(str(misfit)) from None
    return [{p: cost.cost() for p, cost in cores.get(name, {}).items()} for name in wanted]
