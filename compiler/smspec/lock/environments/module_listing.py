"""List the modules of all wheels of an environment, a few at once."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from smspec.lock.environments.concurrent_calls import THREADS, called
from smspec.lock.environments.index_settings import IndexSettings
from smspec.lock.environments.module_cache import ModuleCache
from smspec.lock.environments.remote_wheel import WrongHash, names_in_wheel
from smspec.lock.environments.resolution import ResolvedFile, ResolverFailed
from smspec.lock.environments.wheel_modules import modules_of
from smspec.wire.connections import VARIABLES, Connections, trust_of_environment
from smspec.wire.exchange import parsed
from smspec.wire.fault import WireFault


@dataclass(frozen=True, slots=True, kw_only=True)
class Modules:
    """``known``: package → its modules. ``faults``: package → why a server does not show them."""

    known: Mapping[str, tuple[str, ...]]
    faults: Mapping[str, str]


def list_modules(files: Sequence[ResolvedFile], settings: IndexSettings, cache: ModuleCache) -> Modules:
    """Return the modules of the wheels among some files. Raise `ResolverFailed` for a file with another content."""
    known = {file.name: names for file in files if (names := cache.get(file)) is not None}
    asked = [file for file in files if file.is_wheel and file.name not in known]
    connections = Connections(trust_of_environment(("PIP_CERT", *VARIABLES)), THREADS)

    def modules(file: ResolvedFile) -> tuple[str, ...] | None:
        names = names_in_wheel(file, connections, lambda url: settings.authorization(parsed(url)))
        return None if names is None else modules_of(names)

    faults: dict[str, str] = {}
    for number, found in called(modules, asked):
        file = asked[number]
        if isinstance(found, WrongHash):
            raise ResolverFailed(f"`{file.name}` {file.version}: {found}")
        if isinstance(found, WireFault):
            faults[file.name] = settings.masked(str(found))
        elif found is not None:
            known[file.name] = found
            cache.put(file, found)
    return Modules(known=known, faults=dict(sorted(faults.items())))
