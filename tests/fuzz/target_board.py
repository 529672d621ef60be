"""Board files: their words and numbers changed, lines moved, and any bytes."""

from __future__ import annotations

import random
import re
from pathlib import Path

from fuzz.harness import change_bytes

from mcu_deploy import resources
from mcu_deploy.boards import load_board

SUFFIX = ".toml"
_VALUES = (
    "0", "1", "-1", "3", "0x80000000", "4294967296", "1e400", "nan", "inf", "true", "''", '"x"',
    '"1K"', '"99999999999999999999G"', "[]", "{}", "[[]]", "1979-05-27", "9" * 5000, "[" * 3000,
    "{a=" * 3000, '"' + "x" * 9000 + '"', '"\\u0000"', '"é\\n"', '"*/"', '"\\u001b[31m"', "#",
    "'''", '"٣K"', "0.5", "_", '[1, "a"]', "{a = 1}", "0b1", "07", "1__0",
)  # fmt: skip


def SEEDS() -> list[bytes]:
    return [path.read_bytes() for path in sorted(resources.boards().glob("*/board.toml"))]


def mutate(choose: random.Random, seed: bytes, seeds: list[bytes]) -> bytes:
    if choose.random() < 0.25:
        return change_bytes(choose, seed, seeds)
    lines = seed.decode().splitlines()
    for _ in range(choose.choice((1, 1, 2, 3))):
        place = choose.randrange(len(lines))
        settings = [i for i, line in enumerate(lines) if re.match(r"\w+ *=", line)]
        way = choose.randrange(6)
        if way <= 2 and settings:
            place = choose.choice(settings)
            key, _, _ = lines[place].partition("=")
            lines[place] = f"{key}= {choose.choice(_VALUES)}"
        elif way == 3:
            del lines[place]
        elif way == 4:
            other = choose.choice(seeds).decode().splitlines()
            lines.insert(place, choose.choice(other))
        else:
            words = re.findall(r"\w+", lines[place]) or ["x"]
            word = choose.choice(words)
            lines[place] = lines[place].replace(
                word, choose.choice((word + "x", word[:-1], "é", "a.b"))
            )
        if not lines:
            break
    return "\n".join(lines).encode()


def read(path: Path) -> None:
    load_board(path)
