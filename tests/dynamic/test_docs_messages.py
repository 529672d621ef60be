"""Every message that docs/backends.md quotes is what mcu-deploy prints: each cause is made here."""

from __future__ import annotations

import re
import shutil
import subprocess
from pathlib import Path

import pytest
from dynamic.page_cases import LISTINGS, SECTIONS, Reader, commands, write

pytestmark = pytest.mark.needs_host_gcc
SECTION = "When it does not work"
ABSOLUTE = "y[i] = fabsf(x[i]);"
TEXT_TAKEN = "    text_t *text = calloc"
RETURNED = "    return &table;"

# Variants of the page's backend that cannot be loaded: (name, its id, what is replaced by what).
BROKEN = {
    "Empty": ("", {LISTINGS["abs_backend.c"]: "int nothing;\n"}),
    "Undefined": ("Abs1", {
        "const char *GetBackendId(void) { return": "const char *nowhere(const char *);\n"
        "const char *GetBackendId(void) { return nowhere", '"Abs1"': '("Abs1")',
    }),
    "Newer": ("Abs2", {
        "= MCU_BACKEND_API_MINOR;": "= MCU_BACKEND_API_MINOR + 1;",
        ".api_minor = MCU_BACKEND_API_MINOR,": ".api_minor = MCU_BACKEND_API_MINOR + 1,",
    }),
    "Null": ("Abs3", {RETURNED: "    return table.self;"}),
    "Missing": ("Abs4", {"        .create_workload = create_workload,\n": ""}),
    "Crash": ("Abs5", {"answer->rank = 300;": "abs(((volatile mcu_backend_info_t *)0)->rank);"}),
    "Taken": ("CpuRef", {}),
    "BadId": ("Abs-C", {}),
}  # fmt: skip

# Variants that load, and fail in propose, in create_workload or behind it.
DROPPED = {
    "no C": {ABSOLUTE: "y[i] = fabsf(x[i])"},
    "abort": {TEXT_TAKEN: f"    abort();\n{TEXT_TAKEN}"},
    "hang": {TEXT_TAKEN: f"    for (;;) {{}}\n{TEXT_TAKEN}"},
    "error": {TEXT_TAKEN: f"    return MCU_BACKEND_ERROR;\n{TEXT_TAKEN}"},
    "arguments": {".num_arguments = 2": ".num_arguments = 1"},
    "price": {
        "static void release": LISTINGS["propose.h"].replace("12 * elements", "-12 * elements")
        + "\nstatic void release",
        ".release = release,": ".release = release, .propose = propose,",
    },
}

BAD_PACKAGE = """
class AddNo:
    id = "AddNo"

class AddRaise(AddBackend):
    id = "AddRaise"
    def is_layer_supported(self, layer, inputs, outputs, params):
        return 1 / 0
"""


def compiled(target: Path, changes: dict[str, str], *flags: str) -> None:
    """The page's shared object with changes."""
    from mcu_deploy import resources

    text = LISTINGS["abs_backend.c"]
    for old, new in changes.items():
        assert old in text
        text = text.replace(old, new)
    target.parent.mkdir(exist_ok=True)
    source = target.with_suffix(".c")
    source.write_text(text)
    include = resources.crt() / "include"
    subprocess.run(
        ["gcc", "-std=c99", "-shared", "-fPIC", "-I", include, "-o", target, source, *flags],
        check=True,
    )
    source.unlink()


@pytest.fixture
def reader(tmp_path: Path) -> Reader:
    write(tmp_path, "tiny.py")
    made = Reader(tmp_path)
    made.types(commands("A model to try"))
    compiled(tmp_path / "backends" / "Example_Abs_backend.so", {})
    return made


def not_loaded(reader: Reader) -> str:
    """What is said of backends that are not found, not loaded or not registered."""
    folder = reader.folder / "FOLDER"
    for name, (backend, changes) in BROKEN.items():
        target = folder / f"Example_{name}_backend.so"
        compiled(target, {'"AbsC"': f'"{backend}"', **changes} if backend else changes)
    other = reader.folder / "libother.so"
    compiled(other, {})
    compiled(folder / "Example_Needs_backend.so", {}, "-L.", "-Wl,--no-as-needed", str(other))
    other.unlink()
    (folder / "Example_Text_backend.so").write_text("no object\n")
    (folder / "Example_Link_backend.so").symlink_to("nothing")
    shutil.copy(reader.folder / "backends" / "Example_Abs_backend.so", folder / "GpuAcc_backend.so")
    listed, code = reader.tries('mcu-deploy backends --dynamic-backends "$PWD/FOLDER"')
    assert code == 0
    script = "mcu-deploy build tiny.onnx --board host -o build/x"
    warned = reader.types(f'{script} --dynamic-backends "$PWD/FOLDER"')
    assert "GpuAcc" not in warned
    assert warned.count("warning:") == warned.count(" was skipped: ") == len(BROKEN) + 3
    relative = reader.types(f"{script} --dynamic-backends backends")
    return listed + warned + relative


