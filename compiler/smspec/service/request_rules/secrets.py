"""Secrets, wherever a request contains text."""

from __future__ import annotations

from collections.abc import Iterator

from smspec.diagnostics import HERE, Finding, Rule
from smspec.diagnostics.quoting import secret_of
from smspec.diagnostics.secret_formats import certain_secret
from smspec.diagnostics.secrets import option_name
from smspec.service.patterns import shown
from smspec.service.request import Request
from smspec.service.runtime_settings import SETTINGS
from smspec.service.shapes import items, member, structure
from smspec.source import Path

SECRET_IN_THE_REQUEST = Rule("SM601", "secret in the request", "warning")

CERTAIN_SECRET_IN_THE_REQUEST = Rule("SM616", "certain secret in the request")

_KEYS = {"HyperParameters": "hyperparameters", "Environment": "environment", "Tags": "tags"}

_COMMANDS = ("ContainerEntrypoint", "ContainerArguments")


def secret_in_the_request(request: Request) -> Iterator[Finding]:
    """Warn about what looks like a secret, and reject what certainly is one.

    DescribeTrainingJob shows the hyperparameters, the environment, the command, and the tags of a job.
    """
    cure = "move it to Secrets Manager or Parameter Store, and "
    cure += request.word("pass its name or ARN", "set its ARN in `secrets`")
    for path, name, value in _texts(request.payload):
        certain = certain_secret(name, value)
        what = certain or secret_of(name, value.strip('"'))
        if what:
            rule, claim = (
                (CERTAIN_SECRET_IN_THE_REQUEST, f"contains {certain}")
                if certain
                else (SECRET_IN_THE_REQUEST, f"looks like {what}")
            )
            yield rule.at(
                path,
                f"{_called(request, path, name)} {claim}; DescribeTrainingJob shows it",
                help=cure,
            )
    for path, value in _others(request.payload):
        certain = certain_secret(str(path[-1]), value)
        if certain:
            message = f"{HERE} contains {certain}; DescribeTrainingJob shows it"
            yield CERTAIN_SECRET_IN_THE_REQUEST.at(path, message, help=cure)


def _called(request: Request, path: Path, name: str) -> str:
    holder = str(path[0])
    key = _KEYS.get(holder)
    if key and name:
        return f"`{request.word(holder, key)}.{shown(name)}`"
    return f"an item of `{request.word(str(path[1]), 'entry_point')}`"


def _texts(payload: dict[str, object]) -> Iterator[tuple[Path, str, str]]:
    """Yield every string of the author that the service shows: its path, its name, the string."""
    for holder in ("HyperParameters", "Environment"):
        texts = {name: text for name, text in structure(payload, holder).items() if isinstance(text, str)}
        # The end of one part may be the beginning of an ARN, which alone looks like a secret.
        parts = [name for name in texts if name.startswith(f"{SETTINGS}_")]
        if holder == "HyperParameters" and parts and SETTINGS in texts:
            texts[SETTINGS] += "".join(map(texts.pop, parts))
        for name, value in texts.items():
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


def _others(payload: dict[str, object]) -> Iterator[tuple[Path, str]]:
    """Yield every other string, wherever it is nested, and the other members, whose names may be the author's."""
    waiting: list[tuple[Path, object]] = [((name,), value) for name, value in payload.items() if name not in _KEYS]
    while waiting:
        path, value = waiting.pop()
        yield path, value if isinstance(value, str) else ""
        if isinstance(value, dict):
            is_read = _COMMANDS if path == ("AlgorithmSpecification",) else ()
            waiting += [((*path, str(name)), inner) for name, inner in value.items() if name not in is_read]
        elif isinstance(value, list):
            waiting += [((*path, index), inner) for index, inner in enumerate(value)]


RULES = {
    secret_in_the_request: (),
}
