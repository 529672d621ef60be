#!/usr/bin/env python3
"""Counts lines of code, without blanks, comments and docstrings, by folder: code_lines.py [PATH...]

Of the files that git tracks, by default those that ship: Python, C, templates, CMake, TOML.
"""

from __future__ import annotations

import ast
import io
import re
import subprocess
import sys
import tokenize
from collections import Counter
from pathlib import Path

SHIPPED = ("mcu_deploy", "crt", "boards", "cmake", "renode")
HASHED = {".cmake", ".toml", ".ld", ".resc", ".repl", ".sh"}
NO_CODE = {
    tokenize.COMMENT, tokenize.NL, tokenize.NEWLINE, tokenize.INDENT, tokenize.DEDENT,
    tokenize.ENCODING, tokenize.ENDMARKER,
}  # fmt: skip


def python(text: str) -> int:
    lines: set[int] = set()
    for token in tokenize.generate_tokens(io.StringIO(text).readline):
        if token.type not in NO_CODE:
            lines.update(range(token.start[0], token.end[0] + 1))
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef):
            first = node.body[0] if node.body else None
            if (
                isinstance(first, ast.Expr)
                and isinstance(first.value, ast.Constant)
                and isinstance(first.value.value, str)
            ):
                lines.difference_update(range(first.lineno, (first.end_lineno or 0) + 1))
    return len(lines)


def without(pattern: str, text: str) -> str:
    return re.sub(pattern, lambda found: re.sub(r"[^\n]", "", found[0]), text, flags=re.S)


def written(text: str) -> int:
    return sum(bool(line.strip()) for line in text.splitlines())


def count(path: Path) -> int | None:
    """The lines of code of a file; None for one that is no code."""
    text = path.read_text(encoding="utf-8", errors="replace")
    if path.suffix == ".py":
        return python(text)
    if path.suffix in (".c", ".h", ".hpp", ".cpp", ".S", ".j2"):
        text = without(r"\{#.*?#\}", text) if path.suffix == ".j2" else text
        return written(without(r"/\*.*?\*/|//[^\n]*", text))
    if path.suffix in HASHED or path.name == "CMakeLists.txt":
        return written(re.sub(r"(?m)^\s*#.*$", "", text))
    return None


def main() -> None:
    asked = ["git", "ls-files", "--", *(sys.argv[1:] or SHIPPED)]
    files = subprocess.run(asked, capture_output=True, text=True, check=True).stdout.splitlines()
    total: Counter[str] = Counter()
    for path in map(Path, files):
        lines = count(path) if path.is_file() else None
        if lines is not None:
            total["/".join(path.parts[:2])] += lines
    for folder, lines in sorted(total.items()):
        print(f"{lines:7,} {folder}")
    print(f"{total.total():7,} in all")


if __name__ == "__main__":
    main()
