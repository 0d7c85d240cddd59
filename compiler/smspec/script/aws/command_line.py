"""Commands of the AWS CLI that a script starts."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import Protocol

from smspec.script.aws.aws_call import GAP
from smspec.script.aws.scope import Scope

_STARTERS = frozenset(
    {f"subprocess.{name}" for name in ("run", "call", "check_call", "check_output", "getoutput", "Popen")}
    | {"os.system", "os.popen", "asyncio.create_subprocess_exec", "asyncio.create_subprocess_shell"}
)
_COMMAND = r"(?:\A|[;&|(]|\bsudo|-c)[\s'\"]*(?:[^\s;&|]*/)?((?:aws|s5cmd)\s[^;&|)]*)"
_WITHOUT_CALLS = ("aws configure", "aws help", "aws --version", "aws sts get-caller-identity", "s5cmd version")
_LONGEST = 40


class Expressions(Protocol):
    """What resolves the expressions of a script."""

    def text(self, node: ast.expr | None, scope: Scope) -> str: ...

    def expression(self, node: ast.expr, scope: Scope) -> tuple[ast.expr, Scope]: ...


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
