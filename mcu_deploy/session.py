"""What lives longer than one compile: the registry of backends.

Arm NN's runtime, in an ahead-of-time compiler (document 003). A session is a context manager, and
sessions in different threads share nothing.
"""

from __future__ import annotations

from collections.abc import Sequence
from types import TracebackType

from mcu_deploy.backends.interface import Backend
from mcu_deploy.backends.registry import Registry


class Session:
    """Owns a registry of backends for one or more compiles."""

    def __init__(self, registry: Registry | None = None) -> None:
        self.registry = registry if registry is not None else Registry.builtin()

    def __enter__(self) -> Session:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        return None

    def preference(self, core: str, named: Sequence[str] = ()) -> tuple[Backend, ...]:
        """The backends in order of preference: those named, or the core's default order.

        Raises UsageError for a name that is unknown or not for the core.
        """
        return self.registry.named(named, core) if named else self.registry.preference(core)
