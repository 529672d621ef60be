"""What stands against compiling a model, as one answer: nodes first, then shapes and types."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from mcu_deploy.errors import ModelError, Refusal, one_line, shorten

# One answer is to fit on a screen.
_MOST_LINES = 15
_MOST_LETTERS = 1200
_MOST_SENTENCES = 5
_MOST_NAMES = 3

NO_BACKEND = "no backend has this operator"


@dataclass(frozen=True)
class Obstacle:
    """A node that cannot be compiled: its operator as people read it, its name, and a clause.

    weak: where no backend has the operator, `lacking` is the reason instead. An empty reason is
    that of a node that is only behind another obstacle.
    """

    operator: str
    node: str
    reason: str
    weak: bool = False
    lacking: str = NO_BACKEND


def settled(found: Iterable[Obstacle], known: Collection[str]) -> list[Obstacle]:
    """Obstacles of an importer, now that the operators of the backends are known."""
    answer = []
    for item in found:
        if item.weak and item.operator not in known:
            answer.append(replace(item, reason=item.lacking))
        elif item.reason:
            answer.append(item)
    return answer


def refusal(nodes: Sequence[Obstacle], sentences: Sequence[str]) -> ModelError:
    """The error that tells all of it."""
    told = [one_line(sentence) for sentence in sentences[:_MOST_SENTENCES]]
    if len(sentences) > _MOST_SENTENCES:
        told.append(f"And {len(sentences) - _MOST_SENTENCES} more of this kind.")
    if not nodes:
        if len(told) == 1:
            return ModelError(told[0])
        text = f"The model cannot be compiled:\n{_indented(told)}"
        return Refusal(text, problems=tuple(map(one_line, sentences)))
    count = "1 node" if len(nodes) == 1 else f"{len(nodes)} nodes"
    text = (
        f"{count} of the model cannot be computed:\n{_indented(_lines(nodes))}\nChange the model "
        "where a reason says how, replace these operators, or add a backend that computes them "
        "(`mcu-deploy operators` lists what there is)."
    )
    return Refusal(
        f"{text}\nBeside that:\n{_indented(told)}" if told else text,
        tuple(
            (one_line(item.operator, 80), one_line(item.node), one_line(item.reason))
            for item in dict.fromkeys(nodes)
        ),
        tuple(map(one_line, sentences)),
    )


def _indented(lines: Iterable[str]) -> str:
    return "\n".join(f"  {line}" for line in lines)


def _lines(nodes: Sequence[Obstacle]) -> list[str]:
    """A line for each operator and reason."""
    groups: dict[tuple[str, str], list[str]] = {}
    for item in dict.fromkeys(nodes):
        groups.setdefault((one_line(item.operator, 80), one_line(item.reason)), []).append(
            item.node
        )
    lines = [
        f"{operator} {shorten(names[0])!r}: {reason}"
        if len(names) == 1
        else f"{operator}: {len(names)} nodes, {listed(names)}: {reason}"
        for (operator, reason), names in groups.items()
    ]
    shown = 0
    while shown < len(lines) and (shown < 2 or sum(map(len, lines[: shown + 1])) <= _MOST_LETTERS):
        shown += 1
    if shown == len(lines) <= _MOST_LINES:
        return lines
    shown = min(shown, _MOST_LINES - 1)
    rest = sum(len(names) for names in list(groups.values())[shown:])
    return [*lines[:shown], f"and {rest} more node{'s' if rest > 1 else ''}"]


def tensors(clauses: Mapping[str, Sequence[str]]) -> tuple[str, ...]:
    """Sentences about tensors. clauses: for "has elements of type X; ..." the tensors' names."""
    return tuple(
        f"The tensor {shorten(names[0])!r} {clause}."
        if len(names) == 1
        else f"{len(names)} tensors, {listed(names)}: each {clause}."
        for clause, names in clauses.items()
    )


def listed(names: Sequence[str]) -> str:
    """The first names of many, in a sentence."""
    quoted = [repr(shorten(name, 50)) for name in names[: _MOST_NAMES + 1]]
    if len(quoted) > _MOST_NAMES:
        return f"such as {', '.join(quoted[:_MOST_NAMES])}"
    return ", ".join(quoted[:-1]) + f" and {quoted[-1]}"
