"""What hostile backends do, where they do it, and what is to be reported of it."""

from __future__ import annotations

from pathlib import Path

from dynamic import mock_objects
from dynamic.worker_cases import SECONDS, SHORT, relu_message

from mcu_deploy.dynamic.process import Worker

_SPINNING = 0.25  # for what takes the processor meanwhile
_LATE = f"did not return from .* within {SHORT:g} seconds"
# deed: what is reported of it
DEEDS = {
    "crash": "crashed in .* (SIGSEGV)",
    "abort": "crashed in .* (SIGABRT)",
    "exit": "ended its process in .* with exit(3)",
    "_exit": "ended its process in .* with exit(0)",
    "term": "crashed in .* (SIGTERM)",
    "hang": _LATE,
    "spin": f"did not return from .* within {_SPINNING:g} seconds",
    "stop": _LATE,
    "throw": "crashed in .* (SIGABRT) and said: .*runtime_error.*the mock is out of paper",
    "stack": "crashed in .* (SIGABRT) and said: .*stack smashing detected",
    "double free": "crashed in .* (SIGABRT) and said: .*double free",
    "heap": "crashed in",
    "close": "closed its connection|ended its process",
    "close and hang": "closed its connection in",
    "garbage": "answered nonsense to .*: what came is no message",
    "false header": "answered nonsense to .*: 4294967295 bytes",
    "short header": _LATE,
    "loud crash": "crashed in .* (SIGSEGV) and said: .*for the 99999th time",
    "children": "ended its process in .* with exit(5)",
    "daemons": "crashed in .* (SIGSEGV)",
    "end thread": "ended its process in .* with exit(0)",
    "exec": "ended its process in",
}
SLOW = [deed for deed, reported in DEEDS.items() if "did not return" in reported]

# what can be called late: method, message
CALLS = {
    "is_layer_supported": relu_message(),
    "optimize_subgraph": relu_message(),
    "create_workload": relu_message(),
    "estimate": relu_message(),
    "memory": {},
    "create_context": {"options": {}},
    "before_load_network": {"network": 1},
    "layers_measured": {"network": "net", "counts": []},
}


def pattern(deed: str) -> str:
    return DEEDS[deed].replace("(", r"\(").replace(")", r"\)")


def seconds(deed: str) -> float:
    """The time-out of a call: short only where it is waited for."""
    if deed == "spin":
        return _SPINNING
    return SHORT if deed in SLOW or deed == "stop parent" else SECONDS


def mock(deed: str) -> Path:
    return mock_objects.throwing() if deed == "throw" else mock_objects.compiled()


def is_well(worker: Worker) -> bool:
    return bool(worker.call("is_layer_supported", relu_message())[0]["supported"])
