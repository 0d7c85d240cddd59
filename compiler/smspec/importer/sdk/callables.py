"""What a program calls in place of a class of the SDK or a method of boto3: subclasses, `partial`, and threads."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING

from smspec.importer.sdk.arguments import ATTRIBUTES, keep_copies
from smspec.importer.sdk.sdk_facts import is_job_class
from smspec.importer.sdk.values import (
    Collection,
    SdkInstance,
    SdkItems,
    SdkPlace,
    SdkUnknown,
    Value,
    applied,
    lifted,
    lowered,
)
from smspec.script.follow import values as followed
from smspec.script.follow.frames import Call, Frame, Function
from smspec.script.follow.values import UNKNOWN, Bound, Named
from smspec.source import SourceText

if TYPE_CHECKING:
    from smspec.script.follow.interpreter import ProgramInterpreter

LAMBDA = "<lambda>"
NEW = "()"
"""The method that the call of a class is."""

START = "__init__"
HARMLESS = frozenset((START, "__repr__", "__str__", "__eq__", "__hash__", "__len__", "__enter__", "__exit__"))
HOOKS = frozenset(
    (
        *("hyperparameters", "set_hyperparameters", "training_image_uri", "enable_network_isolation", "get_vpc_config"),
        *("prepare_workflow_for_training", "_prepare_for_training", "_prepare_for_training_job", "_validate_mfa"),
        *("_stage_user_code_in_s3", "_script_mode_hyperparam_update", "_json_encode_hyperparameters"),
        *("_ensure_base_job_name", "_get_or_create_name", "_distribution_configuration", "_framework_name"),
        *("_pytorch_distribution_configuration", "_configure_distribution", "_model_source_dir", "_model_entry_point"),
        *("_prepare_debugger_for_training", "_prepare_profiler_for_training", "_prepare_collection_configs"),
        *("_construct_sm_config", "_validate_and_set_debugger_configs", "_set_source_s3_uri", "_is_local_channel"),
        *("_prepare_rules", "_prepare_debugger_rules", "_prepare_profiler_rules", "_get_s3_configs"),
        *("create_input_data_channel", "_create_training_job_args", "_prepare_train_script"),
    )
)
"""Methods of the SDK that it calls for a job."""

PLAIN_BASES = frozenset(("object", "ABC", "abc.ABC"))
_OF_A_START = frozenset(("inputs", "wait", "logs", "job_name", "experiment_config", "input_data_config", "**"))
ACCESSORS = frozenset(
    (
        *("abstractmethod", "abc.abstractmethod", "property", "staticmethod", "classmethod"),
        *("functools.cached_property", "cached_property"),
    )
)
_SUBMITS = {"submit": 0, "apply_async": 0, "apply": 0, "run_in_executor": 1, "to_thread": 0, "call_soon": 0}
"""Method that runs a function, perhaps elsewhere → the position of the function."""

_MAPS = frozenset(("map", "starmap", "imap", "imap_unordered", "map_async"))
_MOST_MAPPED = 200
_THREADS = ("threading.Thread", "threading.Timer", "multiprocessing.Process")


class SdkClass(followed.Value):
    """A class of the program; ``kind``: its base of the SDK, if any; ``above``: its base, if that is of the program.

    ``obstacles``: other bases, and what code outside sets, as they are written. ``constants``: what its body sets;
    ``is_data``: a data class.
    """

    may_be_none = False

    def __init__(self, node: ast.ClassDef, base: followed.Value, methods: dict[str, Function]) -> None:
        self.name = node.name
        self.above = base if isinstance(base, SdkClass) else None
        self.kind: str = base.kind if isinstance(base, SdkClass) else base.name if isinstance(base, Named) else ""
        self.methods = methods
        self.node = node
        self.obstacles: tuple[str, ...] = ()
        self.constants: dict[str, Value] = {}
        self.is_data = False
        self.frame = Frame(SourceText("program", ""))
        self.run: ProgramInterpreter | None = None

    def truth(self) -> bool:
        return True

    def set_attribute(self, name: str, value: followed.Value) -> None:
        if not self.kind and self.run is not None:
            self.methods.pop(name, None)
            if isinstance(value, Function) and self.run.is_certain:
                self.methods[name] = value
            else:
                self.constants[name] = lowered(value, name) if self.run.is_certain else SdkUnknown(name)
            return
        value.escape()
        self.obstacles = (*self.obstacles, f"{self.name}.{name} = …")

    def attribute(self, name: str) -> followed.Value:
        return self.of_body(name) or Bound(self, name)

    def of_body(self, name: str) -> followed.Value | None:
        """Return what the body of the class, or of one above it, sets; None if it does not, or if it is a method."""
        if name in self.methods:
            return None
        if name in self.constants:
            return lifted(self.constants[name])
        return self.above.of_body(name) if self.above is not None else None

    def call(self, call: Call) -> followed.Value:
        return call.run.recorder.method_called(self, NEW, call) or UNKNOWN

    def found(self, name: str) -> tuple[SdkClass, Function] | None:
        """Return the class that defines a method, and the method; None if only the SDK does."""
        if name in self.methods:
            return self, self.methods[name]
        return self.above.found(name) if self.above is not None else None

    def overridden(self) -> dict[str, int]:
        """Return the methods that replace those of the SDK, with their lines."""
        found = self.above.overridden() if self.above is not None else {}
        own = {name: method.node.lineno for name, method in self.methods.items() if name in HOOKS}
        return {**found, **own}

    def not_followed(self) -> str:
        """Return what the class has that may change any argument, with its line; empty if there is nothing."""
        above = self.above.not_followed() if self.above is not None else ""
        found = above or next(_not_followed(self.node), "")
        if not found and self.obstacles:
            found = f"`{self.obstacles[0]}`"
        return found if above or not found else f"line {self.node.lineno}: `class {self.name}` has {found}"


def _not_followed(node: ast.ClassDef) -> Iterator[str]:
    """Yield what a class has that is not followed."""
    for word in (*node.decorator_list, *(word.value for word in node.keywords)):
        yield f"`{ast.unparse(word)}`"
    for part in node.body:
        if isinstance(part, ast.FunctionDef):
            words = [ast.unparse(each) for each in part.decorator_list]
            is_special = part.name.startswith("__") and part.name.endswith("__") and part.name not in HARMLESS
            is_hook = part.name in HOOKS or part.name in (START, "fit", "train") or part.name in ATTRIBUTES
            if is_special or not ACCESSORS.issuperset(words) or (words and is_hook):
                yield f"`{words[0] if words and not is_special else part.name}`"
            elif part.name in HOOKS and _changes_self(part):
                yield f"`{part.name}`, which the SDK calls, and which changes the object"
        elif isinstance(part, ast.Assign | ast.AnnAssign):
            targets = part.targets if isinstance(part, ast.Assign) else [part.target]
            names = {each.id for each in targets if isinstance(each, ast.Name)}
            if len(names) < len(targets) or names & (HOOKS | {START, "fit", "train"}) - {"_framework_name"}:
                yield f"`{ast.unparse(part)[:60]}`"
        elif not isinstance(part, ast.Pass | ast.Expr):
            yield f"`{ast.unparse(part).splitlines()[0][:60]}`"


def _changes_self(node: ast.FunctionDef) -> bool:
    """Return whether a method sets something of its object, or calls a method of a part of it."""
    name = node.args.args[0].arg if node.args.args else ""
    for part in ast.walk(node):
        below: ast.AST | None = None
        if isinstance(part, ast.Attribute | ast.Subscript) and isinstance(part.ctx, ast.Store | ast.Del):
            below = part
        elif isinstance(part, ast.Call) and isinstance(part.func, ast.Attribute):
            is_set = part.func.attr.startswith("set_") or isinstance(part.func.value, ast.Attribute | ast.Subscript)
            below = part.func if is_set else None
        while isinstance(below, ast.Attribute | ast.Subscript):
            below = below.value
        if isinstance(below, ast.Name) and below.id == name:
            return True
    return False


def bound_to(owner: followed.Value, kind: SdkClass, function: Function) -> tuple[followed.Value, ...]:
    """Return the first argument of a method of a class."""
    words = {each.id for each in function.node.decorator_list if isinstance(each, ast.Name)}
    return () if "staticmethod" in words else (kind,) if "classmethod" in words else (owner,)


def not_followed_bases(bases: Iterable[ast.expr]) -> tuple[str, ...]:
    """Return the bases that may bring methods which are not followed, as they are written."""
    return tuple(written for written in map(ast.unparse, bases) if written not in PLAIN_BASES)


def with_bases(node: ast.ClassDef, bases: Sequence[followed.Value], seen: dict[str, SdkClass]) -> SdkClass | None:
    """Return a class with a base of the SDK, and with the other classes of the program between them.

    ``seen`` are these others, by name.
    """
    at = next(
        (
            index
            for index, base in enumerate(bases)
            if (isinstance(base, SdkClass) and base.kind) or (isinstance(base, Named) and is_job_class(base.name))
        ),
        None,
    )
    if at is None:
        return None
    above, unknown = bases[at], list[ast.expr]()
    for base in reversed(node.bases[:at]):
        mixed = seen.get(base.id) if isinstance(base, ast.Name) else None
        if mixed is not None:
            above = chained(mixed, above)
        else:
            unknown.append(base)
    made = SdkClass(node, above, {})
    made.obstacles = not_followed_bases([*unknown, *node.bases[at + 1 :]])
    return made


def chained(kind: SdkClass, above: followed.Value) -> SdkClass:
    """Return a class, with those above it, as it is between another one and its base."""
    if kind.above is not None:
        above = chained(kind.above, above)
    made = SdkClass(kind.node, above, kind.methods)
    made.obstacles, made.constants, made.is_data = kind.obstacles, kind.constants, kind.is_data
    made.frame, made.run = kind.frame, kind.run
    return made


class SubclassInstance(SdkInstance):
    """An object of such a class. ``own`` has its attributes that are no arguments of the SDK's class."""

    def __init__(self, made_by: SdkClass, place: SdkPlace) -> None:
        super().__init__(made_by.kind, [], {}, place)
        self.made_by = made_by
        self.own: dict[str, Value] = {}

    def label(self) -> object:
        return self.made_by.name, super().label()

    def attribute(self, name: str) -> followed.Value:
        if name == "__class__":
            return self.made_by
        if name in ("_hyperparameters", "__dict__"):
            self.is_known = False
        if name in self.own:
            is_open = not self.kind and not self.is_known and not isinstance(self.own[name], Collection)
            return SdkUnknown(name) if is_open else lifted(self.own[name])
        constant = None if name in self.arguments else self.made_by.of_body(name)
        if constant is not None and (self.kind or self.is_known):
            return constant
        return super().attribute(name)

    def call(self, call: Call) -> followed.Value:
        return self.method("__call__", call)

    def members(self) -> dict[object, Value]:
        return {**super().members(), **{(name,): value for name, value in self.own.items()}}

    def fill(self, members: dict[object, Value]) -> None:
        super().fill(members)
        self.own = {str(key[0]): value for key, value in members.items() if isinstance(key, tuple)}

    def set_attribute(self, name: str, value: followed.Value) -> None:
        if name in ("_hyperparameters", "__dict__", "__class__"):
            self.is_known = False
        is_argument = self.kind and (name in self.arguments or name in ATTRIBUTES)
        (self.arguments if is_argument else self.own)[name] = lowered(value, name)

    def built(self, call: SdkInstance) -> None:
        """Take the arguments that the class of the SDK is given."""
        self.positional, self.arguments = call.positional, call.arguments
        self.is_known, self.doubt = call.is_known, call.doubt
        keep_copies(self)


