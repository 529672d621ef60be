"""What a program beside us said is known to its last word."""

from __future__ import annotations

from pathlib import Path

from mcu_deploy.processes.background import ChildProcess


def test_its_last_words_need_no_disk(tmp_path: Path) -> None:
    folder = tmp_path / "full"
    folder.mkdir()
    script = "rmdir ../full; echo out; echo first >&2; echo last >&2; exit 3"
    with ChildProcess("it", ["/bin/sh", "-c", script], folder=folder) as child:
        assert child.wait(60)
        assert child.failure() == "ended with exit code 3 and said: first | last"
        assert child.stdout() == "out\n"
    assert list(tmp_path.iterdir()) == []


def test_what_it_said_so_far_can_be_read_while_it_speaks(tmp_path: Path) -> None:
    script = "echo one; read line; echo two"
    with ChildProcess("it", ["/bin/sh", "-c", script], folder=tmp_path, keep_stdin=True) as child:
        assert child.wait_until(lambda: child.stdout() == "one\n", 60)
        stdin = child._process.stdin
        assert stdin is not None
        stdin.write(b"go on\n")
        stdin.close()
        assert child.wait_until(lambda: child.stdout() == "one\ntwo\n", 60)
