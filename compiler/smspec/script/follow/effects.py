"""What a call of something of another module may affect: nothing, what is in its arguments, or everything."""

from __future__ import annotations

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
    | {"delattr", "exit", "getattr", "object", "open", "quit", "range", "setattr", "super", "vars"}
    | {"BaseException", "SystemExit"}
)

ENVIRONMENTS = ("os.environ", "os.environb", "posix.environ")
LISTS = ("sys.argv", *ENVIRONMENTS)
"""What the readers rely on at the start of a script."""

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
