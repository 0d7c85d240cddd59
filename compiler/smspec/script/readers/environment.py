"""What a script reads from the environment: its variables, the paths of channels, and the job of `smspec_runtime`.

PyTorch's `init_process_group` reads what its call does not say from the environment, too.
"""

from __future__ import annotations

import ast
import posixpath
from typing import TYPE_CHECKING

from smspec.script.file_use import ChannelPath, SourcePath, joined_below
from smspec.script.follow.frames import Call
from smspec.script.follow.values import UNKNOWN, Value, constant, known_path, known_text, text
from smspec.script.program import ChannelRead, HyperparameterRead, ProcessGroup, VariableRead
from smspec.script.record import record_of

if TYPE_CHECKING:
    from smspec.script.follow.interpreter import ProgramInterpreter
    from smspec.source import Span

CHANNEL = "SM_CHANNEL_"
HYPERPARAMETER = "SM_HP_"
HYPERPARAMETERS = "SM_HPS"
DATA = "/opt/ml/input/data/"
HYPERPARAMETERS_FILE = "/opt/ml/input/config/hyperparameters.json"

_READERS = (
    "open",
    "os.listdir",
    "os.scandir",
    "os.walk",
    *(f"glob.{name}" for name in ("glob", "iglob")),
    *(f"pandas.read_{kind}" for kind in ("csv", "parquet", "json", "table", "excel", "pickle", "feather")),
    *(f"numpy.{name}" for name in ("load", "loadtxt", "genfromtxt", "fromfile", "memmap")),
    *(f"datasets.load_{name}" for name in ("dataset", "from_disk")),
    *(f"polars.read_{kind}" for kind in ("csv", "parquet")),
    "pyarrow.parquet.read_table",
    "torch.load",
    "torchvision.datasets.ImageFolder",
    "PIL.Image.open",
)
"""Calls that fail, or find nothing, if their first argument does not exist."""

_LOOKS = ("get", "items", "keys", "values")
_RESERVED = ("sagemaker_", "_")
"""Beginnings of the names that SageMaker and its SDK add."""

# Position and name of the arguments of `init_process_group`.
_METHOD, _WORLD_SIZE, _RANK, _STORE = (1, "init_method"), (3, "world_size"), (4, "rank"), (5, "store")


def _item(run: ProgramInterpreter, key: Value, place: Span) -> Value:
    """``os.environ["SM_CHANNEL_TRAIN"]``, ``os.environ["SM_HP_LR"]``: a KeyError without it."""
    name = text(key) or ""
    if run.may_have_set(name):
        return UNKNOWN
    fails = run.is_certain
    _channel(run, name, place, fails=fails)
    if fails and name and not name.startswith((CHANNEL, HYPERPARAMETER)):
        read = record_of(run).variables if name.startswith("SM_") else record_of(run).other_variables
        read.append(VariableRead(written=name, place=place))
    if fails and name.startswith(HYPERPARAMETER):
        key_of = name.removeprefix(HYPERPARAMETER)
        record_of(run).hyperparameters.append(HyperparameterRead(name=key_of, by="variable", written=name, place=place))
    return WrittenHyperparameters() if name == HYPERPARAMETERS else _channel_path(name, may_be_none=False)


def _get(call: Call) -> Value:
    """``os.environ.get(…)``, ``os.getenv(…)``: None, or the default, without the channel."""
    name = text(call.argument(0, "key")) or ""
    default = call.argument(1, "default")
    has_default = len(call.arguments) + len(call.keywords) > 1 and constant(default) is not None
    call.unknown_result()
    if call.run.may_have_set(name) or not call.is_whole:
        return UNKNOWN
    _channel(call.run, name, call.place, fails=False)
    if name.startswith("SM_") and not name.startswith((CHANNEL, HYPERPARAMETER)):
        record_of(call.run).optional_variables.append(VariableRead(written=name, place=call.place))
    if name == HYPERPARAMETERS:
        return WrittenHyperparameters()
    return UNKNOWN if has_default else _channel_path(name, may_be_none=True)


