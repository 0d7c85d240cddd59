"""A built-in algorithm rejects or ignores a hyperparameter whose name it does not know."""

from __future__ import annotations

from collections.abc import Iterator

from smspec.diagnostics import Finding, Rule
from smspec.diagnostics.fix import spelling_fix
from smspec.diagnostics.suggestions import nearest
from smspec.service.built_in_algorithm import built_in_algorithm
from smspec.service.facts.algorithms import as_of
from smspec.service.member_names import shown
from smspec.service.members import structure
from smspec.service.request import Request

RULE = Rule("SM414", "misspelled hyperparameter of a built-in algorithm", "warning", evidence="devguide")

# Algorithms accept more names than the guide lists; SageMaker's own begin so.
_INTERNAL = ("_", "sagemaker_")


def check(request: Request) -> Iterator[Finding]:
    """Warn about an unknown name only if it is near a known one that is not set: unlisted names can work."""
    algorithm = built_in_algorithm(request)
    if algorithm is None:
        return
    passed = structure(request.payload, "HyperParameters")
    known = {row.name for row in algorithm.hyperparameters}
    free = sorted(known - passed.keys())
    for name in passed:
        near = None if name in known or name.startswith(_INTERNAL) else nearest(name, free)
        if near is not None:
            word = request.word("HyperParameters", "hyperparameters")
            yield RULE.at(
                ("HyperParameters", name),
                f"`{word}.{shown(name)}` is not documented for `{algorithm.name}`, {as_of()}",
                label=f"did you mean `{near}`?",
                on="key",
                fix=spelling_fix(name, free),
            )
