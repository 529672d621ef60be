"""scripts/setup.sh: what it does on a ready machine, and the one sentence it ends in on others.

Each test runs the real script, with the real pip, in a small project of its own. The machine around
it is made of a PATH with few programs and an os-release file: an apt-get or a sudo that answers
what the real one answers there stands for a network or a right that is missing. One test makes a
whole virtual environment; in the others its pip is a link to the one that is here, as unpacking pip
is what takes long.
"""

from __future__ import annotations

import importlib.metadata
import importlib.util
import shutil
import subprocess
import sys
from dataclasses import dataclass, field
from pathlib import Path

import pytest

# A project without dependencies whose build needs nothing from the network.
_PYPROJECT = """
[build-system]
requires = []
build-backend = "backend"
backend-path = ["."]

[project]
name = "tiny"
version = "1.0"

[tool.other]
setting = 1
"""
_BACKEND = """
import zipfile

def _metadata():
    text = "Metadata-Version: 2.1\\nName: tiny\\nVersion: 1.0\\nProvides-Extra: dev\\n"
    return {
        "tiny-1.0.dist-info/METADATA": text,
        "tiny-1.0.dist-info/WHEEL":
            "Wheel-Version: 1.0\\nGenerator: x\\nRoot-Is-Purelib: true\\nTag: py3-none-any\\n",
        "tiny-1.0.dist-info/RECORD": "",
    }

def build_editable(folder, config_settings=None, metadata_directory=None):
    with zipfile.ZipFile(f"{folder}/tiny-1.0-py3-none-any.whl", "w") as wheel:
        for name, text in _metadata().items():
            wheel.writestr(name, text)
    return "tiny-1.0-py3-none-any.whl"

build_wheel = build_editable
"""
_NEEDED = "awk bash cat chmod dirname env flock grep id ln mkdir mv rm sha256sum true"
_BOOKWORM = 'ID=debian\nVERSION_ID="12"\nPRETTY_NAME="Debian GNU/Linux 12 (bookworm)"\n'


@dataclass
class Machine:
    """A folder with the script and a small project, and what surrounds the script."""

    root: Path
    bin: Path
    environment: dict[str, str] = field(default_factory=dict)

    def program(self, name: str, script: str) -> None:
        """Puts a shell script on the PATH."""
        path = self.bin / name
        path.unlink(missing_ok=True)
        path.write_text(f"#!/bin/bash\n{script}\n")
        path.chmod(0o755)

    def use_python(self, name: str = "python3", whole: bool = False) -> None:
        """Puts the Python that runs this test on the PATH; whole: it installs pip, too."""
        version = f"python3.{sys.version_info.minor}"
        base = Path(sys.base_prefix) / "bin" / version
        pip = importlib.util.find_spec("pip")
        if whole or pip is None or pip.origin is None:
            self.program(name, f'exec {base} "$@"')
            return
        package = Path(pip.origin).parent
        metadata = package.with_name(f"pip-{importlib.metadata.version('pip')}.dist-info")
        self.program(
            name,
            f"""[[ "$1 $2" == "-m venv" ]] || exec {base} "$@"
            {base} -m venv --without-pip "$3"
            ln -s {package} {metadata} "$3/lib/{version}/site-packages/"
            echo "#!$PWD/$3/bin/python" >"$3/bin/pip"
            """,
        )

    def system(self, os_release: str) -> None:
        (self.root / "os-release").write_text(os_release)

    def setup(self) -> subprocess.CompletedProcess[str]:
        environment = {
            "PATH": str(self.bin),
            "HOME": str(self.root),
            "MCU_DEPLOY_OS_RELEASE": str(self.root / "os-release"),
            "PIP_CONFIG_FILE": "/dev/null",
            "PIP_NO_INDEX": "1",
            **self.environment,
        }
        return subprocess.run(
            [self.root / "scripts" / "setup.sh"],
            env=environment,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=120,
        )

    def sentence(self) -> str:
        """Runs the script, which must fail with one sentence, and returns the sentence."""
        done = self.setup()
        assert done.returncode == 1, done
        lines = done.stderr.splitlines()
        assert len(lines) == 1 and lines[0].startswith("mcu-deploy: ") and lines[0].endswith(".")
        assert not (self.root / ".venv").exists()
        return lines[0]


