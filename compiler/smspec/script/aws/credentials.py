"""Clients that use other credentials than those of the job, or call another service than AWS."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping
from typing import Protocol

from smspec.script.aws.aws_call import GAP
from smspec.script.aws.objects import Foreign, Meaning
from smspec.script.aws.scope import Scope

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
