"""Packages that fail: in their import, in their factory, or at any later call; one line each."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from dynamic.package_cases import HERE, Installs
from graph_cases import Net
from sampling import chosen, first

from mcu_deploy.backends.interface import (
    Backend,
    CreationOptions,
    Layer,
    SubgraphView,
    layer_of,
)
from mcu_deploy.errors import BackendFault
from mcu_deploy.ir import view_of_all


@pytest.fixture
def installs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Installs]:
    with Installs(tmp_path, monkeypatch) as made:
        made.add_to_path(HERE / "mcu_relu", modules_only=True)
        yield made


RELU = "from mcu_relu import *\nclass Bad(Relu):\n    id = 'Bad'\n"
CRASH = "import ctypes; ctypes.string_at(8)"

AT_LOAD = {
    "exception": (
        "raise RuntimeError('one\\ntwo\\x1b[31m')", "it raised RuntimeError: one two\\x1b[31m.",
    ),
    "no module": ("import nonsense", "it raised ModuleNotFoundError: No module named 'nonsense'"),
    "syntax": ("def", "it raised SyntaxError: invalid syntax"),
    "no object": ("", "it raised AttributeError: module 'bad' has no attribute 'Bad'"),
    "no factory": ("Bad = 5", "it raised TypeError: 'int' object is not callable"),
    "nothing made": ("def Bad(): pass", "what bad:Bad makes has no id"),
    "half a backend": (
        "class Bad:\n id, version, rank = 'Bad', (1, 0), 1\n def layer_support(self): pass",
        "what bad:Bad makes has no create_workload_factory",
    ),
    "exception in the factory": (
        f"{RELU}    def __init__(self): raise MemoryError()", "it raised MemoryError.",
    ),
    "recursion": ("def Bad(): return Bad()", "it raised RecursionError"),
    "sys.exit": ("import sys; sys.exit('bye')", "ended its process in its import with exit(1)"),
    "os._exit": ("import os; os._exit(4)", "ended its process in its import with exit(4)"),
    "crash": (CRASH, "crashed in its import (SIGSEGV)"),
    "hang": ("import time; time.sleep(99)", "did not return from its import within 1 seconds"),
    "noise": ("print('x' * 1_000_000); import os; os.abort()", "crashed in its import (SIGABRT)"),
    "no id": (f"{RELU}    id = ''", "its id '' is not 1 to 64 letters"),
    "id of another type": (f"{RELU}    id = b'Bad'", "its id b'Bad' is no text"),
    "wrong id": (f"{RELU}    id = 'a b'", "its id 'a b' is not 1 to 64 letters"),
    "newer": (f"{RELU}    version = (1, 3)", "it is written for version 1.3 of the backend"),
    "older": (f"{RELU}    version = (0, 1)", "it is written for version 0.1 of the backend"),
    "odd version": (f"{RELU}    version = '1.0'", "its version is no pair of numbers"),
    "no version": (f"{RELU}    version = None", "it raised TypeError"),
    "odd rank": (f"{RELU}    rank = 'first'", "rank must be a whole number, not 'first'"),
    "a text of operators": (
        f"{RELU}    operators = 'Relu'", "its operators are 'Relu', and no tuple of names",
    ),
    "unknown core": (
        f"{RELU}    cores = ('cortex-m9',)", "it is for cortex-m9, which mcu-deploy does not know",
    ),
    "odd cores": (f"{RELU}    cores = ('a\\0b',)", "one of the cores"),
}  # fmt: skip


# In the sample one of each way to end.
AT_LOAD_SAMPLE = ("exception", "noise", "hang", "newer")


def patience(deed: str, few: float) -> float:
    """Seconds for a call: few where it hangs, many where a busy machine is all that is slow."""
    return few if deed == "hang" else 60.0


@pytest.mark.parametrize("case", chosen(AT_LOAD, AT_LOAD_SAMPLE))
def test_a_package_that_cannot_be_loaded_is_one_line(
    installs: Installs, capfd: pytest.CaptureFixture[str], case: str
) -> None:
    source, says = AT_LOAD[case]
    installs.package("bad", source, ("entry", "bad:Bad"))
    installs.options = CreationOptions(dynamic_backends_path="", call_timeout=patience(case, 1.0))
    assert installs.load().backends == ()
    (line,) = installs.lines
    assert line.startswith("package bad 2.5 was skipped: ")
    assert says in line
    assert line.isprintable()
    assert not line.endswith("..")
    assert len(line) < 700
    assert capfd.readouterr() == ("", "")


def ask_support(backend: Backend, layer: Layer, view: SubgraphView) -> None:
    backend.layer_support().is_layer_supported(layer, layer.inputs, layer.outputs, {})


def ask_costs(backend: Backend, layer: Layer, view: SubgraphView) -> None:
    backend.estimate(layer)


def ask_workloads(backend: Backend, layer: Layer, view: SubgraphView) -> None:
    factory = backend.create_workload_factory(backend.create_memory_manager())
    factory.create_workloads(layer.info, layer.descriptor)


def ask_optimize(backend: Backend, layer: Layer, view: SubgraphView) -> None:
    backend.optimize_subgraph(view)


def ask_context(backend: Backend, layer: Layer, view: SubgraphView) -> None:
    backend.create_backend_context(CreationOptions())


# method of the class, what calls it, what the message says that was asked
CALLS = {
    "layer_support(self)": (ask_support, "is_layer_supported for the Relu 'relu0'"),
    "estimate(self, layer)": (ask_costs, "estimate for the Relu 'relu0'"),
    "create_workload_factory(self, manager)": (
        ask_workloads, "create_workload for the Relu 'relu0'",
    ),
    "create_memory_manager(self)": (ask_workloads, "create_workload for the Relu 'relu0'"),
    "optimize_subgraph(self, view)": (ask_optimize, "optimize_subgraph"),
    "create_backend_context(self, options)": (ask_context, "create_context"),
}  # fmt: skip
DEEDS = {
    "exception": ("raise ValueError('odd')", "it raised ValueError: odd"),
    "nonsense": ("return 5", "answered nonsense to"),
    "exit": ("raise SystemExit(3)", "ended its process in"),
    "crash": (CRASH, "crashed in"),
    "hang": ("import time; time.sleep(99)", "did not return from"),
}
LATER = first([(method, "exception") for method in CALLS])
LATER += first([(method, "nonsense") for method in reversed(CALLS)], 2)
LATER += first([("layer_support(self)", deed) for deed in ("crash", "hang", "exit")], 2)


@pytest.mark.parametrize(("method", "deed"), LATER)
def test_a_package_that_fails_later_is_one_fault(
    installs: Installs, method: str, deed: str
) -> None:
    (body, says), (call, what) = DEEDS[deed], CALLS[method]
    installs.package("bad", f"{RELU}    def {method}:\n        {body}\n", ("entry", "bad:Bad"))
    installs.options = CreationOptions(dynamic_backends_path="", call_timeout=patience(deed, 5.0))
    (loaded,) = installs.load().backends
    bad = loaded.factory()
    net = Net()
    graph = net.finish(net.op("Relu", [net.input(2, 3)], (2, 3)))
    layer, view = layer_of(graph, next(graph.nodes)), view_of_all(graph)
    if deed == "nonsense" and "context" in method:
        # what is not asked again cannot be found out now
        check_context(bad)
        return
    expect_fault(call, bad, layer, view, (says, what))
    assert not loaded.worker.alive


@pytest.mark.parametrize(
    ("method", "call", "says"),
    [
        ("is_layer_supported(self, *_): return True", ask_support, "is True, and no Support"),
        ("estimate(self, layer): pass", ask_costs, "is None, and no Costs"),
        ("create_workloads(self, *_): pass", ask_workloads, "is None, and no tuple"),
    ],
)
def test_an_answer_of_another_type_is_said(
    installs: Installs, method: str, call: Callable[..., None], says: str
) -> None:
    own = "".join(
        f"    def {m}: return self\n"
        for m in ("layer_support(self)", "create_workload_factory(self, manager)")
    )
    installs.package("bad", f"{RELU}{own}    def {method}\n", ("entry", "bad:Bad"))
    (loaded,) = installs.load().backends
    net = Net()
    graph = net.finish(net.op("Relu", [net.input(2, 3)], (2, 3)))
    layer, view = layer_of(graph, next(graph.nodes)), view_of_all(graph)
    expect_fault(call, loaded.factory(), layer, view, (f"its answer {says}",))


def check_context(backend: Backend) -> None:
    context = backend.create_backend_context(CreationOptions())
    assert context is not None
    with pytest.raises(BackendFault, match="it raised AttributeError: 'int' object"):
        context.before_load_network(1)


def expect_fault(
    call: Callable[[Backend, Layer, SubgraphView], None],
    backend: Backend,
    layer: Layer,
    view: SubgraphView,
    says: tuple[str, ...],
) -> None:
    with pytest.raises(BackendFault) as caught:
        call(backend, layer, view)
    message = str(caught.value)
    assert message.startswith("The backend Bad ")
    assert caught.value.backend == "Bad"
    assert message.isprintable()
    for words in says:
        assert words in message


def test_the_others_live_on(installs: Installs) -> None:
    installs.add_to_path(HERE / "mcu_relu")
    installs.package("bad", f"{RELU}    def estimate(self, layer): {CRASH}", ("entry", "bad:Bad"))
    installs.package("worse", CRASH, ("entry", "worse:Bad"))
    loaded = installs.load()
    bad, good = (found.factory() for found in loaded.backends)
    assert [skipped.origin for skipped in loaded.skipped] == ["package worse 2.5"]
    net = Net()
    graph = net.finish(net.op("Relu", [net.input(2, 3)], (2, 3)))
    layer = layer_of(graph, next(graph.nodes))
    with pytest.raises(BackendFault, match=r"The backend Bad crashed .* \(SIGSEGV\)"):
        bad.estimate(layer)
    assert good.estimate(layer).instructions == 36
    with pytest.raises(BackendFault, match="The backend Bad crashed"):
        bad.estimate(layer)
