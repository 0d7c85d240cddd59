"""The API accepts an empty name, but no script can read it."""

from __future__ import annotations

from collections.abc import Iterator

from smspec.diagnostics import Finding, Rule
from smspec.service.members import structure
from smspec.service.request import Request

RULE = Rule("SM485", "hyperparameter without a name", evidence="inferred")


def check(request: Request) -> Iterator[Finding]:
    """Reject a hyperparameter whose name is empty: as an argument it would be `--`, as a variable `SM_HP_`."""
    if "" in structure(request.payload, "HyperParameters"):
        word = request.word("HyperParameters", "hyperparameters")
        yield RULE.at(
            ("HyperParameters", ""),
            f"`{word}` contains an empty name; the script would get the argument `--`",
            help="add the name, or remove the entry",
            on="key",
        )
