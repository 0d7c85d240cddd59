"""Built-in algorithms read hyperparameters as they are sent, quotes included."""

from __future__ import annotations

from collections.abc import Iterator

from smspec.diagnostics import HERE, Finding, Rule
from smspec.service.built_in_algorithm import built_in_algorithm
from smspec.service.members import structure
from smspec.service.request import Request

RULE = Rule("SM415", "quoted value of a hyperparameter", "warning", evidence="third-party")


def check(request: Request) -> Iterator[Finding]:
    """Warn about JSON strings for a built-in algorithm, once: they have one cause."""
    algorithm = built_in_algorithm(request)
    if algorithm is None:
        return
    for name, value in structure(request.payload, "HyperParameters").items():
        if isinstance(value, str) and len(value) > 1 and value[0] == value[-1] == '"':
            yield RULE.at(
                ("HyperParameters", name),
                f"{HERE} is sent with quotes, which `{algorithm.name}` does not remove",
                help=request.word(
                    "remove the quotes in the value", "remove `hyperparameter_encoding: json_strings`, or the quotes"
                ),
            )
            return