class SdkSuper(followed.Value):
    """``super()`` in a method of such a class."""

    def __init__(self, instance: SubclassInstance, above: SdkClass | None) -> None:
        self.instance = instance
        self.above = above


class Partial(followed.Value):
    """``functools.partial(…)``, and what a call of it adds."""

    may_be_none = False

    def __init__(self, function: followed.Value, call: Call) -> None:
        self._function = function
        self._given = call
        self._is_whole = True

    def attribute(self, name: str) -> followed.Value:
        self._is_whole &= name not in ("keywords", "__dict__", "__setstate__")  # the program may change them
        return super().attribute(name)

    def escape(self) -> None:
        for value in (self._function, *self._given.arguments, *self._given.keywords.values()):
            value.escape()

    def truth(self) -> bool:
        return True

    def call(self, call: Call) -> followed.Value:
        given = self._given
        keywords = {**given.keywords, **call.keywords}
        is_whole = given.is_whole and call.is_whole and self._is_whole
        return applied(
            self._function, Call(call.run, call.node, (*given.arguments[1:], *call.arguments), keywords, is_whole)
        )


def is_callable(value: followed.Value | None) -> bool:
    """Return whether calling a value is followed."""
    return isinstance(value, Function | SdkClass | Partial) or (
        isinstance(value, SdkUnknown) and value.function is not None
    )


