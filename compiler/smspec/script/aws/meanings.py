"""What an expression may be, wherever a script's names may be assigned: texts, and objects of the AWS SDK."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping

from smspec.script.aws import GAP
from smspec.script.aws.scope import (
    ATTRIBUTES,
    CLIENT_MAKERS,
    CLIENT_PARAMETERS,
    ENVIRONMENT,
    FILE_SYSTEM_PARAMETERS,
    PARTS,
    RESOURCE,
    SESSION,
    SESSION_PARAMETERS,
    AwsMethod,
    AwsObject,
    Foreign,
    Local,
    Loop,
    Meaning,
    OwnName,
    Passed,
    Scope,
    Text,
    job_credentials,
    maker_of,
    other_credentials,
    worded,
)

Meanings = frozenset[Meaning]

_NONE: Meanings = frozenset()
_LONGEST = 2_000

_DEEPEST = 60
"""The maximum depth of nested expressions, and of the names in them."""


class MeaningResolver:
    """The meanings of expressions. ``variables`` are those of the job; ``modules`` the scopes by module name."""

    def __init__(self, modules: Mapping[str, Scope], variables: Mapping[str, str]) -> None:
        self._modules = modules
        self._variables = variables
        self._known: dict[tuple[int, str], Meanings] = {}
        self._seen: dict[tuple[int, ast.expr], Meanings] = {}
        self._depth = 0

    def forget(self) -> None:
        """Look up names again, after new arguments were found."""
        self._known.clear()
        self._seen.clear()

    def text(self, node: ast.expr | None, scope: Scope) -> str:
        """Return the text of an expression, with gaps."""
        texts = {found.text for found in self.of(node, scope) if isinstance(found, Text)} if node is not None else set()
        return texts.pop() if len(texts) == 1 else GAP

    def of(self, node: ast.expr, scope: Scope) -> Meanings:
        """Return all known meanings of an expression; none while it is looked up, since it may depend on itself."""
        if isinstance(node, ast.Constant | ast.Name):
            return self._of(node, scope)
        key = (id(scope), node)
        if key not in self._seen:
            if self._depth >= _DEEPEST:
                return _NONE
            self._seen[key] = _NONE
            self._depth += 1
            self._seen[key] = self._of(node, scope)
            self._depth -= 1
        return self._seen[key]

    def expression(self, node: ast.expr, scope: Scope) -> tuple[ast.expr, Scope]:
        """Return the only expression that is assigned to a name, and its scope; any other expression itself."""
        for _ in range(_DEEPEST):
            where: Scope | None = scope
            while isinstance(node, ast.Name) and where is not None and node.id not in where.bound:
                where = where.outer
            if not isinstance(node, ast.Name) or where is None or len(where.bound[node.id]) != 1:
                break
            bound = where.bound[node.id][0]
            if isinstance(bound, Passed):
                node, scope = bound.node, bound.scope
            elif isinstance(bound, ast.expr):
                node, scope = bound, where
            else:
                break
        return node, scope

    def entries(self, name: str, node: ast.expr, scope: Scope) -> dict[str, str]:
        """Return the texts in a mapping by ``name`` and their keys; empty if the expression is not a mapping."""
        return self._entries(name, node, scope, _DEEPEST)

    def _entries(self, name: str, node: ast.expr, scope: Scope, depth: int) -> dict[str, str]:
        node, scope = self.expression(node, scope)
        found: dict[str, str] = {}
        if not depth:
            return found
        if isinstance(node, ast.List):
            for one in node.elts:
                for key, text in self._entries(name, one, scope, depth - 1).items():
                    found[key] = text if found.get(key, text) == text else GAP
        for key, value in _items(node):
            if not (isinstance(value, ast.Constant) and value.value is None):
                found[f"{name}.{key}"] = self.text(value, scope)
                found |= self._entries(f"{name}.{key}", value, scope, depth - 1)
        return found

    def _of(self, node: ast.expr, scope: Scope) -> Meanings:
        match node:
            case ast.Constant(value=str() | int() as value):
                return frozenset({Text(str(value)[:_LONGEST])})
            case ast.JoinedStr():
                return self._one("".join(self._part(part, scope) for part in node.values))
            case ast.BinOp(op=ast.Add()):
                return self._one(self.text(node.left, scope) + self.text(node.right, scope))
            case ast.Name():
                return self._name(node.id, scope)
            case ast.Attribute():
                return self._attribute(node.value, node.attr, scope)
            case ast.Subscript() if Foreign("os.environ") in self.of(node.value, scope):
                return self._variable(self.text(node.slice, scope), None, scope)
            case ast.Call():
                return self._call(node, scope)
            case ast.IfExp():
                return self.of(node.body, scope) | self.of(node.orelse, scope)
            case ast.BoolOp():
                return frozenset().union(*(self.of(value, scope) for value in node.values))
            case ast.NamedExpr() | ast.Await():
                return self.of(node.value, scope)
        return _NONE

    def _one(self, text: str) -> Meanings:
        return frozenset({Text(text[:_LONGEST])})

    def _part(self, part: ast.expr, scope: Scope) -> str:
        if isinstance(part, ast.FormattedValue):
            return self.text(part.value, scope) if part.format_spec is None and part.conversion == -1 else GAP
        return self.text(part, scope)

    def _name(self, name: str, scope: Scope) -> Meanings:
        where: Scope | None = scope
        while where is not None and name not in where.bound:
            where = where.outer
        if where is None:
            return _NONE
        key = (id(where), name)
        if key not in self._known:
            self._known[key] = _NONE  # while it is looked up: a name may be assigned from itself
            self._known[key] = frozenset().union(*(self._bound(bound, where) for bound in where.bound[name]))
        return self._known[key]

    def _bound(self, bound: object, scope: Scope) -> Meanings:
        if isinstance(bound, OwnName):
            module = self._modules.get(bound.module)
            if module is None:
                return _NONE
            return self._name(bound.name, module) if bound.name else frozenset({Foreign(f"own:{bound.module}")})
        if isinstance(bound, Passed):
            return self.of(bound.node, bound.scope)
        if isinstance(bound, Loop):
            found = self.of(bound.node, scope)
            return frozenset(
                one.below("s3.Object", (("Key", GAP),))
                for one in found
                if isinstance(one, AwsObject) and one.kind == "s3.Bucket.objects"
            )
        if isinstance(bound, ast.expr):
            return self.of(bound, scope)
        return frozenset({bound}) if isinstance(bound, Text | Foreign | Local | AwsObject) else _NONE

    def _attribute(self, value: ast.expr, attr: str, scope: Scope) -> Meanings:
        found: Meanings = _NONE
        for owner in self.of(value, scope):
            match owner:
                case Foreign(name=name) if name.startswith("own:"):
                    found |= self._name(attr, self._modules[name.removeprefix("own:")])
                case Foreign(name=name):
                    found |= {Foreign(f"{name}.{attr}")}
                case AwsObject() if attr == "meta":
                    found |= {owner}
                case AwsObject() if attr == "client":
                    found |= {owner.below(owner.kind.removesuffix(RESOURCE).partition(".")[0])}
                case AwsObject() if (owner.kind, attr) in ATTRIBUTES:
                    found |= {owner.below(ATTRIBUTES[owner.kind, attr])}
                case AwsObject():
                    found |= {AwsMethod(owner, attr)}
        if not found and isinstance(value, ast.Name) and attr in scope.attributes:
            key = (id(scope.attributes), attr)
            if key not in self._known:
                self._known[key] = _NONE
                given = scope.attributes[attr]
                self._known[key] = frozenset().union(*(self.of(value, where) for value, where in given))
            found = self._known[key]
        if not found and isinstance(value, ast.Name | ast.Call):
            found = frozenset(scope.methods.get(attr, ()))
        return found

    def _call(self, node: ast.Call, scope: Scope) -> Meanings:
        if isinstance(node.func, ast.Attribute):
            made = self._made_by_object(node, node.func, scope)
            if made:
                return made
            if node.func.attr == "format" and isinstance(node.func.value, ast.Constant):
                return self._one(_formatted(str(node.func.value.value)))
        match node:
            case ast.Call(func=ast.Name(id="getattr"), args=[value, ast.Constant(value=str() as attr), *_]):
                return self._attribute(value, attr, scope)
        found: Meanings = _NONE
        for function in self.of(node.func, scope):
            if isinstance(function, Local) and isinstance(function.scope, Scope):
                inner = function.scope
                for returned in inner.returns:
                    found |= self.of(returned, inner)
            elif isinstance(function, Foreign):
                found |= self._made(function.name, node, scope)
            elif (
                isinstance(function, AwsMethod)
                and function.owner.kind == SESSION
                and function.name in ("client", "resource")
            ):
                is_resource = function.name == "resource"
                found |= self._client(node, scope, is_resource=is_resource, session=function.owner)
        return found

    def _made(self, name: str, node: ast.Call, scope: Scope) -> Meanings:
        """Return what a function of another module returns."""
        if name in ENVIRONMENT and node.args:
            default = node.args[1] if len(node.args) > 1 else None
            return self._variable(self.text(node.args[0], scope), default, scope)
        if name == "os.path.join":
            return self._one("/".join(self.text(part, scope) for part in node.args))
        if name in ("str", "builtins.str") and node.args:
            return self.of(node.args[0], scope)
        if name in CLIENT_MAKERS:
            return self._client(node, scope, is_resource=CLIENT_MAKERS[name])
        if name == "fsspec.filesystem" and not (node.args and self.text(node.args[0], scope) in ("s3", "s3a")):
            return _NONE
        kind = maker_of(name)
        if kind is None:
            return _NONE
        if kind == SESSION:
            node = worded(node, SESSION_PARAMETERS)
        elif name.startswith("s3fs."):
            node = worded(node, FILE_SYSTEM_PARAMETERS)
        credentials = other_credentials(node, scope, self) or job_credentials(self._variables, "s3")
        for word in node.keywords:
            if word.arg in ("boto_session", "session"):
                sessions = [one for one in self.of(word.value, scope) if isinstance(one, AwsObject)]
                credentials = credentials or next((one.credentials for one in sessions), "")
        return frozenset({AwsObject(kind, region=self._region(node, scope), credentials=credentials)})

    def _made_by_object(self, node: ast.Call, function: ast.Attribute, scope: Scope) -> Meanings:
        """Return what a method of an object of the AWS SDK makes without calling AWS."""
        found: Meanings = _NONE
        for owner in self.of(function.value, scope):
            if not isinstance(owner, AwsObject):
                continue
            if owner.kind == SESSION and function.attr in ("client", "resource"):
                found |= self._client(node, scope, is_resource=function.attr == "resource", session=owner)
            elif (owner.kind, function.attr) in PARTS:
                kind, names = PARTS[owner.kind, function.attr]
                found |= {owner.below(kind, tuple(self._identifiers(names, node, scope)))}
            elif function.attr == "get_paginator" and node.args:
                found |= {owner.below(f"{owner.kind}.paginator", (("operation", self.text(node.args[0], scope)),))}
            elif function.attr == "get_queue_by_name":
                found |= {owner.below("sqs.Queue")}
            elif owner.kind == "s3.Bucket.objects" and function.attr in ("all", "filter", "limit", "page_size"):
                found |= {owner}
        return found

    def _identifiers(self, names: Mapping[str, str], node: ast.Call, scope: Scope) -> Iterator[tuple[str, str]]:
        """Yield what identifies an object: the arguments by position, or by their own names."""
        words = {word.arg: word.value for word in node.keywords}
        for index, (name, keyword) in enumerate(names.items()):
            given = node.args[index] if index < len(node.args) else words.get(keyword)
            yield name, self.text(given, scope)

    def _client(self, node: ast.Call, scope: Scope, *, is_resource: bool, session: AwsObject | None = None) -> Meanings:
        node = worded(node, CLIENT_PARAMETERS)
        named = next((word.value for word in node.keywords if word.arg == "service_name"), None)
        service = self.text(named, scope)
        if GAP in service:
            return _NONE
        kind = service + (RESOURCE if is_resource else "")
        session = session or AwsObject(SESSION)
        credentials = other_credentials(node, scope, self) or session.credentials
        credentials = credentials or job_credentials(self._variables, service)
        return frozenset({AwsObject(kind, region=self._region(node, scope) or session.region, credentials=credentials)})

    def _region(self, node: ast.Call, scope: Scope) -> str:
        written = next((word.value for word in node.keywords if word.arg == "region_name"), None)
        return "" if written is None else self.text(written, scope)

    def _variable(self, name: str, default: ast.expr | None, scope: Scope) -> Meanings:
        if name in self._variables:
            return self._one(self._variables[name])
        return _NONE if default is None else self.of(default, scope)


def _items(node: ast.expr) -> Iterator[tuple[str, ast.expr]]:
    """Yield the entries of a mapping whose keys are written: ``{"Key": value}`` or ``dict(Key=value)``."""
    match node:
        case ast.Dict():
            for key, value in zip(node.keys, node.values, strict=True):
                if isinstance(key, ast.Constant) and isinstance(key.value, str):
                    yield key.value, value
        case ast.Call(func=ast.Name(id="dict")):
            yield from ((word.arg, word.value) for word in node.keywords if word.arg)


def _formatted(text: str) -> str:
    """Return a format of `str.format` with a gap for each field."""
    import re  # imported late: few scripts format the names of buckets

    return re.sub(r"\{[^{}]*\}", GAP, text)
