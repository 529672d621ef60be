"""What all tests share: the whole matrix on request, sentences for tools that are missing.

Markers (see `pytest --markers`):

- `matrix`: runs only with `--all` (`make test-all`); without it the test is left out.
- `needs_renode`, `needs_qemu`, `needs_arm_gcc`, `needs_host_gcc` and more: the test is skipped,
  with the sentence that says how to get the tool, where the tool is missing.

The sample builds as users do, with a cache, which is empty at the start of each run: what was
compiled in another run could hide what this one breaks. The whole matrix builds without one.

In the sample no process is forked for each model that is read, but in tests that ask for `forked`;
nor in the whole matrix in those that ask for `unforked`.

At the end of a run every reason for skipping is printed once, with the number of tests.
"""

from __future__ import annotations

import fcntl
import gc
import importlib.util
import os
import shutil
import tempfile
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, TypeVar

import hypothesis
import pytest
from clang import clang
from hypothesis.internal.conjecture import providers
from renode_runner import has_helium, has_robot, renode_test
from times import Times

# Before numpy is imported, here and in every process that a test starts: on tensors as small as
# these a second thread of its linear algebra does nothing but wait, which takes processor time.
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
# Before onnxruntime is imported: tests send nobody anything.
os.environ.setdefault("ORT_DISABLE_TELEMETRY", "1")

# What is loaded once stays: to look through all of it often takes a tenth of the time. As in cli.
gc.set_threshold(1_000_000)

T = TypeVar("T")

_CACHE = "MCU_DEPLOY_CACHE"
REPOSITORY = Path(__file__).resolve().parent.parent


def _on_path(program: str) -> Callable[[], bool]:
    return lambda: shutil.which(program) is not None


def _has_selenium() -> bool:
    return importlib.util.find_spec("selenium") is not None


def _emulator(name: str) -> Callable[[], bool]:
    """Whether the project itself finds the emulator: it looks in more places than the PATH."""

    def is_there() -> bool:
        # not at the top: pytest must start, and say what is missing, where the package is broken
        from mcu_deploy.device.emulators import launcher_named
        from mcu_deploy.errors import ToolError

        try:
            launcher_named(name).find()
        except ToolError:
            return False
        return True

    return is_there


# marker: (is the tool there?, what a person reads where it is not)
_TOOLS: dict[str, tuple[Callable[[], bool], str]] = {
    "needs_renode": (
        _emulator("renode"),
        "Renode is not installed; `make renode` downloads it, or put `renode` on the PATH",
    ),
    "needs_renode_helium": (
        has_helium,
        "this Renode lacks Helium, which came in May 2026, after its release 1.16.1",
    ),
    "needs_renode_test": (
        lambda: renode_test() is not None,
        "renode-test, or what it needs of Python, is not installed; `make renode` downloads the "
        "first, `pip install 'mcu-deploy[robot]'` installs the rest",
    ),
    "needs_robot": (
        has_robot,
        "Robot Framework is not installed; `pip install 'mcu-deploy[robot]'` installs it",
    ),
    "needs_qemu": (
        _emulator("qemu"),
        "qemu-system-arm is not installed; `make setup` installs it",
    ),
    "needs_arm_gcc": (
        _on_path("arm-none-eabi-gcc"),
        "arm-none-eabi-gcc is not installed; `make setup` installs it",
    ),
    "needs_clang": (
        lambda: clang() is not None,
        "clang for Arm, or newlib's headers, is not installed; `apt-get install clang` installs it",
    ),
    "needs_host_gcc": (
        _on_path("gcc"),
        "gcc for this machine is not installed; `make setup` installs it",
    ),
    "needs_gdb": (
        _on_path("gdb-multiarch"),
        "gdb-multiarch is not installed; `apt-get install gdb-multiarch` installs it",
    ),
    "needs_arduino": (
        _on_path("arduino-builder"),
        "arduino-builder is not installed; `apt-get install arduino-builder` installs it",
    ),
    "needs_platformio": (
        _on_path("pio"),
        "PlatformIO is not installed; `python3 -m venv V && V/bin/pip install platformio scons` "
        "installs it, and PATH=$PATH:V/bin lets it be found",
    ),
    "needs_chromium": (
        lambda: _has_selenium() and all(map(shutil.which, ("chromium", "chromedriver"))),
        "Chromium, its driver or selenium is not installed; `apt-get install chromium "
        "chromium-driver` and `make setup` install them",
    ),
    "needs_cmake": (
        lambda: all(shutil.which(program) for program in ("cmake", "ninja")),
        "CMake or Ninja is not installed; `make setup` installs them",
    ),
}


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption(
        "--all",
        action="store_true",
        default=False,
        help="run the whole matrix, not only the fixed sample (`make test-all`)",
    )
    parser.addoption(
        "--times",
        action="store_true",
        default=False,
        help="say what each part costs in processor seconds (`make test-times`)",
    )


