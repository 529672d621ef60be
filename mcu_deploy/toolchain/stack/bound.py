"""An upper bound of the stack that a function of a linked program uses, with all that it calls.

Who calls whom is read from the linked code itself, so that it holds for C, for the C library and
for assembly alike. A function's own frame is the larger one of gcc's number in the call graph
(`-fcallgraph-info=su`) and of a walk over its instructions that follows SP; where SP cannot be
followed, `.debug_frame` stands in. (The larger one, since gcc's number leaves out the register
arguments that a variadic function saves.)
Calls through pointers reach the functions that the caller of this module names, and no others;
recursion, alloca and an unnamed indirect call are errors. docs/stack.md has the whole story.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType

from mcu_deploy.errors import FitError
from mcu_deploy.toolchain.stack.callgraph import CompiledFunction, read_callgraphs
from mcu_deploy.toolchain.stack.effects import UnknownEffect
from mcu_deploy.toolchain.stack.frame import StackFrame, walk
from mcu_deploy.toolchain.stack.image import ImageFunction, LinkedImage

_NOTHING: Mapping[str, Sequence[str]] = MappingProxyType({})


# They give stack back and use none themselves.
_UNWINDING = frozenset({"longjmp"})


class StackError(FitError):
    """The stack has no bound that can be computed: recursion, alloca, an unknown call.

    Or its bound is more than there is. functions: those whose code is the reason; reason: what is
    wrong with them, where the message says something else.
    """

    def __init__(self, message: str, functions: Sequence[str] = (), reason: str = "") -> None:
        super().__init__(message)
        self.functions = tuple(functions)
        self.reason = reason or message


@dataclass(frozen=True)
class StackBound:
    """The most stack, in bytes, below the caller's SP that `entry` uses.

    path: the calls that need the most: (function, bytes on the stack when it calls the next one).
    unknown: functions of which nothing is known and that count as 0 (host programs only).
    """

    entry: str
    path: tuple[tuple[str, int], ...]
    unknown: tuple[str, ...] = ()

    @property
    def bytes(self) -> int:
        return sum(size for _, size in self.path)

    def error(self, message: str, room: int) -> StackError:
        """For a stack of which only `room` bytes are there: the largest frame on the way is why."""
        function, size = max(self.path, key=lambda call: call[1])
        return StackError(
            message, [function],
            f"its function {function} takes {size:,} bytes of the stack, which has {room:,} for "
            "all functions together",
        )  # fmt: skip


def recursion(cycle: Sequence[str]) -> StackError:
    """For functions of which each calls the next, and the last one the first."""
    return StackError(
        "The stack has no bound, since functions call each other in a circle: "
        f"{' -> '.join([*cycle, cycle[0]])}; replace the recursion by a loop.",
        cycle,
    )


def dynamic_frame(function: str) -> StackError:
    """For a function whose frame has no size."""
    return StackError(
        f"The stack has no bound, since {function} takes memory from it by alloca or "
        "for an array of variable length; give the array a fixed size.",
        [function],
    )


def _plain(name: str) -> str:
    """A function's name without what gcc adds to its copies: run.constprop.0, run.isra.0."""
    return name.partition(".")[0]


