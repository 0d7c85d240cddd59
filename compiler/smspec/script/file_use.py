"""Paths of the container, and those of channels, that certainly reach a file operation.

Outside of a container they are different files.
"""

from __future__ import annotations

import ast
import builtins
import posixpath
import re
from typing import TYPE_CHECKING

from smspec.script.follow.values import UNKNOWN, Known, Operation, Unknown, Value, text
from smspec.script.program import ChannelUse, FileUse
from smspec.script.record import record_of

if TYPE_CHECKING:
    from smspec.script.follow.evaluation import Evaluation
    from smspec.script.follow.frames import Call
    from smspec.script.follow.interpreter import ProgramInterpreter
    from smspec.source import Span

CONTAINER = "/opt/ml"

SEARCHES = frozenset({"glob.glob", "glob.iglob", "os.walk"})
"""Calls that find nothing below a path that does not exist."""

_SEARCHING = frozenset({"glob", "rglob"})
"""Methods of `pathlib.Path` that do so."""

_FIRST = (0,)
_BOTH = (0, 1)
OPERATIONS: dict[str, tuple[int, ...]] = {
    "open": _FIRST,
    **dict.fromkeys(
        ("io.open", "gzip.open", "bz2.open", "lzma.open", "codecs.open", "os.open", "tarfile.open"), _FIRST
    ),
    **{
        f"os.{name}": _FIRST
        for name in ("makedirs", "mkdir", "listdir", "scandir", "chdir", "remove", "unlink", "rmdir")
    },
    **{f"os.{name}": _FIRST for name in ("mkfifo", "truncate", "chmod", "utime", "removedirs")},
    **{f"os.{name}": _BOTH for name in ("rename", "replace", "renames")},
    **{f"os.{name}": (1,) for name in ("symlink", "link")},
    **{f"shutil.{name}": _BOTH for name in ("copy", "copy2", "copyfile", "copytree", "move")},
    "shutil.rmtree": _FIRST,
    "shutil.make_archive": _FIRST,
    "shutil.unpack_archive": _BOTH,
    "zipfile.ZipFile": _FIRST,
    "torch.save": (1,),
    "torch.load": _FIRST,
    "torch.jit.save": (1,),
    "torch.jit.load": _FIRST,
    "joblib.dump": (1,),
    "joblib.load": _FIRST,
    **{f"numpy.{name}": _FIRST for name in ("save", "savez", "savez_compressed", "savetxt")},
    **{f"numpy.{name}": _FIRST for name in ("load", "loadtxt", "genfromtxt", "fromfile")},
    **{f"pandas.read_{name}": _FIRST for name in ("csv", "parquet", "json", "table", "excel", "pickle", "feather")},
    **{f"polars.read_{name}": _FIRST for name in ("csv", "parquet")},
    "pyarrow.parquet.read_table": _FIRST,
    "pyarrow.parquet.write_table": (1,),
    "datasets.load_from_disk": _FIRST,
    "matplotlib.pyplot.savefig": _FIRST,
    "PIL.Image.open": _FIRST,
    "logging.FileHandler": _FIRST,
    "tensorflow.saved_model.save": (1,),
    "torchvision.datasets.ImageFolder": _FIRST,
    "safetensors.torch.save_file": (1,),
    "safetensors.torch.load_file": _FIRST,
}
"""Calls that fail, or read or write there, by full name → which of their arguments are paths."""

READS = frozenset(
    {"open", "io.open", "gzip.open", "bz2.open", "lzma.open", "codecs.open", "os.listdir", "os.scandir", "torch.load"}
    | {"joblib.load", "PIL.Image.open", "datasets.load_from_disk", "omegaconf.OmegaConf.load", "toml.load"}
    | {f"numpy.{name}" for name in ("load", "loadtxt", "genfromtxt", "fromfile")}
    | {f"pandas.read_{name}" for name in ("csv", "parquet", "json", "table", "excel", "pickle", "feather")}
    | {f"polars.read_{name}" for name in ("csv", "parquet")}
)
"""Calls that fail if the file or directory in their first argument is missing."""

