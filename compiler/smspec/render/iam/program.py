"""Statements about what the script calls itself, with the credentials of the execution role."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

from smspec.render.iam.permission import Permission, applies, arguments, needed_actions, permissions, service_of
from smspec.render.iam.statements import JobPlace, Statement, allow
from smspec.script.aws import GAP, AwsCall, ScriptCalls
from smspec.source import Span
from smspec.source.frozen import dataclass

_LIBRARIES = ("module", "method", "s3fs")
"""Owners whose calls are about AWS only with an ``s3://`` address, or that have other calls too."""

_NAMED = 5
_MORE = {
    ("athena", "start_query_execution"): "its query also needs the catalog of AWS Glue and the data in S3",
}
"""Calls that need more than an action on what they name."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ProgramStatements:
    """``statements`` about the calls that could be read, and notes on the others."""

    statements: tuple[Statement, ...] = ()
    notes: tuple[str, ...] = ()


def program_statements(calls: ScriptCalls, place: JobPlace) -> ProgramStatements:
    """Return statements per service, with the resources that are written in the script.

    Those on resources that are not written have ids of their own.
    """
    found: dict[Permission, Span] = {}
    unread = [(use.place, use.reason) for use in calls.unread if use.method is None or needed_actions(*use.method)]
    others: dict[str, Span] = {}
    for call in calls.calls:
        if not _is_about_aws(call):
            continue
        needed = needed_actions(call.owner, call.method)
        if call.credentials:
            if needed or call.owner not in _LIBRARIES:
                others.setdefault(call.credentials, call.place)
            continue
        if not needed and call.owner not in _LIBRARIES:
            unread.append((call.place, f"the permissions of `{_name(call)}` are not known to smspec"))
        if needed and (reason := _unread_part(call, arguments(call, needed[0]))):
            unread.append((call.place, reason))
        for part in needed:
            given = arguments(call, part)
            if part.actions and applies(part, given):
                for permission in permissions(call, part, given, place):
                    found.setdefault(permission, call.place)
    notes = [*_notes(unread), *_other_notes(others), *_wide_notes(found)]
    return ProgramStatements(statements=tuple(_statements(found)), notes=tuple(notes))


def _statements(found: Iterable[Permission]) -> Iterator[Statement]:
    """Yield statements by service: actions on the same resources are joined."""
    allowed: dict[tuple[str, tuple[str, ...], str], set[str]] = {}
    for one in found:
        allowed.setdefault((_sid(one), one.actions, one.alias), set()).add(one.arn)
    joined: dict[tuple[str, tuple[str, ...], str], set[str]] = {}
    for (sid, actions, alias), arns in allowed.items():
        joined.setdefault((sid, tuple(sorted(arns)), alias), set()).update(actions)
    numbers: dict[str, int] = {}
    for (sid, resources, alias), together in sorted(joined.items()):
        number = numbers.get(sid, 0)
        numbers[sid] = number + 1
        condition: Statement = {"ForAnyValue:StringEquals": {"kms:ResourceAliases": alias}}
        yield allow(f"{sid}{number or ''}", sorted(together), list(resources), condition if alias else None)


def _sid(permission: Permission) -> str:
    service = service_of(permission.actions).title().replace("-", "")
    return f"ScriptCalls{'Any' if permission.wide else ''}{service}"


def _is_about_aws(call: AwsCall) -> bool:
    if call.owner not in ("module", "method"):
        return True
    needed = needed_actions(call.owner, call.method)
    if not needed or call.method.startswith("sagemaker."):
        return bool(needed)
    return any(value.startswith("s3://") for value in arguments(call, needed[0]).values())


def _unread_part(call: AwsCall, given: Mapping[str, str]) -> str:
    """Return why the policy may lack a permission for a call that is known; empty if it does not."""
    # An argument may need more permissions, such as that for an ACL or a key.
    if given.get("ExtraArgs") == GAP and not any(name.startswith("ExtraArgs.") for name in given):
        return f"the `ExtraArgs` of `{_name(call)}` cannot be read"
    return _MORE.get((call.owner, call.method), "")


def _name(call: AwsCall) -> str:
    return f"{call.owner.removesuffix(':resource')}.{call.method}"


def _notes(unread: list[tuple[Span, str]]) -> Iterator[str]:
    for span, reason in sorted(unread, key=lambda use: (use[0].file, use[0].line, use[1]))[:_NAMED]:
        yield f"the script uses AWS at {_line(span)}, but {reason}: add what it needs to the policy"
    if len(unread) > _NAMED:
        yield f"the policy lacks what {len(unread) - _NAMED} more uses of AWS in the script need"


def _other_notes(others: Mapping[str, Span]) -> Iterator[str]:
    for reason, span in sorted(others.items()):
        yield f"the script uses AWS at {_line(span)} with {reason}, not with the role: the policy has nothing for it"


def _wide_notes(found: Mapping[Permission, Span]) -> Iterator[str]:
    wide: dict[tuple[str, str], Span] = {}
    for permission, span in found.items():
        if permission.wide:
            wide.setdefault((_sid(permission), permission.wide), span)
    for (sid, reason), span in sorted(wide.items(), key=lambda item: item[0]):
        yield f"`{sid}` allows any resource, since {_line(span)} {reason}"


def _line(span: Span) -> str:
    file = span.file.replace("\\", "/").rpartition("/")[2]
    return f"{file}:{span.line}"
