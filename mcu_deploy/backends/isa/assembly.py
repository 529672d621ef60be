"""A kernel's instructions in their order, and how often each runs: its code and its price in one.

Instructions are values, made by calls that are named for their mnemonics: `code.smlad(acc, w, x,
acc)`, `code.vmul_f32(y, x, factor)`, `code.and_(x, x, mask)`. Their registers are names that the
allocator binds (`code.registers("acc w x")`).
"""

from __future__ import annotations

import functools
import hashlib
import itertools
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from typing import Any, TypeVar

from mcu_deploy.backends.isa.allocation import allocated
from mcu_deploy.backends.isa.encoding import addresses, require_near
from mcu_deploy.backends.isa.framing import framing
from mcu_deploy.backends.isa.instruction import Instruction, Item, Note, printed
from mcu_deploy.backends.isa.model import Model
from mcu_deploy.backends.isa.models import MODELS
from mcu_deploy.backends.isa.operands import Kind, Label, Operand, Register, Registers, physical
from mcu_deploy.backends.isa.pricing import estimated, shares
from mcu_deploy.backends.isa.ranges import encodable, is_constant
from mcu_deploy.backends.isa.table import row_of
from mcu_deploy.backends.isa.waiting import Executed, Loop, Reads, waiting
from mcu_deploy.backends.layer import Target

T = TypeVar("T")

_LARGEST_ADDED = 4095
_ARGUMENTS = ("r0", "r1", "r2", "r3", "r12")