READING = frozenset({"read_text", "read_bytes", "open", "iterdir"})
"""Methods of `pathlib.Path` that fail so."""

_QUIET = (
    *(
        "argparse.",
        "ast.",
        "collections.",
        "configparser.",
        "copy.",
        "dataclasses.",
        "datetime.",
        "enum.",
        "functools.",
        "itertools.",
    ),
    *("json.dumps", "json.load", "logging.", "math.", "numpy.random.", "os.environ", "os.getcwd", "os.getenv"),
    *("os.path.", "pathlib.P", "platform.", "pprint.", "random.", "re.", "sys.", "time.", "torch.backends."),
    *("torch.cuda.", "torch.device", "torch.manual_seed", "typing.", "uuid.", "warnings.", "yaml.", "tomllib."),
)
"""Beginnings of the names of calls that create no file which a script could read."""

_QUIET_METHODS = frozenset(
    {"add_argument", "append", "close", "debug", "decode", "encode", "endswith", "error", "extend", "format", "get"}
    | {"info", "items", "join", "keys", "lower", "parse_args", "parse_known_args", "print_help", "read", "readline"}
    | {"readlines", "replace", "set_defaults", "split", "splitlines", "startswith", "strip", "update", "upper"}
    | {"values", "warning", "parse_args_into_dataclasses", "setLevel", "addHandler", "setFormatter", "add_parser"}
)
NOT_OF_SOURCE = r"[/~]|\.\.|.*[:*?\[$%]"
"""A path that may be that of a file elsewhere."""

_LOUD = frozenset({"__import__", "compile", "eval", "exec"})

CHANNEL_OPERATIONS = frozenset(OPERATIONS) | {
    *("glob.glob", "glob.iglob", "os.path.exists", "os.path.isdir", "os.path.isfile", "os.path.join", "os.walk"),
    *("pathlib.Path", "datasets.load_dataset", "numpy.memmap"),
}
"""Calls whose first argument is a path, if it may be that of a channel."""

_OF_PATHS = READING | {"mkdir", "rename", "rmdir", "touch", "unlink", "write_bytes", "write_text"}
"""Methods of `pathlib.Path` that strings do not have."""

_OF_OBJECTS = frozenset(
    {"save", "save_model", "save_pretrained", "save_weights", "savefig"}
    | {"to_csv", "to_feather", "to_parquet", "to_pickle"}
)
"""Methods of library objects that write a file; not of classes of the script itself."""

_PATH_WORDS = ("path", "file", "filename", "fname", "name", "f", "dir", "dst", "dest", "path_or_buf", "save_directory")
_QUESTIONS = ("os.path.exists", "os.path.isdir")
_MAKERS = ("os.makedirs", "os.mkdir")


class ChannelPath(Value):
    """The value of ``SM_CHANNEL_…``, or a path below it, or next to it.

    ``name`` is in capitals. ``may_be_none``: without the channel it is None. ``options``: names of the option of which
    it is the default. ``rest``: what follows the path of the channel; None if unknown.
    """

    def __init__(
        self, name: str, written: str, *, may_be_none: bool, options: tuple[str, ...] = (), rest: str | None = ""
    ) -> None:
        self.name = name
        self.written = written
        self.may_be_none = may_be_none
        self.options = options
        self.rest = rest

    def as_default(self, options: tuple[str, ...]) -> ChannelPath:
        """Return it as the default of an option."""
        return ChannelPath(
            self.name, self.written, may_be_none=self.may_be_none, options=(*self.options, *options), rest=self.rest
        )

    def followed_by(self, rest: str | None) -> ChannelPath:
        """Return it with more text; it is a string then, not None."""
        whole = None if rest is None or self.rest is None else self.rest + rest
        return ChannelPath(self.name, self.written, may_be_none=False, options=self.options, rest=whole)

    def note(self, run: ProgramInterpreter, operation: str, place: Span) -> None:
        """Record that it certainly reaches an operation."""
        record_of(run).note_use(
            run,
            ChannelUse(
                name=self.name,
                written=self.written,
                operation=operation,
                rest=self.rest,
                may_be_none=self.may_be_none,
                options=self.options,
                place=place,
            ),
        )

    def before(self, rest: str | None) -> Value:
        return UNKNOWN if self.may_be_none else self.followed_by(rest)

    def operation(self, node: Operation, right: Value, run: ProgramInterpreter) -> Value:
        """Return the path with text after it; None cannot be added to anything."""
        if not isinstance(node.op, ast.Add | ast.Div):
            return UNKNOWN
        self.note(run, "+" if isinstance(node.op, ast.Add) else "/", run.place(node))
        rest = text(right)
        if isinstance(node.op, ast.Div):
            return self.followed_by(None if rest is None or rest.startswith("/") else f"/{rest}")
        return self.followed_by(rest)


