"""Statements about what the script calls itself, with the credentials of the execution role."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping

from smspec.render.iam.statements import Place, Statement, allow, literal
from smspec.script.aws.aws_call import GAP, AwsCall, AwsCalls
from smspec.service.facts.aws_calls import NeededActions, needed_actions
from smspec.source import Span
from smspec.source.frozen import dataclass, replace

_LIBRARIES = ("module", "method", "s3fs")
"""Owners whose calls are about AWS only with an ``s3://`` address, or that have other calls too."""

_NAMED = 5
_QUEUE = re.compile(r"https://sqs\.([a-z0-9-]+)\.[a-z.]+/(\d{12})/([^/]+)")
_ANY = re.compile(r"arn:[^:]*:s3:::\*|arn:(?:[^:]*:){4}(?:[a-z-]+[/:])?\*")
_FIELD = re.compile(r"\{([^}]*)\}")


@dataclass(frozen=True, slots=True, kw_only=True)
class ProgramStatements:
    """``statements`` about the calls that could be read, and notes on the others."""

    statements: tuple[Statement, ...] = ()
    notes: tuple[str, ...] = ()


def program_statements(calls: AwsCalls, place: Place) -> ProgramStatements:
    """Return statements per service, with the resources that are written in the script.

    Those on resources that are not written have ids of their own.
    """
    allowed: dict[tuple[str, ...], set[str]] = {}
    unread = [(use.place, use.reason) for use in calls.unread]
    unnamed: dict[str, Span] = {}
    for call in calls.calls:
        if not _is_about_aws(call):
            continue
        needed = needed_actions(call.owner, call.method)
        if not needed and call.owner not in _LIBRARIES:
            unread.append((call.place, f"the permissions of `{_name(call)}` are not known to smspec"))
        for part in needed:
            if part.actions:
                resource = _resource(call, part, place)
                allowed.setdefault(part.actions, set()).add(resource)
                if _is_any(resource):
                    unnamed.setdefault(_service(part.actions), call.place)
    notes = [*_notes(unread), *_wide_notes(unnamed)]
    return ProgramStatements(statements=tuple(_statements(allowed)), notes=tuple(notes))


def _statements(allowed: Mapping[tuple[str, ...], set[str]]) -> Iterator[Statement]:
    """Yield statements by service: actions on the same resources are joined."""
    joined: dict[tuple[str, tuple[str, ...]], set[str]] = {}
    for actions, resources in allowed.items():
        for any_of_them in (False, True):
            found = tuple(sorted(one for one in resources if _is_any(one) is any_of_them))
            if found:
                joined.setdefault((_sid(_service(actions), any_of_them), found), set()).update(actions)
    numbers: dict[str, int] = {}
    for (sid, found), together in sorted(joined.items()):
        number = numbers.get(sid, 0)
        numbers[sid] = number + 1
        yield allow(f"{sid}{number or ''}", sorted(together), list(found))


def _sid(service: str, any_of_them: bool) -> str:
    return f"ScriptCalls{'Any' if any_of_them else ''}{service.title()}"


def _service(actions: tuple[str, ...]) -> str:
    return actions[0].partition(":")[0]


def _is_any(resource: str) -> bool:
    """Return whether an ARN is of every bucket, secret, table, or the like."""
    return _ANY.match(resource) is not None


def _is_about_aws(call: AwsCall) -> bool:
    if call.owner not in ("module", "method"):
        return True
    needed = needed_actions(call.owner, call.method)
    if not needed or call.method.startswith("sagemaker."):
        return bool(needed)
    return any(value.startswith("s3://") for value in _parameters(call, needed[0]).values())


def _parameters(call: AwsCall, needed: NeededActions) -> dict[str, str]:
    """Return the arguments of a call by name, with the bucket and key of those that are addresses in S3."""
    given = {**dict(zip(needed.parameters, call.positional, strict=False)), **call.given}
    for name, value in list(given.items()):
        if value.startswith("s3://") or call.owner == "s3fs":
            bucket, _, key = value.removeprefix("s3://").partition("/")
            given |= {f"{name}.Bucket": bucket or GAP, f"{name}.Key": key or GAP}
    return given


def _resource(call: AwsCall, needed: NeededActions, place: Place) -> str:
    """Return the ARN that a call is about, with a wildcard for each unknown part."""
    if needed.resource == "*":
        return "*"
    given = _parameters(call, needed)
    arn = next((value for value in given.values() if value.startswith("arn:") and GAP not in value), None)
    service = _service(needed.actions)
    if arn is not None and arn.split(":")[2:3] == [service]:
        return literal(arn)
    where = replace(place, region=call.region.replace(GAP, "*")) if call.region else place
    if service == "sqs" and (queue := _QUEUE.fullmatch(given.get("QueueUrl", ""))):
        return f"arn:{place.partition}:sqs:{queue[1]}:{queue[2]}:{literal(queue[3])}"
    filled = _FIELD.sub(lambda field: _written(service, given.get(field[1], GAP)), needed.resource)
    filled = re.sub(r"\*+", "*", filled)
    if service == "s3":
        return f"arn:{place.partition}:s3:::{filled}"
    return where.arn(service, filled)


def _written(service: str, value: str) -> str:
    """Return the value of a parameter as it is written in an ARN."""
    if service == "sqs" and value.startswith("https:"):
        return "*"
    if service == "ssm":
        value = value.lstrip("/")
    written = GAP.join(literal(part) for part in value.split(GAP)).replace(GAP, "*")
    # Secrets Manager appends six random characters to the name of a secret.
    return f"{written}-??????" if service == "secretsmanager" and "*" not in written else written


def _name(call: AwsCall) -> str:
    return f"{call.owner.removesuffix(':resource')}.{call.method}"


def _notes(unread: list[tuple[Span, str]]) -> Iterator[str]:
    for span, reason in sorted(unread, key=lambda use: (use[0].file, use[0].line, use[1]))[:_NAMED]:
        file = span.file.replace("\\", "/").rpartition("/")[2]
        yield f"the script uses AWS at {file}:{span.line}, but {reason}: add what it needs to the policy"
    if len(unread) > _NAMED:
        yield f"the policy lacks what {len(unread) - _NAMED} more uses of AWS in the script need"


def _wide_notes(unnamed: Mapping[str, Span]) -> Iterator[str]:
    for service, span in sorted(unnamed.items()):
        file = span.file.replace("\\", "/").rpartition("/")[2]
        yield f"`{_sid(service, True)}` allows any resource, since {file}:{span.line} does not name one: narrow it"
