"""What pages have of benchmarks/table.csv, published.csv and microtvm.csv, made of these files.

A table of a page, or a listing, is what stands between two comments: `<!-- make bench: NAME -->`,
NAME being a key of BLOCKS, and `<!-- make bench: end -->`. A figure in a sentence, or in a listing
that is run, is named in FIGURES by the words around it. `make bench` renews all of them;
tests/models/test_benchmarks.py fails where a page says something else than the tables.
"""

from __future__ import annotations

import csv
import re
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from benchmarks import waits

if TYPE_CHECKING:
    from benchmarks.run import Line

Key = tuple[str, str, str]
Published = Sequence[Mapping[str, str]]

REPOSITORY = Path(__file__).resolve().parent.parent
BLOCK = re.compile(
    r"(?P<begin><!-- make bench: (?P<name>[\w ]+) -->\n).*?(?P<end><!-- make bench: end -->)", re.S
)
_TINY = {
    "mlperf_kws_int8": "keyword spotting",
    "mlperf_vww_int8": "visual wake words",
    "mlperf_ic_int8": "image classification",
    "mlperf_ad_int8": "anomaly detection",
}
PERSON = "tflm_person_detect_int8"
_GOALS = ("balanced", "speed", "size", "ram")
_MICROTVM = REPOSITORY / "benchmarks" / "microtvm.csv"


class Table:
    """The lines of the tables, as blocks ask for them."""

    def __init__(self, lines: Collection[Line], published: Published) -> None:
        self.lines = {line.key: line for line in lines}
        self.published = published

    def of(self, model: str, core: str = "cortex-m4", goal: str = "balanced") -> Line:
        return self.lines[model, core, goal]

    def cycles(self, model: str, core: str = "cortex-m4", goal: str = "balanced") -> int:
        cycles = self.of(model, core, goal).cycles
        assert cycles is not None, f"{core} has no timings"
        return cycles

    def waiting(self, model: str, column: str, goal: str = "balanced") -> int:
        """Cycles with the wait states of a flash, by its column."""
        cycles: int | None = getattr(self.of(model, waits.board_of(column), goal), column)
        assert cycles is not None, f"{model} has no {column}"
        return cycles

    def peers(
        self, column: str, of: str | None = None, core: str = "cortex-m4"
    ) -> dict[str, dict[str, int]]:
        """By name, of those that have a number in this column for a core: the numbers by model.
        of: what the cycles are of where that matters, a board or "modelled"."""
        found: dict[str, dict[str, int]] = {}
        for row in self.published:
            if row["core"] == core and row[column] and of in (None, row["of"]):
                found.setdefault(row["by"], {})[row["model"]] = int(row[column])
        return found


def _microtvm() -> dict[str, int]:
    """What the model of waiting says of microTVM's code with CMSIS-NN on the L4R5, by model."""
    with _MICROTVM.open(encoding="utf-8", newline="") as file:
        return {
            f"mlperf_{row['task']}_int8": int(row["modelled"])
            for row in csv.DictReader(file)
            if (row["system"], row["board"]) == ("microtvm_cmsis_nn", "NUCLEO_L4R5ZI")
        }


# ---- Blocks: the lines that stand between the two comments ----


def _int8(table: Table, core: str = "cortex-m4") -> Iterator[str]:
    """The int8 models on a core, by default the Cortex-M4."""
    yield "| model | MACs | instructions | for a MAC | cycles | for a MAC | flash | RAM |"
    yield "|---|--:|--:|--:|--:|--:|--:|--:|"
    for line in table.lines.values():
        if line.key[1:] == (core, "balanced") and not line.model.endswith("_f32"):
            cycles = table.cycles(line.model, core)
            yield (
                f"| {line.model} | {line.macs:,} | {line.instructions:,} | "
                f"{line.instructions / line.macs:.2f} | {cycles:,} | "
                f"{cycles / line.macs:.2f} | {line.flash:,} | {line.ram:,} |"
            )


