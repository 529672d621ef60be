"""The schema, what flatc makes of it, and the classes whose values it holds fit together."""

from __future__ import annotations

import dataclasses
import enum
import importlib.util
import shutil
import subprocess
import types
import typing
from pathlib import Path

import pytest

from mcu_deploy.backends.interface import LayoutRule, RegionKind, Role, Target
from mcu_deploy.backends.workload import RegionCall
from mcu_deploy.choose.select import Choice
from mcu_deploy.ir import DType
from mcu_deploy.options import Options, flagged
from mcu_deploy.plan import Plan
from mcu_deploy.pmx import pmx_generated as fb
from mcu_deploy.pmx.context import NUMBERED
from mcu_deploy.pmx.records import TABLES, record

_NO_FLATC = "flatc is not installed; `apt-get install flatbuffers-compiler` installs it"


def _generator(repository: Path) -> types.ModuleType:
    path = repository / "mcu_deploy" / "pmx" / "schema" / "generate.py"
    spec = importlib.util.spec_from_file_location("generate_pmx", path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_the_generated_module_is_that_of_the_schema(repository: Path) -> None:
    generator = _generator(repository)
    if shutil.which("flatc") is None:
        pytest.skip(_NO_FLATC)
    version = subprocess.run(["flatc", "--version"], capture_output=True, text=True, check=True)
    if version.stdout.strip() != generator.FLATC:
        pytest.skip(f"the repository holds what {generator.FLATC} makes; Debian 12 has it")
    assert generator.generate() == generator.GENERATED.read_text(), (
        "run python mcu_deploy/pmx/schema/generate.py"
    )


def _reached(hint: object, found: set[type]) -> None:
    """All dataclasses that a value of this type may hold, but graphs, which have their own code."""
    for argument in typing.get_args(hint):
        _reached(argument, found)
    named = isinstance(hint, type) and dataclasses.is_dataclass(hint)
    if named and hint not in found and hint.__name__ not in ("Graph", "Layer", "Node"):
        found.add(hint)
        for inner in typing.get_type_hints(hint).values():
            _reached(inner, found)


def test_every_field_has_its_place_in_the_schema() -> None:
    found: set[type] = set()
    for root in (Plan, Options, Target, Choice, RegionCall, *NUMBERED):
        _reached(root, found)
    assert len(found) > 25
    lacking = [cls.__name__ for cls in found if not hasattr(fb, TABLES.get(cls, cls.__name__))]
    assert not lacking, "add a table for each to mcu_deploy/pmx/schema/pmx.fbs"
    anew = {flag.name.lstrip("-").replace("-", "_") for flag, *_ in flagged() if flag.anew}
    fields = {cls.__name__: set(record(cls).unsaved) - anew for cls in found}
    assert not any(fields.values()), "add a line for each to mcu_deploy/pmx/schema/pmx.fbs"


@pytest.mark.parametrize("cls", [DType, LayoutRule, Role, RegionKind])
def test_enumerations_have_the_order_of_the_schema(cls: type[enum.Enum]) -> None:
    numbers = vars(getattr(fb, cls.__name__))
    ours = {member.name: number for number, member in enumerate(cls)}
    assert {name: numbers[name] for name in ours} == ours
    assert sum(isinstance(number, int) for number in numbers.values()) == len(ours)


@pytest.mark.skipif(shutil.which("flatc") is None, reason=_NO_FLATC)
def test_other_programs_can_read_a_file(repository: Path, tmp_path: Path) -> None:
    """flatc is FlatBuffers' own reader: by the schema it makes JSON of a file."""
    from pmx_cases import packed, small_network

    (tmp_path / "m.pmx").write_bytes(packed(small_network(tmp_path)))
    schema = repository / "mcu_deploy" / "pmx" / "schema" / "pmx.fbs"
    subprocess.run(
        ["flatc", "--json", "--strict-json", str(schema), "--", "m.pmx"], cwd=tmp_path, check=True
    )
    text = (tmp_path / "m.json").read_text()
    assert '"producer": "mcu-deploy' in text
    assert '"conv_float32"' in text
