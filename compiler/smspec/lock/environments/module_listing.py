"""List the modules of all wheels of an environment, a few at once."""

from __future__ import annotations

import queue
import threading
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from smspec.lock.environments.index_settings import IndexSettings
from smspec.lock.environments.module_cache import ModuleCache
from smspec.lock.environments.remote_wheel import WrongHash, names_in_wheel
from smspec.lock.environments.resolution import ResolvedFile, ResolverFailed
from smspec.lock.environments.wheel_modules import modules_of
from smspec.wire.connections import Connections
from smspec.wire.fault import WireFault
from smspec.wire.trust import VARIABLES, trust_of_environment
from smspec.wire.url import parsed

_THREADS = 8


@dataclass(frozen=True, slots=True, kw_only=True)
class Modules:
    """``known``: package → its modules. ``faults``: package → why a server does not show them."""

    known: Mapping[str, tuple[str, ...]]
    faults: Mapping[str, str]


def list_modules(files: Sequence[ResolvedFile], settings: IndexSettings, cache: ModuleCache) -> Modules:
    """Return the modules of the wheels among some files. Raise `ResolverFailed` for a file with another content."""
    known = {file.name: found for file in files if (found := cache.get(file)) is not None}
    waiting: queue.SimpleQueue[ResolvedFile] = queue.SimpleQueue()
    done: queue.SimpleQueue[tuple[ResolvedFile, tuple[str, ...] | WireFault | None]] = queue.SimpleQueue()
    asked = [file for file in files if file.is_wheel and file.name not in known]
    for file in asked:
        waiting.put(file)
    connections = Connections(trust_of_environment(("PIP_CERT", *VARIABLES)), _THREADS)
    stopped = threading.Event()

    def work() -> None:
        while not stopped.is_set():
            try:
                file = waiting.get_nowait()
            except queue.Empty:
                return
            try:
                names = names_in_wheel(file, connections, lambda url: settings.authorization(parsed(url)))
                done.put((file, None if names is None else modules_of(names)))
            except WireFault as fault:
                done.put((file, fault))
            except BaseException:
                done.put((file, WireFault("smspec failed to read it")))
                raise

    # Daemons: after Ctrl-C no thread keeps the process alive until its server answers.
    for _ in range(min(_THREADS, len(asked))):
        threading.Thread(target=work, name="list modules", daemon=True).start()
    faults: dict[str, str] = {}
    try:
        for _ in asked:
            file, modules = done.get()
            if isinstance(modules, WrongHash):
                raise ResolverFailed(f"`{file.name}` {file.version}: {modules}")
            if isinstance(modules, WireFault):
                faults[file.name] = settings.masked(str(modules))
            elif modules is not None:
                known[file.name] = modules
                cache.put(file, modules)
    finally:
        stopped.set()
    return Modules(known=known, faults=dict(sorted(faults.items())))
