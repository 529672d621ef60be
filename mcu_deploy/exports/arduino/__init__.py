"""A library of the Arduino library specification 1.5, which arduino-cli and the IDE take.

docs/library-specification.md of https://github.com/arduino/arduino-cli: all below src/ is compiled,
and src/ alone is on the include path. What the registry takes: etc/schemas/
arduino-library-properties-definitions-schema.json of https://github.com/arduino/arduino-lint, which
it runs.
"""

from __future__ import annotations

from collections.abc import Mapping

from mcu_deploy.errors import RequestError
from mcu_deploy.exports import parts
from mcu_deploy.exports.model import Exported
from mcu_deploy.exports.rendering import below, render

NAME = "arduino"
ARCHIVE = None

# A sketch has the name of its folder.
_SKETCH = "run_sample"
_THEIRS = "arduino"


def files(exported: Exported) -> Mapping[str, bytes]:
    """The content of each file by its path. RequestError for what Arduino keeps for itself."""
    _require_allowed(exported)
    about = exported.package
    placeholders = {} if about.author else {"author and maintainer": "`--author`"}
    placeholders |= {} if about.url else {"the URL": "`--url`"}
    example = f"examples/{_SKETCH}"
    return {
        "library.properties": render("arduino/library.properties.j2", exported),
        "README.md": render(
            "arduino/README.md.j2", exported, sketch=_SKETCH, placeholders=placeholders
        ),
        **parts.library(exported, "src", "src", "src/mcu"),
        f"{example}/{_SKETCH}.ino": render("arduino/sketch.ino.j2", exported),
        **below(example, parts.samples(exported)),
    }


def _require_allowed(exported: Exported) -> None:
    name, author = exported.name, exported.package.author
    if name.lower().startswith(_THEIRS):
        raise RequestError(
            f"An Arduino library cannot be called {name}: names that begin with Arduino are those "
            "of Arduino's own libraries, and the registry takes no others. Give another --name."
        )
    if author.lower().startswith(_THEIRS):
        raise RequestError(
            f"An Arduino library's maintainer cannot be {author}: Arduino is that of its own "
            "libraries alone. Give another --author."
        )
