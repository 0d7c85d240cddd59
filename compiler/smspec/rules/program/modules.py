"""Rules about the modules that a script imports."""

from __future__ import annotations

from collections.abc import Iterator

from smspec.diagnostics import HERE, Finding, Note, Rule
from smspec.rules.program.program_and_image import ProgramAndImage, dotted_version, file_name, here, project_name
from smspec.rules.program.provided_modules import Provided, lacks_launcher, modules_of_runtime, package_of
from smspec.script.program import LAUNCHERS
from smspec.script.reach import ADDED, REMOVED, ForeignImport, is_in_version, is_standard
from smspec.spec.model import BuiltImage

MISSING_OWN_MODULE = Rule("SM519", "missing module of the source")


def missing_own_module(both: ProgramAndImage) -> Iterator[Finding]:
    """Reject a module of the source that every run imports and the source does not have.

    The source is copied as it is: a module that is not in it cannot be imported from it.
    """
    for missing in both.reach.missing:
        name = missing.name if missing.reason else missing.name.replace(".", "/") + ".py"
        file = file_name(missing.place)
        hides = file.rpartition("/")[2] == f"{missing.name.partition('.')[0]}.py"
        yield MISSING_OWN_MODULE.at(
            both.path,
            f"`{file}` cannot import `{missing.name}`: " + (missing.reason or f"`{name}` is not in the source"),
            help=f"rename `{missing.hidden_by}`"
            if missing.hidden_by
            else f"{'rename' if hides else 'add'} the file{'' if hides else ' to the source'}, or change the import",
            notes=here("the module imports it here", missing.place),
        )
    for ignored in both.reach.ignored:
        if project_name(ignored.name.partition(".")[0]) in both.declared:
            continue  # the image may provide a module of the same name
        yield MISSING_OWN_MODULE.at(
            both.path,
            f"`{file_name(ignored.place)}` cannot import `{ignored.name}`: `source` excludes `{ignored.file}`",
            help=f"remove the pattern that excludes it ({ignored.by}), or add `!{ignored.file}` to `source.ignore`",
            notes=here("the module imports it here", ignored.place),
        )


MISSING_STANDARD_MODULE = Rule("SM520", "missing module of the standard library")

_NEVER_PROVIDED = frozenset(
    {"annotationlib", "binhex", "dummy_threading", "imp", "lib2to3", "msilib", "nis", "ossaudiodev", "spwd", "symbol"}
    | {"tomllib", "zoneinfo"}
)
"""Modules that no package which others require provides under the same name."""

_REPLACEMENTS = {
    "distutils": "`setuptools`, which provides it",
    "imp": "`importlib`",
    "tomllib": "`tomli`",
    "zoneinfo": "`backports.zoneinfo`",
    "cgi": "`legacy-cgi`, which provides it",
    "audioop": "`audioop-lts`, which provides it",
}


def missing_standard_module(both: ProgramAndImage, provided: Provided) -> Iterator[Finding]:
    """Reject a module of the standard library that the Python of the image does not have.

    The standard library differs between versions of Python: `tomllib` begins with 3.11, `distutils` ends with 3.12.
    """
    if both.python is None:
        return
    for used in both.reach.foreign:
        name = used.top
        if not is_standard(name) or is_in_version(name, both.python) or not used.is_early:
            continue
        if provided.names is None and name not in _NEVER_PROVIDED:
            continue
        if provided.names is not None and name in provided.names:
            continue
        if any(name in project for project in both.declared):
            continue
        if name in ADDED and both.python < ADDED[name]:
            when = f"new in Python {dotted_version(ADDED[name])}"
        else:
            when = f"removed in Python {dotted_version(REMOVED[name])}"
        other = f"use {_REPLACEMENTS[name]}, or " if name in _REPLACEMENTS else "use "
        yield MISSING_STANDARD_MODULE.at(
            both.path,
            f"`{file_name(used.place)}` imports `{name}`, but the image has {both.python_name}",
            help=f"{other}a base image whose Python has the module",
            notes=here(f"`{name}` is {when}", used.place),
        )


MISSING_PACKAGE = Rule("SM521", "missing package")

UNCHECKED_IMPORTS = Rule("SM523", "unchecked imports", "note")

_LONGEST = 120
_LISTS = ("pylock.toml", "uv.lock", "poetry.lock", "pyproject.toml", "Pipfile", "environment.yml", "environment.yaml")
"""What other tools install packages from; `requirements.txt` and `setup.py` are installed at startup."""


