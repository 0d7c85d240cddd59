"""What a call of something of another module may reach: nothing, what is in its arguments, or everything."""

from __future__ import annotations

LOOKERS = frozenset(
    {"bool", "callable", "float", "hasattr", "hash", "id", "int", "isinstance", "issubclass", "len", "print", "repr"}
    | {"os.fspath", "signal.signal", "str", "sys.stderr.write", "sys.stdout.write"}
)
"""They keep nothing of what they are given, or call it only when the program ends."""

COPIERS = frozenset(
    {"all", "any", "dict", "enumerate", "frozenset", "list", "max", "min", "reversed", "set", "sorted", "sum", "tuple"}
    | {"zip", "shlex.join"}
)
_COPYING = ("json.", "logging.", "os.path.", "pprint.", "subprocess.", "warnings.")
"""They may hand on what is in an argument, but never change a list or a mapping itself."""

SEE_OWN = frozenset({"eval", "globals", "locals", "vars"})
"""With one of these a module gets at its own names without writing them."""

SEE_ALL = SEE_OWN | frozenset(
    {"__import__", "__main__", "exec", "gc.get_objects", "gc.get_referrers", "importlib.__import__"}
    | {"importlib.import_module", "importlib.reload", "importlib.metadata.entry_points", "inspect.currentframe"}
    | {"inspect.getmembers", "inspect.getmodule", "inspect.stack", "inspect.trace", "pkg_resources.iter_entry_points"}
    | {"pkg_resources.load_entry_point", "pkgutil.resolve_name", "pkgutil.walk_packages", "pydoc.importfile"}
    | {"pydoc.locate", "runpy.run_module", "runpy.run_path", "sys.modules", "sys._current_frames", "sys._getframe"}
    | {"cProfile.run", "doctest.testfile", "doctest.testmod", "pdb.run", "pdb.runeval", "profile.run", "unittest.main"}
    | {"sys.setprofile", "sys.settrace", "threading.setprofile", "threading.settrace"}
)
"""With one of these a program gets at names of any module without writing them."""

STACKS = frozenset({"inspect.currentframe", "inspect.stack", "inspect.trace", "sys._getframe"})
"""With one of these a module gets at names by an attribute of `FRAMES`; most only ask for the name of a file."""

_LOADERS = ("imp.", "importlib.machinery.", "importlib.util.module_from_spec", "pluggy.", "stevedore.", "zipimport.")

FRAMES = frozenset({"__builtins__", "__globals__", "__subclasses__", "f_builtins", "f_globals", "f_locals"})
"""Attributes of whatever object by which a program gets at the names of a module."""

RUN_CODE = frozenset({"__import__", "eval", "exec", "importlib.import_module", "runpy.run_module", "runpy.run_path"})
"""What they run may set variables of the environment, too."""

BUILTINS = (
    LOOKERS
    | COPIERS
    | SEE_ALL
    | {"delattr", "exit", "getattr", "object", "open", "quit", "range", "setattr", "super", "vars"}
    | {"BaseException", "SystemExit"}
)

ENVIRONMENTS = ("os.environ", "os.environb", "posix.environ")
LISTS = ("sys.argv", *ENVIRONMENTS)
"""What a program finds when it starts: the readers rely on it."""

_READS = frozenset({"__contains__", "__getitem__", "__iter__", "__len__", "copy", "count", "get", "index", "items"})
_READS |= {"keys", "values"}

_SENDERS = ("os.kill", "os.killpg", "signal.alarm", "signal.pthread_kill", "signal.raise_signal", "signal.setitimer")
"""A handler of the program may end it then."""

EXECS = frozenset(f"os.exec{kind}" for kind in ("v", "ve", "vp", "vpe", "l", "le", "lp", "lpe"))
"""Another program takes the place of this one, with arguments that nobody here knows."""

EXITS = frozenset({"exit", "os._exit", "quit", "sys.exit"}) | EXECS

ENDING_METHODS = frozenset({"_exit", "abort", "exit", "quit"})
"""Of an object that is not followed they may end the program, and end it well: a parser, a context of click."""

ENDING_WORDS = ("-h", "--h", "--version")
"""How words of a command line begin for which most parsers print a text, and end the program well."""

_MOCKS = ("mock.", "pytest.MonkeyPatch", "unittest.mock.")

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
    """Return whether a program gets at any name by something of another module, or by an attribute of it."""
    if name.startswith(_LOADERS):
        return True
    parts = name.split(".")
    return any(".".join(parts[:count]) in SEE_ALL for count in range(1, len(parts) + 1))


def may_end(name: str) -> bool:
    """Return whether a call may end the program, and end it well."""
    return name in EXITS or name in _SENDERS or name.rpartition(".")[2] in ENDING_METHODS


def changed_by(name: str) -> str:
    """Return which list of the program something of it changes, such as ``os.environ.update``; nothing for none."""
    owner, _, method = name.rpartition(".")
    return owner if owner in LISTS and method not in _READS else ""


def copies(name: str) -> bool:
    """Return whether a call leaves its arguments as they are, though not what is in them."""
    return name in COPIERS or name.startswith(_COPYING)


def patches(name: str) -> bool:
    """Return whether a call may put something else in the place of anything."""
    return name.startswith(_MOCKS)


def lets_errors_through(name: str) -> bool:
    """Return whether a context manager of another module is known to let exceptions through."""
    return name.partition(".")[0] in _RELIABLE and not name.endswith(_SUPPRESSING)
