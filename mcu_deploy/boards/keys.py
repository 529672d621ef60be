"""Which keys a board file has: all that are missing and all that are unknown, in one sentence."""

from __future__ import annotations

import difflib
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from mcu_deploy.boards.cores import core_facts, core_names
from mcu_deploy.boards.model import HOST_CORE
from mcu_deploy.errors import BoardError
from mcu_deploy.resources import page
from mcu_deploy.runners.interface import runners

# A key with a "?" may be left out; "*" is any name. Below a key: None for a value, else what the
# table has, or each table of a list. docs/boards.md says what the keys mean.
Keys = Mapping[str, Any]

_STACK = {"application?": None, "handler?": None}
_CACHE = {"lines": None, "line_bytes": None, "ways?": None, "policy": None}
_TIMING = {
    "wait_states": None, "read_bytes?": None, "source": None, "prefetch?": None,
    "cache?": _CACHE, "instruction_cache?": _CACHE, "data_cache?": _CACHE,
}  # fmt: skip
_EACH_PART = {"size": None, "speed?": None, "holds?": None, "timing?": _TIMING}
_EACH_MEMORY = {
    "origin": None, "size": None, "kind": None, "speed?": None, "holds?": None,
    "parts?": {"*": _EACH_PART}, "timing?": _TIMING,
}  # fmt: skip
_STEP = {
    "register": None, "bits?": None,
    "clear?": None, "set?": None, "value?": None, "mask?": None, "equals?": None,
}  # fmt: skip
_SERIAL = {
    "driver": None, "base": None, "irq": None, "clock_hz": None, "baud?": None,
    "buffer?": None, "setup?": [_STEP],
    "pins?": [{"port": None, "pin": None, "function": None}],
}  # fmt: skip
_MICROCONTROLLER = {
    "name": None, "title": None, "core": None, "fpu": None, "mpu": None, "clock_hz": None,
    "dsp?": None, "mve?": None, "cflags?": None,
    "memories": {"*": _EACH_MEMORY},
    "roles": {
        "vectors": None, "code": None, "weights": None, "data": None, "stack": None,
        "hot_code?": None,
    },
    "serial": _SERIAL,
    "setup?": [_STEP], "boot?": None, "interrupts?": None, "untested?": None, "clock?": None,
    "caches?": None,
    "rated?": {
        "clock_hz": None, "serial_clock_hz": None, "setup": [_STEP],
        "timing?": {"*": {f"{key.removesuffix('?')}?": below for key, below in _TIMING.items()}},
    },
    "stack?": _STACK,
    "second_core?": {"driver": None, **_STACK},
    "emulators?": {
        "qemu?": {"machine": None, "serial?": None},
        "renode?": {"platform": None, "uart": None},
    },
    "usb?": None,
    "runners?": {
        f"{runner.name}?": {n if key.required else f"{n}?": None for n, key in runner.keys.items()}
        for runner in runners().values()
    },
}  # fmt: skip
_HOST = {
    "name": None, "title": None, "core": None, "cflags?": None,
    "serial?": {"baud?": None}, "stack?": {"application?": None},
}  # fmt: skip


def require_keys(values: Mapping[str, Any], path: Path) -> None:
    """Raises BoardError where the file lacks keys, or has some that there are not."""
    missing = list(_missing(values, _keys_for(values), ""))
    unknown = list(_unknown(values, _keys_for(values), ""))
    if not missing and not unknown:
        return
    said = []
    if missing:
        keys, are = ("the key", "is") if len(missing) == 1 else ("the keys", "are")
        said.append(f"{keys} {', '.join(missing)} {are} missing")
    if unknown:
        keys = "the unknown key" if len(unknown) == 1 else "the unknown keys"
        said.append(f"it has {keys} {', '.join(unknown)}")
    raise BoardError(f"{path}: {', and '.join(said)}; {page('boards')} says what each key means")


def _keys_for(values: Mapping[str, Any]) -> Keys:
    """Of the file's core: whether it has DSP or MVE is the chip maker's choice for some."""
    core = values.get("core")
    if core == HOST_CORE:
        return _HOST
    if core not in core_names():
        return _MICROCONTROLLER
    facts = core_facts(core)
    chosen = {key for key, fact in (("dsp", facts.dsp), ("mve", facts.mve)) if fact == "option"}
    return {
        key.removesuffix("?") if key.removesuffix("?") in chosen else key: below
        for key, below in _MICROCONTROLLER.items()
    }


def _missing(values: Mapping[str, Any], keys: Keys, where: str) -> Iterator[str]:
    for key in keys:
        if key != "*" and not key.endswith("?") and key not in values:
            yield _place(key, where, keys[key])
    for key, value, below in _known(values, keys):
        for inner, place in _tables(value, below, f"{where}.{key}".lstrip(".")):
            yield from _missing(inner, below[0] if isinstance(below, list) else below, place)


def _unknown(values: Mapping[str, Any], keys: Keys, where: str) -> Iterator[str]:
    names = [key.removesuffix("?") for key in keys]
    for key in values:
        if key not in names and "*" not in keys:
            absent = [name for name in names if name not in values]
            near = difflib.get_close_matches(key, absent, n=1)
            # Where nothing is near, all that could stand there.
            hint = f"did you mean {near[0]!r}?" if near else f"known here: {', '.join(names)}"
            yield f"{_place(key, where, None)} ({hint})"
    for key, value, below in _known(values, keys):
        for inner, place in _tables(value, below, f"{where}.{key}".lstrip(".")):
            yield from _unknown(inner, below[0] if isinstance(below, list) else below, place)


def _known(values: Mapping[str, Any], keys: Keys) -> Iterator[tuple[str, Any, Any]]:
    """The keys that are there and known, with their values and what stands below them."""
    for key, value in values.items():
        below = next((keys[k] for k in (key, f"{key}?", "*") if k in keys), None)
        yield key, value, below


def _tables(value: Any, below: Any, where: str) -> Iterator[tuple[Mapping[str, Any], str]]:
    """The tables in a value; what is of another type than it should be is the reader's to tell."""
    if isinstance(below, list) and isinstance(value, list):
        tables = [(inner, f"{where}[{i}]") for i, inner in enumerate(value)]
    else:
        tables = [(value, where)] if isinstance(below, Mapping) else []
    yield from ((inner, place) for inner, place in tables if isinstance(inner, Mapping))


def _place(key: str, where: str, below: Any) -> str:
    """A key as the file has it: 'irq' in [serial], or [serial] itself."""
    if below is not None:
        return f"[{where}.{key}]" if where else f"[{key}]"
    return f"{key!r} in [{where}]" if where else repr(key)
