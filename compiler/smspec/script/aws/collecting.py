"""Collect every call of AWS in the modules of a script, whether or not each run makes it.

A policy must allow what a script may do, so functions count even if nothing visible calls them.
"""

from __future__ import annotations

import ast
import posixpath
from collections.abc import Iterable, Iterator, Mapping

from smspec.script.aws import GAP, AwsCall, ScriptCalls, UnreadUse
from smspec.script.aws.meanings import MeaningResolver
from smspec.script.aws.scope import (
    CLIENT_MAKERS,
    RESOURCE,
    SESSION,
    SESSION_PARAMETERS,
    AwsMethod,
    AwsObject,
    Expressions,
    Foreign,
    Local,
    Passed,
    Scope,
    calls_nothing,
    job_credentials,
    module_scope,
    other_credentials,
    worded,
)
from smspec.script.script_files import parsed
from smspec.source import SourceText, Span

_WORDS = ("boto3", "sagemaker", "s3fs", "s3://", "aws", "s5cmd")
_MOST_ROUNDS = 3
"""How many calls deep an object is followed through arguments."""

_SILENT = (SESSION, "sagemaker.Session", "s3fs")
"""Kinds that libraries take and use in documented ways."""

_STARTERS = frozenset(
    {f"subprocess.{name}" for name in ("run", "call", "check_call", "check_output", "getoutput", "Popen")}
    | {"os.system", "os.popen", "asyncio.create_subprocess_exec", "asyncio.create_subprocess_shell"}
)
_COMMAND = r"(?:\A|[;&|(]|\bsudo|-c)[\s'\"]*(?:[^\s;&|]*/)?((?:aws|s5cmd)\s[^;&|)]*)"
_WITHOUT_CALLS = ("aws configure", "aws help", "aws --version", "aws sts get-caller-identity", "s5cmd version")
_LONGEST = 40


def aws_calls(texts: Iterable[SourceText], variables: Mapping[str, str]) -> ScriptCalls:
    """Return the calls of AWS in modules; ``variables`` are the environment of the job, as far as it is known."""
    modules = list(dict.fromkeys(texts))
    if not any(word in text.text for text in modules for word in _WORDS):
        return ScriptCalls()
    names = [posixpath.basename(text.name.replace("\\", "/")).removesuffix(".py") for text in modules]
    scopes = [
        (name, module_scope(text, tree, frozenset(names)))
        for name, text in zip(names, modules, strict=True)
        if (tree := parsed(text)) is not None
    ]
    resolver = MeaningResolver(dict(reversed(scopes)), variables)
    everywhere = [scope for _, module in scopes for scope in module.all_scopes()]
    for _ in range(_MOST_ROUNDS):
        if not _pass_arguments(resolver, everywhere):
            break
        resolver.forget()
    found = _Found(resolver, variables)
    for scope in everywhere:
        for call in scope.calls:
            found.read(call, scope)
    return ScriptCalls(calls=tuple(dict.fromkeys(found.calls)), unread=tuple(dict.fromkeys(found.unread)))


def _pass_arguments(resolver: MeaningResolver, scopes: list[Scope]) -> bool:
    """Assign the arguments of calls to the parameters of the script's functions; return whether any is new."""
    is_new = False
    for scope in scopes:
        for call in scope.calls:
            for function in resolver.of(call.func, scope):
                if isinstance(function, Local) and isinstance(function.scope, Scope):
                    for name, value in _parameters(function, call):
                        bound = function.scope.bound.setdefault(name, [])
                        if not any(isinstance(one, Passed) and one.node is value for one in bound):
                            bound.append(Passed(value, scope))
                            is_new = True
    return is_new


def _parameters(function: Local, call: ast.Call) -> Iterator[tuple[str, ast.expr]]:
    parameters = function.node.args
    names = [one.arg for one in (*parameters.posonlyargs, *parameters.args)][function.is_method :]
    given = [argument for argument in call.args if not isinstance(argument, ast.Starred)]
    yield from zip(names, given, strict=False)
    yield from ((word.arg, word.value) for word in call.keywords if word.arg)


