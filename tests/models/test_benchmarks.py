"""What models cost is what benchmarks/table.csv says: a change shows the numbers that it moves."""

from __future__ import annotations

import csv
import re
from dataclasses import replace
from pathlib import Path

import pytest
from sampling import first

from benchmarks import pages, run, waits
from mcu_deploy.memory_timing import Cache, MemoryTiming

# The sample: what a build takes by default, of each int8 model, on the core of most boards, and of
# one on a board whose flash has wait states, behind three flashes.
_SAMPLE = [
    *((model, "cortex-m4", "balanced") for model in run.INT8),
    ("mlperf_ad_int8", waits.L4R5, "balanced"),
]
_REST = [key for key in run.LINES if key not in _SAMPLE]


@pytest.mark.needs_arm_gcc
@pytest.mark.needs_qemu
@pytest.mark.parametrize(("model", "core", "goal"), first([*_SAMPLE, *_REST], len(_SAMPLE)))
def test_a_model_costs_what_the_table_says(
    model: str, core: str, goal: str, models_dir: Path
) -> None:
    known = run.read()[model, core, goal]
    if known.gcc != run.gcc():
        pytest.skip(
            f"benchmarks/table.csv was measured with gcc {known.gcc}, and {run.gcc()} makes other"
            " code: install that one to compare"
        )
    changes = run.measure(known.key, models_dir).changes(known)
    assert not changes, (
        f"{model} on {core} for {goal}: {', '.join(changes)}. If this is wanted, "
        f'`make bench LINES="{model} {core} {goal}"` (without LINES: all of the table) renews '
        "benchmarks/table.csv: commit it with what changed the numbers."
    )


def test_the_table_has_each_line_once_in_its_order() -> None:
    assert tuple(run.read()) == run.LINES == tuple(dict.fromkeys(run.LINES))
    text = run.TABLE.read_text(encoding="utf-8")
    assert len(text.splitlines()) == 1 + len(run.LINES)


def test_the_pages_have_the_lines_of_the_table() -> None:
    made = dict(pages.renewed(run.read().values(), run.published()))
    assert {"README.md", "index.md", "performance.md", "notebook.md"} <= {p.name for p in made}
    for path, text in made.items():
        assert path.read_text(encoding="utf-8") == text, (
            f"{path.name} has other figures than benchmarks/table.csv: `make bench`, also of one "
            "line alone, renews the pages"
        )


def test_no_page_has_an_older_figure_of_the_demo_s_network() -> None:
    """Which occurs on several pages: what is typed there by hand is off soon."""
    lines = run.read().values()
    right = {
        value
        for line in lines
        for value in (line.instructions, line.cycles, line.flash, line.ram, line.arena, line.live)
    }
    near = [
        value
        for line in lines
        if line.key in [("mlperf_kws_int8", f"cortex-m{n}", "balanced") for n in (4, 7)]
        for value in (line.instructions, line.cycles, line.flash, line.ram)
        if value is not None
    ]
    for path in pages.pages():
        typed = pages.BLOCK.sub("", path.read_text(encoding="utf-8"))
        typed = re.sub(r"saves [\d,]+ of [\d,]+ cycles", "", typed)  # cycles, as many as bytes
        for text in re.findall(r"(?<![\d,.])\d{1,3}(?:,\d{3})+(?![\d,])", typed):
            number = int(text.replace(",", ""))
            assert number in right or not any(abs(number - v) < 0.01 * v for v in near), (
                f"{path.name} says {text}, which looks like a figure of keyword spotting that was: "
                "make it one of FIGURES in benchmarks/pages.py, or of a table there"
            )


def test_a_figure_is_found_once_and_keeps_its_width() -> None:
    table = pages.Table(run.read().values(), run.published())
    figure = pages.Figure("x.md", r"flash( *[\d,]+) of", pages.KWS, ("flash",))
    flash = table.of("mlperf_kws_int8").flash
    assert figure.renew("flash      1 of", table) == f"flash{flash:>7,} of"
    with pytest.raises(AssertionError, match="0 places"):
        figure.renew("RAM 1 of", table)


