"""A PlatformIO library with its library.json, and a project that uses it.

The fields are those of platformio/package/manifest/schema.py of PlatformIO Core 6.2.
"""

from __future__ import annotations

from collections.abc import Mapping

from mcu_deploy.exports import parts
from mcu_deploy.exports.model import Exported
from mcu_deploy.exports.package import Package
from mcu_deploy.exports.rendering import below, render
from mcu_deploy.output.json_text import json_text

NAME = "platformio"
ARCHIVE = None

_EXAMPLE = "examples/run_sample"

# A board with each core, of boards/*.json in https://github.com/platformio/platform-ststm32.
_BOARDS = {
    "cortex-m0": "nucleo_f030r8",
    "cortex-m0plus": "nucleo_g071rb",
    "cortex-m3": "nucleo_f103rb",
    "cortex-m4": "nucleo_f401re",
    "cortex-m7": "nucleo_f746zg",
    "cortex-m33": "nucleo_l552ze_q",
}


def files(exported: Exported) -> Mapping[str, bytes]:
    """The content of each file by its path."""
    board = _BOARDS.get(exported.processor.core)
    example = {
        "platformio.ini": render("platformio/platformio.ini.j2", exported, board=board),
        "src/main.cpp": render("platformio/main.cpp.j2", exported),
        **below("src", parts.samples(exported)),
    }
    return {
        "library.json": _manifest(exported, example),
        "README.md": render("platformio/README.md.j2", exported, example=_EXAMPLE, board=board),
        **parts.library(exported),
        **below(_EXAMPLE, example),
    }


def _manifest(exported: Exported, example: Mapping[str, bytes]) -> bytes:
    names = ", ".join(network.name for network in exported.networks)
    content = {
        "name": exported.name,
        "version": exported.package.version,
        **_publisher(exported.package),
        "description": f"Neural networks in C for a {exported.processor.core}: {names}",
        "keywords": ["neural network", "machine learning", "cortex-m"],
        "license": "Apache-2.0",
        "headers": [f"network_{network.name}.h" for network in exported.networks],
        "frameworks": "*",
        "platforms": "*",
        "examples": [{"name": "run_sample", "base": _EXAMPLE, "files": sorted(example)}],
    }
    return (json_text(content) + "\n").encode()


def _publisher(about: Package) -> dict[str, object]:
    """Who it is from and its page, as far as the user said so."""
    author = {"name": about.author, **({"email": about.email} if about.email else {})}
    return {
        **({"authors": [author]} if about.author else {}),
        **({"homepage": about.url} if about.url else {}),
    }
