"""A field test as one Markdown file, for whoever was not there."""

from __future__ import annotations

import shlex
from collections.abc import Iterable, Sequence
from pathlib import Path

from mcu_deploy.api.field_testing import FieldTest, NetworkTest, outputs


def markdown(found: FieldTest) -> str:
    """The whole report. The user's home folder is ~ in it; nothing else of the machine is told but
    the versions of its tools."""
    names = ", ".join(test.name for test in found.networks) or "no network"
    verdict = "passed" if found.passed else "FAILED"
    lines = [f"# Field test of {names} on {found.board}: {verdict}", ""]
    if found.failures:
        lines += ["What failed:", "", *(f"- {_cell(text)}" for text in found.failures), ""]
    facts = [("board", f"{found.title} ({found.core})"), ("port", found.port or "not reached")]
    if found.hello is not None:
        hello = found.hello
        facts += [
            ("the device says", f"{hello.board}, {hello.core}, {hello.clock_hz:,} Hz"),
            ("counter", hello.counter_kind.name.lower()),
            ("line", f"{hello.baud:,} baud, {found.resent} requests repeated"),
            ("self test", "passed" if found.self_test == 0 else f"bits {found.self_test}"),
        ]
    if found.flash is not None:
        version = found.flash.version or "of unknown version"
        facts.append(("flashed by", f"{found.flash.reason} ({version})"))
        facts += [("with", f"`{shlex.join(line)}`") for line in found.flash.lines]
    facts += list(found.tools.items())
    lines += _table(("", ""), facts)
    for test in found.networks:
        lines += ["", f"## {test.name}", "", *_network(test)]
    return "\n".join(lines).replace(str(Path.home()), "~") + "\n"


def _network(test: NetworkTest) -> list[str]:
    lines = [f"Model file {test.source_sha256}, object {test.object_sha256} (SHA-256).", ""]
    if (result := test.validation) is not None:
        lines += [
            f"Validation: {result.verdict}; {result.samples} samples from {result.origin}; "
            f"{result.reference or 'no reference'}; stack {result.stack_used:,} bytes of a bound "
            f"of {result.stack_bound or 0:,}.",
            "",
            *_table(
                ("output", "equal", "RMSE", "worst"),
                [
                    (name, f"{m.equal:.2%}", f"{m.rmse:.3g}", f"{m.worst:.3g}")
                    for name, m in outputs(result)
                ],
            ),
            "",
        ]
        lines += [f"- {_cell(note)}" for note in result.notes]
    if (measured := test.profile) is not None:
        took = "" if test.milliseconds is None else f", {test.milliseconds:,.3f} ms"
        per_mac = f", {measured.total / measured.macs:.2f} per MAC" if measured.macs else ""
        lines += [
            f"One inference: {measured.total:,} {measured.unit}{took} for {measured.macs:,} MACs"
            f"{per_mac}; counted by {measured.source}.",
            "",
            *_table(
                ("layer", "operator", "MACs", measured.unit, "share"),
                [
                    (x.short, x.op, f"{x.macs:,}", f"{x.cost:,}", f"{x.share:.1%}")
                    for x in measured.layers
                ],
            ),
        ]
    return lines


def _table(titles: Sequence[str], rows: Iterable[Sequence[str]]) -> list[str]:
    head = [f"| {' | '.join(titles)} |", f"|{'---|' * len(titles)}"]
    return head + [f"| {' | '.join(map(_cell, row))} |" for row in rows]


def _cell(text: str) -> str:
    """Text from anywhere inside of a table or a list: one line, no column of its own."""
    return " ".join(text.split()).replace("|", "\\|")
