"""A folder for add_subdirectory() or FetchContent, without mcu-deploy."""

from __future__ import annotations

from collections.abc import Mapping

from mcu_deploy.exports import parts
from mcu_deploy.exports.model import Exported
from mcu_deploy.exports.rendering import below, render

NAME = "cmake"
ARCHIVE = None


def files(exported: Exported) -> Mapping[str, bytes]:
    """The content of each file by its path."""
    return {
        "CMakeLists.txt": render("cmake/CMakeLists.txt.j2", exported),
        "README.md": render("cmake/README.md.j2", exported),
        **parts.library(exported),
        "example/main.c": render("templates/main.c.j2", exported),
        **below("example", parts.samples(exported)),
    }
