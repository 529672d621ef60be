"""What is the same for all formats: where an export goes, what is refused, and the same bytes."""

from __future__ import annotations

import json
import re
from pathlib import Path

import numpy as np
import pytest
from command_line import call

from mcu_deploy import resources
from mcu_deploy.api.exporting import export
from mcu_deploy.exports.formats import formats

pytestmark = pytest.mark.needs_arm_gcc


def contents(folder: Path) -> dict[str, bytes]:
    return {str(f.relative_to(folder)): f.read_bytes() for f in folder.rglob("*") if f.is_file()}


def test_the_page_has_a_row_for_each_format() -> None:
    page = (resources.root() / "docs" / "exports.md").read_text()
    rows = re.findall(r"^\| `(\w[\w-]+)` \|", page.partition("\n## Formats\n")[2], re.MULTILINE)
    assert sorted(rows) == sorted(formats()), "docs/exports.md says how each format was tried"


@pytest.mark.parametrize("format", formats())
def test_the_same_build_gives_the_same_bytes(
    format: str, tmp_path: Path, sine: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    done = export(sine, format)
    assert done.path.parent == Path("build", format) and done.files
    first = contents(tmp_path)
    export(sine, format)  # in the place of the first
    assert contents(tmp_path) == first
    for name, content in first.items():
        assert str(sine).encode() not in content, f"{name} names the machine it was made on"


def test_a_folder_of_the_users_is_refused_and_stays(tmp_path: Path, sine: Path) -> None:
    own = tmp_path / "own"
    export(sine, "cmake", own)
    (own / "notes.txt").write_text("mine")
    before = contents(own)
    done = call("export", sine, "--format", "cmake", "-o", own)
    assert done.returncode == 1 and "notes.txt" in done.stderr
    assert contents(own) == before
    done = call("export", sine, "--format", "cmake", "-o", sine)
    assert done.returncode == 1 and "is a build folder" in done.stderr


@pytest.mark.parametrize(
    ("words", "code", "said"),
    [
        (["--format", "cmaek"], 2, "There is no format 'cmaek'; give --format arduino, cmake"),
        (["--format", "cmake", "--name", "2nd"], 2, "cannot be a library's"),
        (["--format", "cmake", "--data", "none.npz"], 1, "none.npz"),
        (["--format", "cmake", "--data", "cosine::x.npz"], 1, "the network 'cosine'"),
        (["--format", "cmake", "-o", ""], 2, "is empty"),
    ],
)
def test_what_cannot_be_is_a_sentence(
    words: list[str], code: int, said: str, tmp_path: Path, sine: Path
) -> None:
    done = call("export", sine, *words, cwd=tmp_path)
    assert (done.returncode, done.stderr.count("\n")) == (code, 1), done.stderr
    assert said in done.stderr
    assert contents(tmp_path) == {}


def test_a_model_file_is_to_be_built_first(repository: Path) -> None:
    done = call("export", repository / "examples/cmake/sine.tflite", "--format", "cmake")
    assert done.returncode == 1 and "mcu-deploy build" in done.stderr and "is a file" in done.stderr


def test_json_says_where_and_what(tmp_path: Path, sine: Path) -> None:
    done = call("export", sine, "--format", "mlf", "-o", tmp_path / "sine.tar", "--json")
    said = json.loads(done.stdout)
    assert (said["path"], said["networks"]) == (str(tmp_path / "sine.tar"), ["sine"])
    assert "metadata.json" in said["files"]


@pytest.mark.parametrize("format", ["cmake", "rust"])
def test_scales_are_written_as_the_floats_that_they_are(
    format: str, tmp_path: Path, sine: Path
) -> None:
    """A report has them as doubles, whose last eight digits say nothing of a float32."""
    tensor = json.loads((sine / "report.json").read_text())["networks"][0]["inputs"][0]
    export(sine, format, tmp_path / "it")
    page = tmp_path / "it" / {"cmake": "README.md", "rust": "src/sine.rs"}[format]
    assert f"real value = {np.float32(tensor['scale'])!s} * " in page.read_text()
    assert str(tensor["scale"]) not in page.read_text()
