"""Tools for flashing: their exact command lines, and what their answers become."""

from __future__ import annotations

import shutil
import struct
import subprocess
from collections.abc import Mapping, Sequence
from pathlib import Path
from types import SimpleNamespace
from typing import cast

import pytest
from sampling import every_board
from serial.tools import list_ports

from mcu_deploy.api import flashing
from mcu_deploy.api.folder import BuildFolder
from mcu_deploy.boards import load_board
from mcu_deploy.errors import McuDeployError, RequestError, ToolError, UsageError
from mcu_deploy.options.means import Flasher
from mcu_deploy.report import Report
from mcu_deploy.runners import running, uf2
from mcu_deploy.runners.choosing import Chosen, choose
from mcu_deploy.runners.images import binary, intel_hex
from mcu_deploy.runners.interface import FlashJob, Trouble, runners

SEGMENTS = ((0x0800_FFF8, bytes(range(1, 41))), (0x0801_0100, b"abc"), (0x2000_0000, b""))


def _elf(path: Path, segments: Sequence[tuple[int, bytes]] = SEGMENTS) -> Path:
    """An image with two segments, the first of which crosses a border of 64 KiB, and an empty
    one."""
    rows, data, at = b"", b"", 52 + 32 * len(segments)
    for address, content in segments:
        size = len(content)
        rows += struct.pack("<8I", 1, at + len(data), 0x2000_0000, address, size, size, 5, 4)
        data += content
    names = b"\0.names\0"
    sections = bytes(40) + struct.pack("<10I", 1, 3, 0, 0, at + len(data), len(names), 0, 0, 1, 0)
    data += names
    head = b"\x7fELF\x01\x01\x01" + bytes(9) + struct.pack(
        "<HHIIIIIHHHHHH", 2, 40, 1, 0, 52, at + len(data), 0x0500_0000, 52, 32, len(segments), 40,
        2, 1,
    )  # fmt: skip
    data += sections
    path.write_bytes(head + rows + data)
    return path


@pytest.fixture
def job(tmp_path: Path) -> FlashJob:
    return FlashJob(_elf(tmp_path / "firmware.elf"), 0x0800_0000, {}, tmp_path)


def _lines(
    job: FlashJob, name: str, settings: Mapping[str, str], probe: str | None = None
) -> list[list[str]]:
    """The command lines, with @ for the folder that everything is in."""
    given = FlashJob(job.elf, job.vectors, settings, job.folder, probe)
    made = runners()[name].commands(given, runners()[name].programs[0])
    return [[word.replace(str(job.folder), "@") for word in line] for line in made]


def test_openocd(job: FlashJob) -> None:
    assert _lines(job, "openocd", {"config": "board/st_nucleo_f4.cfg"}) == [
        ["openocd", "-f", "board/st_nucleo_f4.cfg",
         "-c", "program {@/firmware.elf} verify reset exit"]
    ]  # fmt: skip
    told = {"config": "interface/cmsis-dap.cfg target/rp2040.cfg", "commands": "adapter speed 5000"}
    assert _lines(job, "openocd", told, "0669FF") == [
        ["openocd", "-f", "interface/cmsis-dap.cfg", "-f", "target/rp2040.cfg",
         "-c", "adapter serial 0669FF", "-c", "adapter speed 5000",
         "-c", "program {@/firmware.elf} verify reset exit"]
    ]  # fmt: skip


def test_a_configuration_beside_the_board_file_goes_into_the_build(
    job: FlashJob, tmp_path: Path
) -> None:
    board = tmp_path / "board.toml"
    own = '[runners.openocd]\nconfig = "my own.cfg"\n'
    board.write_text(f'inherits = "stm32f746"\nname = "mine"\n{own}')
    (tmp_path / "my own.cfg").write_text("# mine\n")
    loaded = load_board(board)
    (line,) = _lines(job, "openocd", loaded.runners["openocd"])
    assert line[1:3] == ["-f", "@/my own.cfg"]
    assert loaded.document.copies()["my own.cfg"] == b"# mine\n"
    assert [*loaded.runners] == [*load_board("stm32f746").runners]


