"""The image has only what its base and the spec bring: a module that none of them provides cannot be imported."""

from __future__ import annotations

from collections.abc import Iterator

from smspec.diagnostics import Finding, Note, Rule
from smspec.rules.program.package_names import package_of
from smspec.rules.program.program_and_image import ProgramAndImage, file_name, here
from smspec.rules.program.provided_modules import Provided
from smspec.script.reach.reached import ForeignImport
from smspec.script.reach.standard_modules import is_standard
from smspec.spec.model import BuiltImage

RULE = Rule("SM521", "missing package")
UNCHECKED = Rule("SM523", "unchecked imports", "note")

_LONGEST = 120
_LISTS = ("pylock.toml", "uv.lock", "poetry.lock", "pyproject.toml", "Pipfile", "environment.yml", "environment.yaml")
"""What other tools install packages from; `requirements.txt` and `setup.py` are installed at startup."""


def check(both: ProgramAndImage, provided: Provided) -> Iterator[Finding]:
    """Reject a module that every run imports and nothing provides; note where that cannot be known."""
    if provided.listed is not None:
        return  # the list of an image of AWS makes it a warning
    if provided.names is None:
        foreign = {used.top: used for used in reversed(both.reach.foreign) if not is_standard(used.top)}
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
        yield RULE.at(
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
    return UNCHECKED.at(
        both.path,
        f"`{file_name(first.place)}` imports {named}, which smspec did not check",
        notes=(Note(f"{provided.reason}: {', '.join(foreign)}"[:_LONGEST]),),
        help="run `smspec lock`, which lists the modules of each package" if provided.is_lockable else "",
    )