def not_used(reader: Reader) -> str:
    """What is said of a backend that is there and is not taken."""
    compiled(
        reader.folder / "m55" / "Example_Abs_backend.so",
        {
            "answer->rank = 300;": 'static const char *const cores[] = {"cortex-m55"};'
            "answer->cores = cores; answer->num_cores = 1;"
        },
    )
    output = ""
    for arguments, code in {
        '--dynamic-backends "$PWD/backends" --backend CpuRef,AbsC --explain': 0,
        '--dynamic-backends "$PWD/backends" --explain': 0,
        '--dynamic-backends "$PWD/m55" --explain': 0,
        '--dynamic-backends "$PWD/m55" --backend AbsC,CpuRef': 1,
        '--dynamic-backends "$PWD/backends" --backend AbsC': 1,
        '--dynamic-backends "$PWD/backends" --layer-backend sum=AbsC': 1,
        "--no-dynamic-backends --backend AbsC": 2,
    }.items():
        said, got = reader.tries(f"mcu-deploy build tiny.onnx --board host -o build/x {arguments}")
        assert got == code, said
        is_silent = "m55" in arguments and not code
        assert is_silent == (not re.search(r"AbsC|cannot be computed", said))
        output += said
    return output


IN_PYTHON = """
import sys
from mcu_deploy import build
from mcu_deploy.backends.interface import CreationOptions
from mcu_deploy.session import Session
options = CreationOptions(dynamic_backends_path=sys.argv[1], call_timeout=1.5)
with Session(options=options, report=print) as session:
    build("tiny.onnx", "host", "build/x", session=session)
"""


def dropped(reader: Reader) -> str:
    """What is said of backends that fail while a network is compiled."""
    output = ""
    (reader.folder / "in_python.py").write_text(IN_PYTHON)
    for name, changes in DROPPED.items():
        compiled(reader.folder / name / "Example_Abs_backend.so", changes)
        said = reader.types(f'python in_python.py "$PWD/{name}"')
        assert said.endswith("Its layers go to the next backend.\n")
        output += said.replace("within 1.5 seconds", "within 10 seconds")
    return output


def packages(reader: Reader) -> str:
    """What is said of packages that cannot be used."""
    site = reader.folder / "bad_site"
    info = site / "bad-1.0.dist-info"
    info.mkdir(parents=True)
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: bad\nVersion: 1.0\n")
    (info / "entry_points.txt").write_text(
        "[mcu_deploy.backends]\na = nomodule:X\nb = add_backend:AddNo\nc = add_backend:AddRaise\n"
    )
    (site / "add_backend.py").write_text(LISTINGS["add_backend.py"] + BAD_PACKAGE)
    script = "mcu-deploy build tiny.onnx --board host -o build/x"
    said = Reader(reader.folder, str(site)).types(script)
    assert "package bad 1.0 (a) was skipped: " in said
    return said


def differing(reader: Reader) -> str:
    """What validate says of a kernel that computes something else."""
    compiled(reader.folder / "wrong" / "Example_Abs_backend.so", {ABSOLUTE: "y[i] = x[i];"})
    reader.types(
        'mcu-deploy build tiny.onnx --board host -o build/wrong --dynamic-backends "$PWD/wrong"'
    )
    said, code = reader.tries("mcu-deploy validate build/wrong --layers")
    assert code == 1
    own = '--dynamic-backends "$PWD/wrong" --layer-backend absolute=CpuRef'
    reader.types(
        f"mcu-deploy build tiny.onnx --board host -o build/own {own}\nmcu-deploy validate build/own"
    )
    return said


@pytest.mark.matrix
def test_what_it_says_of_what_goes_wrong(reader: Reader) -> None:
    printed = "".join(make(reader) for make in (not_loaded, not_used, dropped, packages, differing))
    printed = printed.replace(f"{reader.folder}/", "")
    printed = re.sub(r"\S*/python[.\d]*(?=: symbol)", "PYTHON", printed)
    text = SECTIONS[SECTION]
    assert text.count("| it says |") == 5
    quoted = [
        message
        for line in re.findall(r"^\| (.*?) \| ", text, re.M)
        for message in re.findall(r"`(.*?)`", line)
        if message != "--explain"
    ]
    quoted += re.findall(r"^`(layer 1, .*?)`", text, re.M)
    quoted.append("Its layers go to the next backend.")
    assert len(quoted) > 25
    missing = [message for message in quoted if message not in printed]
    assert not missing, f"{missing} in:\n{printed}"
