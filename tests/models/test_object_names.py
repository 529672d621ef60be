"""Hostile names: from the model on their way into C, and of the networks themselves."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from pathlib import Path

import network_programs as programs
import numpy as np
import onnx
import pytest
from onnx import helper
from operators.lab import make_model
from sampling import first

from mcu_deploy import hygiene
from mcu_deploy.api.building import Build, build
from mcu_deploy.boards import load_board
from mcu_deploy.compiled import Network
from mcu_deploy.compiler import compile_model
from mcu_deploy.options import Options
from mcu_deploy.report import read

pytestmark = [pytest.mark.needs_arm_gcc, pytest.mark.needs_host_gcc]

HOSTILE = {
    "comment end": "*/ int injected; /*",
    "comment begin": "/* // */*/",
    "half a comment end": "*",
    "the other half": "/",
    "trailing backslash": "ends with \\",
    "newline": "two\nlines",
    "directive": "x\n#error injected\n",
    "carriage return": "a\r#error injected\rb",
    "other line ends": "a\u0085b\u2028c\u2029d\x0be\x0cf",
    "quotes": '"\'`"; int injected; "',
    "trigraphs": "what??/ ??' ??( ??< ??! ??= ??- ??/",
    "trigraph comment end": "*??/\n/ int injected;",
    "format": "%s%n%d%%%100000d",
    "template": "{{ name }}{% for x in y %}{# #}{{ 7 * 7 }}",
    "token": "$self $quantize ${x} $",
    "escape": "\\x41\\101\\n\\0\\u0041",
    "octal then digit": "\x017\x018",
    "unicode": "Größe µ 温度 ﬁ",
    "right to left": "abc\u202edef\u202c\u200f",
    "emoji": "🐍🏳️‍🌈",
    "zero": "a\x00b",
    "control": "\x01\x1b[31m\x7f\x9b",
    "long": "x" * 10_000,
    "long unicode": "é🐍" * 5_000,
    "space": " ",
    "keyword": "return",
    "libc": "memcpy",
    "free": "free",
    "main": "main",
    "descriptor": "_mcu_network_h25",
    "own function": "_mcu_h1_layers",
    "path": "../../../etc/passwd",
    "html": "<script>alert(1)</script>&amp;",
    "assembler": '\\n.globl injected\\n" ; .globl injected',
    "digraph": "%:error <: :> <% %>",
}

NETWORKS = (
    "run", "layer", "layers", "network", "network_kws", "network_network", "int", "main", "memcpy",
    "free", "printf", "mcu", "run_func", "weights", "inputs", "model", "models", "crt", "_", "__",
    "0", "1x", "NULL", "errno", "firmware", "firmware_models", "arena", "runtime", "kws", "kws_2",
    "a" * 48,
)  # fmt: skip


def hostile_model(text: str, seed: int) -> onnx.ModelProto:
    """A model of two layers in which everything that has a name or a text has this one."""
    weights = np.random.default_rng(seed).standard_normal((3, 2)).astype(np.float32)
    model = make_model(
        [
            helper.make_node("MatMul", [text, f"{text} weights"], [f"{text} sum"], name=text),
            helper.make_node("Sigmoid", [f"{text} sum"], [f"{text} out"], name=f"{text}2"),
        ],
        {text: ("float32", [1, 3])},
        {f"{text} out": ("float32", [1, 2])},
        {f"{text} weights": weights},
    )
    model.graph.name = text
    model.producer_name = model.doc_string = model.graph.doc_string = text
    for node in model.graph.node:
        node.doc_string = text
    for value in (*model.graph.input, *model.graph.output):
        value.doc_string = text
    model.metadata_props.add(key=text, value=text)
    return model


def stored_name(text: str) -> bytes:
    """What a descriptor says: UTF-8, at most 63 bytes of whole characters, without zeros."""
    raw = text.replace("\0", "\ufffd").encode()
    while len(raw) > 63:
        text = text[:-1] if len(text) < 100 else text[:99]
        raw = text.encode()
    return raw


@pytest.fixture(scope="module")
def hostile_models(tmp_path_factory: pytest.TempPathFactory) -> list[Path]:
    folder = tmp_path_factory.mktemp("hostile")
    paths = []
    for index, text in enumerate(HOSTILE.values()):
        paths.append(folder / f"h{index}.onnx")
        paths[-1].write_bytes(hostile_model(text, index).SerializeToString())
    return paths


def assert_one_firmware(built: Build, models: int) -> None:
    """Each object passes the check, and all together; the report is what was built."""
    objects = [n.object for n in built.networks]
    assert len(objects) == models
    for network in built.networks:
        assert not hygiene.check_object(
            network.object, board=built.board, expected_name=network.name
        )
    text = (built.directory / "report.json").read_text(encoding="utf-8")
    assert read(json.loads(text)) == built.report


@pytest.mark.matrix  # the sample runs a third of them on a board
def test_names_from_the_model_build_and_run_on_the_host(
    hostile_models: list[Path], tmp_path: Path
) -> None:
    board = load_board("host")
    networks = [compile_model(path, board) for path in hostile_models]
    names_folder, run_folder = tmp_path / "names", tmp_path / "run"
    names_folder.mkdir()
    run_folder.mkdir()
    printed = programs.run([programs.host_program(networks, names_folder, programs.PRINT_NAMES)])
    lines = iter(bytes.fromhex(line.decode()) for line in printed.splitlines())
    for network, (what, text) in zip(networks, HOSTILE.items(), strict=True):
        assert next(lines) == network.name.encode()
        assert next(lines) == stored_name(text), what
        assert next(lines) == stored_name(f"{text} out"), what
    assert next(lines, None) is None

    inputs = [np.array([[0.5, -i, 2.0]], np.float32) for i in range(len(networks))]
    program = programs.host_program(networks, run_folder, flags=programs.SANITIZERS)
    raw = programs.run([program], given=b"".join(i.tobytes() for i in inputs))
    for network, value, found in zip(networks, inputs, programs.split(raw, networks), strict=True):
        programs.assert_equal(found, programs.expected(network, [value]))


def test_names_from_the_model_in_the_sources(hostile_models: list[Path]) -> None:
    """Plain ASCII in lines of bounded length, and no comment that ends too early."""
    for path in hostile_models:
        sources = compile_model(path, load_board("mps2-an386")).sources
        for text in (sources.source, sources.header):
            assert text.isascii()
            assert text.isprintable() or set(text) - {"\n"} <= set(map(chr, range(32, 127)))
            assert "??" not in text
            assert not re.search(r"\\[ \t]+$", text, re.M)
            assert max(len(line) for line in text.splitlines()) <= 320  # a name in octal escapes
            code = re.sub(r"/\*.*?\*/", "", text, flags=re.S)
            assert "/*" not in code
            assert "*/" not in code
            assert not re.search(r"^\s*(#error injected|int injected|#define (?!mcu_|MCU_))", code)
        assert set(sources.files) == {f"network_{path.stem}.{e}" for e in ("c", "h", "weights.bin")}


@pytest.mark.parametrize(("board", "every"), first([("mps2-an386", 6), ("host", 1)]))
def test_names_from_the_model_in_one_firmware(
    board: str, every: int, hostile_models: list[Path], tmp_path: Path
) -> None:
    """All in one firmware, so that anything that leaked into the namespace would clash."""
    chosen = hostile_models[::every]
    assert_one_firmware(build(chosen, board, tmp_path / "out"), len(chosen))


def test_a_name_that_is_an_attack_on_arrays_too(tmp_path: Path) -> None:
    """--weights array takes the same way; the file name is hostile as well."""
    path = tmp_path / "*$x??{{é}} %s.onnx"
    path.write_bytes(hostile_model(HOSTILE["comment end"], 1).SerializeToString())
    built = build(path, "host", tmp_path / "out", options=Options(weights="array"))
    assert built.networks[0].name == "x_e_s"
    assert_one_firmware(built, 1)


@pytest.mark.parametrize(
    ("board", "names"), first([("mps2-an386", NETWORKS[6:13]), ("host", NETWORKS)])
)
def test_networks_with_names_that_clash_with_everything(
    board: str, names: Sequence[str], tmp_path: Path
) -> None:
    path = tmp_path / "m.onnx"
    path.write_bytes(hostile_model("x", 1).SerializeToString())
    built = build([path] * len(names), board, tmp_path / "out", name=names)
    assert_one_firmware(built, len(names))
    objects = [n.object for n in built.networks]
    assert not hygiene.check_files(objects, built.board).findings
    mapped = {m.name: m for m in hygiene.check_files([built.firmware]).files[0].models}
    assert mapped.keys() == set(names)
    assert len({(m.sections, m.symbols) for m in mapped.values()}) == 1, "all are the same network"


def test_networks_with_odd_names_run(tmp_path: Path) -> None:
    path = tmp_path / "m.onnx"
    path.write_bytes(hostile_model("x", 1).SerializeToString())
    networks: list[Network] = [
        compile_model(path, load_board("host"), name=name) for name in NETWORKS
    ]
    value = np.array([[0.5, -1.0, 2.0]], np.float32)
    program = programs.host_program(networks, tmp_path)
    raw = programs.run([program], given=value.tobytes() * len(networks))
    for found in programs.split(raw, networks):
        programs.assert_equal(found, programs.expected(networks[0], [value]))