class _Found:
    """The calls and unread uses that were found so far."""

    def __init__(self, resolver: MeaningResolver, variables: Mapping[str, str]) -> None:
        self.calls: list[AwsCall] = []
        self.unread: list[UnreadUse] = []
        self._resolver = resolver
        self._variables = variables

    def read(self, call: ast.Call, scope: Scope) -> None:
        """Record what one call asks of AWS."""
        functions = self._resolver.of(call.func, scope)
        for function in functions:
            if isinstance(function, Foreign):
                self._function(function.name, call, scope)
            elif isinstance(function, AwsMethod) and not isinstance(call.func, ast.Attribute):
                self._method(function.owner, function.name, call, scope)
        if isinstance(call.func, ast.Attribute):
            owners = [one for one in self._resolver.of(call.func.value, scope) if isinstance(one, AwsObject)]
            for owner in owners:
                self._method(owner, call.func.attr, call, scope)
            if call.func.attr.startswith("to_") and not functions and not owners:
                self.calls.append(self._made("method", call.func.attr, call, scope))
        if not any(isinstance(function, Local) for function in functions):
            self._passed_on(call, scope)

    def _function(self, name: str, call: ast.Call, scope: Scope) -> None:
        if name in CLIENT_MAKERS and not self._resolver.of(call, scope):
            reason = f"`{name}` is called with a service that smspec cannot read"
            self.unread.append(UnreadUse(reason=reason, place=scope.place(call)))
        if name == "boto3.setup_default_session" and (
            other := other_credentials(worded(call, SESSION_PARAMETERS), scope, self._resolver)
        ):
            reason = f"`{name}` sets {other} for later clients"
            self.unread.append(UnreadUse(reason=reason, place=scope.place(call)))
        for command in commands_of_aws(name, call, scope, self._resolver):
            reason = f"smspec does not read the command `{command}`"
            self.unread.append(UnreadUse(reason=reason, place=scope.place(call)))
        self.calls.append(self._made("module", name, call, scope))

    def _method(self, owner: AwsObject, method: str, call: ast.Call, scope: Scope) -> None:
        if owner.kind == SESSION or calls_nothing(method) or method == "get_paginator":
            return
        if owner.kind.endswith(".paginator"):
            if method == "paginate":
                operation = dict(owner.given)["operation"]
                kind = owner.kind.removesuffix(".paginator")
                self.calls.append(self._made(kind, operation, call, scope, owner))
            return
        if owner.kind.endswith(RESOURCE) and method[:1].isupper():
            return
        self.calls.append(self._made(owner.kind, method, call, scope, owner))

    def _made(self, kind: str, method: str, call: ast.Call, scope: Scope, owner: AwsObject | None = None) -> AwsCall:
        given = dict(owner.given) if owner is not None else {}
        for name, value in (*enumerate(call.args), *((word.arg, word.value) for word in call.keywords)):
            if name is None:
                entries = self._resolver.entries("", value, scope)
                given |= {key.removeprefix("."): text for key, text in entries.items()}
            elif not (isinstance(value, ast.Constant) and value.value is None):
                if isinstance(name, str):
                    given[name] = self._resolver.text(value, scope)
                given |= self._resolver.entries(str(name), value, scope)
        return AwsCall(
            owner=kind,
            method=method,
            given=_Frozen(given),
            positional=tuple(self._resolver.text(argument, scope) for argument in call.args),
            region=owner.region if owner is not None else "",
            place=scope.place(call),
            credentials=owner.credentials if owner is not None else self._credentials(call, scope),
        )

    def _credentials(self, call: ast.Call, scope: Scope) -> str:
        """Return why a function of a library does not use the credentials of the job: its ``storage_options``."""
        options = [word for word in call.keywords if word.arg == "storage_options"]
        only = ast.Call(func=call.func, args=[], keywords=options)
        return other_credentials(only, scope, self._resolver) or job_credentials(self._variables, "s3")

    def _passed_on(self, call: ast.Call, scope: Scope) -> None:
        if isinstance(call.func, ast.Name) and call.func.id == "getattr" and self._resolver.of(call, scope):
            return
        for argument in (*call.args, *(word.value for word in call.keywords)):
            for found in self._resolver.of(argument, scope):
                if isinstance(found, AwsMethod):
                    if not found.owner.credentials:
                        self._passed_method(found, scope.place(argument))
                    continue
                if isinstance(found, AwsObject) and (found.kind in _SILENT or found.credentials):
                    continue
                if isinstance(found, AwsObject) and isinstance(argument, ast.Name):
                    name = found.kind.removesuffix(RESOURCE)
                    reason = f"its object `{argument.id}` of `{name}` is passed to other code"
                    self.unread.append(UnreadUse(reason=reason, place=scope.place(argument)))

    def _passed_method(self, method: AwsMethod, place: Span) -> None:
        reason = f"its method `{method.owner.kind}.{method.name}` is passed to other code"
        self.unread.append(UnreadUse(reason=reason, place=place, method=(method.owner.kind, method.name)))


class _Frozen(dict[str, str]):
    """A mapping that is part of a frozen value."""

    def __hash__(self) -> int:  # type: ignore[override]  # nothing changes it
        return hash(tuple(self.items()))


def commands_of_aws(function: str, call: ast.Call, scope: Scope, known: Expressions) -> Iterator[str]:
    """Yield the commands of the AWS CLI or s5cmd that a function of the standard library starts, shortened."""
    if function not in _STARTERS:
        return
    import re  # imported late: few scripts start processes

    named = [word.value for word in call.keywords if word.arg in ("args", "cmd", "command")]
    line = " ".join(_line(argument, scope, known) for argument in (*call.args, *named))
    for found in re.finditer(_COMMAND, line.replace(GAP, "…")):
        command = " ".join(found[1].replace("`", "'").split())
        if not command.startswith(_WITHOUT_CALLS):
            yield command if len(command) <= _LONGEST else f"{command[: _LONGEST - 1]}…"


def _line(node: ast.expr, scope: Scope, known: Expressions) -> str:
    """Return a command line: a text, a list of its words, or a text that is split."""
    node, scope = known.expression(node, scope)
    match node:
        case ast.List(elts=words) | ast.Tuple(elts=words):
            return " ".join(known.text(word, scope) for word in words)
        case ast.Call(func=ast.Attribute(value=ast.Name(id="shlex"), attr="split"), args=[text, *_]):
            return known.text(text, scope)
        case ast.Call(func=ast.Attribute(value=text, attr="split"), args=[]):
            return known.text(text, scope)
        case ast.BinOp(op=ast.Add(), left=left, right=right):
            return f"{_line(left, scope, known)} {_line(right, scope, known)}".replace("  ", " ")
    return known.text(node, scope)
