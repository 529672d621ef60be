"""docs/kernels.md: its kernel runs on the interpreter and in QEMU, what it shows of instructions is
what is printed, its messages are the real ones."""

from __future__ import annotations

import doctest
import re
import runpy
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from device import test_isa_meaning as rows
from dynamic.page_cases import REPOSITORY, Page, Reader, without_pip
from isa_statements import written
from quantized_nets import QuantizedNet

from mcu_deploy.backends.interface import Parameter, Target, layer_of
from mcu_deploy.backends.isa import Assembly, Kind, Label, kernel, meaning
from mcu_deploy.backends.isa.interpreter import Data, Fault, call
from mcu_deploy.backends.isa.meaning import Meaning
from mcu_deploy.backends.isa.models import MODELS
from mcu_deploy.interpreter import run_all
from mcu_deploy.ir import view_of_all

PAGE = Page("kernels.md")
WHOLE, ROW, SAYS = "One kernel whole", "An instruction that has no row", "What it says"
PROJECT = "m3_project"


@pytest.fixture(scope="module")
def reader(tmp_path_factory: pytest.TempPathFactory) -> Reader:
    """Has come as far as the kernel."""
    folder = tmp_path_factory.mktemp("reader")
    PAGE.write(folder, "pixels.py", "trial.py")
    made = Reader(folder)
    made.types(PAGE.commands("A model to try"))
    return made.with_project("pointwise_m3.py", page=PAGE, project=PROJECT)


@pytest.fixture(scope="module")
def trial(reader: Reader) -> Iterator[dict[str, Any]]:
    """What trial.py has defined when it has run."""
    with pytest.MonkeyPatch.context() as patched:
        patched.chdir(reader.folder)
        patched.syspath_prepend(reader.folder / PROJECT)
        yield runpy.run_path("trial.py")
    sys.modules.pop("pointwise_m3")


def commands() -> tuple[str, str]:
    """Of the kernel: what runs it on this machine, and what builds it."""
    first, second = without_pip(PAGE.commands(WHOLE), PROJECT).split("mcu-deploy build", 1)
    return first, f"mcu-deploy build{second}"


def cycles(pattern: str, text: str) -> list[int]:
    return [int(found.replace(",", "")) for found in re.findall(pattern, text)]


COUNTED = r"Conv +[\d,]+ +([\d,]+) +[\d.]+%"


def test_the_kernel_on_the_interpreter(reader: Reader) -> None:
    assert reader.types(commands()[0]) == PAGE.fences(WHOLE, "text")[0]


@pytest.mark.matrix
@pytest.mark.needs_arm_gcc
@pytest.mark.needs_qemu
def test_the_kernel_on_the_core(reader: Reader) -> None:
    output = reader.types(commands()[1])
    assert "\npassed\n" in output
    assert "warning" not in output
    _, explained, counted = PAGE.fences(WHOLE, "text")
    printed = {line.strip() for line in output.splitlines()}
    for line in explained.splitlines():
        assert line.strip() in printed, output
    stated, measured = cycles(r"PointwiseM3 +greedy +([\d,]+) mod", output), cycles(COUNTED, output)
    assert len(measured) == 3
    for price, found, quoted in zip(stated, measured, cycles(COUNTED, counted), strict=True):
        assert 0 < found - price < 50
        assert abs(found - quoted) < 10  # the call is gcc's


@pytest.mark.matrix
@pytest.mark.needs_arm_gcc
@pytest.mark.needs_qemu
def test_what_it_gains(reader: Reader) -> None:
    kws = REPOSITORY / "mcu_deploy" / "examples" / "kws" / "model.onnx"
    script = (
        "mcu-deploy build {} --board mps2-an385 --backend {} -o build/a > build.txt; "
        "mcu-deploy profile build/a"
    )
    backends = ("CpuRef", "PointwiseM3,CpuRef", "ArmMul,CpuRef")
    before, after, others = (
        sum(cycles(COUNTED, reader.types(script.format("pixels.onnx", b)))) for b in backends
    )
    quoted = re.search(r"CpuRef\s+computes[\w\s]+?([\d,]+)\s+cycles, ([\d.]+)\s+times", PAGE.text)
    assert quoted is not None
    assert before == pytest.approx(int(quoted[1].replace(",", "")), rel=0.02)
    assert before / after == pytest.approx(float(quoted[2]), rel=0.03)
    in_pairs = re.search(r"needs ([\d,]+) for the three", PAGE.text)
    assert in_pairs is not None
    assert others == pytest.approx(int(in_pairs[1].replace(",", "")), rel=0.02)
    total = r"(?m)^total ([\d,]+) modelled"
    found = [cycles(total, reader.types(script.format(kws, b)))[0] for b in backends[:2]]
    says = re.search(r"goes\s+from\s+([\d.]+)\s+to\s+([\d.]+)\s+million", PAGE.text)
    assert says is not None
    assert [n / 1e6 for n in found] == pytest.approx([float(says[1]), float(says[2])], rel=0.02)