def _peers(table: Table) -> Iterator[str]:
    """MLPerf Tiny's models beside others: what a board takes, cycles, flash, RAM; ours are of one
    build, for that board."""
    own = {model: table.of(model, waits.L4R5) for model in _TINY}
    at_once = {model: table.cycles(model, waits.L4R5) for model in _TINY}
    modelled = {
        "mcu-deploy, as our start-up sets it": {m: table.waiting(m, "l4r5") for m in _TINY},
        "mcu-deploy, without prefetch": {m: table.waiting(m, "l4r5_no_prefetch") for m in _TINY},
        "microTVM + CMSIS-NN, without prefetch": _microtvm(),
    }
    core, board = waits.TIMED_ON[waits.L4R5]
    yield f"| int8, Cortex-M4 | {' | '.join(_TINY.values())} |"
    yield "|---|--:|--:|--:|--:|"
    yield f"| **Modelled for {board}**, ms | | | | |"
    yield from _ranked(modelled, _on_l4r5)
    yield "| **Timed on that board**, ms | | | | |"
    yield from _ranked(table.peers("cycles", board, core), _on_l4r5)
    yield "| **Modelled without wait states**, millions of cycles | | | | |"
    yield from _ranked({"mcu-deploy": at_once, **table.peers("cycles", "modelled")}, _millions)
    for title, field in (
        ("**Flash** of an image, bytes", "flash"),
        ("**RAM** of an image, bytes", "ram"),
        ("**The arena** alone, bytes", "arena"),
    ):
        yield f"| {title} | | | | |"
        ours = {model: getattr(line, field) for model, line in own.items()}
        yield from _ranked({"mcu-deploy": ours, **table.peers(field)}, _whole)


def _ranked(rows: Mapping[str, Mapping[str, int]], shown: Callable[[float], str]) -> Iterator[str]:
    """Rows of numbers that were got in one way, by name; what is shown of each model as the least
    is bold."""
    least = {
        model: shown(min(values[model] for values in rows.values() if model in values))
        for model in _TINY
    }
    for by, values in sorted(rows.items(), key=lambda row: next(iter(row[1].values()))):
        cells = [
            "" if model not in values
            else f"**{shown(values[model])}**" if shown(values[model]) == least[model]
            else shown(values[model])
            for model in _TINY
        ]  # fmt: skip
        yield f"| {by} | {' | '.join(cells)} |"


def _costs(table: Table) -> Iterator[str]:
    """What MLPerf Tiny's models and one without pruned channels take on NUCLEO-L4R5ZI."""
    yield (
        "| int8 model | MACs of the file | built | cycles, millions | for a MAC | "
        "ms on the board | flash | RAM |"
    )
    yield "|---|--:|--:|--:|--:|--:|--:|--:|"
    for model, title in {**_TINY, PERSON: "person detection"}.items():
        line, cycles = table.of(model, waits.L4R5), table.cycles(model, waits.L4R5)
        # Nothing is taken out of a model in float32 here; person detection has nothing to take out.
        full = table.of(model.replace("_int8", "_f32")).macs if model in _TINY else line.macs
        yield (
            f"| {title} | {full:,} | {line.macs:,} | {_millions(cycles)} | "
            f"{cycles / line.macs:.2f} | {_on_l4r5(table.waiting(model, 'l4r5'))} | "
            f"{line.flash:,} | {line.ram:,} |"
        )


def _l4r5(table: Table) -> Iterator[str]:
    """Cycles of builds for NUCLEO-L4R5ZI behind three flashes."""
    yield "| int8 model | `--optimize-for` | at once | L4R5 | no prefetch | F407 | L4R5, ms |"
    yield "|---|---|--:|--:|--:|--:|--:|"
    yield from _waiting(table, waits.L4R5, [])


def _f746(table: Table) -> Iterator[str]:
    """Cycles of builds for the STM32F746 by its two ways to its flash, and times of others."""
    core, board = waits.TIMED_ON[waits.F746]
    others = table.peers("cycles", board, core)
    titles = " | ".join(f"*{by}*" for by in others)
    yield f"| int8 model | `--optimize-for` | at once | AXI | ITCM | AXI, ms | {titles} |"
    yield f"|---|---|--:|--:|--:|--:|{'--:|' * len(others)}"
    yield from _waiting(table, waits.F746, [*others.values()])


