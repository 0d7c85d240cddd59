"""Choose the modules of the runtime that a job is sent.

Most jobs need neither a launcher nor the readers of Pipe channels, which are nearly half of the runtime. The modules of
a launcher go with a job that uses it, and `smspec_runtime.pipe` with a `pipe_loop` or a source that names the runtime.
The modules that act as SageMaker's toolkits go with a source that names one of these. Code that smspec does not see,
such as that of a package, can use these modules and `pipe` only if the source names them, too.
"""

from __future__ import annotations

import functools
import os
from collections.abc import Iterator

from smspec.source import Document, Listing, Mapping, Scalar
from smspec.source.frozen import replace
from smspec.workspace.source_listing import listed_file
from smspec_runtime import run_plan

_LAUNCHERS = {
    "mpi": ("mpi", "mpirun"),
    "parameter_server": ("parameter_server", "multi_worker_mirrored"),
    "smdataparallel": ("smdataparallel", "mpirun"),
    "torchrun": ("torchrun",),
}
_OF_ALL_LAUNCHERS = ("__init__", "launch", "efa_instances")
_OF_OTHER_IMAGES = ("image_plan.py", "local_tree.py")
"""For images with a copy of the whole runtime, which have no `run_plan.json`."""


def runtime_files(document: Document, source: Listing) -> Listing:
    """Return the files of `smspec_runtime` for a job, by their paths in the package; none is executable."""
    entry = document.node(("entry_point",))
    is_loop = isinstance(entry, Mapping) and entry.get("pipe_loop") is not None
    has_pipe = is_loop or any(file.names_runtime for file in source.files)
    return _chosen(_launcher(document), has_pipe, any(file.names_toolkit for file in source.files))


def _launcher(document: Document) -> str:
    """Return the name of the launcher; empty if there is none, or the spec is wrong."""
    written = document.node(("distribution",))
    name = written.entries[0][0] if isinstance(written, Mapping) and written.entries else written
    return str(name.value) if isinstance(name, Scalar) and name.value in _LAUNCHERS else ""


@functools.cache
def _chosen(launcher: str, has_pipe: bool, has_toolkit: bool) -> Listing:
    names = (*_OF_ALL_LAUNCHERS, *_LAUNCHERS[launcher]) if launcher else ()
    launchers = {f"launchers/{name}.py" for name in names}
    files = []
    for path, origin in sorted(_modules(os.path.dirname(os.path.abspath(run_plan.__file__)), "")):
        directory = path.partition("/")[0]
        chosen = {
            "launchers": path in launchers,
            "peers": bool(launcher),
            "pipe": has_pipe,
            "toolkit_api": has_toolkit,
        }
        if chosen.get(directory, path not in _OF_OTHER_IMAGES):
            files.append(replace(listed_file(path, origin), executable=False))
    return Listing(files=tuple(files))


def _modules(directory: str, prefix: str) -> Iterator[tuple[str, str]]:
    """Yield modules and ``py.typed``, nothing else."""
    with os.scandir(directory) as entries:
        for entry in entries:
            if entry.is_dir():
                if entry.name != "__pycache__":
                    yield from _modules(entry.path, f"{prefix}{entry.name}/")
            elif entry.name.endswith(".py") or entry.name == "py.typed":
                yield prefix + entry.name, entry.path