@pytest.fixture
def machine(tmp_path: Path, repository: Path) -> Machine:
    """A Debian 12 with everything but Python packages."""
    root = tmp_path / "project with a space"
    (root / "scripts").mkdir(parents=True)
    shutil.copy(repository / "scripts" / "setup.sh", root / "scripts")
    (root / "pyproject.toml").write_text(_PYPROJECT)
    (root / "backend.py").write_text(_BACKEND)
    plugin = root / "mcu_deploy" / "device" / "emulators" / "qemu_plugin.py"
    plugin.parent.mkdir(parents=True)
    plugin.write_text('open("plugin-was-compiled", "w")')
    made = Machine(root, tmp_path / "bin")
    made.bin.mkdir()
    for name in _NEEDED.split():
        if path := shutil.which(name):
            (made.bin / name).symlink_to(path)
    made.use_python()
    made.program("arm-none-eabi-gcc", "echo /bin/bash")  # the path of nano.specs: it exists
    made.program("qemu-system-arm", "")
    made.program("gcc", "cat >/dev/null")
    made.program("g++", "")
    made.program("cmake", "")
    made.program("ninja", "")
    made.program("apt-get", "echo apt-get must not be called; exit 99")
    made.system(_BOOKWORM)
    return made


@pytest.mark.matrix  # it makes a whole virtual environment
def test_a_second_run_does_nothing_until_the_needs_change(machine: Machine) -> None:
    machine.use_python(whole=True)
    first = machine.setup()
    assert first.returncode == 0, first
    assert "ready" in first.stdout
    assert (machine.root / "plugin-was-compiled").exists()
    # now only the stamp is read: neither apt-get nor sudo nor any Python but .venv's is touched
    for name in ("apt-get", "sudo", "python3"):
        machine.program(name, "exit 99")
    log = (machine.root / "build" / "setup.log").stat().st_mtime_ns
    pyproject = machine.root / "pyproject.toml"
    for text in (_PYPROJECT, _PYPROJECT.replace("setting = 1", "setting = 2")):
        pyproject.write_text(text)
        second = machine.setup()
        assert (second.returncode, second.stdout, second.stderr) == (0, "", "")
        assert (machine.root / "build" / "setup.log").stat().st_mtime_ns == log
    machine.use_python(whole=True)
    pyproject.write_text(_PYPROJECT.replace("[project]", "[project]\ndescription = 'new'"))
    third = machine.setup()
    assert third.returncode == 0
    assert "installing" in third.stdout


@pytest.mark.matrix  # it makes three virtual environments
def test_a_moved_or_killed_venv_is_made_anew(machine: Machine) -> None:
    machine.use_python(whole=True)
    assert machine.setup().returncode == 0
    moved = machine.root.with_name("moved")
    machine.root.rename(moved)
    machine.root = moved
    assert "installing" in machine.setup().stdout
    pip = (moved / ".venv" / "bin" / "pip").read_text()
    assert str(moved) in pip and "with a space" not in pip
    # what a run leaves behind that was killed in the middle
    (moved / ".venv" / "mcu-deploy-setup").unlink()
    (moved / ".venv" / "mcu-deploy-unfinished").touch()
    (moved / ".venv" / "debris").touch()
    assert machine.setup().returncode == 0
    assert not (moved / ".venv" / "debris").exists()


@pytest.mark.parametrize(
    ("system", "name"),
    [
        ('ID=debian\nVERSION_ID="11"\nPRETTY_NAME="Debian GNU/Linux 11 (bullseye)"', "Debian GNU"),
        ('ID=ubuntu\nVERSION_ID="22.04"\nPRETTY_NAME="Ubuntu 22.04.4 LTS"', "Ubuntu 22.04.4 LTS"),
    ],
)
def test_an_old_system_is_told_so(machine: Machine, system: str, name: str) -> None:
    machine.system(system)
    sentence = machine.sentence()
    assert name in sentence and "Debian 12 or Ubuntu 24.04" in sentence


def test_a_venv_of_somebody_else_is_moved_aside(machine: Machine) -> None:
    mine = machine.root / ".venv" / "mine"
    mine.parent.mkdir()
    mine.write_text("")
    done = machine.setup()
    assert done.returncode == 0, done
    aside = machine.root / ".venv.before-mcu-deploy"
    assert f"is now {aside}" in done.stdout
    assert (aside / "mine").is_file()
    shutil.rmtree(machine.root / ".venv")
    mine.parent.mkdir()
    mine.write_text("")
    refused = machine.setup()
    assert refused.returncode == 1
    assert "move it away" in refused.stderr
    assert mine.is_file()


