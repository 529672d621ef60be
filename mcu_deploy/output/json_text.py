"""JSON as text that can be written: to a file, or to a terminal of any encoding."""

from __future__ import annotations

import json
from typing import Any


def json_text(value: Any, encoding: str = "utf-8") -> str:
    """Keys in the order given. Characters that the encoding lacks are escaped, as JSON does it:
    a file's name may hold bytes that are no text in any encoding."""
    text = json.dumps(value, indent=2, ensure_ascii=False)
    try:
        text.encode(encoding)
    except UnicodeEncodeError:
        text = json.dumps(value, indent=2)
    return text


def picked(value: object, *names: str) -> dict[str, Any]:
    """Some of a value's attributes, by their names."""
    return {name: getattr(value, name) for name in names}
