"""What is known of Python without running it: results of operations on constants, and what a call may affect.

A call of something of another module may affect nothing, what is in its arguments, or everything. `...` stands for an
unknown constant. A string that is made of values has parts: text, and the values in order.
"""

from __future__ import annotations

import ast
import operator
import string
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Union

if TYPE_CHECKING:
    from smspec.script.follow.values import Value

LARGEST = 1 << 62
"""The limit of a whole number. No script counts to it, and Python refuses to write numbers of some thousand digits."""

Part = Union[str, "Value"]

_LONGEST = 20_000
_MOST_ARGUMENTS = 3
_ARITHMETIC: dict[type[ast.operator], Callable[[float, float], float]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Div: operator.truediv,
    ast.FloorDiv: operator.floordiv,
    ast.Mod: operator.mod,
}
_ORDER: dict[type[ast.cmpop], Callable[[float, float], bool]] = {
    ast.Lt: operator.lt,
    ast.LtE: operator.le,
    ast.Gt: operator.gt,
    ast.GtE: operator.ge,
}
_OF_CONSTANTS: dict[str, Callable[[Any], float]] = {"int": int, "float": float, "len": len, "bool": bool}
_TYPES: dict[str, type] = {"bool": bool, "float": float, "int": int, "str": str}
_OF_STRINGS: dict[str, Callable[..., str | bool]] = {
    name: getattr(str, name)
    for name in (
        *("lower", "upper", "strip", "lstrip", "rstrip", "replace", "title", "capitalize"),
        *("startswith", "endswith"),
    )
}


def returns_text(method: str) -> bool:
    """Return whether a method of a string is known, and returns a string."""
    return method in _OF_STRINGS and not method.endswith("swith")


def computed(kind: type[ast.operator], left: object, right: object) -> float | None:
    """Return the result of an operation of two numbers; None if it is not known."""
    if not _is_number(left) or not _is_number(right):
        return None
    assert isinstance(left, int | float) and isinstance(right, int | float)
    if kind is ast.Pow and isinstance(right, int) and 0 <= right <= 64 and abs(left) <= 1024:
        found: float = left**right
    elif kind in _ARITHMETIC:
        try:
            found = _ARITHMETIC[kind](left, right)
        except (ArithmeticError, ValueError):
            return None
    else:
        return None
    return found if isinstance(found, float) or abs(found) < LARGEST else None


def compared(kind: type[ast.cmpop], one: object, two: object) -> bool | None:
    """Return the result of a comparison of two constants; None if it is not known.

    A tuple may stand for a list or a set of the same values.
    """
    if one is ... or two is ... or isinstance(one, tuple):
        return None
    if kind in (ast.In, ast.NotIn):
        is_text = isinstance(one, str) and isinstance(two, str)
        if not is_text and not isinstance(two, tuple):
            return None
        return (one in two) is (kind is ast.In)  # type: ignore[operator]  # both are text, or the second is a tuple
    if isinstance(two, tuple):
        return None
    if kind in (ast.Eq, ast.NotEq):
        return (one == two) is (kind is ast.Eq)
    if kind in (ast.Is, ast.IsNot):
        if type(one) is type(two) and not (one is None or isinstance(one, bool)):
            return None
        return (one is two) is (kind is ast.Is)
    if isinstance(one, int | float) and isinstance(two, int | float) and kind in _ORDER:
        return _ORDER[kind](one, two)
    return None


def of_string(owner: str, method: str, arguments: Sequence[object]) -> str | bool | None:
    """Return the result of a method of a string with constant arguments; None if it is not known."""
    if method not in _OF_STRINGS or len(arguments) > _MOST_ARGUMENTS:
        return None
    if not all(part is None or isinstance(part, str | int) for part in arguments):
        return None
    if len(owner) * sum(len(part) for part in arguments if isinstance(part, str)) > _LONGEST * 10:
        return None
    try:
        found = _OF_STRINGS[method](owner, *arguments)
    except TypeError:
        return None
    return found if not isinstance(found, str) or len(found) <= _LONGEST else None


def looked_at(name: str, constants: Sequence[object]) -> object:
    """Return the result of `int`, `float`, `len`, or `bool` of a constant; `...` if it is not known."""
    if name not in _OF_CONSTANTS or len(constants) != 1 or not isinstance(constants[0], str | int | float):
        return ...
    try:
        found = _OF_CONSTANTS[name](constants[0])
    except (ValueError, TypeError, OverflowError):
        return ...
    return found if isinstance(found, float) or abs(found) < LARGEST else ...


