"""The exported Rust crate: on the host where its C is portable, and on an emulated board."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from pathlib import Path

import export_programs as programs
import onnx
import pytest

import mcu_deploy
from mcu_deploy.api.exporting import export
from mcu_deploy.boards import load_core
from mcu_deploy.errors import RequestError

RUSTC = os.environ.get("RUSTC", "rustc")
TARGET = "thumbv7em-none-eabihf"
ANSWER = "sine: 1 of 1 values as expected, value 126\n"

# Debian's sources of crates: nothing is downloaded.
REGISTRY = Path("/usr/share/cargo/registry")
OFFLINE = (
    "--offline",
    "--config=source.crates-io.replace-with='debian'",
    f"--config=source.debian.directory='{REGISTRY}'",
)
needs_rustc = pytest.mark.skipif(
    shutil.which(RUSTC) is None,
    reason="rustc is not installed; `apt-get install rustc` installs it",
)
needs_cargo = pytest.mark.skipif(
    shutil.which("cargo") is None or not [*REGISTRY.glob("cc-*")],
    reason="cargo or the crate cc is not installed; `apt-get install cargo librust-cc-dev` "
    "installs them",
)


def _has_target() -> bool:
    asked = [RUSTC, "--print", "target-libdir", "--target", TARGET]
    if shutil.which(RUSTC) is None:
        return False
    return Path(subprocess.run(asked, capture_output=True, text=True).stdout.strip()).is_dir()


def _run(command: list[str | Path], folder: Path, code: int = 0, **environment: str) -> str:
    done = subprocess.run(
        command, cwd=folder, env=os.environ | environment, capture_output=True, text=True
    )
    assert done.returncode == code, done.stdout + done.stderr
    return done.stdout


@pytest.fixture(scope="module")
def portable(tmp_path_factory: pytest.TempPathFactory, repository: Path, quarter: Path) -> Path:
    """A crate for a Cortex-M3, whose code is C alone."""
    folder = tmp_path_factory.mktemp("rust")
    model = repository / "examples/cmake/sine.tflite"
    mcu_deploy.build(model, load_core("cortex-m3", "none"), folder / "build", name="sine")
    export(folder / "build", "rust", folder / "sine", data=quarter)
    return folder / "sine"


def _library_on_host(crate: Path, name: str, folder: Path) -> None:
    """As cargo and build.rs would, without the time that the crate cc takes to be compiled."""
    objects = folder / f"objects_{name}"
    objects.mkdir()
    sources = sorted((crate / "csrc").rglob("*.c"))
    strict = ["-Wall", "-Wextra", "-Wpedantic", "-Wconversion", "-Werror", "-std=c99", "-O0"]
    _run(["gcc", *strict, "-fPIC", f"-I{crate / 'csrc/include'}", "-c", *sources], objects)
    _run(["ar", "rcs", f"lib{name}_c.a", *sorted(objects.glob("*.o"))], folder)
    library = ["--crate-type=rlib", f"--crate-name={name}", f"-lstatic={name}_c", f"-L{folder}"]
    _run([RUSTC, "--edition=2021", "-Dwarnings", *library, crate / "src/lib.rs"], folder)


def _program_on_host(source: Path, names: list[str], folder: Path, code: int = 0) -> str:
    """What a program that uses these libraries prints."""
    linked = [f"--extern={name}=lib{name}.rlib" for name in names]
    rustc = [RUSTC, "--edition=2021", "-Dwarnings", f"-L{folder}", *linked, "-lm"]
    _run([*rustc, source], folder)
    return _run([folder / source.stem], folder, code)


def _answer_on_host(crate: Path, name: str, folder: Path, code: int = 0) -> str:
    _library_on_host(crate, name, folder)
    return _program_on_host(crate / "examples/answer.rs", [name], folder, code)


@needs_rustc
@pytest.mark.needs_host_gcc
@pytest.mark.needs_arm_gcc
def test_the_crate_and_its_example_answer_on_the_host(tmp_path: Path, portable: Path) -> None:
    assert _answer_on_host(portable, "mcu_network_sine", tmp_path) == ANSWER


# Of keywords, crates, what lib.rs uses, types and devices, and not as Rust writes names.
NAMES = ["core", "std", "alloc", "type", "self", "fmt", "Error", "u8", "aux", "_a__b", "2nd"]


@needs_rustc
@pytest.mark.needs_host_gcc
@pytest.mark.needs_arm_gcc
def test_a_network_may_be_called_as_rust_calls_its_own(tmp_path: Path, repository: Path) -> None:
    models = [repository / "examples/cmake/sine.tflite"] * len(NAMES)
    mcu_deploy.build(models, load_core("cortex-m3", "none"), tmp_path / "build", name=NAMES)
    export(tmp_path / "build", "rust", tmp_path / "crate", name="core")
    said = _answer_on_host(tmp_path / "crate", "mcu_network_core", tmp_path)
    answers = [line.partition(":")[::2] for line in said.splitlines()]
    assert [name for name, _ in answers] == NAMES
    assert all(answer.startswith(" 1 of 1 values as expected") for _, answer in answers)


@pytest.mark.needs_arm_gcc
def test_two_modules_of_one_name_are_refused(tmp_path: Path, repository: Path) -> None:
    models = [repository / "examples/cmake/sine.tflite"] * 2
    core = load_core("cortex-m3", "none")
    mcu_deploy.build(models, core, tmp_path / "build", name=["self", "network_self"])
    with pytest.raises(RequestError, match="modules network_self, network_self"):
        export(tmp_path / "build", "rust", tmp_path / "crate")


TWO = """
fn main() {
    let mut first = mcu_network_sine::sine::Workspace::new();
    let mut second = mcu_network_other::other::Workspace::new();
    let mut sine = mcu_network_sine::sine::Network::new(&mut first).unwrap();
    let mut other = mcu_network_other::other::Network::new(&mut second).unwrap();
    sine.input0()[0] = -64;
    other.input0()[0] = -64;
    sine.run().unwrap();
    other.run().unwrap();
    println!("{} {}", sine.output0()[0], other.output0()[0]);
}
"""


@pytest.mark.matrix
@needs_rustc
@pytest.mark.needs_host_gcc
@pytest.mark.needs_arm_gcc
def test_two_crates_are_linked_into_one_program(
    tmp_path: Path, portable: Path, repository: Path
) -> None:
    model = repository / "examples/cmake/sine.tflite"
    mcu_deploy.build(model, load_core("cortex-m3", "none"), tmp_path / "build", name="other")
    export(tmp_path / "build", "rust", tmp_path / "other")
    (tmp_path / "two.rs").write_text(TWO)
    _library_on_host(portable, "mcu_network_sine", tmp_path)
    _library_on_host(tmp_path / "other", "mcu_network_other", tmp_path)
    names = ["mcu_network_sine", "mcu_network_other"]
    assert _program_on_host(tmp_path / "two.rs", names, tmp_path) == "126 126\n"


@pytest.mark.matrix
@needs_rustc
@pytest.mark.needs_host_gcc
@pytest.mark.needs_arm_gcc
def test_a_network_of_floats_with_buffers_of_the_caller_answers(tmp_path: Path) -> None:
    """Of the answers that are expected two are moved too far, and two as far as floats may be."""
    real = onnx.TensorProto.FLOAT
    graph = onnx.helper.make_graph(
        [onnx.helper.make_node("Softmax", ["x"], ["y"])],
        "match",  # a word of Rust
        [onnx.helper.make_tensor_value_info("x", real, [1, 5])],
        [onnx.helper.make_tensor_value_info("y", real, [1, 5])],
    )
    onnx.save(onnx.helper.make_model(graph), tmp_path / "match.onnx")
    options = mcu_deploy.Options(io="caller")
    mcu_deploy.build(
        tmp_path / "match.onnx", load_core("cortex-m3", "none"), tmp_path / "build", options=options
    )
    export(tmp_path / "build", "rust", tmp_path / "crate")
    source = tmp_path / "crate/examples/answer.rs"
    if shutil.which("rustfmt"):
        _run(["rustfmt", "--check", "--edition", "2021", source], tmp_path)
    text = source.read_text()
    limit = float(re.findall(r"\.\.=(\S+)\)\.contains", text)[0])
    by = [share * limit for share in (0.5, -0.5, 1.5, -1.5)]
    source.write_text(programs.moved(text, "let expected0", by))
    said = _answer_on_host(tmp_path / "crate", "mcu_network_match", tmp_path, code=1)
    assert said.startswith("match: 3 of 5 values as expected, the largest at index ")


@pytest.mark.skipif(
    shutil.which("rustfmt") is None,
    reason="rustfmt is not installed; `apt-get install rustfmt` installs it",
)
@pytest.mark.needs_arm_gcc
def test_what_is_generated_is_formatted(portable: Path) -> None:
    files = [portable / "build.rs", portable / "src/lib.rs", portable / "examples/answer.rs"]
    assert _run(["rustfmt", "--check", "--edition", "2021", *files], portable) == ""


@pytest.mark.matrix
@needs_cargo
@needs_rustc
@pytest.mark.needs_arm_gcc
def test_cargo_builds_and_tests_the_crate(tmp_path: Path, portable: Path) -> None:
    output = {"CARGO_TARGET_DIR": str(tmp_path)}
    run = ["cargo", "run", "--quiet", "--example", "answer", *OFFLINE]
    assert _run(run, portable, **output) == ANSWER
    assert "1 passed" in _run(["cargo", "test", "--doc", *OFFLINE], portable, **output)
    if shutil.which("cargo-clippy"):
        clippy = ["cargo", "clippy", "--all-targets", *OFFLINE, "--", "-Dwarnings"]
        _run(clippy, portable, **output)


@pytest.mark.matrix
@needs_cargo
@needs_rustc
@pytest.mark.needs_arm_gcc
def test_kernels_in_assembly_are_refused_for_another_target(tmp_path: Path, sine: Path) -> None:
    export(sine, "rust", tmp_path / "sine")
    done = subprocess.run(
        ["cargo", "build", *OFFLINE], cwd=tmp_path / "sine", capture_output=True, text=True
    )
    assert done.returncode != 0
    assert f"this crate is for {TARGET} alone, not for " in done.stderr


@pytest.mark.matrix
@needs_cargo
@pytest.mark.needs_arm_gcc
@pytest.mark.needs_qemu
@pytest.mark.skipif(
    not _has_target(),
    reason=f"rustc has no core library for {TARGET}; `rustup target add {TARGET}` installs it",
)
def test_the_example_answers_on_an_emulated_board(
    tmp_path: Path, sine: Path, quarter: Path, repository: Path
) -> None:
    export(sine, "rust", tmp_path / "sine", data=quarter)
    board = programs.board_files(tmp_path / "board", repository)
    _run(["arm-none-eabi-gcc", *programs.CORE, "-O2", "-c", *board], tmp_path / "board")
    arguments = [*programs.CORE, "-nostartfiles", "--specs=nano.specs", "--specs=nosys.specs"]
    arguments += [f"-T{tmp_path / 'board/board.ld'}"]
    arguments += map(str, sorted((tmp_path / "board").glob("*.o")))
    arguments += ["-Wl,--start-group", "-lc", "-lm", "-lgcc", "-lnosys", "-Wl,--end-group"]
    flags = ["-Clinker=arm-none-eabi-gcc", "-Clinker-flavor=gcc", "-Cpanic=abort"]
    flags += [f"-Clink-arg={argument}" for argument in arguments]
    _run(
        ["cargo", "build", "--release", "--example", "answer", "--target", TARGET, *OFFLINE],
        tmp_path / "sine",
        RUSTFLAGS=" ".join(flags),
    )
    image = tmp_path / "sine/target" / TARGET / "release/examples/answer"
    assert programs.run(image) == (0, ANSWER)
