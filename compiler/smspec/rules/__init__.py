"""Rules about parts of a job that contradict each other: a module per family, with `RULES` at its end.

A rule is a function that yields `Finding`s with its own code, for a `JobSpec` and what was read with it: the script as
a `Program`, the source, requirements, local data, or the other jobs of the repository. A family is a module, or a
package if it is large, with the rules about one part of a job or about one of these.

A finding must be certain: what a rule cannot know is no error, and a script that was not read is a note. Messages name
the key, its value, the effect, and the fix.

A rule reads no file and knows no lines, only paths. It must not know the plan or the request: what can be seen in a
request is a rule of `smspec.service`, so that it also holds for requests without a spec.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

from smspec.diagnostics import Finding
from smspec.rules import channels, entry_points, hyperparameters, images
from smspec.source import Listing
from smspec.spec.model import JobSpec

RULES: tuple[Callable[[JobSpec, Listing], Iterator[Finding]], ...] = (
    *channels.RULES,
    *images.RULES,
    *entry_points.RULES,
    *hyperparameters.RULES,
)

LOOK_FOR_FILES = frozenset((entry_points.missing_script, entry_points.missing_handler))
"""Rules that report a file that is not in the source."""


def lint(job: JobSpec, source: Listing, *, source_is_known: bool = True) -> list[Finding]:
    """Return every contradiction in a job. ``source`` lists the files of the source directory that the job uses.

    ``source_is_known`` False: the directory could not be listed, so rules about its files do not run.
    """
    rules = RULES if source_is_known else [rule for rule in RULES if rule not in LOOK_FOR_FILES]
    return [finding for rule in rules for finding in rule(job, source)]
