"""The rooms whose tests are tried on mutations: sources, their tests, and how many are sampled."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from mutants.mutations import Mutation, sample
from mutants.patches import patches


@dataclass(frozen=True)
class Room:
    """sources: folders or files of Python of which so many mutations are sampled, or of C, of which
    all patches are taken. tests: files, or single tests of them, from the quickest on."""

    sources: tuple[str, ...]
    tests: tuple[str, ...]
    count: int = 0

    def mutations(self, root: Path) -> list[Mutation]:
        if not self.count:
            return [patch for patch in patches(root) if patch.file.startswith(self.sources)]
        found = [path for source in self.sources for path in _python(root / source)]
        return sample(root, sorted(str(path.relative_to(root)) for path in found), self.count)


def _python(path: Path) -> list[Path]:
    return [path] if path.suffix else [*path.rglob("*.py")]


def _unit(*names: str) -> tuple[str, ...]:
    return tuple(f"tests/unit/test_{name}.py" for name in names)


def _protocol(*names: str) -> tuple[str, ...]:
    return tuple(f"tests/device/protocol/test_{name}.py" for name in names)


ROOMS = {
    "rounding": Room(
        ("mcu_deploy/arithmetic",),
        (
            *_unit("arithmetic_ends", "rounding_forms", "fused_rounding", "agreement"),
            "tests/operators/test_narrow_types.py",
            "tests/operators/test_tflite.py",
            "tests/operators/test_quantized_around.py",
        ),
        50,
    ),
    "planner": Room(
        ("mcu_deploy/plan",),
        _unit(
            "plan", "plan_check_by_hand", "placement", "pools", "memory_pools", "plan_memories",
            "ordering", "compaction", "plan_control", "hot_code", "memory_strategies",
            "schedules", "plan_lanes", "plan_pieces", "plan_check", "exposing",
        ),
        106,
    ),
    "hygiene": Room(
        ("mcu_deploy/hygiene",),
        _unit(
            "hygiene_symbols", "hygiene_core", "hygiene_instructions", "hygiene_files", "link_map",
            "hygiene_hostile",
        ),
        60,
    ),
    "protocol": Room(
        (
            "mcu_deploy/device/line/codes.py", "mcu_deploy/device/line/fault.py",
            "mcu_deploy/device/line/framing.py",
            "mcu_deploy/device/line/link.py", "mcu_deploy/device/line/messages.py",
            "mcu_deploy/device/line/transfers.py", "mcu_deploy/device/line/wire.py",
        ),
        (
            *_unit("protocol_framing", "protocol_messages"),
            *_protocol("client", "requests", "faults"),
            "tests/device/test_protocol_diagnosis.py", "tests/device/test_protocol_damage.py",
        ),
        30,
    ),
    "c-runtime": Room(
        ("crt/src/",), ("tests/crt/test_crt.py::test_c_tests_on_host_under_sanitizers",)
    ),
    "c-protocol": Room(("crt/firmware/",), _protocol("client", "requests", "faults")),
    "c-faults": Room(("boards/common/",), ("tests/device/test_protocol_emulated.py",)),
}  # fmt: skip