def test_pyocd(job: FlashJob) -> None:
    flash = ["pyocd", "flash", "--no-wait", "--target", "nrf52840"]
    assert _lines(job, "pyocd", {"target": "nrf52840"}) == [[*flash, "@/firmware.elf"]]
    assert _lines(job, "pyocd", {"target": "nrf52840"}, "0001") == [
        [*flash, "--uid", "0001", "@/firmware.elf"]
    ]


def test_st_flash(job: FlashJob) -> None:
    end = ["--format", "ihex", "write", "@/firmware.hex"]
    assert _lines(job, "stlink", {}) == [["st-flash", "--reset", *end]]
    assert _lines(job, "stlink", {"flash": "128k"}, "0669FF") == [
        ["st-flash", "--reset", "--serial", "0669FF", "--flash=128k", *end]
    ]


def test_jlink(job: FlashJob) -> None:
    end = ["-device", "nRF52840_xxAA", "-CommanderScript", "@/flash.jlink"]
    told = {"device": "nRF52840_xxAA"}
    assert _lines(job, "jlink", told) == [
        ["JLinkExe", "-nogui", "1", "-if", "swd", "-speed", "auto", *end]
    ]
    script = (job.folder / "flash.jlink").read_text()
    assert script == f'ExitOnError 1\nr\nloadfile "{job.folder}/firmware.hex"\nr\ng\nq\n'
    assert _lines(job, "jlink", {**told, "interface": "jtag", "speed": "1000"}, "6830") == [
        ["JLinkExe", "-USB", "6830", "-nogui", "1", "-if", "jtag", "-speed", "1000", *end]
    ]


def test_probe_rs(job: FlashJob) -> None:
    chip = ["--non-interactive", "--chip", "RP2040"]
    assert _lines(job, "probe-rs", {"chip": "RP2040"}, "2e8a:000c:E6") == [
        ["probe-rs", "download", *chip, "--probe", "2e8a:000c:E6", "--verify", "@/firmware.elf"],
        ["probe-rs", "reset", *chip, "--probe", "2e8a:000c:E6"],
    ]


def test_gdb(job: FlashJob) -> None:
    def line(*commands: str) -> list[str]:
        words = [word for command in commands for word in ("-ex", command)]
        return ["gdb-multiarch", "-nx", "-batch", *words, "@/firmware.elf"]

    assert _lines(job, "gdb", {}, "localhost:3333") == [
        line("target extended-remote localhost:3333", "load", "compare-sections",
             "set $sp = *(unsigned int *) 0x8000000",
             "set $pc = *(unsigned int *) 0x8000004 & ~1",
             "set $xpsr = 0x01000000", "detach")
    ]  # fmt: skip
    told = {
        "server": "/dev/ttyACM0",
        "before": "monitor swdp_scan; attach 1",
        "after": "monitor reset; detach",
    }
    assert _lines(job, "gdb", told) == [
        line("target extended-remote /dev/ttyACM0", "monitor swdp_scan", "attach 1", "load",
             "compare-sections", "monitor reset", "detach")
    ]  # fmt: skip
    with pytest.raises(RequestError, match="--probe"):
        _lines(job, "gdb", {})


