"""Calls in a child process: values, exceptions, crashes, memory, threads."""

from __future__ import annotations

import os
import resource
import signal
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

from mcu_deploy.errors import UnsupportedError
from mcu_deploy.processes import contained
from mcu_deploy.processes.contained import DidNotReturn

pytestmark = pytest.mark.usefixtures("forked")


def test_values_and_exceptions_come_back() -> None:
    assert contained.call(divmod, 17, 5) == (3, 2)
    array = np.arange(1 << 20)
    assert np.array_equal(contained.call(np.flip, array), array[::-1])

    def refuse() -> None:
        raise UnsupportedError("no")

    with pytest.raises(UnsupportedError, match=r"^no$"):
        contained.call(refuse)


def test_an_exception_that_pickle_cannot_take_comes_back_as_text() -> None:
    class Own(Exception):
        def __init__(self, one: int, two: int) -> None:
            super().__init__(f"{one} and {two}")

    def refuse() -> None:
        raise Own(1, 2)

    with pytest.raises(RuntimeError, match=r"^Own: 1 and 2$"):
        contained.call(refuse)


@pytest.mark.parametrize("number", [signal.SIGABRT, signal.SIGSEGV])
def test_a_crash_is_an_exception(number: signal.Signals) -> None:
    def crash() -> None:
        os.kill(os.getpid(), number)

    with pytest.raises(DidNotReturn, match=rf"crashed \({number.name}\)"):
        contained.call(crash)


def test_the_processor_time_has_an_end() -> None:
    """The kernel counts, and sends the signal."""

    def run_out() -> None:
        os.kill(os.getpid(), signal.SIGXCPU)

    most = contained.call(resource.getrlimit, resource.RLIMIT_CPU, cpu_seconds=7)
    assert most == (7, resource.getrlimit(resource.RLIMIT_CPU)[1])
    with pytest.raises(DidNotReturn, match="took longer than 7 seconds"):
        contained.call(run_out, cpu_seconds=7)


def test_memory_has_an_end() -> None:
    with pytest.raises(DidNotReturn, match="needed more than 16 MB of memory"):
        contained.call(np.ones, 4 << 20, memory_bytes=16 << 20)
    assert contained.call(len, np.ones(4 << 20), memory_bytes=16 << 20) == 4 << 20


def test_a_child_prints_nothing_and_is_gone(capfd: pytest.CaptureFixture[str]) -> None:
    contained.call(os.system, "echo something; echo else >&2")
    assert capfd.readouterr() == ("", "")
    child = contained.call(os.getpid)
    assert child != os.getpid()
    with pytest.raises(ProcessLookupError):
        os.kill(child, 0)


def test_a_program_may_ignore_the_end_of_its_children() -> None:
    before = signal.signal(signal.SIGCHLD, signal.SIG_IGN)
    try:
        assert contained.call(divmod, 17, 5) == (3, 2)
        with pytest.raises(DidNotReturn):
            contained.call(os.abort)
    finally:
        signal.signal(signal.SIGCHLD, before)


def test_threads_may_call_at_once() -> None:
    with ThreadPoolExecutor(4) as pool:
        results = pool.map(lambda n: contained.call(np.dot, np.eye(64) * n, np.eye(64)), range(8))
        assert [int(r[0, 0]) for r in results] == list(range(8))


# Two threads of OpenBLAS, which the tests are without, and a matrix that is worth them.
BESIDE_A_PRODUCT = """
import os, threading
os.environ["OPENBLAS_NUM_THREADS"] = "2"
import numpy as np
from mcu_deploy.ir import DType, TensorType
from mcu_deploy.operators import Call, lookup
from mcu_deploy.operators.base import evaluate
from mcu_deploy.processes import contained

matrix, kind = np.ones((300, 300), np.float32), TensorType(DType.FLOAT32, (300, 300))
call = Call("MatMul", {}, (matrix, matrix), (kind, kind), (kind,))
done = threading.Event()

def multiply():
    while not done.is_set():
        evaluate(lookup("", "MatMul"), call)

threads = [threading.Thread(target=multiply, daemon=True) for _ in range(2)]
[thread.start() for thread in threads]
print(sum(contained.call(int, "1") for _ in range(30)))
done.set()
[thread.join() for thread in threads]
"""


@pytest.mark.matrix
def test_a_call_beside_threads_that_multiply_matrices_returns() -> None:
    """OpenBLAS stops its threads at a fork."""
    program = subprocess.run(
        [sys.executable, "-c", BESIDE_A_PRODUCT], capture_output=True, text=True, timeout=300
    )
    assert (program.stdout, program.stderr) == ("30\n", "")


_INTERRUPTED = """
import os, signal, sys
from mcu_deploy.processes import contained

def interrupted():
    if sys.argv[1:]:
        os.kill(os.getpid(), getattr(signal, sys.argv.pop()))

def end(number, frame):
    sys.exit(7)

def wait_for_ever():
    while True:
        signal.pause()

signal.signal(signal.SIGTERM, end)
signal.signal(signal.SIGINT, signal.default_int_handler)  # a shell may have it ignored
os.register_at_fork(after_in_parent=interrupted)
try:
    contained.call(wait_for_ever)
except KeyboardInterrupt:
    print("interrupted")
finally:
    try:
        print(os.waitpid(-1, os.WNOHANG))
    except ChildProcessError:
        print("no child left")
    assert signal.getsignal(signal.SIGTERM) is end
"""


@pytest.mark.parametrize(
    ("name", "code", "says"),
    [("SIGINT", 0, "interrupted\nno child left\n"), ("SIGTERM", 7, "no child left\n")],
)
def test_what_ends_us_in_a_fork_is_not_lost(name: str, code: int, says: str) -> None:
    """Python prints what is raised in its hooks around a fork, and goes on."""
    done = subprocess.run(
        [sys.executable, "-c", _INTERRUPTED, name], capture_output=True, text=True, timeout=600,
        check=False,
    )  # fmt: skip
    assert (done.returncode, done.stdout, done.stderr) == (code, says, "")
