"""Which backends there are. A session owns its copy; sessions do not see each other's."""

from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Callable, Mapping
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
        if backend_id in self.factories:
            raise UsageError(
                f"A backend named {backend_id!r} is registered already. Give it another id."
            )
        return replace(self, factories={**self.factories, backend_id: factory})

    def is_registered(self, backend_id: str) -> bool:
        return backend_id in self.factories

    def create(self, backend_id: str) -> Backend:
        """A new backend object. Raises UsageError for an id that nobody registered."""
        if backend_id not in self.factories:
            raise UsageError(
                f"There is no backend {backend_id!r}. Known are {', '.join(sorted(self.factories))}."
            )
        return self.factories[backend_id]()

    def preference(self, core: str) -> tuple[Backend, ...]:
        """The backends for a core, in the default order: by rank, then by id."""
        made = [factory() for factory in self.factories.values()]
        fitting = [b for b in made if not b.cores or core in b.cores]
        return tuple(sorted(fitting, key=lambda b: (b.rank, b.id)))
