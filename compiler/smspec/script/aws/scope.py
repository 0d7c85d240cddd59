"""The names of a module or function, what is assigned to each anywhere in it, and what that may mean.

The values that matter are texts, names of other modules, functions, and objects of the AWS SDK; clients count only if
they use the credentials of the job at AWS.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping
from typing import Protocol, Union

from smspec.script.aws import GAP
from smspec.source import SourceText, Span
from smspec.source.frozen import dataclass, replace

ENVIRONMENT = ("os.environ.get", "os.getenv")
"""Functions that return a variable, or None."""

_KEYS = frozenset({"aws_access_key_id", "aws_secret_access_key", "aws_session_token", "key", "secret", "token"})
_PROFILES = frozenset({"profile_name", "profile"})
_AWS = ("amazonaws.com", "amazonaws.com.cn", "api.aws", "amazonaws.eu")
"""The ends of hosts of AWS. https://docs.aws.amazon.com/general/latest/gr/rande.html"""

_KEY_PARAMETERS = ("aws_access_key_id", "aws_secret_access_key", "aws_session_token")
CLIENT_PARAMETERS = (
    *("service_name", "region_name", "api_version", "use_ssl", "verify", "endpoint_url"),
    *(*_KEY_PARAMETERS, "config"),
)
SESSION_PARAMETERS = (*_KEY_PARAMETERS, "region_name", "botocore_session", "profile_name")
FILE_SYSTEM_PARAMETERS = ("anon", "endpoint_url", "key", "secret", "token")
"""The names of arguments that are passed by position, in the signatures of boto3 and s3fs."""

CLIENT_MAKERS = {"boto3.client": False, "boto3.resource": True}
SESSION = "session"
_SESSIONS = frozenset({"boto3.Session", "boto3.session.Session"})
_OTHER_MAKERS = {
    "sagemaker.Session": "sagemaker.Session",
    "sagemaker.session.Session": "sagemaker.Session",
    "s3fs.S3FileSystem": "s3fs",
    "s3fs.core.S3FileSystem": "s3fs",
    "fsspec.filesystem": "s3fs",
}
RESOURCE = ":resource"
"""The end of the kind of a resource, which makes objects and calls nothing itself."""

PARTS: dict[tuple[str, str], tuple[str, dict[str, str]]] = {
    ("s3:resource", "Bucket"): ("s3.Bucket", {"Bucket": "name"}),
    ("s3:resource", "Object"): ("s3.Object", {"Bucket": "bucket_name", "Key": "key"}),
    ("s3:resource", "ObjectSummary"): ("s3.Object", {"Bucket": "bucket_name", "Key": "key"}),
    ("s3.Bucket", "Object"): ("s3.Object", {"Key": "key"}),
    ("dynamodb:resource", "Table"): ("dynamodb.Table", {"TableName": "name"}),
    ("sqs:resource", "Queue"): ("sqs.Queue", {"QueueUrl": "url"}),
    ("sns:resource", "Topic"): ("sns.Topic", {"TopicArn": "arn"}),
}
"""Methods that make an object and call nothing: its kind, and what identifies it, in order, with their own names."""

ATTRIBUTES = {("s3.Bucket", "objects"): "s3.Bucket.objects"}
"""Attributes that are objects themselves."""

_LAZY = frozenset({"can_paginate", "close", "exceptions", "meta", "waiter_names"})
"""Names of clients and resources that call nothing."""

_SCOPES = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)


@dataclass(frozen=True, slots=True)
class Text:
    """A text; `GAP` stands for each unknown part."""

    text: str


@dataclass(frozen=True, slots=True)
class Foreign:
    """Something of another module, by its full name."""

    name: str


@dataclass(frozen=True, slots=True)
class Local:
    """A function of the script, with its own scope. ``is_method``: its first parameter is the instance."""

    node: ast.FunctionDef
    scope: object
    is_method: bool = False


@dataclass(frozen=True, slots=True)
class AwsObject:
    """A client, a resource, or what one returns. ``given`` are the parameters that identify it.

    ``credentials``: why it does not use those of the job at AWS; empty if it does.
    """

    kind: str
    given: tuple[tuple[str, str], ...] = ()
    region: str = ""
    credentials: str = ""

    def below(self, kind: str, given: tuple[tuple[str, str], ...] = ()) -> AwsObject:
        """Return an object that this one makes."""
        return replace(self, kind=kind, given=(*self.given, *given))


@dataclass(frozen=True, slots=True)
class AwsMethod:
    """A method of an object of the AWS SDK that is not called where it is named."""

    owner: AwsObject
    name: str