def is_instance(constant: object, kinds: Sequence[str]) -> bool | None:
    """Return whether a constant has one of some types, by their names; None if it is not known."""
    known = [_TYPES[kind] for kind in kinds if kind in _TYPES]
    if constant is ... or isinstance(constant, tuple) or len(known) < len(kinds):
        return None
    return isinstance(constant, tuple(known))


def written(constant: object, wanted: str) -> str | None:
    """Return what `format` makes of a constant; None if it is not known, or may be long."""
    if isinstance(constant, tuple) or constant is ... or len(wanted) > 8 or sum(map(str.isdigit, wanted)) > 3:
        return None
    try:
        return format(constant, wanted)
    except (ValueError, TypeError):
        return None


def percent(pattern: str, given: Sequence[Value] | None) -> list[Part] | None:
    """Return the parts of ``pattern % given`` with plain ``%s`` and ``%d``; None if they are not known."""
    pieces = pattern.replace("%%", "\0").replace("%d", "%s\1").split("%s")
    if given is None or "\0" in pattern or "\1" in pattern or len(pieces) != len(given) + 1:
        return None
    if any("%" in piece for piece in pieces):
        return None
    parts: list[Part] = [pieces[0].replace("\0", "%")]
    for value, piece in zip(given, pieces[1:], strict=True):
        if piece[:1] == "\1" and type(value.constant()) is not int:
            return None  # `%d` writes other numbers, and truths, in another way
        parts += [value, piece.removeprefix("\1").replace("\0", "%")]
    return parts


def fields(pattern: str, positional: Sequence[Value], named: Mapping[str, Value]) -> list[Part] | None:
    """Return the parts of ``pattern.format`` with plain fields: ``{}``, ``{0}``, ``{name}``; None for others."""
    parts: list[Part] = []
    automatic = 0
    try:
        for text, field, wanted, conversion in string.Formatter().parse(pattern):
            parts.append(text)
            if field is None:
                continue
            if wanted or conversion not in (None, "s"):
                return None
            if field == "":
                field, automatic = str(automatic), automatic + 1
            parts.append(positional[int(field)] if field.isdigit() else named[field])
    except (ValueError, KeyError, IndexError):
        return None
    return parts


