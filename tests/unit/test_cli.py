"""The command line as a person types it: exit codes, sentences, JSON, and no traceback ever."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import numpy as np
import onnx
import pytest
from command_line import call

from mcu_deploy.output.json_text import json_text

pytestmark = pytest.mark.needs_host_gcc


@pytest.fixture(scope="module")
def explained(kws_dir: Path, tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, str]:
    """A build folder, and what the build printed, the layers explained."""
    folder = tmp_path_factory.mktemp("cli") / "kws"
    done = call(
        "build", kws_dir / "model.onnx", "--board", "host", "--name", "kws", "-o", folder,
        "--explain",
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert "network_kws.o" in done.stdout
    return folder, done.stdout


@pytest.fixture
def kws_build(explained: tuple[Path, str]) -> Path:
    return explained[0]


def _process(*words: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run([sys.executable, *words], capture_output=True, text=True, check=False)


def test_the_program_itself_and_what_it_does_not_load() -> None:
    """Everywhere else the commands are called in this process."""
    assert _process("-m", "mcu_deploy", "--version").stdout.startswith("mcu-deploy ")
    done = _process("-m", "mcu_deploy", "nonsense")
    assert (done.returncode, "Traceback" in done.stderr) == (2, False)
    loaded = _process(
        "-c", "import sys; from mcu_deploy.cli import create_app; create_app(); print(*sys.modules)"
    ).stdout.split()
    assert "mcu_deploy.cli.build" in loaded
    heavy = {"numpy", "onnx", "jinja2", "elftools", "serial", "mcu_deploy.codegen",
             "mcu_deploy.plan", "mcu_deploy.boards", "mcu_deploy.device"}  # fmt: skip
    assert heavy.isdisjoint(loaded)


# Ctrl-C at the moment when the command line is looked for; numpy then still reads its variable.
EARLY = """
import os, signal, sys
class Finder:
    def find_spec(self, name, *_):
        if name == "mcu_deploy.cli":
            assert os.environ["OPENBLAS_NUM_THREADS"] == "1" and "numpy" not in sys.modules
            os.kill(os.getpid(), signal.SIGINT)
