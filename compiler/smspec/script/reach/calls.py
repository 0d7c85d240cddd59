"""Which code of the source a call runs, found by the full name of what is called.

`app.Trainer().run` is a method of a new instance, and `app.Trainer(app.Base).run` what `super()` in one of its methods
finds from `app.Base` on. A name that ends with `@` is that of a function without its decorators.
"""

from __future__ import annotations

import ast
import re
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Protocol, Union

from smspec.script.follow.code import absolute, may_suppress, own_parts
from smspec.script.follow.facts import TRANSPARENT
from smspec.script.reach.certain_code import UNKNOWN
from smspec.script.reach.names import Enders
from smspec.script.script_files import parsed
from smspec.source import SourceText
from smspec.source.frozen import dataclass

_PLAIN_BASES = frozenset(
    {"object", "abc.ABC", "torch.nn.Module", "torch.utils.data.Dataset", "torch.utils.data.IterableDataset"}
    | {f"{name}.Lightning{kind}" for name in ("lightning", "pytorch_lightning") for kind in ("Module", "DataModule")}
)
"""Classes whose instances are made by `__init__` of the class that is called, and have its methods."""

_Definition = ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef
_SCOPES = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef, ast.Lambda)

_CONTEXT = "contextlib.contextmanager"
_OF_CLASSES = frozenset({"dataclasses.dataclass", "functools.total_ordering"})
"""Decorators of classes that change no method which the class defines."""

_BINDING = ("staticmethod", "classmethod")
_METHOD = r"([\w.]+)\(([\w.]*)\)\.(\w+)"
_INSTANCE = r"([\w.]+)\(\)"
_MOST_BASES = 10
"""How many classes of the source may be bases of each other in a row."""

_OTHER_WAYS = r"\b(?:__new__|__init__\s*=[^=]|__class__)"
_SETS_ANY = re.compile(
    r"\bsetattr\s*\([\w.]*\b[A-Z]\w*\s*,\s*(?![\"'\s])|\b__dict__\s*\[\s*(?![\"'\s])[^]\n]*\]\s*=[^=]"
    r"|\bdef\s+__(?:init_subclass|set_name)__"
)
"""What may set any attribute, of something that has a name like that of a class."""

_SETS_ANY_OF_INSTANCES = re.compile(
    r"\bsetattr\s*\(\s*(?!(?:\w+\.)*(?:args|opts?|cfg|conf(?:ig)?|[hf]?params|flags|namespace)\s*,)[^,\n]+,\s*(?![\"'\s])"
    r"|\b__dict__\s*(?:\[|\.\s*update\b|\|?=(?!=))|\bvars\s*\([^)\n]+\)\s*(?:\[|\.\s*update\b|\|=)|\b__setattr__\b"
)
"""What may set any attribute, of anything but the arguments of a script."""

_LOOKS_UP = r"\b(?:__getattribute__|__class__)"


class CallingModule(Protocol):
    """A module of the source. ``names``: the full names of the imported ones; ``package``: see `absolute`."""

    name: str
    package: str
    names: dict[str, str]

    @property
    def syntax(self) -> ast.Module:
        """The tree of the module."""

    @property
    def written(self) -> str:
        """The text of the module."""


