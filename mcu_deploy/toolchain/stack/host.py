"""The stack bound of a network on the host, from gcc's call graphs alone.

The host's C library brings no call graph and its code is not read: its functions count as 0, and
the bound names them. It serves to compare networks, not to prove that a process has enough stack.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

from mcu_deploy.toolchain.stack.bound import StackBound, StackError, dynamic_frame, recursion
from mcu_deploy.toolchain.stack.callgraph import (
    INDIRECT_CALL,
    CompiledFunction,
    is_hook,
    read_callgraphs,
)


def host_stack_bound(entry: str, *, network: Path, callgraphs: Sequence[Path]) -> StackBound:
    """The stack of `entry`, in bytes, return addresses included.

    network: the call graph of the network; its function that nobody calls by name is what the
    descriptor points to, and what an indirect call in `entry` reaches. The hook is NULL. Raises
    StackError for recursion, alloca, and other calls through a pointer in the network."""
    own = read_callgraphs([network])
    functions = {item.title: item for item in (*read_callgraphs(callgraphs), *own)}
    for item in own:
        if pointers := [place for place in item.pointers if not is_hook(place)]:
            raise StackError(
                f"The stack cannot be bounded: {item.name} calls through a pointer "
                f"({pointers[0]}), and it is not said which functions the pointer may hold; call "
                "them by their names.",
                [item.name],
            )
    called = {title for item in own for title in item.calls}
    roots = tuple(item.title for item in own if item.title not in called)
    unknown: set[str] = set()
    path = _path(entry, functions, {entry: roots}, unknown, [])
    return StackBound(entry, path, tuple(sorted(unknown)))


def _path(
    title: str,
    functions: Mapping[str, CompiledFunction],
    indirect: Mapping[str, Sequence[str]],
    unknown: set[str],
    callers: list[str],
) -> tuple[tuple[str, int], ...]:
    function = functions.get(title)
    if function is None:
        unknown.add(title)
        return ()
    if title in callers:
        raise recursion([functions[item].name for item in callers[callers.index(title) :]])
    if function.dynamic:
        raise dynamic_frame(function.name)
    callees = [item for item in function.calls if item != INDIRECT_CALL]
    if INDIRECT_CALL in function.calls:
        callees += indirect.get(title, ())
    below = [_path(item, functions, indirect, unknown, [*callers, title]) for item in callees]
    deepest = max(below, key=lambda path: sum(size for _, size in path), default=())
    return ((function.name, function.frame), *deepest)
