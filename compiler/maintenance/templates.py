"""The functions that fill the templates, made of the templates: `make templates`.

To load Jinja takes eight times as long as to start Python, and to compile the template of a Dockerfile as long as to
compile a spec. So the templates are translated once, from the tree that Jinja's own parser makes of them, to Python
that needs no Jinja: `smspec/render/filled_templates.py`. A test compares both on plans of all kinds.
"""

from __future__ import annotations

import inspect
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import jinja2
from jinja2 import nodes

from smspec.render import quoting

RENDER = Path(quoting.__file__).parent
TEMPLATES = RENDER / "templates"
TARGET = RENDER / "filled_templates.py"


class UntranslatableError(Exception):
    """A template has what is not translated."""


FILTERS = {name: function for name, function in vars(quoting).items() if inspect.isfunction(function)}

_LOOP = nodes.Name("loop", "load")

HEAD = '''\
"""The templates as functions that yield their text. Made by `make templates` of templates/*.j2: change those.

A name that is missing is a KeyError.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterator, Mapping
from typing import Any

{filters}
Names = Mapping[str, Any]
Template = Callable[[Names], Iterator[str]]


def filled(template: str, **names: object) -> str:
    """Return a template with its names filled in."""
    return "".join(_TEMPLATES[template](names))

'''


def environment(templates: Path = TEMPLATES) -> jinja2.Environment:
    """Return the environment of the templates: filters quote, a missing name is an error."""
    made = jinja2.Environment(
        loader=jinja2.FileSystemLoader(templates),
        undefined=jinja2.StrictUndefined,
        autoescape=False,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )
    made.filters.update(FILTERS)
    return made


def translated(templates: Path = TEMPLATES) -> str:
    """Return the module, before it is formatted.

    Raises:
        UntranslatableError: nothing is translated.
    """
    made = environment(templates)
    parsed = {path.name: made.parse(path.read_text("utf-8")) for path in sorted(templates.glob("*.j2"))}
    filters = {each.name for tree in parsed.values() for each in tree.find_all(nodes.Filter)} - {"join"}
    parts, table = [HEAD.format(filters=_import(filters))], []
    for name, tree in parsed.items():
        function = _function_of(name)
        parents = [_function_of(_constant(each.template)) for each in tree.find_all(nodes.Extends)]
        blocks = {each.name: f"{function}_{each.name}" for each in tree.find_all(nodes.Block)}
        if parents:
            parts += [_function(blocks[each.name], each.body) for each in tree.find_all(nodes.Block)]
            given = ", ".join(f"{block}={inner}" for block, inner in blocks.items())
            table.append(f'    "{name}": functools.partial({parents[0]}, {given}),\n')
        else:
            parts.append(_function(function, tree.body, *blocks))
            table += [] if blocks else [f'    "{name}": {function},\n']
    return "\n\n".join([*parts, f"_TEMPLATES: dict[str, Template] = {{\n{''.join(table)}}}\n"])


def _import(filters: set[str]) -> str:
    return f"from smspec.render.quoting import ({', '.join(sorted(filters))})\n" if filters else ""


def _function_of(template: str) -> str:
    return f"_{template.partition('.')[0].lower()}"


def _function(name: str, body: list[nodes.Node], *blocks: str) -> str:
    """Return the function of a template, which is given the functions of its blocks, or of a block."""
    lines = [*_statements(body, "    ")]
    head = ", ".join(["names: Names", *(f"{block}: Template" for block in blocks)])
    given = [f'    {each} = names["{each}"]' for each in _given(body)]
    return "\n".join([f"def {name}({head}) -> Iterator[str]:", *given, *lines]) + "\n"


def formatted(text: str) -> str:
    """Return a module as `make format` leaves it."""
    words = [os.path.join(sys.prefix, "bin/ruff"), "format", "--stdin-filename", str(TARGET), "-"]
    return subprocess.run(words, input=text, capture_output=True, text=True, check=True).stdout


def _given(body: list[nodes.Node]) -> list[str]:
    """Return the names that a template is given, in the order of their first use."""
    found: dict[str, None] = {}
    inner: set[str] = {"loop"}
    waiting = [*body]
    while waiting:
        node = waiting.pop(0)
        if isinstance(node, nodes.Name):
            (inner if node.ctx == "store" else found).update({node.name: None})
        waiting[:0] = node.iter_child_nodes()
    return [name for name in found if name not in inner]


