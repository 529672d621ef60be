"""report.json is the dataclasses of a report, and what is read back is the same report."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from dataclasses import fields
from typing import Any

import pytest
import report_values
from sampling import part

from mcu_deploy.errors import UsageError
from mcu_deploy.output.json_text import json_text
from mcu_deploy.report import Report, read


def content() -> Any:
    """What report.json holds, read as JSON."""
    return json.loads(json_text(report_values.report().as_json()))


def test_what_is_written_is_read_back() -> None:
    assert read(content()) == report_values.report()
    assert list(content()) == [field.name for field in fields(Report)]


def test_what_is_not_known_is_none() -> None:
    changed = content()
    changed["board_file"] = changed["networks"][0]["arena_ratio"] = None
    changed["layers"][0]["inputs"] = [None]
    report = read(changed)
    assert report.board_file is report.networks[0].arena_ratio is None
    assert report.layers[0].inputs == (None,)


def _tables(value: Any) -> list[dict[str, Any]]:
    """A report's tables with fields of their own; the options are checked where they are made."""
    if isinstance(value, list):
        return [table for item in value for table in _tables(item)]
    if not isinstance(value, dict):
        return []
    within = (v for k, v in value.items() if k not in ("options", "session", "tools"))
    return [value, *(table for v in within for table in _tables(v))] if len(value) > 1 else []


def test_whatever_is_missing_is_named() -> None:
    """Of every table every key, but how an overlap is, which has its default where not said."""
    keys = [
        (number, key)
        for number, table in enumerate(_tables(content()))
        for key in sorted({*table} - {"distance", "exactly"})
    ]
    for number, key in part(keys, 3):
        changed = content()
        del _tables(changed)[number][key]
        with pytest.raises(UsageError, match=rf"^the key .*\b{key}\b.* is missing\.$"):
            read(changed)


def _layer(key: str, value: Any) -> Callable[[Any], None]:
    return lambda report: report["networks"][0]["layers"][0].update({key: value})


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        (lambda r: r.update(networks=[]), "it has no networks"),
        (lambda r: r.update(networks=1), "networks must be a list, not 1."),
        (lambda r: r.update(more=1), "it has the unknown key 'more' (known here: model,"),
        (lambda r: r.update(board_file="../x.toml"), "'../x.toml' lies outside of the folder"),
        (lambda r: r.update(arena_ratio=10**400), "arena_ratio must be a number, not 1000"),
        (lambda r: r["networks"][0].update(name="a b"), "a network is called 'a b'"),
        (lambda r: r["networks"][0].update(kept_model="/x"), "'/x' lies outside of the folder"),
        (lambda r: r["options"].update(io=1), "options: io must be a text in quotes, not 1."),
        (
            lambda r: r["options"].update(old=1),
            "the unknown key 'old' in [options] (known here:",
        ),
        (_layer("index", "x"), "networks[0].layers[0]: index must be a whole number, not 'x'."),
        (_layer("index", True), "networks[0].layers[0]: index must be a whole number, not True."),
        (
            _layer("outputs", [None]),
            "outputs[0] must be a table or a value of Tensor",
        ),
    ],
)
def test_what_a_report_cannot_be_is_said(change: Callable[[Any], None], sentence: str) -> None:
    changed = content()
    change(changed)
    with pytest.raises(UsageError, match=re.escape(sentence)):
        read(changed)
    with pytest.raises(UsageError, match="it is no table, but None"):
        read(None)
