"""A module that is not in the source may be installed in the image, but more often its name is misspelled."""

from __future__ import annotations

from collections.abc import Iterator

from smspec.diagnostics import Finding, Rule
from smspec.diagnostics.suggestions import nearest
from smspec.source.listing import Listing
from smspec.spec.model import JobSpec, ModuleEntry, PipeLoopEntry

RULE = Rule("SM312", "missing handler", "warning")

_PROJECTS = ("setup.py", "pyproject.toml")


def check(job: JobSpec, source: Listing) -> Iterator[Finding]:
    """Warn about a module that is not in the source, unless the source is a project to install."""
    entry = job.entry_point
    if job.source is None or not isinstance(entry, ModuleEntry | PipeLoopEntry):
        return
    key, function = ("module", entry.module) if isinstance(entry, ModuleEntry) else ("pipe_loop", entry.pipe_loop)
    module = function.partition(":")[0]
    modules = _modules(source)
    if module in modules or any(source.has(project) for project in _PROJECTS):
        return
    near = nearest(module, modules)
    yield RULE.at(
        ("entry_point", key),
        f"`entry_point`: module `{module}` not found in `{job.source.dir}`",
        label=f"did you mean `{near}:{function.partition(':')[2]}`?" if near else "",
        help="fix the name; ignore SM312 if the image provides the module",
    )


def _modules(source: Listing) -> list[str]:
    """Return the names under which files of the source, and their packages, can be imported."""
    names: dict[str, None] = {}
    for file in source.files:
        if file.path.endswith(".py"):
            steps = file.path.removesuffix(".py").split("/")
            names[".".join(steps[:-1] if steps[-1] == "__init__" else steps)] = None
    return [name for name in names if name]