def test_an_unknown_system_is_told_what_it_needs(machine: Machine) -> None:
    machine.system('ID=fedora\nVERSION_ID=42\nPRETTY_NAME="Fedora Linux 42"')
    (machine.bin / "qemu-system-arm").unlink()
    sentence = machine.sentence()
    assert "Fedora Linux 42" in sentence and "qemu-system-arm" in sentence


def test_without_root_the_command_is_named(machine: Machine) -> None:
    (machine.bin / "arm-none-eabi-gcc").unlink()
    machine.program("id", "echo 1000")
    install = (
        "'sudo apt-get install --no-install-recommends gcc-arm-none-eabi libnewlib-arm-none-eabi'"
    )
    assert install in machine.sentence()
    machine.program("sudo", "echo a password is required >&2; exit 1")
    assert install in machine.sentence()


def test_cmake_and_ninja_are_asked_for_by_their_packages(machine: Machine) -> None:
    machine.program("id", "echo 1000")
    (machine.bin / "ninja").unlink()
    assert "--no-install-recommends ninja-build'" in machine.sentence()
    (machine.bin / "cmake").unlink()
    assert "--no-install-recommends cmake ninja-build'" in machine.sentence()


def test_with_sudo_apt_get_runs_as_root(machine: Machine) -> None:
    machine.program("python3", "exit 1")  # passed over where another will do
    machine.use_python("python3.12")
    (machine.bin / "qemu-system-arm").unlink()
    machine.program("id", "echo 1000")
    machine.program("sudo", '[[ $1 == -n ]] && shift; export AS_ROOT=1; exec "$@"')
    calls = machine.root / "calls"
    machine.program(
        "apt-get",
        f"""[[ $AS_ROOT ]] || exit 1
        echo "$*" >>"{calls}"
        case "$*" in *" install "*) printf '#!/bin/bash\\n' >"{machine.bin}/qemu-system-arm"
            chmod +x "{machine.bin}/qemu-system-arm" ;; esac""",
    )
    assert machine.setup().returncode == 0
    update, install = calls.read_text().splitlines()
    assert update.endswith(" update")
    assert install.endswith(" install -y --no-install-recommends qemu-system-arm")


@pytest.mark.parametrize(
    ("answer", "told"),
    [
        (
            "E: Failed to fetch http://deb.debian.org/x  Could not resolve 'deb'",
            "check the network",
        ),
        ("E: Unable to locate package qemu-system-arm", "check the network"),
        ("E: Could not get lock /var/lib/dpkg/lock-frontend", "holds apt-get's lock"),
        ("E: You don't have enough free space in /var/cache/apt/archives/.", "disk is full"),
        ("dpkg: error processing package qemu-system-arm", "by hand"),
    ],
)
def test_what_apt_get_says_becomes_a_sentence(machine: Machine, answer: str, told: str) -> None:
    (machine.bin / "qemu-system-arm").unlink()
    machine.program("id", "echo 0")
    machine.program("apt-get", f'echo "{answer}" >&2; exit 100')
    sentence = machine.sentence()
    assert told in sentence
    assert sentence.endswith("run make setup again.")
    assert answer in (machine.root / "build" / "setup.log").read_text()


def test_a_python_without_venv_is_not_enough(machine: Machine) -> None:
    machine.program("python3", "exit 1")  # as a pyenv shim without a version, or Debian's alone
    machine.program("id", "echo 1000")
    assert "python3-venv must be installed" in machine.sentence()


def test_a_python_that_is_asked_for_must_suit(machine: Machine) -> None:
    machine.environment["PYTHON"] = "/bin/false"
    assert "PYTHON=/bin/false is not a Python of 3.11 or newer" in machine.sentence()


@pytest.mark.matrix
def test_a_missing_package_index_leaves_no_half_made_venv(machine: Machine) -> None:
    (machine.root / "pyproject.toml").write_text(
        _PYPROJECT.replace("requires = []", 'requires = ["hatchling"]')
    )
    sentence = machine.sentence()
    assert "pip could not download" in sentence and "build/setup.log" in sentence
    # the next try starts anew; and a system without a name will do where nothing is missing
    (machine.root / "pyproject.toml").write_text(_PYPROJECT)
    machine.system("")
    assert machine.setup().returncode == 0


def test_a_repository_that_cannot_be_written_to(machine: Machine) -> None:
    (machine.root / "build").write_text("a file where the folder of the log should be")
    assert "cannot be written to" in machine.sentence()
