"""What pages have of benchmarks/table.csv and benchmarks/published.csv, made of these files.

A table of a page, or a listing, is what stands between two comments: `<!-- make bench: NAME -->`,
NAME being a key of BLOCKS, and `<!-- make bench: end -->`. A figure in a sentence, or in a listing
that is run, is named in FIGURES by the words around it. `make bench` renews all of them;
tests/models/test_benchmarks.py fails where a page says something else than the tables.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

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
_PERSON = "tflm_person_detect_int8"
_GOALS = ("balanced", "speed", "size", "ram")
# The code that was both timed on the board and counted here: how much longer the board takes.
_CALIBRATION = "microTVM + CMSIS-NN"


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

    def peers(self, column: str, of: Callable[[str], bool]) -> dict[str, dict[str, int]]:
        """By name, of those that have a number in this column for a Cortex-M4: the numbers by
        model. of: whether what the cycles are of counts."""
        found: dict[str, dict[str, int]] = {}
        for row in self.published:
            if row["core"] == "cortex-m4" and row[column] and of(row["of"]):
                found.setdefault(row["by"], {})[row["model"]] = int(row[column])
        return found


def _is_modelled(of: str) -> bool:
    return of == "modelled"


def _is_of_a_board(of: str) -> bool:
    return of not in ("", "modelled")


# ---- Blocks: the lines that stand between the two comments ----


def _int8(table: Table) -> Iterator[str]:
    """The int8 models on the Cortex-M4."""
    yield "| model | MACs | instructions | for a MAC | cycles | for a MAC | flash | RAM |"
    yield "|---|--:|--:|--:|--:|--:|--:|--:|"
    for line in table.lines.values():
        if line.key[1:] == ("cortex-m4", "balanced") and not line.model.endswith("_f32"):
            cycles = table.cycles(line.model)
            yield (
                f"| {line.model} | {line.macs:,} | {line.instructions:,} | "
                f"{line.instructions / line.macs:.2f} | {cycles:,} | "
                f"{cycles / line.macs:.2f} | {line.flash:,} | {line.ram:,} |"
            )


def _peers(table: Table) -> Iterator[str]:
    """MLPerf Tiny's models beside others: what is modelled, what a board took, flash, RAM."""
    own = {model: table.of(model) for model in _TINY}
    modelled = {model: table.cycles(model) for model in _TINY}
    counted = table.peers("cycles", _is_modelled)
    timed = table.peers("cycles", _is_of_a_board)
    factors = {model: timed[_CALIBRATION][model] / counted[_CALIBRATION][model] for model in _TINY}
    yield f"| int8, Cortex-M4 | {' | '.join(_TINY.values())} |"
    yield "|---|--:|--:|--:|--:|"
    yield "| **Cycles modelled**, millions | | | | |"
    yield from _ranked({"mcu-deploy": modelled, **counted}, _millions)
    yield "| **Cycles timed** on a board, millions | | | | |"
    scaled = [
        f"{_millions(modelled[m])} × {factors[m]:.2f} = {_millions(modelled[m] * factors[m])}"
        for m in _TINY
    ]
    yield f"| *mcu-deploy, modelled × a factor* | {' | '.join(scaled)} |"
    yield from _ranked(timed, _millions)
    for title, field in (
        ("**Flash** of an image, bytes", "flash"),
        ("**RAM** of an image, bytes", "ram"),
        ("**The arena** alone, bytes", "arena"),
    ):
        yield f"| {title} | | | | |"
        ours = {model: getattr(line, field) for model, line in own.items()}
        yield from _ranked({"mcu-deploy": ours, **table.peers(field, lambda of: True)}, _whole)


def _ranked(rows: Mapping[str, Mapping[str, int]], shown: Callable[[float], str]) -> Iterator[str]:
    """Rows of numbers that were got in one way, by name; the least of each model in bold."""
    least = {
        model: min(values[model] for values in rows.values() if model in values) for model in _TINY
    }
    for by, values in sorted(rows.items(), key=lambda row: next(iter(row[1].values()))):
        cells = [
            "" if model not in values
            else f"**{shown(values[model])}**" if values[model] == least[model]
            else shown(values[model])
            for model in _TINY
        ]  # fmt: skip
        yield f"| {by} | {' | '.join(cells)} |"


def _costs(table: Table) -> Iterator[str]:
    """What MLPerf Tiny's models and one without pruned channels take on the Cortex-M4."""
    yield "| int8 model | MACs of the file | built | cycles, millions | for a MAC | flash | RAM |"
    yield "|---|--:|--:|--:|--:|--:|--:|"
    for model, title in {**_TINY, _PERSON: "person detection"}.items():
        line = table.of(model)
        # Nothing is taken out of a model in float32 here; person detection has nothing to take out.
        full = table.of(model.replace("_int8", "_f32")).macs if model in _TINY else line.macs
        yield (
            f"| {title} | {full:,} | {line.macs:,} | {_millions(table.cycles(model))} | "
            f"{table.cycles(model) / line.macs:.2f} | {line.flash:,} | {line.ram:,} |"
        )


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
    "no fpu": _no_fpu,
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
        "docs/notebook.md", rf"\nkws +8{_N}{_N}{_N}{_N}{_N}   (0.\d\d){_N}\n", KWS,
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


def _whole(value: float) -> str:
    return f"{value:,}"