def missing_package(both: ProgramAndImage, provided: Provided) -> Iterator[Finding]:
    """Reject a module that every run imports and nothing provides; note where that cannot be known.

    The image has only what its base and the spec bring: a module that none of them provides cannot be imported.
    """
    if provided.listed is not None:
        return  # the list of an image of AWS makes it a warning
    if provided.names is None:
        sent = Provided(names=modules_of_runtime(both))
        foreign = {
            used.top: used
            for used in reversed(both.reach.foreign)
            if not is_standard(used.top) and sent.missing_part(used.name) is not None
        }
        foreign = dict(reversed(foreign.items()))
        if foreign and provided.reason:
            yield _unchecked(both, foreign, provided)
        return
    missing: dict[str, ForeignImport] = {}
    later: dict[str, ForeignImport] = {}
    for used in both.reach.foreign:
        name = None if is_standard(used.top) else provided.missing_part(used.name)
        if name is not None:
            (missing if used.is_early else later).setdefault(name, used)
    unused = _unused_list(both) if missing else ()
    for name, used in missing.items():
        yield MISSING_PACKAGE.at(
            both.path,
            f"`{file_name(used.place)}` imports `{name}`, but the image does not provide it",
            help=f"add `{package_of(used.name, name)}` to {_list_of_packages(both)}",
            notes=(*here("the module imports it here", used.place), *unused),
        )
    later = {name: used for name, used in later.items() if name not in missing}
    if later:
        yield _unchecked(both, later, provided)


def _unused_list(both: ProgramAndImage) -> tuple[Note, ...]:
    """Return a note about a file in the source that lists packages, and that nothing reads."""
    found = [name for name in _LISTS if both.source.has(name)]
    return (Note(f"nothing installs the packages that `{found[0]}` of the source lists"),) if found else ()


def _list_of_packages(both: ProgramAndImage) -> str:
    """Return where a package is added, and the command that then locks it."""
    image = both.job.image
    if not isinstance(image, BuiltImage):
        return "the packages of the image"
    has_file = image.python_requirements is not None and not image.python_packages
    key = "`image.python_requirements`" if has_file else "`image.python_packages`"
    return key if both.environment is None else f"{key}, and run `smspec lock`"


def _unchecked(both: ProgramAndImage, foreign: dict[str, ForeignImport], provided: Provided) -> Finding:
    first, more = next(iter(foreign.values())), len(foreign) - 1
    named = f"`{first.top}`" + (f" and {more} more" if more else "")
    return UNCHECKED_IMPORTS.at(
        both.path,
        f"`{file_name(first.place)}` imports {named}, which smspec did not check",
        notes=(Note(f"{provided.reason}: {', '.join(foreign)}"[:_LONGEST]),),
        help="run `smspec lock`, which lists the modules of each package" if provided.is_lockable else "",
    )


PACKAGE_MISSING_FROM_AWS_IMAGE = Rule("SM561", "package missing from an AWS image", "warning")


def package_missing_from_aws_image(both: ProgramAndImage, provided: Provided) -> Iterator[Finding]:
    """Warn about a module that every run imports and no listed package of the image provides.

    An image of AWS has the packages that it is built with: a script that imports another one cannot start.
    """
    listed = provided.listed
    if listed is None or provided.names is None:
        return
    # Python reports the first import of a module that is missing.
    first = {used.top: used for used in reversed(both.reach.foreign)}
    for name, used in reversed(first.items()):
        if is_standard(name) or provided.missing_part(used.name) is None or not used.is_early:
            continue
        to = "`image.python_packages`" if isinstance(both.job.image, BuiltImage) else "`requirements.txt` in the source"
        yield PACKAGE_MISSING_FROM_AWS_IMAGE.at(
            both.path,
            f"`{file_name(used.place)}` imports `{name}`, which the image lacks {listed.as_of}",
            help=f"add `{package_of(name)}` to {to}",
            notes=(
                *here("the module imports it here", used.place),
                Note(f"AWS lists the packages of `{listed.image}`"),
            ),
        )


MISSING_LAUNCHER = Rule("SM558", "missing launcher")


def missing_launcher(both: ProgramAndImage, provided: Provided) -> Iterator[Finding]:
    """Reject a launcher that every run starts and that the image does not have.

    An official image of Python has no MPI, and pip installs `torchrun` with torch.
    """
    for launch in both.launches:
        if not lacks_launcher(both, provided, launch.name):
            continue
        package = LAUNCHERS[launch.name]
        mpi = "add `openmpi-bin` to `image.system_packages`, or set `image.base` to an image with MPI"
        yield MISSING_LAUNCHER.at(
            launch.path or both.path,
            f"{HERE} starts `{launch.name}`, but the image does not have it",
            help=f"add `{package}` to {_list_of_packages(both)}" if package else mpi,
            notes=() if launch.place is None else here("every run starts it here", launch.place),
        )


RULES = (missing_own_module,)
ABOUT_PACKAGES = (missing_standard_module, missing_package, missing_launcher, package_missing_from_aws_image)