def test_uf2(job: FlashJob, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """One drive of the two is meant by its Board-ID; the file is as microsoft/uf2 says."""
    mounts = tmp_path / "mounts"
    for name, board in (("RPI RP2", "RPI-RP2"), ("ITSY", "SAMD51")):
        (tmp_path / name).mkdir()
        (tmp_path / name / "INFO_UF2.TXT").write_text(f"UF2 Bootloader v3\nBoard-ID: {board}\n")
    listed = [f"/dev/sda1 {tmp_path}/{name} vfat rw 0 0" for name in ("RPI\\040RP2", "ITSY", "no")]
    mounts.write_text("\n".join(listed) + "\n")
    monkeypatch.setattr(uf2, "_MOUNTS", mounts)
    told = {"family": "0xe48bff56", "board_id": "RPI-RP2"}
    assert _lines(job, "uf2", told) == [["cp", "@/firmware.uf2", "@/RPI RP2"]]
    other = str(tmp_path / "other")
    with pytest.raises(RequestError, match="other is no drive of a UF2 boot loader"):
        _lines(job, "uf2", told, other)
    (tmp_path / "other").mkdir()
    (tmp_path / "other" / "INFO_UF2.TXT").touch()
    assert _lines(job, "uf2", told, other) == [["cp", "@/firmware.uf2", "@/other"]]
    with pytest.raises(ToolError, match=r"several drives .*RPI RP2 \(RPI-RP2\), .*--probe FOLDER"):
        _lines(job, "uf2", {"family": "1"})
    with pytest.raises(ToolError, match=r"is no drive .*with the Board-ID other.*BOOTSEL"):
        _lines(job, "uf2", {"family": "1", "board_id": "other"})
    with pytest.raises(RequestError, match=r"family = 'rp2040'.* is no number"):
        _lines(job, "uf2", {"family": "rp2040"})
    data = (job.folder / "firmware.uf2").read_bytes()
    memory: dict[int, int] = {}
    blocks = [data[at : at + 512] for at in range(0, len(data), 512)]
    for number, block in enumerate(blocks):
        start, second, flags, address, size, index, count, family = struct.unpack_from("<8I", block)
        assert (start, second, block[-4:]) == (0x0A324655, 0x9E5D5157, b"\x30\x6f\xb1\x0a")
        assert (flags, size, index, count, address % 256) == (0x2000, 256, number, len(blocks), 0)
        assert family == 1
        memory |= dict(enumerate(block[32 : 32 + size], address))
    for address, content in SEGMENTS:
        assert bytes(memory[address + i] for i in range(len(content))) == content
    assert memory[0x0801_0103] == 0xFF


@pytest.mark.needs_arm_gcc
def test_intel_hex_is_what_objcopy_reads(job: FlashJob, tmp_path: Path) -> None:
    rows = intel_hex(job.elf)
    (tmp_path / "a.hex").write_text(rows)
    # A row that crossed 64 KiB would go on at the beginning of these (the specification's 0x00).
    ends = [int(row[3:7], 16) + int(row[1:3], 16) for row in rows.splitlines() if row[7:9] == "00"]
    assert max(ends) <= 1 << 16
    command = ["arm-none-eabi-objcopy", "-O", "binary", "--gap-fill", "0xff"]
    subprocess.run([*command, "-I", "ihex", tmp_path / "a.hex", tmp_path / "a.bin"], check=True)
    (first, data), (second, more), _ = SEGMENTS
    gap = b"\xff" * (second - first - len(data))
    assert (tmp_path / "a.bin").read_bytes() == binary(job.elf) == data + gap + more


def test_raw_bytes_are_64_mb_at_most(tmp_path: Path) -> None:
    first, size = 0x0800_0000, 64 << 20
    raw = binary(_elf(tmp_path / "a.elf", [(first, b"a"), (first + size - 1, b"z")]))
    assert (len(raw), raw[:2], raw[-2:]) == (size, b"a\xff", b"\xffz")
    with pytest.raises(RequestError, match="to 0x0c000001, too far apart"):
        binary(_elf(tmp_path / "b.elf", [(first, b"a"), (first + size, b"z")]))


# What the tools print: recorded without a probe from OpenOCD 0.12.0, st-flash 1.7.0, pyOCD 0.46.0
# and gdb-multiarch 13.1; the others from the sources that the modules cite.
_SAID = [
    ("openocd", "Info : clock speed 2000 kHz\nError: open failed\nin procedure 'program'\n"
     "** OpenOCD init failed **", Trouble.NO_PROBE, "found no debug probe"),
    ("openocd", "Error: unable to find a matching CMSIS-DAP device", Trouble.NO_PROBE, "`lsusb`"),
    ("openocd", "Error: libusb_open() failed with LIBUSB_ERROR_ACCESS\nError: open failed",
     Trouble.ACCESS, "udev rules"),
    ("openocd", "embedded:startup.tcl:28: Error: Can't find board/nonexist.cfg",
     Trouble.UNKNOWN_CHIP, "correct `config` in"),
    ("openocd", "Error: Multiple devices found, specify the desired device",
     Trouble.SEVERAL_PROBES, "--probe, by its serial number"),
    ("openocd", "Error: stm32x device protected\n** Programming Failed **", Trouble.LOCKED,
     "unlock 0"),
    ("openocd", "Error: init mode failed (unable to connect to the target)", Trouble.NO_CHIP,
     "does not answer"),
    ("openocd", "** Verify Started **\n** Verify Failed **", Trouble.VERIFY, "read something else"),
    ("pyocd", "No connected debug probes\n0001653 E No target device available [load_cmd]",
     Trouble.NO_PROBE, "`pyocd list` shows"),
    ("pyocd", "Enter the number of the debug probe or 'q' to quit> ", Trouble.SEVERAL_PROBES,
     "by its unique id"),
    ("pyocd", "0000821 W NRF52840 APPROTECT enabled: not automatically unlocking",
     Trouble.LOCKED, "pyocd erase --chip"),
    ("pyocd", "Target type stm32f999 not recognized. Use 'pyocd list --targets'",
     Trouble.UNKNOWN_CHIP, "pyocd pack install"),
    ("pyocd", "E flash program page failure (address 0x00000000; result code 0x1)",
     Trouble.VERIFY, "worn out"),
    ("stlink", "2026-01-01T00:00:00 WARN usb.c: Couldn't find any ST-Link devices",
     Trouble.NO_PROBE, "`st-info --probe`"),
    ("stlink", "ERROR common_flash.c: Flash memory is write protected", Trouble.LOCKED, "erase"),
    ("stlink", "ERROR common_flash.c: Verification of flash failed at offset: 12", Trouble.VERIFY,
     "st-flash read something else"),
    ("jlink", "Connecting to J-Link via USB...FAILED: Cannot connect", Trouble.NO_PROBE,
     "ShowEmuList"),
    ("jlink", "Cannot connect to target.\nWriting failed.", Trouble.NO_CHIP, "its power"),
    ("probe-rs", "Error: No connected probes were found.", Trouble.NO_PROBE, "`probe-rs list`"),
    ("probe-rs", "Error: 2 probes were found: ...", Trouble.SEVERAL_PROBES, "VID:PID:SERIAL"),
    ("probe-rs", "An operation could not be performed because it lacked the permission to do so: "
     "erase_all", Trouble.LOCKED, "--allow-erase-all"),
    ("probe-rs", "Flash content verification failed.", Trouble.VERIFY, "try again"),
    ("gdb", "localhost:3333: Connection timed out.", Trouble.NO_PROBE, "reached no server"),
    ("gdb", "Section .text, range 0x0 -- 0x8: MIS-MATCHED!", Trouble.VERIFY, "read something"),
]  # fmt: skip


@pytest.mark.parametrize(("name", "said", "trouble", "expected"), _SAID)
def test_an_answer_becomes_a_sentence(
    name: str, said: str, trouble: Trouble, expected: str
) -> None:
    runner = runners()[name]
    found = running.diagnose(runner, said)
    assert found is not None
    assert found[0] == trouble
    sentence = running.explain(runner, 1, said, "again.")
    assert sentence.startswith(f"{runner.title} ")
    assert expected in sentence
    assert "{" not in sentence
    assert sentence.endswith(".")


def _run(program: Path, name: str) -> None:
    running.run(Chosen(runners()[name], str(program), {}, ""), (("true",), (str(program),)))


def test_what_is_not_known_is_quoted_and_how_to_see_all_of_it(tmp_path: Path) -> None:
    program = tmp_path / "tool"
    program.write_text("#!/bin/sh\necho one\necho two >&2\nexit 3\n")
    program.chmod(0o755)
    with pytest.raises(ToolError) as caught:
        _run(program, "openocd")
    assert str(caught.value) == (
        "OpenOCD ended with exit code 3 and said: one | two; to see all of it, run what "
        "`mcu-deploy flash --dry-run` prints."
    )


def test_a_tool_that_does_not_end_is_ended(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(running, "_SECONDS", 0.1)
    program = tmp_path / "tool"
    program.write_text("#!/bin/sh\nexec sleep 60\n")
    program.chmod(0o755)
    with pytest.raises(ToolError, match=r"^OpenOCD took longer than .* the chip hangs; plug"):
        _run(program, "openocd")


def test_a_tool_that_fails_with_exit_code_0_is_not_believed(tmp_path: Path) -> None:
    program = tmp_path / "tool"
    program.write_text(
        "#!/bin/sh\necho 'Cannot connect to target.'\necho 'Error: open failed: MIS-MATCHED!'\n"
    )
    program.chmod(0o755)
    with pytest.raises(ToolError, match="does not answer"):
        _run(program, "jlink")
    with pytest.raises(ToolError, match="read something else"):
        _run(program, "gdb")
    _run(program, "openocd")  # whose exit code is to be believed, whatever it tried before


@pytest.mark.parametrize(
    ("program", "name", "settings"),
    [("openocd", "openocd", {"config": "board/stm32f746g-disco.cfg"}), ("st-flash", "stlink", {})],
)
def test_the_real_tool_without_a_probe(
    job: FlashJob, program: str, name: str, settings: Mapping[str, str]
) -> None:
    if shutil.which(program) is None:
        pytest.skip(f"{program} is not installed: {runners()[name].install}")
    given = FlashJob(job.elf, job.vectors, settings, job.folder)
    chosen = choose("b", {name: settings}, name)
    with pytest.raises(ToolError, match=r"found no debug probe|may not open the debug probe"):
        running.run(chosen, chosen.runner.commands(given, chosen.program))


def test_openocd_reads_what_the_boards_name() -> None:
    if shutil.which("openocd") is None:
        pytest.skip(f"openocd is not installed: {runners()['openocd'].install}")
    unread = {}
    for board in every_board():
        if told := board.runners.get("openocd"):
            files = [word for file in told["config"].split() for word in ("-f", file)]
            command = ["openocd", *files, "-c", told.get("commands", ""), "-c", "shutdown"]
            done = subprocess.run(command, capture_output=True, text=True)
            if done.returncode:
                unread[board.name] = done.stderr
    assert {name for name, said in unread.items() if "Can't find" in said} <= {"rpi_pico2"}
    assert set(unread) <= {"rpi_pico2"}, unread


def test_of_two_boards_one_is_not_taken_silently(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """OpenOCD and st-flash take the first of two ST-LINKs; two ports of one probe are one."""
    board = load_board("stm32f746")
    _elf(tmp_path / "firmware.elf")
    folder = BuildFolder(tmp_path, board, cast(Report, None))
    ports = [
        SimpleNamespace(device=f"/dev/ttyACM{n}", vid=0x0483, pid=0x374B, serial_number=serial,
                        description="STLINK") for n, serial in enumerate(("A", "B"))
    ]  # fmt: skip
    monkeypatch.setattr(list_ports, "comports", lambda: ports)
    _on_path(monkeypatch, tmp_path, "openocd")
    monkeypatch.setattr(running, "run", lambda chosen, lines: None)
    with pytest.raises(RequestError) as caught:
        flashing.flash(folder)
    assert "ttyACM0 (0483:374b, STLINK, A), /dev/ttyACM1" in str(caught.value)
    assert str(caught.value).endswith("Say which with --probe, by its serial number.")
    assert flashing.flash(folder, Flasher(probe="B")).lines[0][3:5] == ("-c", "adapter serial B")
    ports[1].serial_number = "A"
    assert flashing.flash(folder).runner == "openocd"


def _on_path(monkeypatch: pytest.MonkeyPatch, folder: Path, *programs: str) -> None:
    for name in programs:
        (folder / name).write_text("#!/bin/sh\n")
        (folder / name).chmod(0o755)
    monkeypatch.setenv("PATH", str(folder))


def test_the_first_of_the_board_that_is_installed_is_chosen(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    tables = {"pyocd": {"target": "t"}, "openocd": {"config": "c"}, "stlink": {}}
    _on_path(monkeypatch, tmp_path, "openocd", "st-flash")
    chosen = choose("b", tables)
    assert (chosen.runner.name, chosen.program) == ("openocd", str(tmp_path / "openocd"))
    assert chosen.settings == {"config": "c"}
    said = "OpenOCD, as b says, the first of pyocd, openocd, stlink that can be used now"
    assert chosen.reason == said
    assert choose("b", tables, "stlink").reason == "st-flash, as asked for"
    _on_path(monkeypatch, tmp_path, "cp")
    mounts = tmp_path / "mounts"
    mounts.write_text("")
    monkeypatch.setattr(uf2, "_MOUNTS", mounts)
    assert choose("b", {"uf2": {"family": "1"}}).runner.name == "uf2"
    assert choose("b", {"uf2": {"family": "1"}, **tables}).runner.name == "openocd"
    (tmp_path / "INFO_UF2.TXT").write_text("Board-ID: x\n")
    mounts.write_text(f"/dev/sda1 {tmp_path} vfat rw 0 0\n")
    assert choose("b", {"uf2": {"family": "1"}, **tables}).runner.name == "uf2"


def test_why_no_runner_can_be_chosen(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def message(kind: type[McuDeployError], *given: object) -> str:
        with pytest.raises(kind) as caught:
            choose(*given)  # type: ignore[arg-type]
        return str(caught.value)

    _on_path(monkeypatch, tmp_path)
    assert "did you mean 'openocd'?" in message(UsageError, "b", {}, "opencd")
    assert "[runners.openocd]" in message(RequestError, "b", {})
    needs = message(RequestError, "b", {"stlink": {}}, "pyocd")
    assert "no table [runners.pyocd] (it has stlink); pyocd needs one with target (" in needs
    other = message(RequestError, "b", {"uf2": {"family": "1"}}, "stlink")
    assert "stlink needs one, which may be empty: it writes to STM32 chips alone." in other
    both = message(ToolError, "b", {"pyocd": {"target": "t"}, "stlink": {}})
    assert "get one of pyocd (`pip install pyocd`); st-flash (`apt-get install" in both
    dry = choose("b", {"pyocd": {"target": "t"}}, only_installed=False)
    assert (dry.program, dry.installed) == ("pyocd", False)


def test_a_runner_is_one_short_file() -> None:
    folder = Path(running.__file__).parent
    assert sorted(runners()) == ["gdb", "jlink", "openocd", "probe-rs", "pyocd", "stlink", "uf2"]
    for runner in runners().values():
        path = folder / f"{runner.name.replace('-', '_')}.py"
        assert len(path.read_text().splitlines()) <= 120
        assert runner.__class__.__doc__


def test_the_page_has_every_runner_and_key() -> None:
    page = (Path(__file__).parents[2] / "docs" / "flashing.md").read_text()
    for runner in runners().values():
        row = next(line for line in page.splitlines() if line.startswith(f"| `{runner.name}` "))
        assert all(f"`{key}`" in row for key in runner.keys), row
        assert all(f"`{program}`" in row for program in runner.programs), row