def as_function(node: ast.Lambda) -> ast.FunctionDef:
    """Return the definition of a function that does what a lambda does."""
    body: list[ast.stmt] = [ast.copy_location(ast.Return(value=node.body), node.body)]
    made = ast.FunctionDef(name=LAMBDA, args=node.args, body=body, decorator_list=[], returns=None)
    return ast.copy_location(made, node)


def handed_over(name: str, call: Call, run: ProgramInterpreter) -> followed.Value | None:
    """Follow a function that is given to a thread, a pool, or `map`; None if the call does not do that."""
    if name in _THREADS:
        function = call.argument(1, "target" if name != _THREADS[1] else "function")
        if not is_callable(function) or function is None:
            return None
        given = call.keywords.get("args")
        values = (lifted(given).items() or ()) if given is not None else ()
        named = call.keywords.get("kwargs")
        entries = (named.entries() if named is not None else {}) or {}
        is_whole = (given is None or lifted(given).items() is not None) and (named is None or bool(entries))
        applied(function, Call(run, call.node, tuple(values), entries, is_whole))
        return UNKNOWN
    last = name.rpartition(".")[2]
    at = _SUBMITS.get(last, 0)
    if len(call.arguments) <= at or not is_callable(call.arguments[at]):
        return None
    function, rest = call.arguments[at], call.arguments[at + 1 :]
    if last in _MAPS:
        return _mapped(function, rest, call, is_spread=last == "starmap")
    if last in _SUBMITS:
        applied(function, Call(run, call.node, rest, call.keywords, call.is_whole))
        return UNKNOWN
    return None


