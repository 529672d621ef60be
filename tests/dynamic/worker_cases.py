"""What the tests of workers share: pools that are always closed, and messages of one layer."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from mcu_deploy.backends.layer import HOST
from mcu_deploy.dynamic import codec
from mcu_deploy.dynamic.process import Worker, WorkerPool
from mcu_deploy.ir import DType, Graph, GraphData, Node, TensorType, Topology

# The time-out of a call: long enough for a machine with other work, unless it is waited for.
SECONDS = 60.0
SHORT = 1.0


@contextmanager
def created(path: Path, timeout: float = SECONDS) -> Iterator[Worker]:
    """A worker whose backend was made, in a pool of its own. timeout: of the calls from then on."""
    with WorkerPool(SECONDS) as pool:
        worker = pool.open(path)
        worker.create()
        pool.timeout = timeout
        yield worker


def relu_message(op: str = "Relu") -> dict[str, Any]:
    """A graph of one node without constants."""
    kind = TensorType(DType.FLOAT32, (1, 4))
    topology = Topology({3: Node(3, op, (1,), (2,), "relu")}, {1: "x", 2: "y"}, (1,), (2,), 4, 3)
    graph = Graph("net", topology, GraphData({1: kind, 2: kind}, {}, {3: {}}), opset=17)
    return codec.encode_view(graph, HOST)[0]


def children_of(pid: int) -> list[int]:
    """The processes whose parent this is."""
    found = []
    for folder in Path("/proc").iterdir():
        try:
            fields = (folder / "stat").read_text().rpartition(")")[2].split()
        except (OSError, ValueError):
            continue
        if folder.name.isdigit() and int(fields[1]) == pid:
            found.append(int(folder.name))
    return found


def is_running(pid: int) -> bool:
    """Whether there is such a process that has not ended, reaped or not."""
    try:
        state = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
    except OSError:
        return False
    return state not in "ZX"


def marked(mark: str) -> list[int]:
    """The running processes, but this one, that have these words in their environment."""
    found = []
    for folder in Path("/proc").iterdir():
        if folder.name.isdigit() and int(folder.name) != os.getpid():
            try:
                if mark.encode() in (folder / "environ").read_bytes():
                    found.append(int(folder.name))
            except OSError:
                continue
    return [pid for pid in found if is_running(pid)]


def wait_for(condition: Callable[[], bool], seconds: float = SECONDS) -> bool:
    """Whether a condition comes true in time."""
    deadline = time.monotonic() + seconds
    while time.monotonic() < deadline:
        if condition():
            return True
        time.sleep(0.01)
    return condition()
