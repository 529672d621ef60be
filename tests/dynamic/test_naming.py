"""The names of dynamic backends: every row of the table in Arm NN's guide, on real files and links.

Each row's file is made in an empty folder, with what its link needs beside it, and the folder is
scanned. That the last row's file is loaded once only is in test_loading.py.
"""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from mcu_deploy.dynamic.naming import BackendFile, UntriedFile, scan, why_not
from mcu_deploy.errors import one_line

# the table of Arm NN's backend guide, word for word
TABLE = """
| Arm_GpuAcc_backend.so                                    | valid: basic backend name                         |
| Arm_GpuAcc_backend.so.1                                  | valid: single field version number                |
| Arm_GpuAcc_backend.so.1.2                                | valid: multiple field version number              |
| Arm_GpuAcc_backend.so.1.2.3                              | valid: multiple field version number              |
| Arm_GpuAcc_backend.so.10.1.27                            | valid: Multiple digit version                     |
| Arm_GpuAcc_backend.so.10.1.33.                           | not valid: dot not followed by version number     |
| Arm_GpuAcc_backend.so.3.4..5                             | not valid: dot not followed by version number     |
| Arm_GpuAcc_backend.so.1,1.1                              | not valid: comma instead of dot in the version    |
| Arm123_GpuAcc_backend.so                                 | valid: digits in vendor name are allowed          |
| Arm_GpuAcc456_backend.so                                 | valid: digits in backend id are allowed           |
| Arm%Co_GpuAcc_backend.so                                 | not valid: invalid character in vendor name       |
| Arm_Gpu.Acc_backend.so                                   | not valid: invalid character in backend id        |
| GpuAcc_backend.so                                        | not valid: missing vendor name                    |
| _GpuAcc_backend.so                                       | not valid: missing vendor name                    |
| Arm__backend.so                                          | not valid: missing backend id                     |
| Arm_GpuAcc.so                                            | not valid: missing "backend" at the end           |
| __backend.so                                             | not valid: missing vendor name and backend id     |
| __.so                                                    | not valid: missing all fields                     |
| Arm_GpuAcc_backend                                       | not valid: missing at least ".so" at the end      |
| Arm_GpuAcc_backend_v1.2.so                               | not valid: extra version info at the end          |
| Arm_CpuAcc_backend.so                                    | valid: basic backend name                         |
| Arm_CpuAcc_backend.so.1 -> Arm_CpuAcc_backend.so         | valid: symlink to valid backend file              |
| Arm_CpuAcc_backend.so.1.2 -> Arm_CpuAcc_backend.so.1     | valid: symlink to valid symlink                   |
| Arm_CpuAcc_backend.so.1.2.3 -> Arm_CpuAcc_backend.so.1.2 | valid: symlink to valid symlink                   |
| Arm_no_backend.so -> nothing                             | not valid: symlink resolves to non-existent file  |
| pathA/Arm_GpuAcc_backend.so                              | valid: basic backend name                         |
| pathB/Arm_GpuAcc_backend.so                              | valid: but duplicated from pathA/                 |
"""  # noqa: E501

ROWS = [tuple(cell.strip() for cell in line.split("|")[1:3]) for line in TABLE.split("\n") if line]

# what our sentence must say where the table says "not valid"
REASONS = {
    "dot not followed by version number": "a dot of its version is not followed by a number",
    "comma instead of dot in the version": "its version has a character that is no digit",
    "invalid character in vendor name": "its vendor has a character that is no letter",
    "invalid character in backend id": "its name has a character that is no letter",
    "missing vendor name": "its name has no vendor",
    "missing backend id": "nothing between the vendor and",
    'missing "backend" at the end': 'its name lacks "_backend"',
    "missing vendor name and backend id": "its name has no vendor and no name",
    "missing all fields": 'no vendor, no name and no "backend"',
    'missing at least ".so" at the end': 'does not end in ".so"',
    "extra version info at the end": 'something stands between "_backend" and ".so"',
    "symlink resolves to non-existent file": "a link to nothing: No such file or directory",
}


def test_the_table_has_its_27_rows() -> None:
    assert len(ROWS) == 27
    assert len(set(ROWS)) == 27


def make(root: Path, row: str) -> Path:
    """Makes a row's file or link, and the rows that it leads to; returns its path."""
    name, _, target = row.partition(" -> ")
    path = root / (name if "/" in name else f"pathA/{name}")
    path.parent.mkdir(exist_ok=True)
    if not target:
        path.write_bytes(b"")
        return path
    for other, _ in ROWS:
        if other.partition(" -> ")[0] == target:
            make(root, other)
    path.symlink_to(target)
    return path


