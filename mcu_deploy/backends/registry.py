"""Which backends there are. A session owns its copy; sessions do not see each other's."""

from __future__ import annotations

import importlib
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path

from mcu_deploy import backends
from mcu_deploy.backends.interface import Backend, Factory
from mcu_deploy.errors import RequestError, UsageError, one_line, raised

BUILTIN = "mcu-deploy"


@dataclass(frozen=True)
class Registry:
    """Factories by backend id, and where each comes from.

    skipped: folders that are backends and cannot be used, with the reason, a clause.
    """

    factories: Mapping[str, Factory]
    origins: Mapping[str, str] = field(default_factory=dict)
    skipped: Mapping[Path, str] = field(default_factory=dict)

    @classmethod
    def builtin(cls) -> Registry:
        """The backends that ship with mcu-deploy: each folder of `mcu_deploy/backends/`.

        A folder is a backend when it has a `backend.cmake`; its Python module has `create`. Those
        that were switched off when the package was built are left out, and those that cannot be
        imported are skipped.
        """
        from mcu_deploy.configuration import backends_off

        registry, skipped = cls({}), {}
        off = backends_off()
        for root in map(Path, backends.__path__):
            for marker in sorted(root.glob("*/backend.cmake")):
                name = marker.parent.name
                if name in off:
                    continue
                try:
                    registry = registry.with_backend(name, _factory(name), BUILTIN)
                except _Unusable as reason:
                    skipped[marker.parent] = str(reason)
        return replace(registry, skipped=skipped)

    def with_backend(self, backend_id: str, factory: Factory, origin: str = "") -> Registry:
        """A registry with one more backend. Raises UsageError for an id that is taken."""
        if self.is_registered(backend_id):
            raise UsageError(
                f"A backend named {backend_id!r} is registered already. Give it another id."
            )
        return replace(
            self,
            factories={**self.factories, backend_id: factory},
            origins={**self.origins, backend_id: origin},
        )

    def without(self, backend_id: str) -> Registry:
        """A registry without one backend."""
        return replace(self, factories={k: f for k, f in self.factories.items() if k != backend_id})

    @property
    def ids(self) -> tuple[str, ...]:
        """The ids of all backends, in the order in which they were registered."""
        return tuple(self.factories)

    def is_registered(self, backend_id: str) -> bool:
        """Whether there is a factory for this id."""
        return backend_id in self.factories

    def create(self, backend_id: str) -> Backend:
        """A new backend object. Raises UsageError for an id that nobody registered."""
        if not self.is_registered(backend_id):
            known = f"Known are {', '.join(sorted(self.factories))}." if self.factories else ""
            raise UsageError(
                f"There is no backend {backend_id!r}. {known} `mcu-deploy backends` lists what was "
                "found, and why others were skipped."
            )
        return self.factories[backend_id]()

    def preference(self, core: str) -> tuple[Backend, ...]:
        """The backends for a core, in the default order: by rank, then by id."""
        made = [factory() for factory in self.factories.values()]
        fitting = [b for b in made if is_for(b, core)]
        return tuple(sorted(fitting, key=lambda b: (b.rank, b.id)))

    def named(self, backend_id: str, core: str) -> Backend:
        """The backend of an id, made for a core.

        Raises UsageError for an id that nobody registered, and for a backend that is not for the
        core.
        """
        backend = self.create(backend_id)
        if not is_for(backend, core):
            raise RequestError(
                f"The backend {backend.id!r} is for {', '.join(backend.cores)}, but the board "
                f"has the core {core!r}. Leave it out, or choose another board."
            )
        return backend


class _Unusable(Exception):
    """Why a folder is no backend, a clause."""


def _factory(name: str) -> Factory:
    """What makes the backend of a folder: its `create`, which was tried once."""
    try:
        create: Factory = importlib.import_module(f"{backends.__name__}.{name}").create
        made = create().id
    except (Exception, SystemExit) as error:
        raise _Unusable(raised(error)) from error
    if made != name:
        raise _Unusable(f"it makes the backend {one_line(repr(made))}, which is not its name")
    return create


def is_for(backend: Backend, core: str) -> bool:
    """Whether a backend is for a core ("cortex-m4", or "host")."""
    return not backend.cores or core in backend.cores