def test_a_change_of_over_one_percent_is_told_in_both_directions() -> None:
    line = run.Line("m", "cortex-m4", "speed", 1000, 2000, 300, 400, 100, 70, 80, 50, "12.2.1")
    near = replace(line, instructions=1010, cycles=1981, stack=101)
    assert near.changes(line) == line.changes(line) == []
    far = replace(line, instructions=1011, cycles=1970, ram=400)
    assert far.changes(line) == [
        "instructions 1,011 and not 1,000 (+1.1%)",
        "cycles 1,970 and not 2,000 (-1.5%)",
    ]
    assert replace(line, cycles=None).changes(replace(line, cycles=None)) == []
    assert replace(line, cycles=None).changes(line) == ["cycles: there are none, and were 2,000"]
    assert line.changes(replace(line, cycles=None)) == ["cycles 2,000, and there were none"]
    slow = replace(line, l4r5=3000, f407=3000)
    assert replace(slow, l4r5=3030, f407=3031).changes(slow) == ["f407 3,031 and not 3,000 (+1.0%)"]


def test_the_flashes_are_those_of_the_manuals() -> None:
    """As the boards' files have them, which cite; the laboratory's page calls two of them A and
    C."""
    assert waits.flashes(waits.L4R5) == {
        "l4r5": MemoryTiming(5, 8, Cache(32, 32, 32, "lru"), Cache(8, 32, 8, "lru"), prefetch=True),
        "l4r5_no_prefetch": MemoryTiming(5, 8, Cache(32, 32, 32, "lru"), Cache(8, 32, 8, "lru")),
        "f407": MemoryTiming(5, 16, Cache(64, 16, 64, "lru"), Cache(8, 16, 8, "lru"), True),
    }
    f746 = waits.flashes(waits.F746)
    assert {(timing.wait_states, timing.read_bytes) for timing in f746.values()} == {(7, 32)}
    caches = [timing.instruction_cache for timing in f746.values()]
    assert [cache and cache.bytes for cache in caches] == [4096, 2048]
    assert (*waits.flashes(waits.L4R5), *f746) == waits.COLUMNS
    assert {column: waits.board_of(column) for column in waits.COLUMNS} == {
        **dict.fromkeys(waits.flashes(waits.L4R5), waits.L4R5), **dict.fromkeys(f746, waits.F746)
    }  # fmt: skip


def test_a_line_has_cycles_behind_the_flashes_of_its_board_alone() -> None:
    for line in run.read().values():
        found = [column for column in waits.COLUMNS if getattr(line, column) is not None]
        assert found == [*waits.flashes(line.core)] if line.core in waits.BOARDS else not found
        assert all(getattr(line, column) > (line.cycles or 0) for column in found)


def test_the_first_page_s_milliseconds_are_of_the_table(repository: Path) -> None:
    line = run.read()["mlperf_kws_int8", waits.L4R5, "balanced"]
    assert line.l4r5 is not None
    shown = f"{line.l4r5 / 120_000:.1f}"
    for page in ("README.md", "docs/index.md"):
        assert re.search(rf"\| (\*\*)?{shown}(\*\*)? \|", (repository / page).read_text())


def test_the_page_on_costs_has_the_times_of_microtvm(repository: Path) -> None:
    """Its table is that of benchmarks/microtvm.csv, rounded."""
    page = (repository / "docs" / "costs.md").read_text()
    with (repository / "benchmarks" / "microtvm.csv").open() as file:
        rows = [row for row in csv.DictReader(file) if row["board"] == "NUCLEO_L4R5ZI"]
    assert len(rows) == 8
    for row in rows:
        cycles = [int(row[name]) / 1e6 for name in ("published", "without", "modelled")]
        digits = 2 if cycles[0] > 2 else 3
        cells = " | ".join(f"{value:.{digits}f}" for value in cycles)
        off = f"{cycles[2] / cycles[0] - 1:+.1%}"
        assert re.search(rf"\| {re.escape(cells)} \| (\*\*)?{re.escape(off[:-1])} %", page), cells
        assert row["off"] == off
