"""The report of a build folder: values of other types and sizes, keys taken away, and bytes."""

from __future__ import annotations

import copy
import functools
import json
import random
import shutil
import tempfile
from pathlib import Path
from typing import Any

from fuzz.harness import change_bytes
from pmx_cases import small_model

import mcu_deploy
from mcu_deploy.api.folder import open_folder

SUFFIX = ".json"
_VALUES: tuple[Any, ...] = (
    None, 0, 1, -1, 2**70, 1.5, float("nan"), True, "", "x", "é\n", "../../x", "/etc/passwd",
    "x" * 5000, [], [[]], [None], {}, {"x": 1}, ["x"], "mps2-an386", "a\0b",
)  # fmt: skip


@functools.cache
def _build() -> tempfile.TemporaryDirectory[str]:
    folder = tempfile.TemporaryDirectory(prefix="fuzz-build-")
    model = small_model(Path(folder.name))
    mcu_deploy.build(model, "host", Path(folder.name) / "build", name="small")
    return folder


def built() -> Path:
    """A build for the host of a small model."""
    return Path(_build().name) / "build"


@functools.cache
def SEEDS() -> list[bytes]:
    return [(built() / "report.json").read_bytes()]


def mutate(choose: random.Random, seed: bytes, seeds: list[bytes]) -> bytes:
    if choose.random() < 0.2:
        return change_bytes(choose, seed, seeds)
    report = json.loads(seed)
    for _ in range(choose.choice((1, 1, 1, 2, 3))):
        _change(choose, report)
    text = json.dumps(report)
    if choose.random() < 0.02:
        text = text.replace("[]", "[" * 5000 + "]" * 5000, 1)
    return text.encode()


def _change(choose: random.Random, value: Any) -> None:
    """Changes a member, on the way down with more patience near the top."""
    while True:
        keys = list(value) if isinstance(value, dict) else list(range(len(value)))
        if not keys:
            return
        key = choose.choice(keys)
        if isinstance(value[key], dict | list) and value[key] and choose.random() < 0.8:
            value = value[key]
        elif choose.random() < 0.2:
            del value[key]
            return
        else:
            value[key] = copy.deepcopy(choose.choice(_VALUES))
            return


def read(path: Path) -> None:
    folder = path.parent / "build"
    if not folder.exists():
        shutil.copytree(built(), folder)
    (folder / "report.json").write_bytes(path.read_bytes())
    opened = open_folder(folder)
    opened.expected()
    opened.report._repr_html_()
    for network in opened.networks:
        opened.compile_again(network.name)