def _channel_path(name: str, *, may_be_none: bool) -> Value:
    channel = name.removeprefix(CHANNEL)
    return ChannelPath(channel, name, may_be_none=may_be_none) if channel and channel != name else UNKNOWN


def _channel(run: ProgramInterpreter, name: str, place: Span, *, fails: bool) -> None:
    read = name.removeprefix(CHANNEL)
    if read and read != name:
        record_of(run).channels.append(ChannelRead(name=read, by="variable", written=name, fails=fails, place=place))


def _changed(call: Call) -> Value:
    """``os.environ.setdefault(…)`` and the like: the variable may be set without a channel."""
    call.run.changed_variables.add(text(call.argument(0, "key")) or "*")
    return call.unknown_result()


def _joined(call: Call) -> Value:
    """``os.path.join``: a path that is known if its parts are."""
    first = call.arguments[0] if call.arguments else UNKNOWN
    if isinstance(first, SourcePath) and call.is_whole:
        return first.joined(call.arguments[1:])
    if isinstance(first, ChannelPath) and call.is_whole:
        return joined_below(first, call.arguments[1:])
    path = ""
    for value in call.arguments:
        part = text(value)
        if part is None:
            return call.unknown_result()
        path = part if part.startswith("/") or not path else f"{path.rstrip('/')}/{part}"
    return known_text(path) if path and call.is_whole else UNKNOWN


def _path(call: Call) -> Value:
    """``pathlib.Path``."""
    joined = _joined(call)
    path = text(joined)
    if path is None:
        return joined if isinstance(joined, ChannelPath | SourcePath) else UNKNOWN
    return known_path(path)


def _absolute(call: Call) -> Value:
    """``os.path.abspath``: does not change a path from the root."""
    joined = _joined(call)
    if isinstance(joined, SourcePath):
        return joined
    path = text(joined) or ""
    return known_text(posixpath.normpath(path)) if path.startswith("/") else UNKNOWN


def _of_source(call: Call) -> Value:
    """``os.path.dirname``, ``os.path.realpath`` of a path of the source."""
    path = call.arguments[0] if call.arguments else UNKNOWN
    if not isinstance(path, SourcePath):
        return call.unknown_result()
    return path.parent if isinstance(call.node.func, ast.Attribute) and call.node.func.attr == "dirname" else path


def _read(call: Call) -> Value:
    """A path is read."""
    path = text(call.arguments[0]) if call.arguments else None
    mode = call.argument(1, "mode")
    is_written = mode is not None and set(text(mode) or "") & set("wax")
    run = call.run
    if path and path.startswith(DATA) and run.is_certain and not is_written:
        name = path.removeprefix(DATA).partition("/")[0]
        if name and not set(name) & set("*?[{"):
            record_of(run).channels.append(
                ChannelRead(name=name, by="path", written=path, fails=True, place=call.place)
            )
    call.unknown_result()
    return written_at(call.arguments[0]) if call.arguments and not is_written else UNKNOWN


def written_at(path: Value) -> Value:
    """Return what is read from a file, as far as it is known."""
    is_known = posixpath.normpath(text(path) or "") == HYPERPARAMETERS_FILE
    return WrittenHyperparameters() if is_known else UNKNOWN


def read_by_method(path: Value, call: Call) -> Value | None:
    """``Path.read_text``, ``Path.open``."""
    found = written_at(path)
    return None if found is UNKNOWN or call.arguments or call.keywords.keys() - {"encoding"} else found


class WrittenHyperparameters(Value):
    """The hyperparameters as JSON: the text, or the open file."""

    def entered(self) -> Value:
        return self

    def method(self, name: str, call: Call) -> Value:
        call.unknown_result()
        return self if name in ("read", "decode", "strip") else UNKNOWN