signal.signal(signal.SIGINT, signal.default_int_handler)  # a background job ignores it
os.environ.pop("OPENBLAS_NUM_THREADS", None)
sys.meta_path.insert(0, Finder())
from mcu_deploy.__main__ import main
main()
"""


def test_ctrl_c_before_anything_is_loaded_is_no_traceback() -> None:
    done = _process("-c", EARLY)
    assert (done.returncode, done.stdout, done.stderr) == (-signal.SIGINT, "", "")


def test_version_and_help() -> None:
    assert call("--version").stdout.startswith("mcu-deploy ")
    shown = call("--help").stdout
    for command in ("build", "check", "run", "validate", "profile", "tune", "boards", "operators"):
        assert command in shown


def test_build_json_has_the_report(kws_dir: Path, tmp_path: Path) -> None:
    done = call("build", kws_dir / "model.onnx", "--board", "host", "-o", tmp_path, "--json")
    report = json.loads(done.stdout)
    assert report == json.loads((tmp_path / "report.json").read_text(encoding="utf-8"))
    # the file is called model.onnx, so its folder gives the name
    assert report["model"] == "kws"


def test_the_default_folder_is_the_boards_and_the_first_networks(
    kws_dir: Path, repository: Path, tmp_path: Path
) -> None:
    model = kws_dir / "model.onnx"
    board = tmp_path / "mine.toml"
    text = (repository / "boards" / "host" / "board.toml").read_text()
    board.write_text(text.replace('name = "host"', 'name = "my-host"'))
    named = ("--name", "first", "--name", "second")
    done = call("build", model, model, "--board", board, *named, cwd=tmp_path)
    assert done.stdout.splitlines()[-1].startswith("in build/my-host/first: "), done.stderr
    assert (tmp_path / "build" / "my-host" / "first" / "network_second.o").is_file()
    refused = call("build", model, "--board", "host", "-o", "", cwd=tmp_path)
    assert refused.returncode == 2
    assert "empty" in refused.stderr


def test_build_explain_names_the_backend_of_each_layer(explained: tuple[Path, str]) -> None:
    assert explained[1].count("CpuRef") == 12 + 2, "each layer, and two views"


def test_build_explain_compares_builds_for_each_goal(explained: tuple[Path, str]) -> None:
    folder, printed = explained
    report = json.loads((folder / "report.json").read_text(encoding="utf-8"))
    rows = [line.split() for line in printed.split("builds for each goal")[1].splitlines()[2:]]
    assert [row[0] for row in rows if row] == ["speed", "balanced", "size", "ram"]
    assert rows[1][1:] == [
        *(f"{report[key]:,}" for key in ("flash_bytes", "ram_bytes", "arena_bytes")),
        *["on", "the", "front,", "this", "build"],
    ]  # fmt: skip


def test_run_writes_what_onnxruntime_gives(kws_build: Path, kws_dir: Path, tmp_path: Path) -> None:
    samples = kws_dir / "samples.npz"
    output = tmp_path / "answers.npz"
    done = call("run", kws_build, "--input", samples, "-o", output)
    assert done.returncode == 0, done.stderr
    assert "sample 7 out0" in done.stdout
    answers = np.load(output)["out0"]
    assert np.array_equal(answers, np.load(samples)["ort0"])


def test_run_of_a_model_file_needs_no_build(kws_dir: Path) -> None:
    done = call(
        "run", kws_dir / "model.onnx", "--board", "host", "--input", kws_dir / "samples.npz",
        "--samples", "1", "--json",
    )  # fmt: skip
    answer = json.loads(done.stdout)
    assert answer["board"] == "host"
    assert len(answer["outputs"]["out0"]) == 1


@pytest.mark.parametrize("layers", [("--layers",), ("--layers=built",), ("--layers", "built"), ()])
def test_validate_passes_and_compares_layers(
    layers: tuple[str, ...], kws_build: Path, kws_dir: Path
) -> None:
    done = call("validate", kws_build, "--data", kws_dir / "samples.npz", *layers)
    assert done.returncode == 0, done.stdout
    assert "passed" in done.stdout
    assert ("12 tensors compared in every sample" in done.stdout) == bool(layers)
    assert ("the oracle's layers beside onnxruntime's, each" in done.stdout) == bool(layers)


def test_validate_all_layers_builds_without_fusion_and_reuse(kws_dir: Path) -> None:
    done = call(
        "validate", kws_dir / "model.onnx", "--board", "host", "--layers=all", "--samples", "1",
        "--json",
    )  # fmt: skip
    result = json.loads(done.stdout)
    assert done.returncode == 0
    assert result["options"]["layers_all"] is True
    assert result["validation"]["layers"]["differences"] == []
    assert result["arena_bytes"] > 60_000  # every tensor keeps its own place


def test_a_model_of_open_shapes_is_validated_where_they_are_given(tmp_path: Path) -> None:
    text = """<ir_version: 8, opset_import: ["" : 17]>
        net (float[1, n, 3] x) => (float[1, n, 3] y) { y = Relu(x) }"""
    model = tmp_path / "open.onnx"
    onnx.save_model(onnx.parser.parse_model(text), model)
    refused = call("validate", model, "--board", "host")
    assert "give --shape x=1,<n>,3" in refused.stderr
    done = call("validate", model, "--board", "host", "--shape", "x=1,5,3", "--no-onnxruntime")
    assert (done.returncode, "passed" in done.stdout) == (0, True), done.stderr


def test_profile_of_the_host_says_where_to_go(kws_build: Path) -> None:
    done = call("profile", kws_build)
    assert done.returncode == 1
    assert "mps2-an386" in done.stderr


@pytest.mark.parametrize(
    ("arguments", "code", "words"),
    [
        (["build", "nowhere.onnx", "--board", "host"], 1, "does not exist"),
        (["build", ".", "--board", "host"], 1, "is a folder and no model file"),
        (["build", "built", "--board", "host"], 1, "is a build folder, which `run`, `validate`"),
        (["build", "model", "--board", "host"], 1, "has no ending, by which"),
        (["run", "built/network.o", "--input", "x.npz"], 1, "the ending '.o', which is no model"),
        (["build", "text.onnx", "--board", "host"], 1, "not a readable ONNX file"),
        (["build", "empty.onnx", "--board", "host"], 1, "holds no network"),
        (["build", "MODEL", "--board", "stm32f747"], 2, "stm32f746"),
        (["build", "MODEL", "--board", "host", "--name", "a b"], 2, "C symbol"),
        (["build", "MODEL", "--board", "host", "--backend", "Cpu"], 2, "CpuRef"),
        (["build", "MODEL", "--board", "host", "--weights", "x"], 2, "one of auto, incbin, array"),
        (["build", "MODEL", "--board", "host", "--shape", "input_1"], 2, "INPUT=1,3,96,96"),
        (["build", "MODEL", "--board", "host", "--shape", "no=1"], 1, "does not have"),
        (["build", "MODEL", "--board", "host", "-o", "text.onnx"], 1, "cannot be written"),
        (["build", "MODEL"], 2, "--board"),
        (["build", "MODEL", "--board", "HOST"], 2, "did you mean 'host'?"),
        (["build", "MODEL", "--board", "host", "--name", "a", "--name", "b"], 2, "for 1 model;"),
        (["build", "MODEL", "--board", "host", "--backend", ","], 2, "behind a comma"),
        (["build", "MODEL", "--board", "host", "--backend-option", "No.x=1"], 2, "backend 'No'"),
        (["build", "MODEL", "--board", "host", "--keep", ""], 2, "--keep has an empty value"),
        (["build", "MODEL", "--board", "host", "--keep", "conv_1"], 1, "is a layer, which writes"),
        (["build", "MODEL", "--board", "host", "--shape", "=1"], 2, "INPUT=1,3,96,96"),
        (["buld", "MODEL"], 2, "Did you mean 'build'? `mcu-deploy --help`"),
        (["build", "MODEL", "MODEL", "--board", "host", "-o", "b"], 2, "its own --name"),
        (["run", "empty", "--input", "x.npz"], 1, "no build folder"),
        (["run", "MODEL", "--board", "host", "--input", "x.npz"], 1, "does not exist"),
        (["run", "MODEL", "--board", "host", "--input", "text.onnx"], 1, "no readable .npz"),
        (["run", "MODEL", "--input", "x.npz"], 2, "--board"),
        (["validate", "empty"], 1, "no build folder"),
        (["run", "nowhere", "--input", "x.npz"], 1, "There is no nowhere, neither"),
        (["profile", "nowhere", "--board", "host"], 1, "There is no nowhere, neither"),
        (["build", "MODEL", "--board", "./none.toml"], 1, "does not exist"),
        (["build", "MODEL", "--board", "host", "--keep", "x"], 1, "of this name. A viewer"),
        (["build", "MODEL", "--board", "host", "--io", "callr"], 2, "arena or caller"),
        (["build", "MODEL", "--boad", "host"], 2, "No such option"),
        (["run", "MODEL", "--input", "x.npz", "--samples", "0"], 2, "'--samples'"),
        (["run", "MODEL", "--input", "x.npz", "--baud", "9999999999"], 2, "'--baud'"),
        ([], 2, ""),
        (["validate", "MODEL", "--board", "host", "--layers=x"], 2, "built or all"),
        (["nonsense"], 2, "nonsense"),
        (["build", "MODEL", "--board"], 2, "requires an argument. `mcu-deploy build --help`"),
        (["flash", "no.elf", "--board", "nucleo_f446re", "--dry-run"], 1, "no.elf does not exist;"),
    ],
)  # fmt: skip
def test_mistakes_end_in_a_sentence(
    arguments: list[str], code: int, words: str, kws_dir: Path, tmp_path: Path
) -> None:
    (tmp_path / "text.onnx").write_text("this is not a model\n" * 50)
    (tmp_path / "empty.onnx").write_bytes(b"")
    (tmp_path / "empty").mkdir()
    (tmp_path / "built").mkdir()
    for name in ("model", "built/report.json", "built/network.o"):
        (tmp_path / name).write_text("{}")
    model = str(kws_dir / "model.onnx")
    done = call(*[model if a == "MODEL" else a for a in arguments], cwd=tmp_path)
    assert done.returncode == code, done.stderr
    assert words in done.stderr.replace("\n", " ")
    assert "Traceback" not in done.stderr


@pytest.mark.parametrize(
    ("arguments", "code", "kind"),
    [
        (["build", "MODEL", "--board", "host", "--io", "callr"], 2, "usage"),
        (["build", "MODEL", "--boad", "host"], 2, "usage"),
        (["build", "MODEL", "--board", "stm32f747"], 2, "board"),
        (["nonsense"], 2, "usage"),
        (["build", "nowhere.onnx", "--board", "host"], 1, "model"),
        (["validate", "empty"], 1, "request"),
        (["build", "MODEL", "--board", "host", "--keep", "x"], 1, "request"),
        (["boards", "more"], 2, "usage"),
    ],
)
def test_errors_are_json_where_results_would_be(
    arguments: list[str], code: int, kind: str, kws_dir: Path, tmp_path: Path
) -> None:
    (tmp_path / "empty").mkdir()
    model = str(kws_dir / "model.onnx")
    words = [model if a == "MODEL" else a for a in arguments]
    done = call(*words, "--json", cwd=tmp_path)
    assert done.returncode == code, done.stderr
    error = json.loads(done.stdout)["error"]
    assert error["kind"] == kind
    assert error["message"] in done.stderr.replace("\n", " ")


def test_names_that_are_no_text_in_any_encoding(kws_dir: Path, tmp_path: Path) -> None:
    """And what a terminal would obey is shown instead."""
    done = call("build", "a\x1b[31m\udcff.onnx", "--board", "host", "--json", cwd=tmp_path)
    assert done.returncode == 1
    assert "The model file a\\x1b[31m\\udcff.onnx does not exist." in done.stderr
    assert "\udcff" in json.loads(done.stdout)["error"]["message"]
    odd = tmp_path / "odd\udcfe\u00fc.onnx"
    odd.write_bytes((kws_dir / "model.onnx").read_bytes())
    done = call("build", odd, "--board", "host", "-o", tmp_path / "b", "--json")
    assert done.returncode == 0, done.stderr
    report = (tmp_path / "b" / "report.json").read_text(encoding="ascii")
    assert json.loads(done.stdout) == json.loads(report)
    assert json.loads(report)["networks"][0]["model"] == odd.name


def test_json_for_a_terminal_without_the_letters() -> None:
    assert json.loads(json_text({"a": "\u00e8"}, "ascii")) == {"a": "\u00e8"}
    assert json_text({"a": "\u00e8"}, "ascii").isascii()
    assert "\u00e8" in json_text({"a": "\u00e8"}, "utf-8")


@pytest.mark.parametrize(
    ("raised", "code", "kind"),
    [(KeyboardInterrupt(), 130, "interrupted"), (RuntimeError("odd\nthing"), 1, "internal")],
)
def test_what_is_no_error_of_ours_ends_in_a_sentence_too(
    raised: BaseException, code: int, kind: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fails(*_: object) -> None:
        raise raised

    monkeypatch.setattr("mcu_deploy.boards.list_boards", fails)
    monkeypatch.setattr("mcu_deploy.cli.boards.list_boards", fails, raising=False)
    done = call("boards", "--json")
    assert done.returncode == code
    assert json.loads(done.stdout)["error"]["kind"] == kind
    assert "Traceback" not in done.stderr
    assert done.stderr.count("\n") == 1


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["cmake-dir"], "Standard output or a temporary file cannot be used (No space left"),
        (["cmake-dir", "--json"], "Standard output or a temporary file cannot be used (No space"),
        (
            ["build", "no.onnx", "--board", "host", "--json"],
            "The model file no.onnx does not exist.",
        ),
    ],
)
def test_an_output_without_room_is_one_sentence(words: list[str], said: str) -> None:
    with Path("/dev/full").open("w") as full:
        done = subprocess.run(
            [sys.executable, "-m", "mcu_deploy", *words],
            stdout=full, stderr=subprocess.PIPE, text=True, check=False,
            env={k: v for k, v in os.environ.items() if k != "PYTHONUNBUFFERED"},
        )  # fmt: skip
    assert done.returncode == 1
    assert done.stderr.startswith("error: ")
    assert said in done.stderr
    assert done.stderr.count("\n") == 1


def test_samples_that_do_not_fit_are_explained(kws_build: Path, tmp_path: Path) -> None:
    cases = {
        "wrong shape": ({"in0": np.zeros((2, 7), np.int8)}, "must be [samples, 1, 49, 10, 1]"),
        "wrong type": ({"in0": np.zeros((1, 49, 10, 1), np.float32)}, "is int8"),
        "bytes": ({"in0": np.zeros((1, 49, 10, 1), np.uint8)}, "(array.astype(np.int16) - 128)"),
        "wrong name": ({"x": np.zeros((1, 49, 10, 1), np.int8)}, "name it in0"),
        "no sample": ({"in0": np.zeros((0, 1, 49, 10, 1), np.int8)}, "holds no sample"),
    }
    for label, (arrays, words) in cases.items():
        file = tmp_path / f"{label}.npz"
        np.savez(file, **arrays)
        done = call("run", kws_build, "--input", file)
        assert done.returncode == 1, label
        assert words in done.stderr.replace("\n", " "), (label, done.stderr)


def test_a_folder_for_another_board_is_refused(kws_build: Path, kws_dir: Path) -> None:
    done = call("run", kws_build, "--board", "mps2-an386", "--input", kws_dir / "samples.npz")
    assert done.returncode == 1
    assert "built for board host" in done.stderr.replace("\n", " ")


def test_a_firmware_of_another_build_is_refused(
    kws_build: Path, kws_dir: Path, tmp_path: Path
) -> None:
    other = tmp_path / "other"
    done = call(
        "build", kws_dir / "model.onnx", "--board", "host", "--name", "kws", "-o", other,
        "--weights", "array",
    )  # fmt: skip
    assert done.returncode == 0
    (other / "firmware.elf").write_bytes((kws_build / "firmware.elf").read_bytes())
    done = call("run", other, "--input", kws_dir / "samples.npz")
    assert done.returncode == 1
    assert "kws" in done.stderr
    assert "Traceback" not in done.stderr


def test_the_demo_runs_on_the_host() -> None:
    done = call("demo", "--board", "host")
    assert done.returncode == 0, done.stderr
    assert done.stdout.count("12 of 12 values") == 8


def test_the_demo_says_nothing_of_a_board_that_there_is_not() -> None:
    done = call("demo", "--board", "HOST")
    assert (done.returncode, done.stdout) == (2, "")


def test_the_python_api_does_what_the_commands_do(kws_build: Path, kws_dir: Path) -> None:
    import mcu_deploy

    samples = kws_dir / "samples.npz"
    assert mcu_deploy.validate(kws_build, samples, layers=True).passed
    outputs = mcu_deploy.run(kws_build, samples)
    assert np.array_equal(np.stack([o[0] for o in outputs]), np.load(samples)["ort0"])
    with mcu_deploy.open_device(kws_build) as device:
        assert [model.name for model in device.models] == ["kws"]


def test_relative_paths_work_from_any_folder(kws_dir: Path, tmp_path: Path) -> None:
    (tmp_path / "model.onnx").write_bytes((kws_dir / "model.onnx").read_bytes())
    (tmp_path / "samples.npz").write_bytes((kws_dir / "samples.npz").read_bytes())
    for arguments in (
        ("build", "model.onnx", "--board", "host", "--name", "kws", "-o", "out/kws"),
        ("run", "out/kws", "--input", "samples.npz", "--output", "answers.npz"),
        ("validate", "out/kws", "--data", "samples.npz", "--layers"),
        ("check", "out/kws/network_kws.o"),
    ):
        done = call(*arguments, cwd=tmp_path)
        assert done.returncode == 0, (arguments, done.stderr)
    assert (tmp_path / "answers.npz").is_file()


@pytest.mark.matrix  # the README's commands do so too, and test_docs.py types them
@pytest.mark.needs_arm_gcc
@pytest.mark.needs_qemu
def test_relative_paths_work_for_an_emulated_board(kws_dir: Path, tmp_path: Path) -> None:
    (tmp_path / "model.onnx").write_bytes((kws_dir / "model.onnx").read_bytes())
    for arguments in (
        ("build", "model.onnx", "--board", "mps2-an386", "--name", "kws", "-o", "kws"),
        ("validate", "kws", "--samples", "1", "--layers"),
        ("profile", "kws"),
        ("check", "kws/network_kws.o", "kws/libmcu_crt.a", "--board", "mps2-an386"),
    ):
        done = call(*arguments, cwd=tmp_path)
        assert done.returncode == 0, (arguments, done.stderr)
