"""Children end: within their limits, with their group, with us."""

from __future__ import annotations

import signal
import subprocess
import sys
import tempfile
from pathlib import Path
from types import FrameType

import pytest
from dynamic.worker_cases import is_running, wait_for

from mcu_deploy.errors import ToolError, UsageError
from mcu_deploy.processes import programs

MEGABYTE = 1 << 20
# Prints its own number and that of a program that it starts and does not wait for.
FAMILY = "sleep 1000 & echo $$ $!; "


def python(program: str) -> list[str]:
    return [sys.executable, "-I", "-S", "-c", program]


def test_what_it_prints_and_how_it_ends() -> None:
    ended = programs.run(["sh", "-c", "cat; echo oh >&2; exit 3"], given=b"hello")
    assert (ended.returncode, ended.stdout, ended.stderr) == (3, "hello", "oh\n")
    assert ended.exhausted == ""


def test_a_program_that_does_not_end_is_ended_with_its_children() -> None:
    ended = programs.run(["sh", "-c", FAMILY + "sleep 1000"], seconds=0.2)
    assert ended.returncode == -signal.SIGKILL
    assert ended.exhausted == (
        "took longer than 0.2 seconds and was ended (MCU_DEPLOY_CHILD_SECONDS sets the limit)"
    )
    pids = [int(word) for word in ended.stdout.split()]
    assert len(pids) == 2
    assert wait_for(lambda: not any(is_running(pid) for pid in pids))


def test_what_it_leaves_behind_is_ended() -> None:
    ended = programs.run(["sh", "-c", FAMILY])
    assert ended.returncode == 0
    assert wait_for(lambda: not any(is_running(int(pid)) for pid in ended.stdout.split()))


@pytest.mark.parametrize(
    ("program", "says"),
    [
        ("bytearray(1 << 30)", "needs more than 200 MB of memory"),
        ("open('big', 'wb').truncate(1 << 30)", "wrote a file of more than 200 MB"),
        ("import os, signal; os.kill(os.getpid(), signal.SIGKILL)", "needs more than 200 MB"),
    ],
)
def test_too_much_memory_or_disk(program: str, says: str, tmp_path: Path) -> None:
    # Python ignores the signal that tells of a file that is too large.
    reset = "import signal; signal.signal(signal.SIGXFSZ, signal.SIG_DFL); "
    ended = programs.run(python(reset + program), cwd=tmp_path, memory_bytes=200 * MEGABYTE)
    assert ended.returncode != 0
    assert says in ended.exhausted
    assert "MCU_DEPLOY_CHILD_MEMORY sets the limit" in ended.exhausted


@pytest.mark.needs_host_gcc
def test_the_compiler_runs_out_of_memory(tmp_path: Path) -> None:
    digits = "#define M0 x,x,x,x,x,x,x,x,x,x\n" + "".join(
        f"#define M{n} {','.join([f'M{n - 1}'] * 10)}\n" for n in range(1, 8)
    )
    (tmp_path / "bomb.c").write_text(digits + "int f(int, ...); int x; int g(void)"
                                     "{return f(M7);}\n")  # fmt: skip
    command = ["gcc", *programs.gcc_wrapper(), "-c", "bomb.c"]
    ended = programs.run(command, cwd=tmp_path, memory_bytes=60 * MEGABYTE)
    assert "needs more than 60 MB of memory" in ended.exhausted
    assert "memory" not in programs.run(["gcc", "-c", "none.c"], cwd=tmp_path).exhausted


def test_an_interrupt_ends_it(tmp_path: Path) -> None:
    def interrupt(number: int, frame: FrameType | None) -> None:
        raise KeyboardInterrupt

    before = signal.signal(signal.SIGALRM, interrupt)
    try:
        signal.setitimer(signal.ITIMER_REAL, 0.3)
        with pytest.raises(KeyboardInterrupt):
            programs.run(["sh", "-c", f"{FAMILY.replace('echo', 'echo >pids')} sleep 1000"],
                      cwd=tmp_path)  # fmt: skip
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)
    pids = (tmp_path / "pids").read_text().split()
    assert wait_for(lambda: not any(is_running(int(pid)) for pid in pids))


def test_it_ends_when_we_are_killed(tmp_path: Path) -> None:
    program = (
        "from mcu_deploy.processes.programs import run; "
        "run(['sh', '-c', 'echo $$ >pid; exec sleep 99'])"
    )
    with subprocess.Popen([sys.executable, "-c", program], cwd=tmp_path) as parent:
        pid = tmp_path / "pid"
        assert wait_for(lambda: pid.is_file() and pid.read_text().strip() != "")
        parent.kill()
    assert wait_for(lambda: not is_running(int(pid.read_text())))


def test_a_program_that_is_not_there() -> None:
    with pytest.raises(ToolError, match="/no/where cannot be started: there is no program"):
        programs.run(["/no/where"])


def test_limits_from_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(programs.SECONDS_VARIABLE, "0.5")
    monkeypatch.setenv(programs.MEMORY_VARIABLE, "100")
    assert programs.Limits.standard() == programs.Limits(0.5, 100 * MEGABYTE)
    for wrong in ("a lot", "0", "-1", "nan", "inf"):
        monkeypatch.setenv(programs.MEMORY_VARIABLE, wrong)
        with pytest.raises(
            UsageError, match=r"MCU_DEPLOY_CHILD_MEMORY is .* give a number above 0"
        ):
            programs.Limits.standard()


def test_a_lower_limit_that_holds_already_is_kept() -> None:
    program = (
        "import resource, sys; resource.setrlimit(resource.RLIMIT_DATA, (1 << 28, 1 << 28)); "
        f"sys.path.append({str(Path(programs.__file__).parents[2])!r}); "
        "from mcu_deploy.processes.programs import run; "
        "print(run(['sh', '-c', 'ulimit -d']).stdout)"
    )
    ended = programs.run([sys.executable, "-c", program])
    assert ended.stdout.split() == [str((1 << 28) // 1024)], ended.stderr


def test_all_that_is_printed_arrives_whatever_the_disk(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Of a file on a full disk objdump sees no error: output goes by no file at all."""
    monkeypatch.setenv("TMPDIR", str(tmp_path / "missing"))
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path / "missing"))
    many = "import sys; sys.stdout.write('x' * 3000000); sys.stderr.write('y' * 300000)"
    ended = programs.run(python(many), given=b"z" * 1_000_000)
    assert (ended.returncode, len(ended.output), len(ended.errors)) == (0, 3_000_000, 300_000)


def test_a_program_that_prints_for_ever_is_ended(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(programs, "_MOST_OUTPUT", 8 << 20)
    ended = programs.run(["yes"], seconds=60)
    assert ended.returncode == -signal.SIGKILL
    assert ended.exhausted == "printed more than 8 MB"


def test_what_holds_a_pipe_open_is_not_waited_for() -> None:
    ended = programs.run(["sh", "-c", "setsid sleep 20 & echo done"], seconds=10)
    assert (ended.returncode, ended.stdout, ended.exhausted) == (0, "done\n", "")


def test_without_pidfds(monkeypatch: pytest.MonkeyPatch) -> None:
    def refused(pid: int, flags: int = 0) -> int:
        raise PermissionError

    monkeypatch.setattr("os.pidfd_open", refused)
    assert programs.run(["sh", "-c", "cat; exit 3"], given=b"hello").stdout == "hello"
    assert programs.run(["sleep", "1000"], seconds=0.3).exhausted.startswith("took longer than 0.3")