def _m55(table: Table) -> Iterator[str]:
    """The Cortex-M55 beside TFLite-Micro, both modelled."""
    ((by, others),) = table.peers("cycles", "modelled", "cortex-m55").items()
    yield f"| int8 model | instructions | cycles | for a MAC | flash | RAM | *{by}*, cycles | |"
    yield "|---|--:|--:|--:|--:|--:|--:|--:|"
    for model, title in _TINY.items():
        line, cycles = table.of(model, "cortex-m55"), table.cycles(model, "cortex-m55")
        yield (
            f"| {title} | {line.instructions:,} | {cycles:,} | {cycles / line.macs:.2f} | "
            f"{line.flash:,} | {line.ram:,} | {others[model]:,} | {others[model] / cycles:.1f} |"
        )


def _waiting(table: Table, board: str, timed: Sequence[Mapping[str, int]]) -> Iterator[str]:
    for model, title in _TINY.items():
        for goal in ("balanced", "speed"):
            own = [table.waiting(model, column, goal) for column in waits.flashes(board)]
            cells = [_millions(value) for value in (table.cycles(model, board, goal), *own)]
            cells.append(_three(waits.milliseconds(own[0], board)))
            is_first = goal == "balanced"
            cells += [
                _three(waits.milliseconds(by[model], board)) if is_first else "" for by in timed
            ]
            yield f"| {title if is_first else ''} | `{goal}` | {' | '.join(cells)} |"


def _ram(table: Table) -> Iterator[str]:
    """What the planner makes of the tensors."""
    titles = ("tensors and scratch that live at a time", "arena", "RAM with runtime and stack")
    yield f"| int8 model | {' | '.join(titles)} |"
    yield "|---|---:|---:|---:|"
    for model, title in _TINY.items():
        line = table.of(model)
        yield f"| {title} | {line.live:,} | {line.arena:,} | {line.ram:,} |"


def _goals(table: Table) -> Iterator[str]:
    """What each goal takes, and how that is beside balanced."""
    yield "| int8 model | `--optimize-for` | cycles | | flash | | RAM | |"
    yield "|---|---|--:|--:|--:|--:|--:|--:|"
    for model, title in _TINY.items():
        base = table.of(model)
        for goal in _GOALS:
            line = table.of(model, goal=goal)
            cells = [
                f"{now:,} | {'' if goal == 'balanced' else f'{now / then:.2f}'}"
                for now, then in (
                    (table.cycles(model, goal=goal), table.cycles(model)),
                    (line.flash, base.flash),
                    (line.ram, base.ram),
                )
            ]
            yield f"| {title if goal == 'balanced' else ''} | `{goal}` | {' | '.join(cells)} |"


def _no_fpu(table: Table) -> Iterator[str]:
    """A Cortex-M4 with its FPU and one without."""
    yield "| model | with FPU | without | |"
    yield "|---|--:|--:|--:|"
    for model, core, _ in table.lines:
        if core == "cortex-m4-nofpu":
            with_, without = table.cycles(model), table.cycles(model, core)
            yield f"| {model} | {with_:,} | {without:,} | {without / with_:.2f} |"


def _demo(table: Table) -> Iterator[str]:
    """What `mcu-deploy demo` prints where only QEMU is there."""
    line = table.of("mlperf_kws_int8", "cortex-m7")
    yield "```text"
    yield "Keyword spotting (MLPerf Tiny, int8) on mps2-an500, a Cortex-M7 in QEMU; ..."
    yield "sample  class    expected  equal to onnxruntime"
    yield "0       no       no        12 of 12 values"
    yield "1       unknown  unknown   12 of 12 values"
    yield "..."
    yield (
        f"flash {line.flash:,} bytes, RAM {line.ram:,} bytes, {line.instructions:,} instructions "
        f"for {line.macs:,} multiply-accumulates"
    )
    yield "```"


BLOCKS: Mapping[str, Callable[[Table], Iterator[str]]] = {
    "int8": _int8,
    "peers": _peers,
    "costs": _costs,
    "ram": _ram,
    "goals": _goals,
    "l4r5": _l4r5,
    "f746": _f746,
    "m55": _m55,
    "no fpu": _no_fpu,
    "no dsp": lambda table: _int8(table, "cortex-m3"),
    "demo": _demo,
}


# ---- Figures among other text ----