def _statements(body: list[nodes.Node], indent: str) -> Iterator[str]:
    """Yield the lines of Python of a part of a template."""
    for node in body:
        if isinstance(node, nodes.Output):
            yield from _yields(node.nodes, indent)
        elif isinstance(node, nodes.Block):
            yield f"{indent}yield from {node.name}(names)"
        elif isinstance(node, nodes.If) and not node.elif_ and not node.else_:
            yield f"{indent}if {_expression(node.test)}:"
            yield from _statements(node.body, f"{indent}    ")
        elif isinstance(node, nodes.For) and not (node.else_ or node.test or node.recursive):
            yield f"{indent}{_head(node)}"
            yield from _statements(node.body, f"{indent}    ")
        else:
            raise UntranslatableError(f"line {node.lineno} of a template: {type(node).__name__}")


def _head(loop: nodes.For) -> str:
    """Return the first line of a loop, which counts where the template asks for its place."""
    target, over = _expression(loop.target), _expression(loop.iter)
    within = {id(each) for inner in loop.find_all(nodes.For) for each in inner.find_all(nodes.Getattr)}
    iterated = loop.iter
    assert isinstance(iterated, nodes.Expr)
    places = [each for each in loop.find_all(nodes.Getattr) if each.node == _LOOP and id(each) not in within]
    for place in places:
        place.node = iterated  # of which it is the first or the last
    return f"for index, {target} in enumerate({over}):" if places else f"for {target} in {over}:"


def _yields(parts: list[nodes.Expr], indent: str) -> Iterator[str]:
    """Yield the lines that yield a text: one for each line of the template."""
    waiting: list[tuple[str, bool]] = []
    for part in parts:
        if not isinstance(part, nodes.TemplateData):
            waiting.append((_expression(part), True))
            continue
        for line in part.data.splitlines(keepends=True):
            waiting.append((line, False))
            if line.endswith("\n"):
                yield from _yields_of_a_line(waiting, indent)
                waiting = []
    yield from _yields_of_a_line(waiting, indent)


def _yields_of_a_line(parts: list[tuple[str, bool]], indent: str) -> Iterator[str]:
    if any(is_code and set(text) & set("\"'\\{") for text, is_code in parts):
        # Within braces, a string of Python 3.10 takes neither its own quotes nor a backslash.
        for text, is_code in parts:
            value = text if is_code else repr(text)
            yield f"{indent}yield {f'str({value})' if value.isidentifier() else value}"
    elif any(is_code for _, is_code in parts):
        inner = "".join(
            f"{{{text}}}" if is_code else repr(f'"{text}')[2:-1].replace("{", "{{").replace("}", "}}")
            for text, is_code in parts
        )
        yield f"{indent}yield f'{inner}'"
    elif parts:
        yield f"{indent}yield {''.join(text for text, _ in parts)!r}"


def _constant(node: nodes.Node) -> str:
    if isinstance(node, nodes.Const) and isinstance(node.value, str):
        return node.value
    raise UntranslatableError(f"line {node.lineno} of a template: a name that is not constant")


def _expression(node: nodes.Node) -> str:
    """Return an expression of a template in Python."""
    if isinstance(node, nodes.Name):
        return str(node.name)
    if isinstance(node, nodes.Const):
        return repr(node.value)
    if isinstance(node, nodes.Tuple):
        return ", ".join(map(_expression, node.items))
    if isinstance(node, nodes.Filter) and node.node is not None and not node.kwargs:
        value, arguments = _expression(node.node), [_expression(each) for each in node.args]
        if node.name == "join":
            return f"{arguments[0]}.join({value})"
        if node.name in FILTERS:
            return f"{node.name}({', '.join([value, *arguments])})"
    if isinstance(node, nodes.Call) and isinstance(node.node, nodes.Getattr) and not (node.args or node.kwargs):
        return f"{_expression(node.node.node)}.{node.node.attr}()"
    if isinstance(node, nodes.Getattr) and node.attr in ("first", "last"):
        return "index == 0" if node.attr == "first" else f"index == len({_expression(node.node)}) - 1"
    if isinstance(node, nodes.CondExpr):
        other = "''" if node.expr2 is None else _expression(node.expr2)
        return f"({_expression(node.expr1)} if {_expression(node.test)} else {other})"
    if isinstance(node, nodes.Not):
        return f"not ({_expression(node.node)})"
    if isinstance(node, (nodes.And, nodes.Or)):
        word = "and" if isinstance(node, nodes.And) else "or"
        return f"({_expression(node.left)} {word} {_expression(node.right)})"
    raise UntranslatableError(f"line {node.lineno} of a template: {type(node).__name__}")


if __name__ == "__main__":
    TARGET.write_text(formatted(translated()), "utf-8")