def _is_number(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


LOOKERS = frozenset(
    {"bool", "callable", "float", "hasattr", "hash", "id", "int", "isinstance", "issubclass", "len", "print", "repr"}
    | {"os.fspath", "signal.signal", "str", "sys.stderr.write", "sys.stdout.write"}
)
"""They keep none of their arguments, or call them only when the script ends."""

COPIERS = frozenset(
    {"all", "any", "dict", "enumerate", "frozenset", "list", "max", "min", "reversed", "set", "sorted", "sum", "tuple"}
    | {"zip", "shlex.join"}
)
_COPYING = ("json.", "logging.", "os.path.", "pprint.", "subprocess.", "warnings.")
"""They may pass on what is in an argument, but never change a list or a mapping itself."""

SEE_OWN = frozenset({"eval", "globals", "locals", "vars"})
"""With these a module accesses its own names without writing them."""

SEE_ALL = SEE_OWN | frozenset(
    {"__import__", "__main__", "exec", "gc.get_objects", "gc.get_referrers", "importlib.__import__"}
    | {"importlib.import_module", "importlib.reload", "importlib.metadata.entry_points", "inspect.currentframe"}
    | {"inspect.getmembers", "inspect.getmodule", "inspect.stack", "inspect.trace", "pkg_resources.iter_entry_points"}
    | {"pkg_resources.load_entry_point", "pkgutil.resolve_name", "pkgutil.walk_packages", "pydoc.importfile"}
    | {"pydoc.locate", "runpy.run_module", "runpy.run_path", "sys.modules", "sys._current_frames", "sys._getframe"}
    | {"cProfile.run", "doctest.testfile", "doctest.testmod", "pdb.run", "pdb.runeval", "profile.run", "unittest.main"}
    | {"sys.setprofile", "sys.settrace", "threading.setprofile", "threading.settrace"}
)
"""With these a script accesses names of any module without writing them."""

STACKS = frozenset({"inspect.currentframe", "inspect.stack", "inspect.trace", "sys._getframe"})
"""With these a module accesses names by an attribute of `FRAMES`; most only read the name of a file."""

_LOADERS = ("imp.", "importlib.machinery.", "importlib.util.module_from_spec", "pluggy.", "stevedore.", "zipimport.")

FRAMES = frozenset({"__builtins__", "__globals__", "__subclasses__", "f_builtins", "f_globals", "f_locals"})
"""Attributes of any object by which a script accesses the names of a module."""

RUN_CODE = frozenset({"__import__", "eval", "exec", "importlib.import_module", "runpy.run_module", "runpy.run_path"})
"""The code that they run may set environment variables, too."""

BUILTINS = (
    LOOKERS
    | COPIERS
    | SEE_ALL
    | {"classmethod", "delattr", "exit", "getattr", "next", "object", "open", "property", "quit", "range", "setattr"}
    | {"staticmethod", "super", "vars", "BaseException", "SystemExit"}
)

ENVIRONMENTS = ("os.environ", "os.environb", "posix.environ")
LISTS = ("sys.argv", *ENVIRONMENTS)
"""What the readers rely on at the start of a script."""

REPLACEABLE = frozenset(
    f"sys.{name}" for name in ("displayhook", "dont_write_bytecode", "excepthook", "stderr", "stdin", "stdout")
)
"""Attributes that scripts often replace, and on which nothing depends that is followed."""

_READS = frozenset({"__contains__", "__getitem__", "__iter__", "__len__", "copy", "count", "get", "index", "items"})
_READS |= {"keys", "values"}

_SENDERS = ("os.kill", "os.killpg", "signal.alarm", "signal.pthread_kill", "signal.raise_signal", "signal.setitimer")
"""A signal handler of the script may end it then."""

EXECS = frozenset(f"os.exec{kind}" for kind in ("v", "ve", "vp", "vpe", "l", "le", "lp", "lpe"))
"""A different program replaces this one, with unknown arguments."""

EXITS = frozenset({"exit", "os._exit", "quit", "sys.exit"}) | EXECS

ENDING_METHODS = frozenset({"_exit", "abort", "exit", "quit"})
"""On an untracked object they may end the script successfully: a parser, a click context."""

ENDING_WORDS = ("-h", "--h", "--version")
"""Prefixes of command line words for which most parsers print a message and end the script successfully."""

_MOCKS = ("mock.", "moto.", "pytest.MonkeyPatch", "unittest.mock.")

_RELIABLE = frozenset(
    {"accelerate", "contextlib", "deepspeed", "gzip", "io", "mlflow", "numpy", "open", "os", "pathlib", "sagemaker"}
    | {
        "tarfile",
        "tempfile",
        "tensorflow",
        "threading",
        "time",
        "torch",
        "transformers",
        "wandb",
        "warnings",
        "zipfile",
    }
)
_SUPPRESSING = ("suppress", "raises", "ExitStack")


def sees_all(name: str) -> bool:
    """Return whether something of another module, or an attribute of it, accesses any name."""
    if name.startswith(_LOADERS):
        return True
    parts = name.split(".")
    return any(".".join(parts[:count]) in SEE_ALL for count in range(1, len(parts) + 1))


def may_end(name: str) -> bool:
    """Return whether a call may end the script successfully."""
    return name in EXITS or name in _SENDERS or name.rpartition(".")[2] in ENDING_METHODS


def changed_by(name: str) -> str:
    """Return which list of the script a method changes, such as ``os.environ.update``; empty for none."""
    owner, _, method = name.rpartition(".")
    return owner if owner in LISTS and method not in _READS else ""


def copies(name: str) -> bool:
    """Return whether a call does not change its arguments, though perhaps what is in them."""
    return name in COPIERS or name.startswith(_COPYING)


def patches(name: str) -> bool:
    """Return whether a call may replace any attribute."""
    return name.startswith(_MOCKS)


def lets_errors_through(name: str) -> bool:
    """Return whether a context manager of another module is known not to suppress exceptions."""
    return name.partition(".")[0] in _RELIABLE and not name.endswith(_SUPPRESSING)


def suppresses(name: str) -> bool:
    """Return whether a context manager of another module is one that suppresses exceptions."""
    return name.endswith(("suppress", "raises"))


TAKERS = frozenset({"all", "any", "dict", "frozenset", "list", "max", "min", "next", "set", "sorted", "sum", "tuple"})
"""Functions that take the first item of their first argument."""

TRANSPARENT = frozenset(
    {"functools.cache", "functools.lru_cache", "torch.distributed.elastic.multiprocessing.errors.record"}
    | {f"torch.{name}" for name in ("enable_grad", "inference_mode", "no_grad", "jit.ignore", "jit.unused")}
)
"""Decorators of functions that run what they decorate, in every first call, as it is."""

WRITING = frozenset(
    {"FileHandler", "Popen", "ZipFile", "basicConfig", "call", "check_call", "check_output", "dictConfig", "dump"}
    | {"imwrite", "makedirs", "mkdir", "popen", "rename", "symlink", "symlink_to", "system", "touch", "urlretrieve"}
)
WRITING_BEGINNINGS = ("download", "export", "extract", "fetch", "save", "snapshot", "to_", "unpack", "write_")
WRITING_MODULES = ("shutil.", "subprocess.")
"""Calls that may make a file, by the last part, or the beginning, of their names as they are written."""