class SourcePath(Value):
    """A path that the script makes of ``__file__``; ``path``: as messages name the files of the source."""

    def __init__(self, path: str) -> None:
        self.path = path

    @property
    def parent(self) -> Value:
        return UNKNOWN if self.path in ("", ".") else SourcePath(posixpath.dirname(self.path) or ".")

    def joined(self, others: tuple[Value, ...]) -> Value:
        """Return the result of ``os.path.join`` with other parts."""
        parts = [text(other) for other in others]
        known = [part for part in parts if part is not None and not part.startswith("/")]
        return SourcePath(posixpath.join(self.path, *known)) if len(known) == len(parts) else UNKNOWN

    def attribute(self, name: str) -> Value:
        return self.parent if name == "parent" else super().attribute(name)

    def method(self, name: str, call: Call) -> Value:
        if name in ("absolute", "resolve"):
            return self
        return self.joined(call.arguments) if name == "joinpath" and call.is_whole else UNKNOWN

    def before(self, rest: str | None) -> Value:
        return UNKNOWN if rest is None else SourcePath(self.path + rest)

    def operation(self, node: Operation, right: Value, _: ProgramInterpreter) -> Value:
        if isinstance(node.op, ast.Div):
            return self.joined((right,))
        return self.before(text(right)) if isinstance(node.op, ast.Add) else UNKNOWN


def joined_below(first: Value, others: tuple[Value, ...]) -> Value:
    """Return the result of ``os.path.join`` of a channel's path and other parts."""
    if not isinstance(first, ChannelPath):
        return UNKNOWN
    rest: str | None = ""
    for other in others:
        part = text(other)
        if part is None:
            rest = None
        elif part.startswith("/"):
            return UNKNOWN
        elif rest is not None:
            rest += f"/{part}"
    return first.followed_by(rest)


class Namespace(Value):
    """The result of ``parse_args``: unknown, except defaults that are paths of channels."""

    def __init__(self, defaults: dict[str, ChannelPath]) -> None:
        self._defaults = dict(defaults)

    def escape(self) -> None:
        self._defaults.clear()

    def attribute(self, name: str) -> Value:
        return self._defaults.get(name, UNKNOWN)

    def set_attribute(self, name: str, value: Value) -> None:
        value.escape()
        self._defaults.pop(name, None)

    def method(self, _: str, call: Call) -> Value:
        self.escape()
        return call.unknown_result()


def note_call(name: str, call: Call) -> None:
    """Record a call that certainly uses a path of the container."""
    if call.arguments and isinstance(call.arguments[0], ChannelPath) and name in CHANNEL_OPERATIONS:
        call.arguments[0].note(call.run, name, call.place)
    if name in SEARCHES and call.arguments:
        _note_search(call.run, name, call.arguments[0], call.place)
    for index in OPERATIONS.get(name, ()):
        if index < len(call.arguments):
            _note(call.run, name, call.arguments[index], call.place)
    if name in OPERATIONS:
        for word in _PATH_WORDS:
            _note(call.run, name, call.keywords.get(word, UNKNOWN), call.place)
    if name in READS:
        mode = call.argument(1, "mode") if name.endswith("open") else None
        _note_read(name, call.arguments[0] if call.arguments else UNKNOWN, mode, call)
    elif not name.startswith(_QUIET) and not hasattr(builtins, name):
        record_of(call.run).may_have_files = True


