"""Follows SP through the instructions of one function: its frame, and how deep it is at each call.

Both ways of a branch are followed, and where two ways meet with different depths the deeper one
holds. A jump into the middle of another function is followed there, as part of this one: libgcc's
assembly shares code like that, and gcc splits cold parts off.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, replace

from mcu_deploy.elf.disassembly import Disassembled
from mcu_deploy.toolchain.stack.effects import (
    UnknownEffect,
    flow,
    is_as_gcc,
    is_by_lr,
    is_conditional,
    is_ordinary,
    pops_pc,
    saves_lr,
    sets_lr,
    stack_effect,
)
from mcu_deploy.toolchain.stack.image import ImageFunction, LinkedImage
from mcu_deploy.toolchain.stack.switches import targets

# Where ways meet, the depth grows as often as there are ways; in a loop that pushes, for ever.
_MOST_WAYS = 1000
# Functions that do not return, so that what follows a call of them is no code of the caller.
_NO_RETURN = frozenset({"abort", "exit", "_exit", "__assert_func", "__stack_chk_fail"})
# Called with a switch's table behind the call; they return into the case (Thumb-1 only).
_SWITCH_HELPER = "__gnu_thumb1_case_"


@dataclass(frozen=True)
class StackFrame:
    """One function: `peak` bytes at most; calls as (bytes on the stack at the call, address).

    indirect: the depth at the deepest call or jump through a pointer, None where there is none.
    problem: why SP could not be followed; then peak and depths are 0 until `at_least` sets them.
    by_hand: whether it is assembly in the function that moves SP so, of which gcc knows nothing.
    """

    peak: int
    calls: tuple[tuple[int, int], ...]
    indirect: int | None
    problem: str = ""
    by_hand: bool = False

    def at_least(self, size: int) -> StackFrame:
        """The frame where another source says that it has `size` bytes."""
        if not self.problem:
            # Calls keep their depths: these are exact, also where a tail call has freed the frame.
            # A source that knows of more (it never should) is believed for all of them.
            if size <= self.peak:
                return self
            extra = size - self.peak
            return StackFrame(
                size,
                tuple((depth + extra, address) for depth, address in self.calls),
                None if self.indirect is None else self.indirect + extra,
            )
        return replace(
            self,
            peak=size,
            calls=tuple((size, address) for _, address in self.calls),
            indirect=None if self.indirect is None else size,
        )


class _Walk:
    def __init__(self, image: LinkedImage, function: ImageFunction, compiled: bool) -> None:
        self.image = image
        self.function = function
        self.compiled = compiled
        self.depths: dict[int, int] = {}
        # Where LR may hold another address than the function's return, and where that is saved.
        self.lost: set[int] = set()
        self.saved: set[int] = set()
        self.raised: Counter[int] = Counter()
        self.work: list[tuple[int, int, bool]] = []
        self.calls: dict[int, int] = {}
        self.indirect: int | None = None
        self.peak = 0
        self.table: int | None = None

    def run(self) -> StackFrame:
        self.work.append((self.function.address, 0, False))
        self._drain()
        # What no branch reaches is reached through a switch's table; without one it is dead.
        if self.table is not None:
            for address in self._own():
                if address not in self.depths:
                    self.work.append((address, self.table, False))
                    self._drain()
        calls = tuple((depth, address) for address, depth in sorted(self.calls.items()))
        return StackFrame(self.peak, calls, self.indirect)

    def _own(self) -> list[int]:
        return [
            address
            for address in range(self.function.address, self.function.end, 2)
            if address in self.image.instructions
        ]

    def _drain(self) -> None:
        while self.work:
            address, depth, lost = self.work.pop()
            known = self.depths.get(address, -1)
            if depth <= known and (not lost or address in self.lost):
                continue
            depth = max(depth, known)
            if lost:
                self.lost.add(address)
            self.raised[address] += 1
            if self.raised[address] > _MOST_WAYS:
                raise UnknownEffect("its stack grows in a loop")
            self.depths[address] = depth
            instruction = self.image.instructions.get(address)
            if instruction is None:
                raise UnknownEffect(f"there is no code at {address:#x}")
            self._step(instruction, depth)

    def _step(self, instruction: Disassembled, before: int) -> None:
        if is_ordinary(instruction):
            self.peak = max(self.peak, before)
            if not self._ends(instruction, None):
                self._go(instruction.next, before, instruction.address in self.lost)
            return
        after = before + stack_effect(instruction)
        lost = self._follow_return(instruction, before)
        self.peak = max(self.peak, after)
        way = flow(instruction)
        falls = way.falls and not self._ends(instruction, way.calls)
        if way.calls is not None:
            callee = self.image.entry_at(way.calls)
            if callee is None:  # a subroutine inside of an assembly function
                self.work.append((way.calls, after, False))
            else:
                self.calls[way.calls] = max(self.calls.get(way.calls, 0), after)
                if callee.name.startswith(_SWITCH_HELPER):
                    self.table, falls = max(self.table or 0, after), False
        if way.indirect_jump or way.table:
            self._jump(instruction, after, way.table, lost)
        if way.indirect_call:
            self.indirect = max(self.indirect or 0, after)
        if way.literal is not None:
            target = self.image.word(way.literal)
            if target is None:
                raise UnknownEffect(f"`{instruction}` reads its target from nowhere")
            self._go(target & ~1, after, lost)
        if way.jumps is not None:
            self._go(way.jumps, after, lost)
        if falls:
            # An instruction that may be skipped leaves the deeper of both depths.
            depth = max(before, after) if is_conditional(instruction) else after
            self._go(instruction.next, depth, lost)

    def _follow_return(self, instruction: Disassembled, before: int) -> bool:
        """Whether LR is lost behind an instruction. What returns to another place than the caller
        is a jump through a pointer; the C library's assembly is believed."""
        lost = instruction.address in self.lost
        if self.compiled:
            slot = pops_pc(instruction, before)
            if (lost and is_by_lr(instruction)) or (slot is not None and slot not in self.saved):
                self.indirect = max(self.indirect or 0, before)
        if not lost and (slot := saves_lr(instruction, before)) is not None:
            self.saved.add(slot)
        now = sets_lr(instruction)
        return lost if now is None else now

    def _jump(self, instruction: Disassembled, depth: int, like_a_switch: bool, lost: bool) -> None:
        """A computed jump: to where the program says; else as a call of whatever it may be. What
        the C library has in assembly, which states nothing, is taken for a switch of its own."""
        known = targets(self.image, self.function, instruction)
        for target in known:
            self._go(target, depth, lost)
        if known:
            return
        if like_a_switch and not self.compiled:
            self.table = max(self.table or 0, depth)
        else:
            self.indirect = max(self.indirect or 0, depth)

    def _ends(self, instruction: Disassembled, called: int | None) -> bool:
        """Whether control cannot reach the next address: the code after a call ends there."""
        if instruction.next in self.image.instructions and instruction.next != self.function.end:
            return False
        if self.compiled:  # gcc's functions never run on into the next one
            return True
        callee = None if called is None else self.image.function_at(called)
        return callee is not None and not _NO_RETURN.isdisjoint(callee.names)

    def _go(self, address: int, depth: int, lost: bool) -> None:
        entry = self.image.entry_at(address)
        if entry is None or entry is self.function or entry.name.endswith(".cold"):
            self.work.append((address, depth, lost))
        else:  # a tail call
            self.calls[address] = max(self.calls.get(address, 0), depth)


