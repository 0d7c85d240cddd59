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


def check(both: ProgramAndImage, provided: Provided) -> Iterator[Finding]:
    """Reject a module that every run imports and nothing provides; note where that cannot be known."""
    foreign = {used.top: used for used in reversed(both.reach.foreign) if not is_standard(used.top)}
    foreign = dict(reversed(foreign.items()))
    if provided.listed is not None:
        return  # the list of an image of AWS makes it a warning
    if provided.names is None:
        if foreign:
            yield _unchecked(both, foreign, provided.reason)
        return
    for name, used in foreign.items():
        if name in provided.names:
            continue
        key = "image.python_packages" if isinstance(both.job.image, BuiltImage) else "the packages of the image"
        yield RULE.at(
            both.path,
            f"`{file_name(used.place)}` imports `{name}`, but the image does not provide it",
            help=f"add `{package_of(name)}` to `{key}`",
            notes=here("the module imports it here", used.place),
        )


def _unchecked(both: ProgramAndImage, foreign: dict[str, ForeignImport], reason: str) -> Finding:
    first, more = next(iter(foreign.values())), len(foreign) - 1
    named = f"`{first.top}`" + (f" and {more} more" if more else "")
    return UNCHECKED.at(
        both.path,
        f"`{file_name(first.place)}` imports {named}, which smspec did not check",
        notes=(Note(f"{reason}: {', '.join(foreign)}"[:_LONGEST]),),
    )
