"""UF2: boot loaders that look like a drive, onto which a file is copied (RP2040, RP2350, ...).

The format and INFO_UF2.TXT: README.md of github.com/microsoft/uf2, commit 90e9741; family ids:
utils/uf2families.json there. How a drive is found: Zephyr's scripts/west_commands/runners/uf2.py.
"""

from __future__ import annotations

import re
import struct
from pathlib import Path

from mcu_deploy.errors import RequestError, ToolError
from mcu_deploy.runners.images import loadable
from mcu_deploy.runners.interface import FlashJob, Key, Runner

_MOUNTS = Path("/proc/self/mounts")
_INFO = "INFO_UF2.TXT"
_PAYLOAD = 256  # bytes of a block; the README: "always correct"
_START, _START_2, _LAST = 0x0A324655, 0x9E5D5157, 0x0AB16F30
_HAS_FAMILY = 0x2000


class Uf2(Runner):
    """`cp firmware.uf2 DRIVE`; the boot loader checks blocks, starts the image, and is gone."""

    name = "uf2"
    title = "the UF2 boot loader"
    programs = ("cp",)
    install = "`apt-get install coreutils`"
    keys = {
        "family": Key("the family id of the chip, such as 0xe48bff56", required=True),
        "board_id": Key("the Board-ID in INFO_UF2.TXT, where several kinds of boards are about"),
    }
    probe = "as the folder where the drive is mounted"
    version = ()

    def is_ready(self) -> bool:
        return bool(_drives())

    def commands(self, job: FlashJob, program: str) -> tuple[tuple[str, ...], ...]:
        image = job.folder / "firmware.uf2"
        image.write_bytes(uf2(loadable(job.elf), family_of(job.settings["family"])))
        if job.probe and not (Path(job.probe) / _INFO).is_file():
            raise RequestError(
                f"{job.probe} is no drive of a UF2 boot loader: it has no {_INFO}. Say with "
                "--probe where the board's drive is mounted, or leave --probe out."
            )
        drive = job.probe or _drive(job.settings.get("board_id"))
        return ((program, str(image), drive),)


RUNNER = Uf2


def uf2(segments: tuple[tuple[int, bytes], ...], family: int) -> bytes:
    """The image in blocks of 512 bytes; what lies between segments in a page is 0xFF, as erased.

    segments: (address, bytes), in the order of addresses, which is that of the blocks.
    """
    pages: dict[int, bytearray] = {}
    for start, data in segments:
        for at, value in enumerate(data, start):
            pages.setdefault(at // _PAYLOAD, bytearray(b"\xff" * _PAYLOAD))[at % _PAYLOAD] = value
    head = "<8I476sI"
    return b"".join(
        struct.pack(
            head, _START, _START_2, _HAS_FAMILY, page * _PAYLOAD, _PAYLOAD, number, len(pages),
            family, bytes(content), _LAST,
        )
        for number, (page, content) in enumerate(pages.items())
    )  # fmt: skip


def family_of(text: str) -> int:
    """The number that `family` of [runners.uf2] is. RequestError where it is none."""
    try:
        return int(text, 0)
    except ValueError:
        raise RequestError(
            f"family = {text!r} in [runners.uf2] is no number; give one such as 0xe48bff56 "
            "(github.com/microsoft/uf2 lists them)."
        ) from None


def _drive(board_id: str | None) -> str:
    """The one mounted drive with an INFO_UF2.TXT, and with this Board-ID if one is given."""
    found = _drives()
    fits = [place for place, name in found.items() if board_id in (None, name)]
    if len(fits) == 1:
        return fits[0]
    listed = ", ".join(f"{place} ({name})" for place, name in found.items()) or "none"
    wanted = f" with the Board-ID {board_id}" if board_id else ""
    raise ToolError(
        f"There {'are several drives' if fits else 'is no drive'} of a UF2 boot loader{wanted} "
        f"(mounted: {listed}); hold the button BOOTSEL (or press reset twice) while the board is "
        "plugged in, mount its drive, and where there are several, say which with --probe FOLDER."
    )


def _drives() -> dict[str, str]:
    """Where boot loaders are mounted, with their Board-IDs."""
    found: dict[str, str] = {}
    mounts = _MOUNTS.read_text() if _MOUNTS.is_file() else ""  # Linux alone has it
    for line in mounts.splitlines():
        # The kernel writes a space in a name as \040.
        place = re.sub(r"\\([0-7]{3})", lambda octal: chr(int(octal[1], 8)), line.split(" ")[1])
        try:
            info = (Path(place) / _INFO).read_text(errors="replace")
        except OSError:
            continue
        named = re.search(r"^Board-ID:\s*(\S+)", info, re.MULTILINE)
        found[place] = named[1] if named else "without a Board-ID"
    return found
