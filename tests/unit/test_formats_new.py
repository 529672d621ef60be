"""A format is a module with SUFFIXES and read, and nothing else."""

from __future__ import annotations

import hashlib
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from mcu_deploy import formats
from mcu_deploy.api.building import build
from mcu_deploy.api.validating import validate
from mcu_deploy.discovery import _names as names
from mcu_deploy.errors import FormatFault, ModelError
from mcu_deploy.formats.imported import Imported
from mcu_deploy.pipelines.first import find_models

# One operator a line, from the input to the output.
FORMAT = """
from mcu_deploy.errors import ModelError
from mcu_deploy.ir import DType, GraphEditor, TensorType

SUFFIXES = (".ops",)


def read(path, shapes):
    editor = GraphEditor.empty("ops")
    type_ = TensorType(DType.FLOAT32, (1, 4))
    editor.inputs = [editor.add_edge("x", type_)]
    edge = editor.inputs[0]
    for line in path.read_text().split():
        if line == "damaged":
            raise ModelError("It says that it is damaged. Write another.")
        source, edge = edge, editor.add_edge(f"{line}_out", type_)
        editor.add_node(line, [source], [edge], line, {})
    editor.outputs = [edge]
    return editor.finish(opset=17)
"""


BROKEN = {
    "raises": ("def read(path, shapes): return 1 / 0", "it raised ZeroDivisionError: division by"),
    "ends": ("def read(path, shapes): raise SystemExit(3)", "it raised SystemExit: 3"),
    "takes": ("def read(path): return None", r"it raised TypeError: read\(\) takes 1 positional"),
    "gives": ("def read(path, shapes): return [1]", "its read gave a list and no Graph"),
}
UNUSABLE = {
    "missing": ("import nomodule", "it raised ModuleNotFoundError: No module named 'nomodule'"),
    "typo": ("def read(:", "it raised SyntaxError: invalid syntax"),
    "empty": ('SUFFIXES = (".unread",)', "it has no read"),
    "text": ('SUFFIXES = ".unread"', "its SUFFIXES are no tuple of texts"),
}


@pytest.fixture
def model(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A model of a format that was added as one file."""
    (tmp_path / "formats").mkdir()
    (tmp_path / "formats" / "op_lines.py").write_text(FORMAT)
    monkeypatch.setattr(formats, "__path__", [*formats.__path__, str(tmp_path / "formats")])
    path = tmp_path / "models" / "tiny.OPS"
    path.parent.mkdir()
    path.write_text("Neg Relu\n")
    yield path
    sys.modules.pop("mcu_deploy.formats.op_lines", None)


@pytest.mark.needs_host_gcc
def test_its_models_are_built_and_validated(model: Path, tmp_path: Path) -> None:
    built = build(model, "host", tmp_path / "build")
    (network,) = built.report.networks
    assert network.source_sha256 == hashlib.sha256(model.read_bytes()).hexdigest()
    assert (built.directory / network.kept_model).read_bytes() == model.read_bytes()
    result = validate(built.directory, layers=True)
    assert result.passed
    assert "passed against the oracle alone" in str(result)


def test_it_is_found_listed_and_its_errors_name_the_file(model: Path) -> None:
    assert isinstance(formats.read(model), Imported)
    assert formats.suffixes(compiled=False) == (".onnx", ".ops", ".tflite")
    assert list(find_models(model.parent)) == ["tiny"]
    assert formats.data_files(model) == ()
    model.write_text("damaged")
    with pytest.raises(ModelError, match=r"tiny\.OPS: It says that it is damaged"):
        formats.read(model)


def _add(folder: Path, name: str, source: str) -> None:
    (folder / "formats" / f"{name}.py").write_text(source)
    names.cache_clear()


@pytest.mark.parametrize("name", BROKEN)
def test_a_format_that_breaks_its_word_is_named(
    name: str, model: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    source, reason = BROKEN[name]
    _add(tmp_path, name, f'SUFFIXES = (".broken",)\n{source}\n')
    other = model.with_suffix(".broken")
    other.touch()
    with pytest.raises(FormatFault, match=f"the model format {name} failed on .*: {reason}"):
        formats.read(other)
    assert formats.read(model).is_whole


@pytest.mark.parametrize("what", ["data_files", "self_contained"])
def test_so_is_one_that_breaks_it_beside_its_models(what: str, model: Path, tmp_path: Path) -> None:
    source = f'SUFFIXES = (".broken",)\nread = None.__class__\n{what} = lambda p: 1\n'
    _add(tmp_path, f"no_{what}", source)
    with pytest.raises(FormatFault, match=f"the model format no_{what} failed"):
        getattr(formats, what)(model.with_suffix(".broken"))


def test_modules_that_are_no_formats_are_skipped_with_a_sentence(
    model: Path, tmp_path: Path
) -> None:
    for name, (source, _) in UNUSABLE.items():
        _add(tmp_path, name, source)
    other = model.with_suffix(".unread")
    other.touch()
    with pytest.raises(ModelError) as error:
        formats.read(other)
    for name, (_, reason) in UNUSABLE.items():
        assert f"The format {name} was skipped: {reason}" in str(error.value)
    assert formats.read(model).is_whole
    assert ".ops" in formats.suffixes()


@pytest.mark.parametrize(
    ("attributes", "operator", "clause"),
    [
        ("{'axes': 'ab'}", "ReduceL1", "attribute axes of its ReduceL1 'ReduceL1' is 'ab'"),
        ("{'alpha': (1.0,)}", "Elu", r"attribute alpha of its Elu 'Elu' is \(1.0,\) and not a n"),
        ("{'axis': True}", "Softmax", "axis of its Softmax 'Softmax' is True and not an integer"),
        ("{'mode': 3}", "Pad", "the attribute mode of its Pad 'Pad' is 3 and not a text"),
        ("{}", "Cast", "the attribute to of its Cast 'Cast' is missing; ONNX wants an integer"),
    ],
)
def test_attributes_in_its_graphs_are_looked_at(
    attributes: str, operator: str, clause: str, model: Path, tmp_path: Path
) -> None:
    source = FORMAT.replace('".ops"', '".wrong"').replace("line, {})", f"line, {attributes})")
    _add(tmp_path, "wrong_attributes", source)
    other = model.with_suffix(".wrong")
    other.write_text(operator)
    with pytest.raises(FormatFault, match=clause):
        formats.read(other)
    sys.modules.pop("mcu_deploy.formats.wrong_attributes", None)


def test_sizes_in_its_graphs_are_looked_at(model: Path) -> None:
    """Nobody else would: the format needs no more than read."""
    model.write_text("MatMul")
    with pytest.raises(ModelError, match="MatMul 'MatMul' of the model cannot be computed"):
        formats.read(model)