@pytest.mark.parametrize("domain", ["", "tflite"])
@pytest.mark.parametrize(
    ("channels", "filters", "size"),
    [(4, 2, (1, 1)), (12, 6, (1, 2)), (8, 10, (3, 3)), (16, 4, (2, 5)), (20, 2, (1, 7))],
)
def test_other_shapes(
    channels: int, filters: int, size: tuple[int, int], domain: str, trial: dict[str, Any]
) -> None:
    """The oracle's bits and the distance, of what the model of the page does not have."""
    random = np.random.default_rng(channels)
    net = QuantizedNet((1, channels, *size))
    net.domain = domain
    weights = random.integers(-127, 128, (filters, channels, 1, 1), np.int8)
    bias = random.integers(-900, 900, filters)
    zero = -128 if domain else -3  # TFLite rounds away from zero
    graph = net.finish(net.conv(net.x, weights, bias, relu=False, scale=0.31731, zero=zero))
    x = random.integers(-128, 128, graph.type(graph.inputs[0]).shape, np.int8)
    values = run_all(graph, [x])
    view = view_of_all(graph)
    layer = trial["read"](layer_of(view, next(view.nodes), Target("cortex-m3")))
    found, accesses = trial["run"](layer, np.moveaxis(x, 1, -1).tobytes())
    assert found == np.moveaxis(values[graph.outputs[0]], 1, -1).tobytes()
    assert trial["distance"](accesses, layer.x.bytes) == trial["in_place"](layer).distance


def test_sums_that_are_late(trial: dict[str, Any]) -> None:
    """Those of a layer, each in a pixel that has it: with its word, and wrong without."""
    filters, pixels, steps = 128, 16, (*(127,) * 6, 10, 1)
    net = QuantizedNet((1, 8, 1, pixels), zero=0)
    weights = np.tile(np.array(steps, np.int8).reshape(1, 8, 1, 1), (filters, 1, 1, 1))
    graph = net.finish(net.conv(net.x, weights, relu=False, scale=0.27183, zero=0))
    view = view_of_all(graph)
    layer = trial["read"](layer_of(view, next(view.nodes), Target("cortex-m3")))
    rounding = trial["solve"](layer)
    late = np.flatnonzero(rounding.words[:, 0] != trial["assemble"].__globals__["NEVER"])
    assert 2 < len(late) <= pixels
    x = np.zeros((1, 8, 1, pixels), np.int8)
    for p, n in enumerate(late):
        rest = int(rounding.words[n, 0] - rounding.moves[n])
        for c, step in enumerate(steps):
            x[0, c, 0, p] = np.clip(int(rest / step), -128, 127)
            rest -= int(x[0, c, 0, p]) * step
        assert rest == 0
    wanted = np.moveaxis(run_all(graph, [x])[graph.outputs[0]], 1, -1)
    found, _ = trial["run"](layer, np.moveaxis(x, 1, -1).tobytes())
    assert found == wanted.tobytes()
    rounding.words[:, 0] = trial["assemble"].__globals__["NEVER"]
    with pytest.MonkeyPatch.context() as patched:
        patched.setitem(trial["run"].__globals__, "solve", lambda _: rounding)
        found, _ = trial["run"](layer, np.moveaxis(x, 1, -1).tobytes())
    differs = np.frombuffer(found, np.int8).reshape(wanted.shape) != wanted
    assert all(differs[0, 0, p, n] for p, n in enumerate(late))