def _mapped(
    function: followed.Value, lists: Sequence[followed.Value], call: Call, *, is_spread: bool
) -> followed.Value:
    """Follow a function for each item of lists, and return its results."""
    known = [each.items() if isinstance(each, SdkItems) else None for each in lists]
    rows: Sequence[tuple[followed.Value, ...] | None] = [None]
    if known and None not in known:
        rows = list(zip(*(each or () for each in known), strict=False))[:_MOST_MAPPED]
    results: list[Value] = []
    for number, row in enumerate(rows):
        given = row[0].items() if row is not None and is_spread else row
        call.run.rounds.append(number)
        results.append(lowered(applied(function, Call(call.run, call.node, given or (), {}, given is not None))))
        call.run.rounds.pop()
    return UNKNOWN if rows == [None] else SdkItems(results, is_fixed=True)


def runs_other_code(name: str, call: Call) -> bool:
    """Return whether a method of `get_ipython()` runs code that may set names of the program."""
    text = call.arguments[0].constant() if call.arguments else ...
    if name not in ("run_line_magic", "magic", "run_cell") or not isinstance(text, str):
        return False
    return name == "run_cell" or text.lstrip("%").split(" ")[0] in ("run", "load", "rerun", "store")


def starts_jobs(value: followed.Value, names: frozenset[str]) -> bool:
    """Return whether a value is a method with one of these names, which code that has it may call."""
    function = value.function if isinstance(value, SdkUnknown) else value
    return isinstance(function, Bound) and function.name in names


def may_start(call: Call) -> bool:
    """Return whether the arguments of a `fit` or `train` may be those of the SDK, and not of a model in memory."""
    return len(call.arguments) <= 1 and call.keywords.keys() <= _OF_A_START


def decorators_of(function: Function) -> set[str]:
    """Return the names of the decorators of a function, without their modules."""
    return {ast.unparse(each).rpartition(".")[2] for each in function.node.decorator_list}


def is_decorated(function: Function, name: str) -> bool:
    """Return whether a function has a decorator with this name."""
    return name in decorators_of(function)
