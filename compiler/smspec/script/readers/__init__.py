"""What calls of known libraries mean for a script: handlers, in files that are loaded when a script calls one."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from smspec.script.file_use import note_call, note_ensured, note_method, note_not_followed
from smspec.script.follow.values import text
from smspec.script.record import PROGRAM_STARTERS, STARTERS, Handler, Lookup, Record, note_installation, note_launch

if TYPE_CHECKING:
    import ast

    from smspec.script.follow.evaluation import Evaluation
    from smspec.script.follow.frames import Call
    from smspec.script.follow.interpreter import ProgramInterpreter
    from smspec.script.follow.values import Value
    from smspec.source import Span

READERS = {
    "argparse": "argument_parser",
    "boto3": "aws_sdk",
    "configparser": "config_files",
    "dataclasses": "data_classes",
    "pandas": "aws_sdk",
    "s3fs": "aws_sdk",
    "transformers": "data_classes",
    **dict.fromkeys(
        ("absl", "click", "fire", "getopt", "hydra", "jsonargparse", "lightning", "optparse"), "unread_libraries"
    ),
    **dict.fromkeys(("omegaconf", "pytorch_lightning", "tensorflow", "tyro", "typer"), "unread_libraries"),
}
"""The first part of a full name, and the reader for such names; `environment` handles those of other packages."""


class LibraryRecord(Record):
    """The record of a script, with what its calls of libraries mean."""

    def not_followed(self, call: Call) -> None:
        note_not_followed(call)

    def may_write(self) -> None:
        self.may_have_files = True

    def called(self, name: str, call: Call) -> Value | None:
        note_call(name, call)
        if name in STARTERS:
            note_installation(name, call)
        if name in PROGRAM_STARTERS:
            note_launch(call)
        handler = _handler_of(name)
        return None if handler is None else handler(call)

    def method_called(self, owner: Value, name: str, call: Call) -> Value | None:
        note_method(owner, name, call)
        if name not in ("open", "read_text", "read_bytes") or text(owner) is None:
            return None
        from smspec.script.readers import environment

        return environment.read_by_method(owner, call)

    def looked_up(self, run: ProgramInterpreter, name: str, key: Value, place: Span) -> Value | None:
        from smspec.script.readers import environment

        lookup: Lookup | None = environment.LOOKUPS.get(name)
        return None if lookup is None else lookup(run, key, place)

    def tested(self, node: ast.If, evaluation: Evaluation) -> None:
        note_ensured(node, evaluation)


def _handler_of(name: str) -> Handler | None:
    """Return the handler for a call of ``name``, a full name such as ``argparse.ArgumentParser``."""
    # Imported late: a script uses one of these libraries, or none.
    from importlib import import_module

    reader = READERS.get(name.partition(".")[0], "environment")
    handlers: Mapping[str, Handler] = import_module(f"{__name__}.{reader}").HANDLERS
    return handlers.get(name)