def walk(image: LinkedImage, function: ImageFunction, *, compiled: bool) -> StackFrame:
    """The frame of `function` by its instructions.

    compiled: gcc's call graph knows the function, so it has no fall-through into the next one.
    """
    try:
        return _Walk(image, function, compiled).run()
    except UnknownEffect as problem:
        return _scan(image, function, compiled, str(problem))


def _scan(image: LinkedImage, function: ImageFunction, compiled: bool, problem: str) -> StackFrame:
    """All calls of a function whose SP cannot be followed."""
    calls: dict[int, int] = {}
    indirect: int | None = None
    set_by: list[Disassembled] = []
    for address in range(function.address, function.end, 2):
        instruction = image.instructions.get(address)
        if instruction is None:
            continue
        if (unknown := _unknown(instruction)) is not None:
            set_by.append(instruction)
            problem = problem if is_as_gcc(instruction) else unknown
        way = flow(instruction)
        if way.calls is not None:
            calls[way.calls] = 0
        if way.jumps is not None and not function.address <= way.jumps < function.end:
            calls[way.jumps] = 0
        if way.literal is not None and (target := image.word(way.literal)) is not None:
            calls[target & ~1] = 0
        jumps = way.indirect_jump or (way.table and compiled)
        if way.indirect_call or (jumps and not targets(image, function, instruction)):
            indirect = 0
    # Where no instruction sets SP, a loop moves it: gcc makes none that does.
    by_hand = not set_by or not all(map(is_as_gcc, set_by))
    at = tuple((0, address) for address in sorted(calls))
    return StackFrame(0, at, indirect, problem, by_hand)


def _unknown(instruction: Disassembled) -> str | None:
    """Why it cannot be told what an instruction does to SP; None where it can."""
    try:
        stack_effect(instruction)
    except UnknownEffect as problem:
        return str(problem)
    return None
