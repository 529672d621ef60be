"""How control goes through a kernel's instructions, and what lives along it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from mcu_deploy.backends.isa.instruction import Instruction, Item
from mcu_deploy.backends.isa.operands import Label


@dataclass(frozen=True)
class Flow:
    """Straight pieces of code, [begin, end) by the items' numbers, and the pieces that may follow
    each. A call of a subroutine goes on in it, and its return to the labels that it states."""

    pieces: tuple[tuple[int, int], ...]
    followers: tuple[tuple[int, ...], ...]

    @staticmethod
    def of(items: Sequence[Item]) -> Flow:
        """ValueError, a sentence: a label is nowhere, or a jump does not say where it goes."""
        ordered = begins(items)
        pieces = tuple(zip(ordered, [*ordered[1:], len(items)], strict=True))
        at_label = {
            items[begin]: n for n, (begin, _) in enumerate(pieces)
            if begin < len(items) and isinstance(items[begin], Label)
        }  # fmt: skip
        followers = []
        for n, (begin, end) in enumerate(pieces):
            last = items[end - 1] if end > begin else None
            after: list[int] = [n + 1] if n + 1 < len(pieces) else []
            if isinstance(last, Instruction):
                if last.name == "bx" and not last.targets and end < len(items):
                    raise ValueError(f"`{last}` does not say which labels it may go to: give `to`")
                if last.ends or last.name == "bl":
                    after = []
                for label in last.jumps_to:
                    if label not in at_label:
                        raise ValueError(f"`{last}` goes to a label that is nowhere")
                    after.append(at_label[label])
            followers.append(tuple(after))
        return Flow(pieces, tuple(followers))

    def live(self, written: Sequence[int], read: Sequence[int], behind: int = 0) -> list[int]:
        """Behind each item, what is read before it is written again. written, read: of each item,
        as bits; behind: what is read behind the last one."""
        generated, killed = [], []
        for begin, end in self.pieces:
            needed = lost = 0
            for at in range(end - 1, begin - 1, -1):
                needed = needed & ~written[at] | read[at]
                lost |= written[at]
            generated.append(needed)
            killed.append(lost)
        into = [0] * len(self.pieces)
        has_changed = True
        while has_changed:
            has_changed = False
            for n in range(len(self.pieces) - 1, -1, -1):
                out = behind if n + 1 == len(self.pieces) else 0
                for follower in self.followers[n]:
                    out |= into[follower]
                new = generated[n] | out & ~killed[n]
                if new != into[n]:
                    into[n], has_changed = new, True
        live = [0] * len(written)
        for n, (begin, end) in enumerate(self.pieces):
            now = behind if n + 1 == len(self.pieces) else 0
            for follower in self.followers[n]:
                now |= into[follower]
            for at in range(end - 1, begin - 1, -1):
                live[at] = now
                now = now & ~written[at] | read[at]
        return live

    @staticmethod
    def entry(written: Sequence[int], read: Sequence[int], live: Sequence[int]) -> int:
        """What lives in front of the first item."""
        return live[0] & ~written[0] | read[0] if live else 0


def begins(items: Sequence[Item]) -> list[int]:
    """The items that begin straight pieces of code: labels, and what is behind jumps."""
    unique = {id(item): item for item in items}
    labels = {key for key, item in unique.items() if isinstance(item, Label)}
    jumps = {
        key for key, item in unique.items()
        if isinstance(item, Instruction) and (item.jumps_to or item.ends)
    }  # fmt: skip
    found = {0}
    for at, key in enumerate(map(id, items)):
        if key in labels:
            found.add(at)
        elif key in jumps:
            found.add(at + 1)
    return sorted(found - {len(items)}) or [0]