def pytest_configure(config: pytest.Config) -> None:
    config.addinivalue_line("markers", "matrix: runs only with --all, for the whole matrix")
    for marker, (_, sentence) in _TOOLS.items():
        config.addinivalue_line("markers", f"{marker}: skipped where {sentence.split(';')[0]}")
    if config.getoption("--times"):
        config.pluginmanager.register(Times())
    # The sample is the same in every run; the whole matrix looks for what no run has seen.
    # How long something takes is nothing that a test may depend on.
    patient = hypothesis.settings(
        deadline=None, suppress_health_check=[hypothesis.HealthCheck.too_slow]
    )
    every = config.getoption("--all")
    count = 100 if every else 20
    hypothesis.settings.register_profile("ours", patient, derandomize=not every, max_examples=count)
    hypothesis.settings.load_profile("ours")
    if not every:
        # Constants of our sources, which each process parses for it, would make another sample of
        # each change of a source.
        patch = pytest.MonkeyPatch()
        patch.setattr(providers, "_get_local_constants", lambda: providers._local_constants)
        config.add_cleanup(patch.undo)
    if every:
        os.environ[_CACHE] = "off"
    elif not hasattr(config, "workerinput"):  # the workers of pytest-xdist inherit it
        folder = tempfile.mkdtemp(prefix="mcu-deploy-tests-cache-")
        config.add_cleanup(lambda: shutil.rmtree(folder, ignore_errors=True))
        os.environ[_CACHE] = folder


@pytest.hookimpl(wrapper=True)
def pytest_collection() -> Iterator[Any]:
    """In a fresh clone one process after the other: what the first compiles, the next one loads."""
    if (REPOSITORY / "tests/unit/__pycache__").exists():
        return (yield)
    with Path(__file__).open() as turn:
        fcntl.flock(turn, fcntl.LOCK_EX)
        return (yield)


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    if config.getoption("--all"):
        return
    left_out = [item for item in items if item.get_closest_marker("matrix")]
    if left_out:
        items[:] = [item for item in items if not item.get_closest_marker("matrix")]
        config.hook.pytest_deselected(items=left_out)


def pytest_collection_finish() -> None:
    """What is loaded by now stays: pytest looks through everything five times at the end."""
    gc.freeze()


def pytest_runtest_setup(item: pytest.Item) -> None:
    for marker, (is_there, sentence) in _TOOLS.items():
        if item.get_closest_marker(marker) and not is_there():
            pytest.skip(sentence)


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Prints what was skipped and why, each reason once, just before the closing line."""
    reasons: Counter[str] = Counter()
    for report in terminalreporter.stats.get("skipped", []):
        reason = report.longrepr[2] if isinstance(report.longrepr, tuple) else report.longrepr
        reasons[str(reason).removeprefix("Skipped: ")] += 1
    if not reasons:
        return
    terminalreporter.section("skipped")
    for reason, count in sorted(reasons.items()):
        terminalreporter.line(f"{count} test{'s' if count > 1 else ''}: {reason}")


@pytest.fixture(scope="session", autouse=True)
def _fork(request: pytest.FixtureRequest) -> Iterator[Callable[..., Any]]:
    """The call in a forked process, which the sample does without: its thousands of models are no
    danger, and a fork of a process as large as that of the tests takes ten times as long as reading
    one. The whole matrix forks as users do."""
    from mcu_deploy.processes import contained

    forking = contained.call
    with pytest.MonkeyPatch.context() as patch:
        if not request.config.getoption("--all"):
            patch.setattr(contained, "call", _call)
        yield forking


def _call(function: Callable[..., T], *arguments: Any, **_limits: int) -> T:
    return function(*arguments)


@pytest.fixture
def forked(_fork: Callable[..., Any], monkeypatch: pytest.MonkeyPatch) -> None:
    """Models are read in a process of its own each, as they are for users."""
    from mcu_deploy.processes import contained

    monkeypatch.setattr(contained, "call", _fork)


@pytest.fixture
def unforked(_fork: Callable[..., Any], monkeypatch: pytest.MonkeyPatch) -> None:
    """Models are read in the process of the tests, in the whole matrix too."""
    from mcu_deploy.processes import contained

    monkeypatch.setattr(contained, "call", _call)


@pytest.fixture
def one_recipe(monkeypatch: pytest.MonkeyPatch) -> None:
    """As quantizing_nets.try_one_recipe has it, for tests of what layers become, whatever their
    ranges are."""
    from quantizing_nets import try_one_recipe

    try_one_recipe(monkeypatch)


@pytest.fixture(scope="session")
def repository() -> Path:
    """The top folder of the repository."""
    return REPOSITORY


@pytest.fixture(scope="session")
def models_dir() -> Path:
    """The pack of real models beside the repository, one folder a model (model.onnx, io.npz)."""
    folder = Path(os.environ.get("MCU_DEPLOY_MODELS") or REPOSITORY.parent / "shared" / "models")
    if not (folder / "mlperf_kws_int8" / "model.onnx").is_file():
        pytest.skip(
            "the model pack is not here; put it at ../shared/models beside the repository, "
            "or name its folder in MCU_DEPLOY_MODELS"
        )
    return folder


@pytest.fixture(scope="session")
def kws_dir() -> Path:
    """The keyword-spotting example of the package: model.onnx, samples.npz, classes.txt."""
    return REPOSITORY / "mcu_deploy" / "examples" / "kws"