def note_not_followed(call: Call) -> None:
    """Record that a call of code that is not followed may create files."""
    function = call.node.func
    is_quiet = (isinstance(function, ast.Attribute) and function.attr in _QUIET_METHODS) or (
        isinstance(function, ast.Name) and function.id not in _LOUD and hasattr(builtins, function.id)
    )
    record_of(call.run).may_have_files |= not call.is_named and not is_quiet


def _note_read(name: str, path: Value, mode: Value | None, call: Call) -> None:
    """Record that a file of the source is certainly read, before anything could create it."""
    record, written = record_of(call.run), "r" if mode is None else text(mode)
    is_named = isinstance(path, SourcePath)
    found = path.path if isinstance(path, SourcePath) else text(path)
    if written is None or set(written) & set("wax"):
        record.may_have_files = True
    elif found and call.is_certain and not record.may_have_files and (is_named or not re.match(NOT_OF_SOURCE, found)):
        use = FileUse(path=posixpath.normpath(found), operation=name, place=call.place, is_named=is_named)
        record.file_reads.append(use)


def _note_path(owner: Value, name: str, call: Call) -> None:
    if name in READING:
        _note_read(f"Path.{name}", owner, call.argument(0, "mode") if name == "open" else None, call)
    else:
        record_of(call.run).may_have_files = True


def note_method(owner: Value, name: str, call: Call) -> None:
    """Record a method call that certainly uses a path of the container."""
    if isinstance(owner, SourcePath) and name in _OF_PATHS:
        _note_path(owner, name, call)
    elif isinstance(owner, ChannelPath) and (name in _OF_PATHS or name in _SEARCHING):
        owner.note(call.run, f"Path.{name}", call.place)
    elif isinstance(owner, Known) and name in _SEARCHING:
        _note_search(call.run, f"Path.{name}", owner, call.place)
    elif isinstance(owner, Known) and name in _OF_PATHS:
        _note_path(owner, name, call)
        _note(call.run, f"Path.{name}", owner, call.place)
    elif isinstance(owner, Unknown) and name in _OF_OBJECTS:
        path = call.arguments[0] if call.arguments else UNKNOWN
        for value in (path, *(call.keywords.get(word, UNKNOWN) for word in _PATH_WORDS)):
            _note(call.run, name, value, call.place)


def note_ensured(node: ast.If, evaluation: Evaluation) -> None:
    """Record ``if not os.path.exists(…): os.makedirs(…)``: after it, the directory certainly exists."""
    run, name_of = evaluation.run, evaluation.full_name
    match node.test:
        case ast.UnaryOp(op=ast.Not(), operand=ast.Call(func=question)) if name_of(question) in _QUESTIONS:
            pass
        case _:
            return
    for statement in node.body:
        call = statement.value if isinstance(statement, ast.Expr) else None
        if isinstance(call, ast.Call) and call.args and name_of(call.func) in _MAKERS:
            _note(run, name_of(call.func), evaluation.value(call.args[0]), run.place(call))


def _note_search(run: ProgramInterpreter, name: str, value: Value, place: Span) -> None:
    path = text(value)
    if path is not None and run.is_certain and path.startswith(f"{CONTAINER}/"):
        record_of(run).searches.append(FileUse(path=posixpath.normpath(path), operation=name, place=place))


def _note(run: ProgramInterpreter, name: str, value: Value, place: Span) -> None:
    path = text(value)
    if path is None:
        return
    path = posixpath.normpath(f"/{path.lstrip('/')}") if path.startswith("/") else path
    if path == CONTAINER or path.startswith(f"{CONTAINER}/"):
        record_of(run).note_use(run, FileUse(path=path, operation=name, place=place))