Meaning = Union[Text, Foreign, Local, AwsObject, AwsMethod]


def maker_of(name: str) -> str | None:
    """Return the kind of object that a function of another module makes; None if it makes no known one."""
    return SESSION if name in _SESSIONS else _OTHER_MAKERS.get(name)


def calls_nothing(method: str) -> bool:
    return method in _LAZY


Bound = Union[ast.expr, Meaning, "OwnName", "Passed", "Loop"]


class OwnName:
    """A name, or with an empty one the module itself, of another module of the source."""

    def __init__(self, module: str, name: str) -> None:
        self.module = module
        self.name = name


class Passed:
    """An argument of a call, in the scope of the caller."""

    def __init__(self, node: ast.expr, scope: Scope) -> None:
        self.node = node
        self.scope = scope


class Loop:
    """An item of what a loop iterates over."""

    def __init__(self, node: ast.expr) -> None:
        self.node = node


class Scope:
    """One scope. ``bound``: everything that is assigned to a name in it. ``calls`` are made in it."""

    def __init__(self, text: SourceText, outer: Scope | None, own: frozenset[str]) -> None:
        self.text = text
        self.outer = outer
        self.own = own
        self.bound: dict[str, list[Bound]] = {}
        self.calls: list[ast.Call] = []
        self.returns: list[ast.expr] = []
        self.inner: dict[ast.FunctionDef, Scope] = {}
        self.methods: dict[str, list[Local]] = outer.methods if outer is not None else {}
        self.attributes: dict[str, list[tuple[ast.expr, Scope]]] = outer.attributes if outer is not None else {}

    def all_scopes(self) -> Iterator[Scope]:
        """Yield this scope and all within it."""
        yield self
        for inner in self.inner.values():
            yield from inner.all_scopes()

    def place(self, node: ast.expr) -> Span:
        return Span(
            self.text.name,
            node.lineno,
            node.col_offset + 1,
            node.end_lineno or node.lineno,
            (node.end_col_offset or 0) + 1,
        )


def module_scope(text: SourceText, tree: ast.Module, own: frozenset[str]) -> Scope:
    """Return the scope of a module; ``own`` are the names of the modules of the source."""
    scope = Scope(text, None, own)
    _fill(scope, tree)
    return scope


def _fill(scope: Scope, node: ast.AST) -> None:
    is_class = isinstance(node, ast.ClassDef)
    for child in ast.iter_child_nodes(node):
        _bind(scope, child)
        if isinstance(child, ast.FunctionDef):
            inner = scope.inner[child] = Scope(scope.text, scope, scope.own)
            if is_class:
                is_static = any(isinstance(one, ast.Name) and one.id == "staticmethod" for one in child.decorator_list)
                scope.methods.setdefault(child.name, []).append(Local(child, inner, not is_static))
            else:
                scope.bound.setdefault(child.name, []).append(Local(child, inner))
            _fill(inner, child)
        elif isinstance(child, _SCOPES):
            _fill(Scope(scope.text, scope, scope.own), child)
        else:
            _fill(scope, child)


def _bind(scope: Scope, node: ast.AST) -> None:
    match node:
        case ast.Import():
            for alias in node.names:
                name = alias.name if alias.asname else alias.name.partition(".")[0]
                bound = OwnName(name, "") if name in scope.own else Foreign(name)
                scope.bound.setdefault(alias.asname or name, []).append(bound)
        case ast.ImportFrom():
            for alias in node.names:
                scope.bound.setdefault(alias.asname or alias.name, []).append(_imported(scope, node, alias.name))
        case ast.Assign():
            for target in node.targets:
                _assign(scope, target, node.value)
        case ast.AnnAssign(value=ast.expr() as value) | ast.NamedExpr(value=value):
            _assign(scope, node.target, value)
        case ast.withitem(optional_vars=ast.expr() as target):
            _assign(scope, target, node.context_expr)
        case ast.For(target=ast.Name(id=name)):
            scope.bound.setdefault(name, []).append(Loop(node.iter))
        case ast.Return(value=ast.expr() as value):
            scope.returns.append(value)
        case ast.Call():
            scope.calls.append(node)


def _imported(scope: Scope, node: ast.ImportFrom, name: str) -> Bound:
    module = node.module or ""
    if module in scope.own:
        return OwnName(module, name)
    if name in scope.own and (node.level or not module):
        return OwnName(name, "")
    return Foreign(f"{module}.{name}" if not node.level else f".{module}.{name}")


