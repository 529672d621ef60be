"""Which backends there are. A session owns its copy; sessions do not see each other's."""

from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace

from mcu_deploy import backends
from mcu_deploy.backends.interface import Backend
from mcu_deploy.errors import UsageError

Factory = Callable[[], Backend]


@dataclass(frozen=True)
class Registry:
    """Factories by backend id."""

    factories: Mapping[str, Factory]

    @classmethod
    def builtin(cls) -> Registry:
        """The backends that ship with mcu-deploy: each folder of `mcu_deploy/backends/`."""
        found: dict[str, Factory] = {}
        for info in sorted(pkgutil.iter_modules(backends.__path__), key=lambda m: m.name):
            if info.ispkg:
                module = importlib.import_module(f"{backends.__name__}.{info.name}")
                found[info.name] = module.create
        return cls(found)

    def with_backend(self, backend_id: str, factory: Factory) -> Registry:
        """A registry with one more backend. Raises UsageError for an id that is taken."""
        if self.is_registered(backend_id):
            raise UsageError(
                f"A backend named {backend_id!r} is registered already. Give it another id."
            )
        return replace(self, factories={**self.factories, backend_id: factory})

    def is_registered(self, backend_id: str) -> bool:
        """Whether there is a factory for this id."""
        return backend_id in self.factories

    def create(self, backend_id: str) -> Backend:
        """A new backend object. Raises UsageError for an id that nobody registered."""
        if not self.is_registered(backend_id):
            known = ", ".join(sorted(self.factories))
            raise UsageError(f"There is no backend {backend_id!r}. Known are {known}.")
        return self.factories[backend_id]()

    def preference(self, core: str) -> tuple[Backend, ...]:
        """The backends for a core, in the default order: by rank, then by id."""
        made = [factory() for factory in self.factories.values()]
        fitting = [b for b in made if is_for(b, core)]
        return tuple(sorted(fitting, key=lambda b: (b.rank, b.id)))

    def named(self, backend_ids: Sequence[str], core: str) -> tuple[Backend, ...]:
        """The backends of these ids, in this order, an id that is repeated once.

        Raises UsageError for an id that nobody registered, and for a backend that is not for the
        core.
        """
        chosen = tuple(self.create(name) for name in dict.fromkeys(backend_ids))
        for backend in chosen:
            if not is_for(backend, core):
                raise UsageError(
                    f"The backend {backend.id!r} is for {', '.join(backend.cores)}, but the board "
                    f"has the core {core!r}. Leave it out, or choose another board."
                )
        return chosen


def is_for(backend: Backend, core: str) -> bool:
    """Whether a backend is for a core ("cortex-m4", or "host")."""
    return not backend.cores or core in backend.cores