def test_what_is_shown_of_prompts(reader: Reader, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(reader.folder)
    prompts = "\n".join(text for of in PAGE.sections for text in PAGE.fences(of, "pycon"))
    examples = doctest.DocTestParser().get_doctest(prompts, {}, "kernels.md", None, 0)
    said: list[str] = []
    runner = doctest.DocTestRunner(optionflags=doctest.ELLIPSIS)
    failed, tried = runner.run(examples, out=said.append)
    assert tried > 80
    assert not failed, "".join(said)


@pytest.mark.needs_arm_gcc
@pytest.mark.needs_qemu
def test_the_row_that_it_adds(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, request: pytest.FixtureRequest
) -> None:
    row, statement = PAGE.fences(ROW, "text")
    ((name, added),) = eval("{" + row + "}", {"Meaning": Meaning}).items()
    assert name not in meaning.names()
    monkeypatch.setitem(meaning._MEANINGS, name, added)
    meaning.meaning_of.cache_clear()  # of the table without the row
    request.addfinalizer(meaning.meaning_of.cache_clear)
    states, data = rows._states(200, rows.M4), bytes(rows._DATA_BYTES)
    statements = (statement.strip(),)
    (answers,) = rows._answers(tmp_path, statements, states, data, rows.M4)
    program = rows.Program(rows._items(statements[0]))
    for words, answer in zip(states, answers, strict=True):
        assert [*rows._expected(program, words, data, rows.M4)] == answer.tolist()


def _code(core: str = "cortex-m3") -> Assembly:
    return Assembly(MODELS[core])


def _smlad() -> None:
    code = _code()
    code.smlad(*code.registers("a b c d"))


def _far() -> Iterator[Callable[[], None]]:
    """Numbers and a label that are beyond an instruction's reach."""
    code = _code("cortex-m4")
    x, a, b, value = code.arguments("x a b value")
    yield lambda: code.ldrd(a, b, x[1024])
    yield lambda: code.cmp(x, 513)

    def branch() -> None:
        end = code.label()
        code.cbz(value, end)
        for _ in range(36):
            code.add(a, a, 256)
        code.place(end)
        _ = code.bytes

    yield branch


def _too_many() -> None:
    code = _code()
    names = code.registers(" ".join(f"n{i}" for i in range(15)))
    for name in names:
        code.mov(name, 1)
    for name in names:
        code.add(names[0], names[0], name)
    _ = code.items


def _ordered() -> None:
    code = _code()
    x, y = code.arguments("x y")
    a, b, c = code.registers("a b c")
    code.ldmia(x.moving, [a, b])
    code.ldr(c, x[0])
    code.stmia(y, [c, b, a])
    _ = code.items


def _wide() -> None:
    code = _code("cortex-m0plus")
    x, y, z = code.arguments("x y z")
    code.muls(y, x, z)
    code.stmia(x, [y, z])
    _ = code.items


def _unwritten() -> None:
    code = _code()
    x, total = code.registers("x total")
    code.mov(x, 1)
    code.add(total, total, x)
    code.str(total, x[0])
    _ = code.items


def _both() -> None:
    code = _code()
    a, b = code.registers("a b", "r4", "r4")
    code.mov(a, 1)
    code.mov(b, 2)
    code.add(a, a, b)
    code.str(a, a[0])
    _ = code.items


def _nowhere() -> None:
    code = _code()
    code.mov(code.register("x"), 1)
    code.b(Label(7))
    _ = code.items


def _anywhere() -> None:
    code = _code()
    (way,) = code.arguments("way")
    code.bx(way)
    code.nop()
    _ = code.items


def _of_floats() -> None:
    code = _code("cortex-m4")
    kept = code.register("kept", kind=Kind.SINGLE)
    code.vmov(kept, *code.arguments("x"))
    code.vadd_f32(kept, kept, kept)
    kernel("sum", [Parameter("int32_t", "x")], code, Target(fpu=False))


def _six() -> None:
    kernel("sum", [Parameter("int32_t", name) for name in "abcdef"], _code(), Target())


def _run(*statements: str) -> None:
    code, memory = _code(), Data()
    memory.lay(0x2000_0000, bytes(4))
    memory.lay(0x0800_0000, bytes(4), is_constant=True)
    written(code, *statements, "bx lr")
    call(code.items, [0x2000_0000, 0x0800_0000, 1], memory)


def _given() -> Iterator[Callable[[], None]]:
    yield _smlad
    yield from _far()
    yield from (_too_many, _ordered, _wide, _unwritten, _both, _nowhere, _anywhere)
    yield from (_of_floats, _six)
    yield lambda: _run("ldr r3, [r0, #4]")
    yield lambda: _run("strb r2, [r1]")
    yield lambda: _run("add r0, r0, #1", "ldrd r2, r3, [r0]")
    yield lambda: _run("mov r4, #0")


def test_its_messages() -> None:
    table = PAGE.sections[SAYS].split("\n| it says |")[1].split("\n\n")[0].splitlines()[2:]
    quoted = [line.split(" | ")[0].strip("|` ") for line in table]
    said = []
    for cause in _given():
        with pytest.raises((ValueError, Fault)) as error:
            cause()
        plain = re.sub(r"^/\S+\.py:\d+", "FILE:LINE", str(error.value))
        said.append(plain.replace("`", ""))
    assert said == quoted


def test_every_listing_is_of_a_kind_that_the_tests_here_use() -> None:
    assert {*PAGE.listings} == {"pixels.py", "pointwise_m3.py", "trial.py", "pyproject.toml"}
    for title in PAGE.sections:
        of = {WHOLE: 3, ROW: 2}
        assert len(PAGE.fences(title, "text")) == of.get(title, 0)
        for language in ("python", "toml"):
            assert all(text in PAGE.listings.values() for text in PAGE.fences(title, language))
    script = PAGE.fences(ROW, "sh")
    assert [(REPOSITORY / s.split()[-1]).exists() for s in script] == [True]
    PAGE.check_links()