def _assign(scope: Scope, target: ast.expr, value: ast.expr) -> None:
    match target:
        case ast.Name(id=name):
            scope.bound.setdefault(name, []).append(value)
        case ast.Attribute(value=ast.Name(), attr=name):
            scope.attributes.setdefault(name, []).append((value, scope))
        case ast.Tuple(elts=targets) if isinstance(value, ast.Tuple) and len(targets) == len(value.elts):
            for one, given in zip(targets, value.elts, strict=True):
                _assign(scope, one, given)
        case ast.Tuple(elts=targets):
            for one in targets:
                if isinstance(one, ast.Name):
                    scope.bound.setdefault(one.id, []).append(ast.Constant(value=None))


class Expressions(Protocol):
    """What resolves the expressions of a script."""

    def of(self, node: ast.expr, scope: Scope) -> frozenset[Meaning]: ...

    def text(self, node: ast.expr | None, scope: Scope) -> str: ...

    def expression(self, node: ast.expr, scope: Scope) -> tuple[ast.expr, Scope]: ...


def worded(node: ast.Call, names: tuple[str, ...]) -> ast.Call:
    """Return a call with names for its arguments by position."""
    if not node.args or any(isinstance(one, ast.Starred) for one in node.args):
        return node
    named = [ast.keyword(arg=name, value=value) for name, value in zip(names, node.args, strict=False)]
    return ast.copy_location(ast.Call(func=node.func, args=[], keywords=[*named, *node.keywords]), node)


def other_credentials(node: ast.Call, scope: Scope, known: Expressions) -> str:
    """Return why a client, session, or file system does not use the credentials of the job at AWS; empty if it may."""
    for name, value, where in _options(node, scope, known):
        written, inner = known.expression(value, where)
        if (isinstance(written, ast.Constant) and not written.value) or _is_unset(written, inner, known):
            continue
        if name in _KEYS:
            return "explicit keys"
        if name in _PROFILES and GAP not in known.text(written, inner):
            return "a profile"
        if name == "anon" and isinstance(written, ast.Constant):
            return "unsigned requests"
        if name == "endpoint_url" and not _is_aws(known.text(written, inner)):
            return "an endpoint that is not of AWS"
        if name == "config" and isinstance(written, ast.Call) and _is_unsigned(written, inner, known):
            return "unsigned requests"
    return ""


def job_credentials(variables: Mapping[str, str], service: str) -> str:
    """Return why the variables of the job replace its credentials or its endpoint; empty if they do not.

    https://docs.aws.amazon.com/sdkref/latest/guide/environment-variables.html
    """
    if variables.get("AWS_ACCESS_KEY_ID"):
        return "the keys in `environment`"
    if variables.get("AWS_PROFILE"):
        return "a profile"
    name = f"AWS_ENDPOINT_URL_{service.upper().replace('-', '_')}"
    endpoint = variables.get(name) or variables.get("AWS_ENDPOINT_URL")
    return "an endpoint that is not of AWS" if endpoint and not _is_aws(endpoint) else ""


def _options(node: ast.Call, scope: Scope, known: Expressions) -> Iterator[tuple[str, ast.expr, Scope]]:
    for word in node.keywords:
        if word.arg in (None, "client_kwargs", "storage_options"):
            mapping, where = known.expression(word.value, scope)
            if isinstance(mapping, ast.Dict):
                for key, value in zip(mapping.keys, mapping.values, strict=True):
                    if isinstance(key, ast.Constant):
                        yield str(key.value), value, where
        elif word.arg is not None:
            yield word.arg, word.value, scope


def _is_unset(node: ast.expr, scope: Scope, known: Expressions) -> bool:
    """Return whether an expression is a variable that the job does not set: boto3 then uses the role."""
    if not isinstance(node, ast.Call) or known.of(node, scope):
        return False
    return any(isinstance(one, Foreign) and one.name in ENVIRONMENT for one in known.of(node.func, scope))


def _is_aws(address: str) -> bool:
    """Return whether an endpoint may be of AWS: one whose host is not known may be."""
    from urllib.parse import urlsplit  # imported late: few scripts name an endpoint

    try:
        host = urlsplit(address if "//" in address else f"//{address}").hostname or GAP
    except ValueError:
        return True
    return GAP in host.rpartition(".")[2] or host.endswith(_AWS)


def _is_unsigned(config: ast.Call, scope: Scope, known: Expressions) -> bool:
    signature = next((word.value for word in config.keywords if word.arg == "signature_version"), None)
    return signature is not None and any(
        isinstance(one, Foreign) and one.name.endswith(".UNSIGNED") for one in known.of(signature, scope)
    )
