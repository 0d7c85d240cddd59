"""What the driver observes: how a script ends before its parser, or an import."""

from __future__ import annotations

import json
import os
import signal
from collections.abc import Mapping
from typing import Any, Literal, get_args

from smspec.proof.driver import starting
from smspec.proof.parser_rests import ParserRests
from smspec.proof.sandbox import Ended, Sandbox, is_list_of_texts
from smspec.proof.start import Start
from smspec.source.deep_directories import remove_tree
from smspec.source.frozen import dataclass

Kind = Literal["parsed", "imported", "rejected", "raised", "caught", "ended", "late", "killed", "lost"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Raised:
    """An exception. ``kinds``: its classes. ``frames``: the files and lines that led to it, the last one last.

    ``module``: the module that an ImportError is about.
    """

    kind: str
    kinds: tuple[str, ...]
    message: str
    frames: tuple[tuple[str, int], ...]
    module: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Observation:
    """``modules`` were imported; ``libraries`` are the shared libraries in use. ``detail`` is the end of its output.

    ``message``: that of a parser. ``is_open``: another parser may read what it leaves. ``caught``: the script went on
    after its parser had rejected the arguments. ``lost``: the process ended without a result.
    """

    kind: Kind
    ended: Ended
    modules: frozenset[str] = frozenset()
    libraries: tuple[str, ...] = ()
    message: str = ""
    raised: Raised | None = None
    is_open: bool = False

    @property
    def signal_name(self) -> str:
        """The signal that killed the process."""
        number = self.ended.status - 128
        return next((one.name for one in signal.Signals if one == number), f"signal {number}")


def observe_start(start: Start, sandbox: Sandbox, parsers: int, rests: ParserRests) -> Observation:
    """Run the script until its parsers have read the command line."""
    result = sandbox.path("parsed.json")
    asked = {"result": result, "writable": sandbox.writable, "code": start.directory, "parsers": parsers}
    asked |= {"taken": rests.taken, "open": rests.open}
    environment = {**start.environment, starting.PARSE: json.dumps(asked)}
    return _observation(sandbox.run(start.words, environment, start.directory), sandbox.result(result))


def observe_import(start: Start, sandbox: Sandbox, module: str) -> Observation:
    """Import one module in a process of its own, as the script would."""
    result = sandbox.path("imported.json")
    if os.path.isdir(result) and not os.path.islink(result):
        remove_tree(result)
    elif os.path.lexists(result):
        os.unlink(result)
    script = start.argv[0] if start.argv else ""
    place = os.path.dirname(os.path.join(start.directory, script)) if script.endswith(".py") else start.directory
    asked = {"result": result, "writable": sandbox.writable, "argv": start.argv, "place": place, "module": module}
    environment = {**start.environment, starting.IMPORT: json.dumps(asked)}
    ended = sandbox.run([start.python, start.driver], environment, start.directory)
    return _observation(ended, sandbox.result(result))


def _observation(ended: Ended, record: Mapping[str, Any] | None) -> Observation:
    if record is None or not _is_of_the_driver(record):
        kind: Kind = "late" if ended.is_late else "killed" if 128 < ended.status < 128 + 65 else "lost"
        return Observation(kind=kind, ended=ended)
    return Observation(
        kind=record["kind"],
        ended=ended,
        modules=frozenset(record["modules"]),
        libraries=tuple(record["libraries"]),
        message=record.get("message") or "",
        raised=_raised(record) if record["kind"] == "raised" else None,
        is_open=record.get("is_open", False),
    )


def _is_of_the_driver(record: Mapping[str, Any]) -> bool:
    """Return whether a record has the form in which the driver writes it: the script may have written another one."""
    is_raised = record.get("kind") == "raised"
    words = [record.get(name) for name in ("modules", "libraries", *(("kinds",) if is_raised else ()))]
    texts = [record.get("message"), *((record.get("type"),) if is_raised else ())]
    frames = record.get("frames", [])
    return (
        record.get("kind") in get_args(Kind)
        and all(is_list_of_texts(each) for each in words)
        and all(text is None or isinstance(text, str) for text in texts)
        and isinstance(frames, list)
        and all(isinstance(frame, list) and [*map(type, frame)] == [str, int] for frame in frames)
    )


def _raised(record: Mapping[str, Any]) -> Raised:
    module = record.get("module")
    return Raised(
        kind=record["type"] or "",
        kinds=tuple(record["kinds"]),
        message=record["message"] or "",
        frames=tuple((path, line) for path, line in record["frames"]),
        module=module if isinstance(module, str) else None,
    )
