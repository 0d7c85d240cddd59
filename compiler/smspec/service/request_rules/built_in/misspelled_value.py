"""Some hyperparameters of built-in algorithms accept only certain words."""

from __future__ import annotations

import re
from collections.abc import Iterator

from smspec.diagnostics import HERE, Finding, Note, Rule
from smspec.diagnostics.fix import spelling_fix
from smspec.diagnostics.suggestions import nearest
from smspec.service.built_in_algorithm import built_in_algorithm
from smspec.service.facts.algorithms import as_of
from smspec.service.member_names import shown
from smspec.service.members import structure
from smspec.service.request import Request

RULE = Rule("SM417", "misspelled value of a hyperparameter", "warning", evidence="devguide")

_WORD = r"[A-Za-z][A-Za-z0-9_.+-]*"


def check(request: Request) -> Iterator[Finding]:
    """Warn about a word that is near a documented one; an algorithm may accept more words than the guide lists."""
    algorithm = built_in_algorithm(request)
    if algorithm is None:
        return
    for name, value in structure(request.payload, "HyperParameters").items():
        rows = [row for row in algorithm.hyperparameters if row.name == name]
        if not rows or any(row.kind != "enum" for row in rows) or not isinstance(value, str):
            continue
        words = [word for row in rows for word in row.words]
        if re.fullmatch(_WORD, value) is None or value.lower() in {word.lower() for word in words}:
            continue
        near = nearest(value, words)
        if near is not None:
            yield RULE.at(
                ("HyperParameters", name),
                f"{HERE}: `{algorithm.name}` might not accept `{shown(value)}`",
                label=f"did you mean `{near}`?",
                fix=spelling_fix(value, words),
                notes=(Note(f"the developer guide does not list it, {as_of()}"),),
            )
