"""Damaged and hostile files: whatever the bytes, a check ends soon, in sentences."""

from __future__ import annotations

import struct
from pathlib import Path

import pytest
from cpu_limit import cpu_limit
from hygiene_cases import M4F, build, network, run
from hypothesis import given, settings
from hypothesis import strategies as st
from sampling import examples

from mcu_deploy.elf.archive import is_archive, read_archive
from mcu_deploy.elf.reader import Unreadable, read_elf
from mcu_deploy.hygiene import CheckReport, check_files

pytestmark = pytest.mark.needs_arm_gcc


@pytest.fixture(scope="module")
def victims(tmp_path_factory: pytest.TempPathFactory) -> tuple[bytes, ...]:
    """A network with debug information, an archive, an image."""
    folder = tmp_path_factory.mktemp("hostile")
    main = """
    #include "mcu/model.h"
    int32_t _mcu_run_begin(const mcu_model_t *m, const mcu_partition_t *p, const void *a,
                           const void *t, int32_t n, const void *r) { return n; }
    int32_t _mcu_run_end(const mcu_model_t *m, const mcu_partition_t *p, const void *a,
                         const void *r) { return 0; }
    extern const mcu_model_t _mcu_network_kws;
    const void *volatile keep;
    int main(void) { keep = &_mcu_network_kws; return 0; }
    """
    build(folder, {"kws.c": network(), "main.c": main}, *M4F, "-g", "-ffunction-sections")
    run(["arm-none-eabi-ar", "rcsD", "lib.a", "kws.o", "main.o"], folder)
    link = ["arm-none-eabi-gcc", *M4F, "-nostartfiles", "-e", "main", "-o", "fw.elf"]
    run([*link, "kws.o", "main.o"], folder)
    return tuple((folder / name).read_bytes() for name in ("kws.o", "lib.a", "fw.elf"))


def check(path: Path, data: bytes) -> CheckReport:
    path.write_bytes(data)
    with cpu_limit():
        report = check_files([path])
    assert report.exit_code in (0, 1, 2)
    assert (report.exit_code == 0) == (report.findings == ())
    for finding in report.findings:
        assert finding.message.endswith(".") and finding.remedy.endswith(".")
        assert finding.message.isprintable() and finding.symbol.isprintable()
        assert finding.member.isprintable()
    return report


@given(st.binary(max_size=400))
@settings(max_examples=examples(300), deadline=None)
def test_any_bytes_behind_a_magic_number(data: bytes) -> None:
    for head in (b"", b"\x7fELF\x01\x01\x01", b"\x7fELF\x02\x01\x01", b"\x7fELF\x01\x02\x01"):
        with pytest.raises(Unreadable):
            read_elf(head + data)
    content = b"!<arch>\n" + data
    assert is_archive(content)
    try:
        assert all(isinstance(name, str) for name, _ in read_archive(content))
    except Unreadable as error:
        assert error.rule in ("truncated", "damaged")


def patched(data: bytes, offset: int, layout: str, *values: int) -> bytes:
    raw = bytearray(data)
    struct.pack_into(layout, raw, offset, *values)
    return bytes(raw)


def test_counts_and_sizes_that_would_loop_or_fill_the_memory(
    victims: tuple[bytes, ...], tmp_path: Path
) -> None:
    whole = victims[0]
    table = struct.unpack_from("<I", whole, 32)[0]
    path = tmp_path / "x.o"
    # No sections in the header: their number stands in the first section's size.
    for count in (0, 0xFFFF):
        for size in (0, 0x7FFFFFFF, 0xFFFFFFFF):
            data = patched(patched(whole, 48, "<H", count), table + 20, "<I", size)
            assert check(path, data).exit_code == 2
    for offset in (0, 1, len(whole), 0xFFFFFFFF):  # the table's place
        assert check(path, patched(whole, 32, "<I", offset)).exit_code == 2
    # Every section's size, offset, link and entry size, one after the other.
    number = struct.unpack_from("<H", whole, 48)[0]
    for index in range(1, number):
        header = table + index * 40
        for field in (16, 20, 24, 36):
            check(path, patched(whole, header + field, "<I", 0xFFFFFFFF))
            check(path, patched(whole, header + field, "<I", 0))


def test_sections_that_share_their_bytes(victims: tuple[bytes, ...], tmp_path: Path) -> None:
    """A small file could make any amount of code this way."""
    whole = victims[0]
    table, number = struct.unpack_from("<I", whole, 32)[0], struct.unpack_from("<H", whole, 48)[0]
    for index in range(1, number):
        whole = patched(whole, table + index * 40 + 16, "<II", 0, len(whole))
    report = check(tmp_path / "x.o", whole)
    assert report.exit_code == 2
    assert "overlap" in report.findings[0].message


def test_attributes_with_lengths_that_never_end(victims: tuple[bytes, ...], tmp_path: Path) -> None:
    whole = victims[0]
    start = whole.index(b"aeabi\0") - 4
    for length in (0, 1, 3, 4, 5, 0x7FFFFFFF, 0xFFFFFFFF):
        report = check(tmp_path / "x.o", patched(whole, start, "<I", length))
        assert report.exit_code == 2, length
        assert "attributes" in report.findings[0].message