class Assembly:
    """Instructions, labels and notes, for cores that have what the one of `model` has.

    An instruction that the table does not have for it is a ValueError.
    """

    def __init__(self, model: Model = MODELS["cortex-m4"]) -> None:
        self._items: list[Item] = []
        self._times: list[float] = []  # that each item runs
        self._taken: list[float] = []  # of that, times that a branch with a condition is taken
        self._loops: list[Loop] = []  # by items
        self._detours: dict[int, int] = {}  # by the number of a loop: the last item of its detour
        self._reads: list[Reads] = []
        self._model = model
        self._often = 1.0
        self._found: dict[tuple[str, int], Any] = {}
        self._labels = self._names = 0

    def registers(
        self, names: str, *places: str, kind: Kind = Kind.CORE, region: str = ""
    ) -> list[Register]:
        """New registers that are called so, of names with spaces between them. places: those of
        the core that they are, where they are pinned. region: as `Register` has it."""
        return self._all(names, places, kind, _line(2), region)

    def _all(
        self, names: str, places: Sequence[str], kind: Kind, asked: str, region: str = ""
    ) -> list[Register]:
        wanted = names.split()
        pins: list[Register | None] = [physical(place) for place in places]
        pins = pins or [None] * len(wanted)
        return [
            self._named(n, kind, pin, asked, region) for n, pin in zip(wanted, pins, strict=True)
        ]

    def register(
        self, name: str, place: str = "", kind: Kind = Kind.CORE, region: str = ""
    ) -> Register:
        """A new register; see `registers`."""
        return self._named(name, kind, physical(place) if place else None, _line(2), region)

    def _named(
        self, name: str, kind: Kind, pin: Register | None, asked: str, region: str
    ) -> Register:
        self._names += 1
        return _register(self._names, name, kind, pin, asked, region)

    def arguments(self, names: str) -> list[Register]:
        """The registers of a function's arguments, called so: r0 to r3, where a caller leaves them,
        and r12, to which the prologue loads a fifth."""
        return self._all(names, _ARGUMENTS[: len(names.split())], Kind.CORE, _line(2))

    def __getattr__(self, mnemonic: str) -> Callable[..., None]:
        """Adds an instruction of that name with such operands; a list of registers is a list."""
        if mnemonic.startswith("__"):
            raise AttributeError(mnemonic)
        # From now on it is a method, which is found in half the time.
        adding = _adding(mnemonic.rstrip("_").replace("_", "."))
        setattr(Assembly, mnemonic, adding)
        return functools.partial(adding, self)

    def note(self, text: str) -> None:
        """A comment in the C text, for who reads the function. It is a part of the text by which
        functions are known to be equal, so it says nothing of one layer alone."""
        self._add(Note(text))

    def add_instruction(self, instruction: Instruction, taken: float = 0.0) -> None:
        """taken: of a branch with a condition, in which share of its executions it is taken."""
        row_of(instruction.mnemonic, self._model.core, self._model.column)
        self._add(encodable(instruction), taken)

    def _add(self, item: Item, taken: float = 0.0) -> None:
        self._items.append(item)
        self._times.append(self._often)
        self._taken.append(taken)

    def reads(self, constant_bytes: int, each: int = 8, streams: int = 1) -> None:
        """Here a run reads so many bytes of constants, in their order, `each` of them by an
        instruction. streams: how many of the times are with bytes of their own. For the price
        alone."""
        self._reads.append(Reads(constant_bytes, self._often / streams, each, streams))

    def time(self, target: Target) -> int:
        """The cycles of a call on a target, with those that it waits for the memory that code and
        constants lie in. Where nobody knows the core's time, it is that of `model`."""
        model = self._model_of(target)
        called = framing(self.items, model, target.fpu)
        return round(called + self._issued(model) + self.waits(target))

    @property
    def cycles(self) -> float:
        """Of a run on the core of `model`, all memory answering at once."""
        return self._issued(self._model)

    def _model_of(self, target: Target) -> Model:
        return MODELS.get(target.core, self._model)

    def waits(self, target: Target) -> float:
        """The cycles that a call waits, for no code where that lies in RAM."""
        memory = target.memory
        if memory is None or memory.answers_at_once:
            return 0.0
        if target.hot is None or (target.hot and self.digest in target.hot):
            return waiting((), (), self._reads, memory)
        return self._waited(target, self._reads)

    def waited_for_code(self, target: Target) -> float:
        """The cycles of a run in which it waits for its own code in a target's memory."""
        return self._waited(target, ())

    def _issued(self, model: Model) -> float:
        if model.ordering is None:
            each = self._each(model)
            return sum(cost * often for cost, often in zip(each, self._times, strict=True))
        total = estimated(self.items, tuple(self._times), model)
        for loop in self._loops:
            last = self._items[loop.last]
            is_counted = isinstance(last, Instruction) and last.name in ("le", "letp")
            if is_counted:
                total += loop.entries * model.counted_left
                continue
            again = max(0.0, loop.times - 1)
            # What goes round once is never predicted to go round again.
            total += loop.entries * (min(1.0, again) * model.left + again * model.taken)
        return total

    def _each(self, model: Model) -> list[float]:
        """The cycles of each item, with those of a branch that is taken by a condition."""
        found = shares(self.items, model)
        return [cost + model.taken * taken for cost, taken in zip(found, self._taken, strict=True)]

    def _waited(self, target: Target, reads: Sequence[Reads]) -> float:
        memory = target.memory
        if memory is None or memory.answers_at_once:
            return 0.0
        items = self.items
        at = _addresses(items)
        of = [*itertools.accumulate((isinstance(i, Instruction) for i in items), initial=0)]
        each = self._each(self._model_of(target))
        code = [
            Executed(at[n], at[n + 1] - at[n], self._times[n], each[n])
            for n, item in enumerate(items) if isinstance(item, Instruction)
        ]  # fmt: skip
        whole = [
            replace(loop, last=self._detours.get(n, loop.last))
            for n, loop in enumerate(self._loops)
        ]
        loops = [replace(loop, first=of[loop.first], last=of[loop.last + 1] - 1) for loop in whole]
        return waiting(code, loops, reads, memory)

    def number(self, register: Register, value: int) -> None:
        """A register becomes a number that is not negative."""
        self.movw(register, value & 0xFFFF)
        if value >> 16:
            self.movt(register, value >> 16)

    def offset(
        self, register: Register, value: int, free: Register, source: Register | None = None
    ) -> None:
        """A register becomes the source, which is itself if none is given, plus any number. Where
        that is too large for an instruction, the register `free` is lost."""
        size, of = abs(value), source or register
        if size > _LARGEST_ADDED:
            self.number(free, size)
        if value or of is not register:
            amount = free if size > _LARGEST_ADDED else size
            (self.sub if value < 0 else self.add)(register, of, amount)

    def compare(self, register: Register, value: int, free: Register) -> None:
        """Compares a register with a number that is not negative. Where that is too large for an
        instruction, the register `free` is lost."""
        is_near = is_constant("cmp", value)
        if not is_near:
            self.number(free, value)
        self.cmp(register, value if is_near else free)

    @property
    def items(self) -> tuple[Item, ...]:
        """Instructions, whose registers all have their places, labels and notes."""
        narrow = self._model.is_narrow
        return self._once("items", lambda: _bound(tuple(self._items), narrow))

    def _once(self, what: str, find: Callable[[], T]) -> T:
        """What follows from all that was added, found once until more is."""
        key = what, len(self._items)
        if key not in self._found:
            self._found[key] = find()
        found: T = self._found[key]
        return found

    @property
    def bytes(self) -> int:
        """Of the code, all encodings taken as short as they can be."""
        return _addresses(self.items)[-1]

    def longest_loop(self, runs: float = 0) -> int:
        """The bytes of the longest loop of `repeat` whose body runs more often than so."""
        at = _addresses(self.items)
        return max(
            (at[loop.last + 1] - at[loop.first] for loop in self._loops
             if loop.entries * loop.times > runs), default=0,
        )  # fmt: skip

    @contextmanager
    def repeat(self, times: float, again: str = "bne") -> Iterator[None]:
        """A loop, which runs so often, or does on average. Its instructions end with what sets the
        flags; the branch is added."""
        label, first, entries = self.label(), len(self._items), self._often
        self.place(label)
        self._often *= times
        yield
        branch = Instruction(again, (label,))
        # It is taken but for the last time; one without a condition always is.
        self.add_instruction(branch, (times - 1) / times if branch.condition else 0.0)
        self._loops.append(Loop(first, len(self._items) - 1, entries, times))
        self._often = entries

    @contextmanager
    def counted(self, times: float, count: Register | int, elements: int = 0) -> Iterator[None]:
        """A loop that LR counts, where cores have that (LE), so often as `count` says, which is not
        0; with a size of elements in bits, until so many of them are done, the last round without
        what is too many (tail predication)."""
        label, begin = self.label(), f"dlstp.{elements}" if elements else "dls"
        left = self.register("rounds_left", "lr")
        if isinstance(count, int):
            self.number(left, count)
            count = left
        self.add_instruction(Instruction(begin, (left, count)))
        first, entries = len(self._items), self._often
        self.place(label)
        self._often *= times
        yield
        self.add_instruction(Instruction("letp" if elements else "le", (left, label)))
        self._loops.append(Loop(first, len(self._items) - 1, entries, times))
        self._often = entries

    def unroll(
        self, times: int, most: int, body: Callable[[], None], again: Callable[[], None]
    ) -> None:
        """`body` so often: each by itself, or where these are more than `most`, half as many in a
        loop, behind those that it leaves. again: adds what sets the flags of its branch."""
        together = most // 2
        has_loop = times > most
        for _ in range(times % together if has_loop else times):
            body()
        if has_loop:
            with self.repeat(times // together):
                for _ in range(together):
                    body()
                again()

    @contextmanager
    def times(self, times: float) -> Iterator[None]:
        """Instructions that run so often for each run of those around them, by their own
        branches."""
        outside, first = self._often, len(self._items)
        self._often *= times
        yield
        if times > 1 and len(self._items) > first:
            self._loops.append(Loop(first, len(self._items) - 1, outside, times))
        self._often = outside

    @contextmanager
    def detour(self, times: float) -> Iterator[None]:
        """Instructions that run so often, to which the loop before them jumps, and which come back
        to it: they take its place in a cache."""
        loop = len(self._loops) - 1
        with self.times(times):
            yield
        self._detours[loop] = len(self._items) - 1

    @contextmanager
    def rarely(self) -> Iterator[None]:
        """Instructions that hardly ever run."""
        with self.times(0):
            yield

    def label(self) -> Label:
        """A new label, which `place` puts somewhere."""
        self._labels += 1
        return Label(self._labels)

    def place(self, label: Label | str) -> None:
        """The label is here: branches to it go on with what follows."""
        self._add(Label(label))

    @property
    def digest(self) -> str:
        """Of the text, to know equal functions by."""
        return self._once("digest", lambda: _digest(self.items))


def _line(above: int) -> str:
    """Where the code so many calls above runs, as "file:line"."""
    frame = sys._getframe(above)
    return f"{frame.f_code.co_filename}:{frame.f_lineno}"


def _adding(mnemonic: str) -> Callable[..., None]:
    """What adds instructions of a mnemonic to code."""

    def add(code: Assembly, *operands: Any, to: Sequence[Label] = ()) -> None:
        targets = tuple(to) if to else ()
        try:
            instruction = _instruction(mnemonic, operands, targets)
        except TypeError:  # a list has no hash
            instruction = _instruction(mnemonic, _listed(operands), targets)
        code.add_instruction(instruction)

    return add


def _listed(operands: Sequence[Any]) -> tuple[Operand, ...]:
    """Lists of registers are operands of their own."""
    return tuple(Registers(tuple(o)) if type(o) in (list, tuple) else o for o in operands)


# Many kernels are the same, of layers that are alike and of proposals that share a function. So the
# n-th register of a kernel is one value in all that ask for it at the same place, instructions that
# are the same are one, and what follows from all of a kernel's is found once.


@functools.lru_cache(1 << 14)
def _register(
    number: int, name: str, kind: Kind, pin: Register | None, asked: str, region: str
) -> Register:
    place = pin.place if pin else None
    return Register(name, pin.kind if pin else kind, place, asked, region=region)


@functools.lru_cache(1 << 16)
def _instruction(
    mnemonic: str, operands: tuple[Operand, ...], targets: tuple[Label, ...]
) -> Instruction:
    if any(type(operand) is tuple for operand in operands):
        return _instruction(mnemonic, _listed(operands), targets)
    return Instruction(mnemonic, operands, targets)


@functools.lru_cache(1 << 8)
def _bound(items: tuple[Item, ...], is_narrow: bool) -> tuple[Item, ...]:
    return tuple(allocated(items, is_narrow))


@functools.lru_cache(1 << 8)
def _addresses(items: tuple[Item, ...]) -> list[int]:
    at = addresses(items)
    require_near(items, at)
    return at


@functools.lru_cache(1 << 8)
def _digest(items: tuple[Item, ...]) -> str:
    return hashlib.sha256("\n".join(printed(items)).encode()).hexdigest()[:16]