Find = Callable[[str], Union[CallingModule, None]]
_Found = tuple[CallingModule, ast.ClassDef, ast.FunctionDef, str]
"""A method: its module and class, and the full name of the only base class of the source, or nothing."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Callee:
    """What a call runs: a function of a module, and the full names that its parameters, and `super`, stand for."""

    module: CallingModule
    function: ast.FunctionDef
    names: Mapping[str, str]


class Calls:
    """Look up calls; ``find`` returns a module of the source that is imported by then, ``texts`` are theirs."""

    def __init__(self, find: Find, texts: Sequence[SourceText]) -> None:
        self._find = find
        self._texts = texts
        self._counts: dict[str, Counter[str]] = {}
        self._enders = Enders()
        self._looked_through = 0
        self._odd: dict[tuple[str, re.Pattern[str]], bool] = {}

    def found(
        self, name: str, own: CallingModule, arguments: Sequence[str] = (), *, is_consumed: bool = False
    ) -> Callee | None:
        """Return what a call in a module runs; None if that is not known. ``is_consumed``: its items are taken."""
        parts = re.fullmatch(_METHOD, name)
        if parts is not None:
            found = self._of_instance(parts[1], parts[2] or parts[1], parts[3], own, arguments)
        else:
            found = self._of_name(name.removesuffix("@"), own, arguments, is_bare=name.endswith("@"))
        is_run = found is not None and _yields(found.function) <= is_consumed
        return found if is_run else None

    def absolute_name(self, name: str, own: CallingModule) -> str:
        """Return a name that means the same in every module; empty for one that is not that of code of the source."""
        whole = re.fullmatch(_INSTANCE, name)
        located = self._located((whole[1] if whole else name).removesuffix("@"), own)
        if located is None:
            return ""
        module, definition = located
        return f"{module.name}.{definition.name}" + ("()" if whole else "@" if name.endswith("@") else "")

    def ends_well(self, name: str, _own: CallingModule) -> bool:
        """Return whether a function of this name may end the script without a failure."""
        for text in self._texts[self._looked_through :]:
            if (tree := parsed(text)) is not None:
                self._enders.add(tree)
        self._looked_through = len(self._texts)
        return name in self._enders

    def lets_errors_through(self, name: str, own: CallingModule) -> bool:
        """Return whether a context manager of the source, by its full name, suppresses no exception."""
        located = self._located(name, own)
        if located is None:
            return False
        module, node = located
        if isinstance(node, ast.FunctionDef):
            is_context = [_full(ast.unparse(one), module) for one in node.decorator_list] == [_CONTEXT]
            return is_context and not may_suppress(node)
        found = self._method(module, node, "__exit__") if isinstance(node, ast.ClassDef) else None
        return found is not None and not may_suppress(found[2])

    def enters_itself(self, name: str, own: CallingModule) -> bool:
        """Return whether `__enter__` of a class returns its instance."""
        kind = self._class(name, own)
        found = self._method(*kind, "__enter__") if kind is not None else None
        if found is None or not found[2].args.args:
            return False
        returns = [part.value for part in own_parts(found[2]) if isinstance(part, ast.Return)]
        first = found[2].args.args[0].arg
        return bool(returns) and all(isinstance(value, ast.Name) and value.id == first for value in returns)

    def _located(self, name: str, own: CallingModule, depth: int = 0) -> tuple[CallingModule, _Definition] | None:
        """Return the only definition of a name at the top of its module, or of the one that it is imported from."""
        module: CallingModule | None = own
        if "." in name:
            above, _, name = name.rpartition(".")
            full = absolute(above, own.package)
            module = self._find(full) if full else None
        if module is None:
            return None
        found = [node for node in module.syntax.body if isinstance(node, _Definition) and node.name == name]
        is_set = re.search(rf"\b{re.escape(name)}\s*=[^=]", module.written) is not None
        if len(found) > 1 or is_set or self._may_be_set(name):
            return None
        imports = [one for one in module.syntax.body if isinstance(one, ast.ImportFrom) and name in _imported(one)]
        binding = (*found, *imports)
        if len(binding) != 1 or not self._is_bound_once(module, name, binding[0]):
            return None
        if found:
            return module, found[0]
        full = module.names.get(name, "")
        return self._located(full, module, depth + 1) if "." in full and depth < _MOST_BASES else None

    def _is_bound_once(self, module: CallingModule, name: str, node: ast.stmt) -> bool:
        """Return whether nothing else at the top of a module, a branch or an import, binds a name."""
        if module.name not in self._counts:
            self._counts[module.name] = Counter(_bound_at_top(module.syntax))
        counts = self._counts[module.name]
        return counts[name] == 1 and not any(
            isinstance(one, ast.ImportFrom) and one.names[0].name == "*" and one.lineno > node.lineno
            for one in (module.syntax.body if counts["*"] else ())
        )

    def _may_be_set(self, name: str, *, is_special: bool = True) -> bool:
        """Return whether a module may set an attribute; ``is_special``: Python does not ask instances for it."""
        each = re.escape(name)
        sets = (
            rf"\.{each}\s*=(?!=)|^[ \t]*[^\n(=]*\.{each}\b[^\n(=<>!]*=(?!=)"
            rf"|\b(?:setattr\s*\([^,\n]*,|__dict__\s*\[)\s*[\"']{each}[\"']"
        )
        odd = (_SETS_ANY,) if is_special else (_SETS_ANY, _SETS_ANY_OF_INSTANCES)
        return any(
            (name in text.text and re.search(sets, text.text, re.MULTILINE)) or self._matches(text, odd)
            for text in self._texts
        )

    def _matches(self, text: SourceText, odd: Sequence[re.Pattern[str]]) -> bool:
        for one in odd:
            if (text.name, one) not in self._odd:
                self._odd[text.name, one] = one.search(text.text) is not None
        return any(self._odd[text.name, one] for one in odd)

    def _class(self, name: str, own: CallingModule) -> tuple[CallingModule, ast.ClassDef] | None:
        located = self._located(name, own)
        if located is None or not isinstance(located[1], ast.ClassDef):
            return None
        return located[0], located[1]

    def _of_name(self, name: str, own: CallingModule, arguments: Sequence[str], *, is_bare: bool) -> Callee | None:
        located = self._located(name, own)
        if located is None:
            kind, _, method = name.rpartition(".")
            return self._of_class(kind, method, own, arguments) if kind else None
        module, node = located
        if isinstance(node, ast.ClassDef):
            return self._construction(module, node, arguments)
        if not isinstance(node, ast.FunctionDef):
            return None
        decorators = [] if is_bare else self._decorators(module, node)
        if not decorators or (decorators == [_CONTEXT] and _yields(node)):
            return Callee(module=module, function=node, names=self._given(node, own, arguments))
        return self._wrapped(module, node, decorators[0]) if len(decorators) == 1 else None

    def _decorators(self, module: CallingModule, node: ast.FunctionDef) -> list[str]:
        """Return the full names of the decorators that may change how a function runs."""
        bare = [one.func if isinstance(one, ast.Call) else one for one in node.decorator_list]
        names = [_full(ast.unparse(one), module) for one in bare]
        return [
            UNKNOWN if isinstance(one, ast.Call) else name
            for one, name in zip(node.decorator_list, names, strict=True)
            if name not in TRANSPARENT
        ]

    def _wrapped(self, module: CallingModule, node: ast.FunctionDef, decorator: str) -> Callee | None:
        """Return the function that a decorator of the source puts in place of another."""
        located = self._located(decorator, module)
        if located is None or not isinstance(located[1], ast.FunctionDef) or located[1].decorator_list:
            return None
        there, outer = located[0], located[1]
        parameters = [one.arg for one in outer.args.args]
        last = outer.body[-1]
        if len(parameters) != 1 or not isinstance(last, ast.Return) or not isinstance(last.value, ast.Name):
            return None
        inner = [one for one in outer.body if isinstance(one, _Definition) and one.name == last.value.id]
        others = [part for part in own_parts(outer) if isinstance(part, ast.Return) and part is not last]
        if len(inner) != 1 or not isinstance(inner[0], ast.FunctionDef) or others:
            return None
        wraps = [_full(ast.unparse(one.func), there) for one in inner[0].decorator_list if isinstance(one, ast.Call)]
        if wraps != ["functools.wraps"] * len(inner[0].decorator_list) or _binds(outer, parameters[0]):
            return None
        hidden = dict.fromkeys(_stored(outer), UNKNOWN) | {parameters[0]: f"{module.name}.{node.name}@"}
        return Callee(module=there, function=inner[0], names=hidden | self._given(inner[0], there, ()))

    def _of_class(self, kind: str, method: str, own: CallingModule, arguments: Sequence[str]) -> Callee | None:
        """Return the method that a call of ``Class.method`` runs, if it needs no instance."""
        located = self._class(kind, own)
        found = self._method(*located, method) if located is not None else None
        binding = _binding(found[2]) if found is not None else None
        if located is None or found is None or binding not in _BINDING:
            return None
        first = f"{located[0].name}.{located[1].name}"
        names = self._given(found[2], own, ((first,) if binding == "classmethod" else ()) + tuple(arguments))
        return Callee(module=found[0], function=found[2], names=names)

    def _of_instance(
        self, kind: str, start: str, method: str, own: CallingModule, arguments: Sequence[str]
    ) -> Callee | None:
        located, first = self._class(kind, own), self._class(start, own)
        if located is None or first is None or not _is_made_here(*located):
            return None
        found = self._method(*first, method)
        return None if found is None else self._bound(f"{located[0].name}.{located[1].name}", found, own, arguments)

    def _construction(self, module: CallingModule, node: ast.ClassDef, arguments: Sequence[str]) -> Callee | None:
        """Return `__init__` of a class, or the one that it inherits; None if an instance may be made without it."""
        if node.decorator_list or not self._is_known(module, node):
            return None
        found = self._method(module, node, "__init__")
        return None if found is None else self._bound(f"{module.name}.{node.name}", found, module, arguments)

    def _is_known(self, module: CallingModule, node: ast.ClassDef) -> bool:
        """Return whether a call of a class makes an instance of it, and calls only what the source shows."""
        for _ in range(_MOST_BASES):
            if not _is_made_here(module, node):
                return False
            base = self._base(module, node)
            if base is None:
                return {_full(ast.unparse(one), module) for one in node.bases} <= _PLAIN_BASES
            module, node = base
        return False

    def _bound(self, kind: str, found: _Found, own: CallingModule, arguments: Sequence[str]) -> Callee | None:
        module, _, function, base = found
        binding = _binding(function)
        if binding is None:
            return None
        first = () if binding == "staticmethod" else (kind,) if binding == "classmethod" else (f"{kind}()",)
        names = {**self._given(function, own, (*first, *arguments))}
        if base and not binding:
            names["super"] = f"{kind}({base})"
        return Callee(module=module, function=function, names=names)

    def _method(self, module: CallingModule, node: ast.ClassDef, name: str) -> _Found | None:
        """Return a method as Python finds it in a class; None if another one may be called."""
        for _ in range(_MOST_BASES):
            decorators = {_full(ast.unparse(getattr(one, "func", one)), module) for one in node.decorator_list}
            is_special = name.startswith("__")  # Python looks for it in the class alone.
            is_odd = re.search(_LOOKS_UP, module.written) is not None or self._may_be_set(name, is_special=is_special)
            if node.keywords or decorators - _OF_CLASSES or is_odd:
                return None
            base = self._base(module, node)
            own = [one for one in node.body if name in _bound_by(one)]
            if own:
                above = f"{base[0].name}.{base[1].name}" if base else ""
                is_plain = len(own) == 1 and isinstance(own[0], ast.FunctionDef)
                return (module, node, own[0], above) if is_plain and isinstance(own[0], ast.FunctionDef) else None
            if base is None or len(node.bases) != 1:
                return None
            module, node = base
        return None

    def _base(self, module: CallingModule, node: ast.ClassDef) -> tuple[CallingModule, ast.ClassDef] | None:
        """Return the only base class, besides plain ones, if it is a class of the source."""
        bases = [_full(ast.unparse(base), module) for base in node.bases]
        others = [base for base in bases if base not in _PLAIN_BASES]
        located = self._class(others[0], module) if len(others) == 1 else None
        return None if located is None or located[1] is node else located

    def _given(self, function: ast.FunctionDef, own: CallingModule, arguments: Sequence[str]) -> dict[str, str]:
        """Return what the names of parameters stand for; the known ones are code of the source."""
        given = function.args
        plain = [one.arg for one in (*given.posonlyargs, *given.args)]
        rest = (*given.kwonlyargs, *filter(None, (given.vararg, given.kwarg)))
        names = dict.fromkeys([*plain, *(one.arg for one in rest)], UNKNOWN)
        known = [self.absolute_name(argument, own) if argument else "" for argument in arguments]
        return names | {name: found for name, found in zip(plain, known, strict=False) if found}


def _full(name: str, module: CallingModule) -> str:
    first, dot, rest = name.partition(".")
    return module.names.get(first, first) + dot + rest


def _is_made_here(module: CallingModule, node: ast.ClassDef) -> bool:
    """Return whether a call of a class makes an instance of it."""
    return not node.keywords and re.search(_OTHER_WAYS, module.written) is None


def _binding(function: ast.FunctionDef) -> str | None:
    """Return the decorator that says what a method is bound to, empty for an instance; None for any other."""
    words = [ast.unparse(one) for one in function.decorator_list]
    return "" if not words else words[0] if len(words) == 1 and words[0] in _BINDING else None


def _bound_by(node: ast.stmt) -> set[str]:
    """Return the names that a statement of a class may bind."""
    if isinstance(node, _Definition):
        return {node.name}
    parts = [part for part in ast.walk(node) if isinstance(part, ast.Name | _Definition)]
    imported = {name for part in ast.walk(node) for name in _imported(part)}
    return {part.id if isinstance(part, ast.Name) else part.name for part in parts} | imported


def _bound_at_top(tree: ast.Module) -> Iterator[str]:
    """Yield the names that a module binds, outside of functions and classes, each time that it does."""
    rest: list[ast.AST] = [*tree.body]
    while rest:
        node = rest.pop()
        yield from _imported(node)
        if isinstance(node, _Definition):
            yield node.name
        elif isinstance(node, ast.Name) and not isinstance(node.ctx, ast.Load):
            yield node.id
        if not isinstance(node, _SCOPES):
            rest += ast.iter_child_nodes(node)


def _imported(node: ast.AST) -> Iterator[str]:
    """Yield the names that an import binds."""
    if isinstance(node, ast.Import | ast.ImportFrom):
        yield from (alias.asname or alias.name.partition(".")[0] for alias in node.names)


def _yields(function: ast.FunctionDef) -> bool:
    return any(isinstance(part, ast.Yield | ast.YieldFrom) for part in own_parts(function))


def _binds(function: ast.FunctionDef, name: str) -> bool:
    """Return whether a function, or one in it, gives the name of its parameter another value."""
    parts = list(ast.walk(function))
    is_set = any(isinstance(part, ast.Name) and part.id == name and isinstance(part.ctx, ast.Store) for part in parts)
    return is_set or sum(isinstance(part, ast.arg) and part.arg == name for part in parts) > 1


def _stored(function: ast.FunctionDef) -> set[str]:
    """Return the names that a function, or one in it, binds."""
    parts = list(ast.walk(function))
    names = {part.id for part in parts if isinstance(part, ast.Name) and not isinstance(part.ctx, ast.Load)}
    names |= {part.arg for part in parts if isinstance(part, ast.arg)}
    return names | {part.name for part in parts if isinstance(part, _Definition) and part is not function}