class Hyperparameters(Value):
    """A mapping of the hyperparameters that the script has parsed; ``is_changed``: it may have set others."""

    def __init__(self, run: ProgramInterpreter) -> None:
        self._run = run
        self._is_changed = False

    def escape(self) -> None:
        self._is_changed = True

    def look_through(self) -> None:
        """Let the strings in it escape; that changes nothing."""

    def method(self, name: str, call: Call) -> Value:
        if name not in _LOOKS:
            self.escape()
        return call.unknown_result()

    def item(self, key: Value, place: Span) -> Value:
        name = text(key)
        if name and not name.startswith(_RESERVED) and not self._is_changed and self._run.is_certain:
            read = HyperparameterRead(name=name, by="job", written=name, place=place)
            record_of(self._run).hyperparameters.append(read)
        return UNKNOWN


def _parsed(call: Call) -> Value:
    """``json.load``, ``json.loads``."""
    is_known = len(call.arguments) == 1 and not call.keywords and call.is_whole
    call.unknown_result()
    is_known = is_known and isinstance(call.arguments[0], WrittenHyperparameters)
    return Hyperparameters(call.run) if is_known else UNKNOWN


class JobValue(Value):
    """The job of `smspec_runtime`."""

    def __init__(self, run: ProgramInterpreter) -> None:
        self._run = run

    def attribute(self, name: str) -> Value:
        if name in ("hyperparameters", "channels"):
            return _Named(self._run, name)
        return UNKNOWN

    def method(self, name: str, call: Call) -> Value:
        if name == "channel":
            _Named(self._run, "channels").item(call.argument(0, "name") or UNKNOWN, call.place)
        return call.unknown_result()


class _Named(Value):
    """One of the two mappings of the job, by name."""

    def __init__(self, run: ProgramInterpreter, what: str) -> None:
        self._run = run
        self._what = what

    def set_item(self, _key: Value, value: Value) -> None:
        value.escape()
        record_of(self._run).changed_mappings.add(self._what)

    def item(self, key: Value, place: Span) -> Value:
        name = text(key)
        if self._what in record_of(self._run).changed_mappings:
            return UNKNOWN
        if name is None or not self._run.is_certain:
            return UNKNOWN
        if self._what == "channels":
            read = ChannelRead(name=name, by="job", written=name, fails=True, place=place)
            record_of(self._run).channels.append(read)
        else:
            record_of(self._run).hyperparameters.append(
                HyperparameterRead(name=name, by="job", written=name, place=place)
            )
        return UNKNOWN


def _job(call: Call) -> Value:
    return JobValue(call.run)


def _init(call: Call) -> Value:
    method = call.argument(*_METHOD)
    is_from_environment = method is None or text(method) == "env://"
    is_set = any(map(call.run.may_have_set, ("RANK", "WORLD_SIZE")))
    if call.is_whole and call.is_certain and not is_set and is_from_environment and call.argument(*_STORE) is None:
        variables = ["MASTER_ADDR", "MASTER_PORT"]
        variables += ["WORLD_SIZE"] if call.argument(*_WORLD_SIZE) is None else []
        variables += ["RANK"] if call.argument(*_RANK) is None else []
        record_of(call.run).process_groups.append(ProcessGroup(variables=tuple(variables), place=call.place))
    return call.unknown_result()


HANDLERS = {
    "os.environ.get": _get,
    "os.getenv": _get,
    **dict.fromkeys(("os.environ.setdefault", "os.putenv", "os.environ.update", "dotenv.load_dotenv"), _changed),
    **dict.fromkeys(("os.path.join", "str"), _joined),
    **dict.fromkeys(("pathlib.Path", "pathlib.PurePath"), _path),
    "os.path.abspath": _absolute,
    **dict.fromkeys(("os.path.dirname", "os.path.realpath"), _of_source),
    **dict.fromkeys(_READERS, _read),
    **dict.fromkeys(("json.load", "json.loads"), _parsed),
    "smspec_runtime.job": _job,
    "smspec_runtime.training_job.job": _job,
    "torch.distributed.init_process_group": _init,
    "torch.distributed.distributed_c10d.init_process_group": _init,
}
LOOKUPS = {"os.environ": _item}
