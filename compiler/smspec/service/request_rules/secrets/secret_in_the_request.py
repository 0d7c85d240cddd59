"""Whoever may describe a job reads its hyperparameters, environment, command and tags."""

from __future__ import annotations

from collections.abc import Iterator

from smspec.diagnostics import Finding, Rule
from smspec.diagnostics.masking import secret_of
from smspec.diagnostics.secrets import option_name
from smspec.service.member_names import shown
from smspec.service.members import items, member, structure
from smspec.service.request import Request
from smspec.source import Path

RULE = Rule("SM601", "secret in the request", "warning")

_COMMANDS = ("ContainerEntrypoint", "ContainerArguments")


def check(request: Request) -> Iterator[Finding]:
    """Warn of what looks like a secret."""
    for path, name, value in _texts(request.payload):
        what = secret_of(name, value.strip('"'))
        if what:
            called = f"the value of `{shown(name)}`" if name else "this word"
            yield RULE.at(
                path,
                f"{called} looks like {what}, and everybody who may describe the job can read it",
                help="keep it in Secrets Manager or the parameter store, and give the job its name or ARN",
            )


def _texts(payload: dict[str, object]) -> Iterator[tuple[Path, str, str]]:
    """Yield every text of the author's that the service shows again: its place, what it is called, the text."""
    for holder in ("HyperParameters", "Environment"):
        for name, value in structure(payload, holder).items():
            if isinstance(value, str):
                yield (holder, name), name, value
    for index, tag in enumerate(items(payload, "Tags")):
        key, text = member(tag, "Key"), member(tag, "Value")
        if isinstance(key, str) and isinstance(text, str):
            yield ("Tags", index, "Value"), key, text
    for holder in _COMMANDS:
        option = ""
        for index, word in enumerate(items(payload, "AlgorithmSpecification", holder)):
            if isinstance(word, str):
                yield ("AlgorithmSpecification", holder, index), option, word
                option = option_name(word)
