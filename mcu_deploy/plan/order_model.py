"""What the order of steps is judged by: which bytes live while a task runs, and after it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import reduce
from operator import or_
from typing import NamedTuple

# (task, buffer that it reads, buffer that it writes) -> how far behind it reads, in bytes.
Shares = Mapping[tuple[int, int, int], int]


@dataclass(frozen=True)
class Task:
    """A step of a network.

    reads, writes: numbers of buffers. scratch: bytes that live during the step alone. after: tasks
    that must come before, beside those that follow from reads and writes.
    """

    reads: frozenset[int]
    writes: frozenset[int]
    scratch: int = 0
    after: frozenset[int] = frozenset()


class _Touched(NamedTuple):
    """A buffer as a task sees it. Sets of tasks are bit masks.

    new: bytes that it adds where nobody wrote it before, of an input 0. freed: bytes that go where
    nobody needs it any more, of a kept one 0.
    """

    new: int
    freed: int
    users: int  # who reads or writes it
    writers: int


class TaskMemory:
    """The memory facts of tasks whose numbers are a valid order. A state is the set of done tasks.

    A buffer lives from its first writer (an input: from the start) to its last user (a kept one: to
    the end). So what lives after a set of tasks does not depend on the order in which they ran,
    which is what lets the searches forget it.
    """

    def __init__(
        self, tasks: Sequence[Task], sizes: Sequence[int], inputs: frozenset[int],
        kept: frozenset[int], shares: Shares,
    ) -> None:  # fmt: skip
        self.count = len(tasks)
        users: dict[int, int] = {}
        writers: dict[int, int] = {}
        self.before = [0] * len(tasks)
        for number, task in enumerate(tasks):
            before = _mask(task.after)
            # In this order: written before read, read and written before written again.
            for buffer in task.reads:
                before |= writers.get(buffer, 0)
            for buffer in task.writes:
                before |= users.get(buffer, 0)
            self.before[number] = before & ~(1 << number)
            for buffer in task.reads | task.writes:
                users[buffer] = users.get(buffer, 0) | 1 << number
            for buffer in task.writes:
                writers[buffer] = writers.get(buffer, 0) | 1 << number
        self.followers: list[list[int]] = [[] for _ in tasks]
        for number, before in enumerate(self.before):
            for earlier in _bits(before):
                self.followers[earlier].append(number)
        self._touched = [
            [
                _Touched(
                    0 if buffer in inputs else sizes[buffer],
                    0 if buffer in kept else sizes[buffer],
                    users[buffer], writers.get(buffer, 0),
                )
                for buffer in sorted(task.reads | task.writes)
            ]
            for task in tasks
        ]  # fmt: skip
        self._scratch = [task.scratch for task in tasks]
        self._needed = [
            sum(sizes[buffer] for buffer in task.reads | task.writes) + task.scratch
            for task in tasks
        ]
        # For each task: (bytes saved, input, its users, output), the largest saving first.
        self._savings: list[list[tuple[int, int, int, int]]] = [[] for _ in tasks]
        for (number, read, written), distance in sorted(shares.items()):
            saved = _saving(sizes[read], sizes[written], distance)
            if saved > 0 and read not in kept and read != written:
                self._savings[number].append((saved, read, users[read], written))
        for savings in self._savings:
            savings.sort(key=lambda saving: (-saving[0], saving[1], saving[3]))
        self._near = [reduce(or_, (b.users for b in touched), 0) for touched in self._touched]
        self._changes: list[dict[int, tuple[int, int]]] = [{} for _ in tasks]
        # All inputs are written before the run, the unread ones too.
        self.start_peak = sum(sizes[buffer] for buffer in inputs)
        self.start_live = sum(
            sizes[buffer] for buffer in inputs if buffer in kept or buffer in users
        )

    def run(self, done: int, live: int, task: int) -> tuple[int, int]:
        """The bytes that live while a task runs, and after it; `live` bytes lived before it."""
        # It depends on few of the done tasks, and the searches ask for the same again and again.
        near = done & self._near[task]
        change = self._changes[task].get(near)
        if change is None:
            change = self._changes[task][near] = self._change(near, task)
        return live + change[0], live + change[1]

    def _change(self, done: int, task: int) -> tuple[int, int]:
        """How many bytes more live while a task runs, and after it, than before it."""
        now = done | 1 << task
        new = freed = 0
        for buffer in self._touched[task]:
            if not buffer.writers & done:
                new += buffer.new
            if not buffer.users & ~now:
                freed += buffer.freed
        return new + self._scratch[task] - self._saved(now, task), new - freed

    def _saved(self, now: int, task: int) -> int:
        """What the task's outputs share with inputs that nobody else reads any more."""
        saved = 0
        taken: set[int] = set()
        for size, read, users, written in self._savings[task]:
            if not users & ~now and read not in taken and ~written not in taken:
                taken |= {read, ~written}  # ~: outputs apart from inputs
                saved += size
        return saved

    def floor(self) -> int:
        """Bytes that no order can do without: those that one task needs at least, or the inputs."""
        most = self.start_peak
        for task, needed in enumerate(self._needed):
            most = max(most, needed - self._saved(-1, task))
        return most

    def is_chain(self) -> bool:
        """Whether each task needs the one before it, so that there is one order only."""
        return all(self.before[task] >> (task - 1) & 1 for task in range(1, self.count))

    def ready(self, done: int, candidates: Iterable[int]) -> list[int]:
        """Those of the candidates that may run now."""
        return [task for task in candidates if not self.before[task] & ~done]

    def next_ready(self, ready: Sequence[int], done: int, task: int) -> list[int]:
        """Who may run after a task that was ready; `done` includes it."""
        new = self.ready(done, self.followers[task])
        return sorted([other for other in ready if other != task] + new)


def _saving(read: int, written: int, distance: int) -> int:
    """Bytes that an output saves by starting `distance` below its input."""
    return max(0, read + written - max(written, read, read + distance))


def _mask(tasks: Iterable[int]) -> int:
    mask = 0
    for task in tasks:
        mask |= 1 << task
    return mask


def _bits(mask: int) -> Iterator[int]:
    while mask:
        lowest = mask & -mask
        yield lowest.bit_length() - 1
        mask ^= lowest