@pytest.mark.parametrize(("row", "says"), ROWS, ids=[f"{row}: {says}" for row, says in ROWS])
def test_row_of_document_001(row: str, says: str, tmp_path: Path) -> None:
    path = make(tmp_path, row)
    *_, found = scan(path.parent)  # what a link needs has an earlier name
    verdict, _, why = says.partition(": ")
    if verdict == "valid":
        assert why_not(path.name) is None
        assert found == BackendFile(Path(os.path.realpath(path)))
    else:
        assert isinstance(found, UntriedFile)
        assert REASONS[why] in found.reason


def test_all_rows_together_are_found_by_name_and_links_lead_to_one_file(tmp_path: Path) -> None:
    for row, _ in ROWS:
        if " -> " not in row:
            make(tmp_path, row)
    for row, _ in ROWS:
        if " -> " in row:
            name, _, target = row.partition(" -> ")
            (tmp_path / "pathA" / name).symlink_to(target)
    found = list(scan(tmp_path / "pathA"))
    assert [f.path.name for f in found if isinstance(f, BackendFile)] == [
        "Arm123_GpuAcc_backend.so",
        *["Arm_CpuAcc_backend.so"] * 4,
        "Arm_GpuAcc456_backend.so",
        "Arm_GpuAcc_backend.so",
        "Arm_GpuAcc_backend.so.1",
        "Arm_GpuAcc_backend.so.1.2",
        "Arm_GpuAcc_backend.so.1.2.3",
        "Arm_GpuAcc_backend.so.10.1.27",
    ]
    refused = [f for f in found if isinstance(f, UntriedFile)]
    assert [f.path.name for f in refused if not f.misnamed] == ["Arm_no_backend.so"]
    assert len(refused) == 14
    assert [f.path.parent.name for f in scan(tmp_path / "pathB")] == ["pathB"]


def test_what_is_no_file_is_refused(tmp_path: Path) -> None:
    (tmp_path / "A_folder_backend.so").mkdir()
    os.mkfifo(tmp_path / "B_pipe_backend.so")
    (tmp_path / "C_loop_backend.so").symlink_to("C_loop_backend.so.1")
    (tmp_path / "C_loop_backend.so.1").symlink_to("C_loop_backend.so")
    (tmp_path / "D_link_backend.so").symlink_to(tmp_path)
    assert [(f.path.name, getattr(f, "reason", None)) for f in scan(tmp_path)] == [
        ("A_folder_backend.so", "it is a folder"),
        ("B_pipe_backend.so", "it is no regular file"),
        ("C_loop_backend.so", "it is a link to C_loop_backend.so.1: "
         "Too many levels of symbolic links"),
        ("C_loop_backend.so.1", "it is a link to C_loop_backend.so: "
         "Too many levels of symbolic links"),
        ("D_link_backend.so", "it is a folder"),
    ]  # fmt: skip


def test_a_link_may_lead_to_a_file_of_any_name(tmp_path: Path) -> None:
    (tmp_path / "libgpu.1").write_bytes(b"")
    (tmp_path / "Arm_GpuAcc_backend.so").symlink_to("libgpu.1")
    assert list(scan(tmp_path)) == [BackendFile((tmp_path / "libgpu.1").resolve())]


def test_files_that_have_nothing_of_a_backend_are_left_out(tmp_path: Path) -> None:
    for name in ("README.md", "kernels.c", "libm.so.6", "my_backend.o"):
        (tmp_path / name).write_bytes(b"")
    assert [f.path.name for f in scan(tmp_path)] == ["libm.so.6", "my_backend.o"]
    assert all(isinstance(f, UntriedFile) and f.misnamed for f in scan(tmp_path))


@pytest.mark.parametrize(
    ("name", "reason"),
    [
        ("Arm_Gpu_Acc_backend.so", "more than a vendor and a name"),
        ("_backend.so", "no vendor and no name"),
        ("Arm_GpuAcc_backend.so1", 'does not end in ".so"'),
        ("Arm_GpuAcc_backend.sol", 'does not end in ".so"'),
        ("Arm_GpuAcc_backend.so.1\n", "no digit and no dot"),
        ("Arm_GpuAcc_backend.so.١", "no digit and no dot"),
        ("Ärm_GpuAcc_backend.so", "its vendor has a character"),
        ("Arm_GpuAcc_Backend.so", 'lacks "_backend"'),
        ("", 'does not end in ".so"'),
    ],
)
def test_names_that_nearly_follow_the_rule(name: str, reason: str) -> None:
    assert reason in (why_not(name) or "")


def test_text_from_anywhere_becomes_one_printable_line() -> None:
    assert one_line("a\nb\tc \x1b[31m\udcff ") == "a b c \\x1b[31m\\udcff"
    assert len(one_line("x" * 100_000)) == 500