@dataclass(frozen=True)
class Figure:
    """Numbers of a line at one place of a page. pattern: the text there, with a group for each of
    the fields, or "field / field"; another number with a point in it is of thousands."""

    page: str
    pattern: str
    key: Key
    fields: tuple[str, ...]

    def renew(self, text: str, table: Table) -> str:
        """The page's text with the line's numbers, each as wide as the one that was there."""
        found = re.findall(self.pattern, text)
        assert len(found) == 1, f"{self.page} has {len(found)} places like {self.pattern}"
        place = re.search(self.pattern, text)
        assert place is not None
        line = table.of(*self.key)
        for index in range(len(self.fields), 0, -1):
            field, old = self.fields[index - 1], place[index]
            name, _, other = field.partition(" / ")
            value = getattr(line, name)
            _, point, digits = old.partition(".")
            of = getattr(line, other) if other else 1000
            new = f"{value / of:.{len(digits)}f}" if point else f"{value:,}"
            begin, end = place.span(index)
            text = text[:begin] + new.rjust(end - begin) + text[end:]
        return text


_N = r"( *[\d,]+)"
KWS = ("mlperf_kws_int8", "cortex-m4", "balanced")
_IC = ("mlperf_ic_int8", "cortex-m4", "balanced")
FIGURES = (
    Figure(
        "docs/notebook.md", rf"\nkws +\d+{_N}{_N}{_N}{_N}{_N}   (0.\d\d){_N}\n", KWS,
        ("macs", "flash", "ram", "arena", "live", "arena / live", "stack"),
    ),
    Figure(
        "docs/notebook.md",
        r"\ntotal ([\d,]+) instructions for ([\d,]+) MACs, ([\d.]+) per MAC", KWS,
        ("instructions", "macs", "instructions / macs"),
    ),
    Figure(
        "docs/notebook.md",
        r"\ntotal ([\d,]+) modelled cycles for ([\d,]+) MACs, ([\d.]+) per MAC", KWS,
        ("cycles", "macs", "cycles / macs"),
    ),
    Figure(
        "docs/pipeline.md", r"MLPerf Tiny: ([\d,]+) multiply-accumulates become",
        ("mlperf_vww_f32", "cortex-m4", "balanced"), ("macs",),
    ),
    Figure(
        "docs/pipeline.md", r"multiply-accumulates become ([\d,]+),",
        ("mlperf_vww_int8", "cortex-m4", "balanced"), ("macs",),
    ),
    Figure("docs/performance.md", r"34.2 to\n?\s?([\d.]+) KB", _IC, ("arena",)),
    Figure(
        "docs/performance.md", r"fell from 32.7 to ([\d.]+) KB",
        ("micro_kws_m_int8", "cortex-m4", "balanced"), ("ram",),
    ),
)  # fmt: skip


# ---- Pages ----


def pages() -> list[Path]:
    """The pages that may have something of the tables."""
    return [REPOSITORY / "README.md", *sorted((REPOSITORY / "docs").glob("*.md"))]


def renewed(lines: Collection[Line], published: Published) -> Iterator[tuple[Path, str]]:
    """Each page that has something of the tables, and its text as the tables have it."""
    table = Table(lines, published)
    for path in pages():
        text = path.read_text(encoding="utf-8")
        figures = [f for f in FIGURES if REPOSITORY / f.page == path]
        if not figures and "<!-- make bench: " not in text:
            continue
        text = BLOCK.sub(lambda block: _made(block, table), text)
        for figure in figures:
            text = figure.renew(text, table)
        yield path, text


def _made(block: re.Match[str], table: Table) -> str:
    return "\n".join([block["begin"], *BLOCKS[block["name"]](table), "", block["end"]])


def _millions(value: float) -> str:
    """A count with three digits of millions: 0.343, 5.70, 14.4."""
    millions = value / 1e6
    return f"{millions:.{3 if millions < 1 else 2 if millions < 10 else 1}f}"


def _three(value: float) -> str:
    """A time with three digits, or all whole ones: 0.343, 5.70, 14.4, 132."""
    return f"{value:.{3 if value < 1 else 2 if value < 10 else 1 if value < 100 else 0}f}"


def _on_l4r5(cycles: float) -> str:
    return _three(waits.milliseconds(cycles, waits.L4R5))


def _whole(value: float) -> str:
    return f"{value:,}"