class StackAnalysis:
    """The call graph of one linked ELF; answers for several entries."""

    def __init__(
        self,
        image: LinkedImage,
        *,
        callgraphs: Sequence[Path],
        indirect: Mapping[str, Sequence[str]] = _NOTHING,
        ignored: Collection[str] = (),
    ) -> None:
        """image: linked, with symbols. callgraphs: the `.ci` files of the C sources in it.

        indirect: by the name of a function that calls through a pointer, the functions that the
        pointer may hold; an empty list says that the pointer is NULL, so nothing is called.
        ignored: functions that count as 0, for those that overflow the stack on purpose.
        """
        self.image = image
        self._indirect = indirect
        self._ignored = frozenset(ignored) | _UNWINDING
        self._compiled: dict[tuple[str, str], list[CompiledFunction]] = {}
        for function in read_callgraphs(callgraphs):
            self._compiled.setdefault((function.file, function.name), []).append(function)
        self._bounds: dict[int, tuple[tuple[str, int], ...]] = {}

    def bound(self, entry: str) -> StackBound:
        """The bound of one function, by its name. Raises StackError where there is none.

        Interrupts are not in it: the handlers run on a stack of their own, and what the hardware
        pushes on the interrupted one is programs.exception_frame_bytes(board).
        """
        return self.bound_at(self._named(entry, f"the entry {entry}"))

    def bound_at(self, function: ImageFunction) -> StackBound:
        """The bound of one function of the image; names of static functions need not be unique."""
        return StackBound(function.name, self._path(function, []))

    def frame(self, name: str) -> int:
        """The stack of one function alone, in bytes."""
        function = self._named(name, name)
        return self._frame(function).peak

    def _named(self, name: str, what: str) -> ImageFunction:
        found = self.image.find(name)
        if len(found) == 1:
            return found[0]
        problem = "is not in" if not found else "is not unique in"
        raise StackError(
            f"The stack cannot be bounded: {what} {problem} {self.image.path.name}; "
            "name a function that the program links."
        )

    def _path(
        self, function: ImageFunction, callers: list[ImageFunction]
    ) -> tuple[tuple[str, int], ...]:
        known = self._bounds.get(function.address)
        if known is not None:
            return known
        if any(_plain(name) in self._ignored for name in function.names):
            return ((function.name, 0),)
        if function in callers:
            raise recursion([item.name for item in callers[callers.index(function) :]])
        frame = self._frame(function)
        deepest: tuple[tuple[str, int], ...] = ((function.name, frame.peak),)
        total = frame.peak
        for depth, callee in self._callees(function, frame):
            below = self._path(callee, [*callers, function])
            needed = depth + sum(size for _, size in below)
            if needed > total:
                total, deepest = needed, ((function.name, depth), *below)
        self._bounds[function.address] = deepest
        return deepest

    def _callees(
        self, function: ImageFunction, frame: StackFrame
    ) -> list[tuple[int, ImageFunction]]:
        callees = []
        for depth, address in frame.calls:
            callee = self.image.function_at(address)
            if callee is None:
                raise StackError(
                    f"The stack cannot be bounded: {function.name} calls {address:#x}, where "
                    f"{self.image.path.name} has no function; give the code there a symbol of "
                    "type function.",
                    [function.name],
                )
            callees.append((depth, callee))
        if frame.indirect is not None:
            names = self._indirect_targets(function)
            callees += [
                (frame.indirect, self._named(name, f"{name}, called by {function.name},"))
                for name in names
            ]
        return callees

    def _indirect_targets(self, function: ImageFunction) -> Sequence[str]:
        for name in function.names:
            for key in (name, _plain(name)):
                if key in self._indirect:
                    return self._indirect[key]
        raise StackError(
            f"The stack cannot be bounded: {function.name} calls through a pointer"
            f"{self._place(function)}, and it is not said which functions the pointer may hold; "
            "name them.",
            [function.name],
        )

    def _place(self, function: ImageFunction) -> str:
        """Where a function calls through a pointer, as far as gcc says it."""
        places = [place for item in self._of(function) for place in item.pointers]
        return f" ({places[0]})" if places and places[0] else ""

    def _of(self, function: ImageFunction) -> list[CompiledFunction]:
        """What gcc says of a function: nothing, where it did not compile it."""
        return [
            item
            for name in function.names
            for item in self._compiled.get((function.file, name), [])
        ]

    def _frame(self, function: ImageFunction) -> StackFrame:
        compiled = self._of(function)
        if any(item.dynamic for item in compiled):
            raise dynamic_frame(function.name)
        try:
            walked = walk(self.image, function, compiled=bool(compiled))
        except UnknownEffect as problem:
            raise StackError(
                f"The stack cannot be bounded: the code of {function.name} cannot be followed "
                f"({problem}).",
                [function.name],
            ) from problem
        # Where gcc says 0 and SP moves, it is assembly that moves it: of a naked function, say.
        known = [
            item.frame
            for item in compiled
            if not walked.problem or (item.frame and not walked.by_hand)
        ]
        # libgcc's assembly has one description for several entries: an upper bound, but a wide one.
        if walked.problem and function.address in self.image.frames:
            known.append(self.image.frames[function.address])
        if walked.problem and not known:
            raise StackError(
                f"The stack cannot be bounded: nothing says how much {function.name} uses "
                f"({walked.problem}); compile it with -fcallgraph-info=su or -g, or move SP by "
                "numbers, and by as much in each round of a loop.",
                [function.name],
            )
        return walked.at_least(max(known, default=0))
