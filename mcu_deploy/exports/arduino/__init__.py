"""A library of the Arduino library specification 1.5, which arduino-cli and the IDE take.

docs/library-specification.md of https://github.com/arduino/arduino-cli: all below src/ is compiled,
and src/ alone is on the include path.
"""

from __future__ import annotations

from collections.abc import Mapping

from mcu_deploy.exports import parts
from mcu_deploy.exports.model import Exported
from mcu_deploy.exports.rendering import below, render

NAME = "arduino"
DESCRIPTION = "a library for the Arduino IDE and arduino-cli"
ARCHIVE = ""

# A sketch has the name of its folder.
_SKETCH = "run_sample"


def files(exported: Exported) -> Mapping[str, bytes]:
    """The content of each file by its path."""
    example = f"examples/{_SKETCH}"
    return {
        "library.properties": render("arduino/library.properties.j2", exported),
        "LICENSE": exported.licence,
        "README.md": render("arduino/README.md.j2", exported, sketch=_SKETCH),
        **below("src", parts.headers(exported)),
        **below("src", parts.network_sources(exported)),
        **below("src/mcu", parts.runtime_sources(exported)),
        f"{example}/{_SKETCH}.ino": parts.example(exported, "arduino/sketch.ino.j2"),
        **below(example, parts.samples(exported)),
    }
