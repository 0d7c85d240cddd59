"""Rules about the entry point and the source that contains it."""

from __future__ import annotations

import re
from collections.abc import Iterator

from smspec.diagnostics import Finding, Rule
from smspec.diagnostics.suggestions import nearest, spelling_fix
from smspec.source.listing import Listing
from smspec.spec.model import BuiltImage, CommandEntry, ExistingImage, JobSpec, ModuleEntry, PipeLoopEntry, ScriptEntry

UNAVAILABLE_ENTRY_POINT = Rule("SM306", "entry point unavailable in an existing image")


def unavailable_entry_point(job: JobSpec, _: Listing) -> Iterator[Finding]:
    """Reject anything except a command in an existing image without source.

    Without source to deliver, the smspec runtime cannot be added to an existing image.
    """
    if not isinstance(job.image, ExistingImage) or job.source is not None:
        return
    if job.entry_point is None or isinstance(job.entry_point, CommandEntry):
        return
    yield UNAVAILABLE_ENTRY_POINT.at(
        ("entry_point",),
        "`entry_point` needs `source` when `image` names an existing image",
        help="set `source`, or use `entry_point: {command: […]}`",
        on="key",
    )


SCRIPT_WITHOUT_SOURCE = Rule("SM307", "script without a source", needs_every_layer=True)


def script_without_source(job: JobSpec, _: Listing) -> Iterator[Finding]:
    """Reject a script in a built image without source.

    A script is a file of the source directory.
    """
    if isinstance(job.image, BuiltImage) and isinstance(job.entry_point, ScriptEntry) and job.source is None:
        yield SCRIPT_WITHOUT_SOURCE.at(
            ("entry_point", "script"),
            f"`entry_point.script` is `{job.entry_point.script}`, but `source` is not set",
            help="set `source`, or start a program of the image with `entry_point: {command: […]}`",
        )


SOURCE_WITHOUT_AN_ENTRY_POINT = Rule("SM308", "source without an entry point", needs_every_layer=True)


def source_without_an_entry_point(job: JobSpec, _: Listing) -> Iterator[Finding]:
    """Reject an existing image that gets source but no entry point.

    Source without anything that starts it.
    """
    if isinstance(job.image, ExistingImage) and job.source is not None and job.entry_point is None:
        yield SOURCE_WITHOUT_AN_ENTRY_POINT.at(
            ("source",),
            "`source` is set, but `entry_point` is not",
            help="set `entry_point`, or remove `source`",
            on="key",
        )


SOURCE_WITHOUT_AN_IMAGE = Rule("SM309", "source without an image", needs_every_layer=True)


def source_without_an_image(job: JobSpec, _: Listing) -> Iterator[Finding]:
    """Reject code, and ways to start it, in a job without an image.

    An algorithm resource or a serverless job runs its own code.
    """
    if job.image is not None:
        return
    for key, value in (("source", job.source), ("entry_point", job.entry_point), ("distribution", job.distribution)):
        if value is not None:
            yield SOURCE_WITHOUT_AN_IMAGE.at(
                (key,),
                f"`{key}` is set, but `image` is not",
                help="set `image`, or remove the key",
                on="key",
            )


UNSAFE_SCRIPT_NAME = Rule("SM311", "unsafe script name")

_NAME = re.compile(r"[A-Za-z0-9._][A-Za-z0-9._+-]*(/[A-Za-z0-9._+-]+)*")


def unsafe_script_name(job: JobSpec, _: Listing) -> Iterator[Finding]:
    """Reject a script whose name is not relative to the source or contains special characters.

    SageMaker's toolkit rejects names that are unsafe in a shell or an import; so does the runtime.
    """
    entry = job.entry_point
    if isinstance(entry, ScriptEntry) and not is_safe(entry.script):
        plain = entry.script.removeprefix("./")
        yield UNSAFE_SCRIPT_NAME.at(
            ("entry_point", "script"),
            f"`entry_point.script`: `{entry.script}` is not a valid script path",
            label=f"write `{plain}`" if plain != entry.script and is_safe(plain) else "",
            help="use a path inside the source, without `.` or `..` segments, of letters, digits, and `. _ + - /`",
        )


def is_safe(script: str) -> bool:
    """Return whether the runtime, and SageMaker's toolkit, accept a name."""
    return bool(_NAME.fullmatch(script)) and not {".", ".."} & set(script.split("/"))


MISSING_SCRIPT = Rule("SM310", "missing script")


def missing_script(job: JobSpec, source: Listing) -> Iterator[Finding]:
    """Reject a script that is missing from the source, or is ignored there.

    The script must be among the files that are sent to the container.
    """
    entry = job.entry_point
    if not isinstance(entry, ScriptEntry) or job.source is None or not is_safe(entry.script):
        return
    if source.has(entry.script):
        return
    near = _nearest_file(entry.script, source)
    yield MISSING_SCRIPT.at(
        ("entry_point", "script"),
        f"`entry_point.script`: `{entry.script}` not found in `{job.source.dir}`",
        label=f"did you mean `{near}`?" if near else "",
        fix=spelling_fix(entry.script, (file.path for file in source.files)),
        help="fix the name, or remove the pattern that excludes it from .gitignore, .dockerignore, or `source.ignore`",
    )


def _nearest_file(script: str, source: Listing) -> str | None:
    """Return a file of the same name in a different directory, else one with a similar path."""
    paths = [file.path for file in source.files]
    name = script.rpartition("/")[2]
    return next((path for path in paths if path.rpartition("/")[2] == name), None) or nearest(script, paths)


MISSING_HANDLER = Rule("SM312", "missing handler", "warning")

_PROJECTS = ("setup.py", "pyproject.toml")


def missing_handler(job: JobSpec, source: Listing) -> Iterator[Finding]:
    """Warn about a module that is not in the source, unless the source is a project to install.

    A module that is not in the source may be installed in the image, but more often its name is misspelled.
    """
    entry = job.entry_point
    if job.source is None or not isinstance(entry, ModuleEntry | PipeLoopEntry):
        return
    key, function = ("module", entry.module) if isinstance(entry, ModuleEntry) else ("pipe_loop", entry.pipe_loop)
    module = function.partition(":")[0]
    modules = _modules(source)
    if module in modules or any(source.has(project) for project in _PROJECTS):
        return
    near = nearest(module, modules)
    yield MISSING_HANDLER.at(
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


RULES = (
    unavailable_entry_point,
    script_without_source,
    source_without_an_entry_point,
    source_without_an_image,
    unsafe_script_name,
    missing_script,
    missing_handler,
)
