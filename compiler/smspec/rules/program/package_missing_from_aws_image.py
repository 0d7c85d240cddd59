"""An image of AWS has the packages that it is built with: a script that imports another one cannot start."""

from __future__ import annotations

from collections.abc import Iterator

from smspec.diagnostics import Finding, Note, Rule
from smspec.rules.program.package_names import package_of
from smspec.rules.program.program_and_image import ProgramAndImage, file_name, here
from smspec.rules.program.provided_modules import Provided
from smspec.script.reach.standard_modules import is_standard
from smspec.spec.model import BuiltImage

RULE = Rule("SM561", "package missing from an AWS image", "warning")


def check(both: ProgramAndImage, provided: Provided) -> Iterator[Finding]:
    """Warn about a module that every run imports and no listed package of the image provides."""
    listed = provided.listed
    if listed is None or provided.names is None:
        return
    # Python reports the first import of a module that is missing.
    first = {used.top: used for used in reversed(both.reach.foreign)}
    for name, used in reversed(first.items()):
        if is_standard(name) or name in provided.names or not used.is_early:
            continue
        to = "`image.python_packages`" if isinstance(both.job.image, BuiltImage) else "`requirements.txt` in the source"
        yield RULE.at(
            both.path,
            f"`{file_name(used.place)}` imports `{name}`, which the image lacks {listed.as_of}",
            help=f"add `{package_of(name)}` to {to}",
            notes=(
                *here("the module imports it here", used.place),
                Note(f"AWS lists the packages of `{listed.image}`"),
            ),
        )
