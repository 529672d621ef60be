"""Two folders that go into `Core` of an STM32CubeIDE project, and the lines for CubeMX's Makefile.

The makefiles that STM32CubeIDE generates compile each .c below the source folder Core, in all
folders (a subdir.mk each), with Core/Inc on the include path; so no setting has to be changed.
CubeMX's own Makefile compiles what C_SOURCES lists, into one folder: no two may have one name.

The runtime has a folder of its own, the same one of each export: copied into one project, several
exports have it once.
"""

from __future__ import annotations

from collections.abc import Mapping

from mcu_deploy.exports import parts
from mcu_deploy.exports.model import Exported
from mcu_deploy.exports.rendering import below, render

NAME = "cubeide"
ARCHIVE = None

_RUNTIME = "Src/mcu_runtime"
# Of the linker scripts that STM32CubeIDE and CubeMX generate, "*(.RamFunc)" in .data, and of the
# HAL's headers (stm32l5xx_hal_flash_ramfunc.h).
_HOT = ".RamFunc"
_WHY_HOT = "ST's linker scripts have this section in .data, which the start-up copies to RAM."


def files(exported: Exported) -> Mapping[str, bytes]:
    """The content of each file by its path."""
    runtime = {f"mcu_{name}": text for name, text in exported.sources.items()}
    sources = {
        **below(f"Src/{exported.name}", parts.network_sources(exported, _HOT, _WHY_HOT)),
        **below(_RUNTIME, runtime),
    }
    example = f"{exported.name}_example.c"
    return {
        "LICENSE": exported.licence,
        "README.md": render("cubeide/README.md.j2", exported, runtime=_RUNTIME),
        f"{exported.name}.mk": render("cubeide/sources.mk.j2", exported, sources=sorted(sources)),
        **below("Inc", parts.headers_of(exported)),
        **sources,
        f"Example/{example}": render("cubeide/example.c.j2", exported),
        **below("Example", parts.samples(exported)),
    }
