"""Files that `configparser` reads: it ignores a missing one, and a section of it is missing then."""

from __future__ import annotations

import posixpath
import re

from smspec.script.file_use import NOT_OF_SOURCE, SourcePath
from smspec.script.follow.frames import Call
from smspec.script.follow.values import UNKNOWN, Value, items, text
from smspec.script.program import FileUse
from smspec.script.record import record_of
from smspec.source import Span
from smspec.source.frozen import replace

_SECTION = frozenset({"get", "getboolean", "getfloat", "getint", "items", "options"})
_ASKS = frozenset({"defaults", "has_option", "has_section", "sections"})


class ConfigFile(Value):
    """One ConfigParser. ``is_open``: it may have sections from elsewhere."""

    def __init__(self, call: Call) -> None:
        self._run = call.run
        self._read: FileUse | None = None
        self._is_open = not call.is_whole or "default_section" in call.keywords

    def escape(self) -> None:
        self._is_open = True

    def attribute(self, name: str) -> Value:
        self._is_open |= name.startswith("_")
        return super().attribute(name)

    def set_attribute(self, name: str, value: Value) -> None:
        value.escape()
        self._is_open |= name != "optionxform"

    def set_item(self, _key: Value, value: Value) -> None:
        value.escape()
        self._is_open = True

    def item(self, key: Value, _place: Span) -> Value:
        self._needs(key)
        return UNKNOWN

    def method(self, name: str, call: Call) -> Value:
        if name == "read":
            self._reads(call)
        elif name in _SECTION and (call.arguments or "section" in call.keywords):
            if "fallback" not in call.keywords and call.is_whole:
                self._needs(call.argument(0, "section"))
        elif name not in _ASKS and name not in _SECTION:
            self._is_open = True
            return call.unknown_result()
        return UNKNOWN

    def _reads(self, call: Call) -> None:
        """Record the file of a call, unless it may exist, or is one of several."""
        given = call.argument(0, "filenames") or UNKNOWN
        several = items(given)
        path = several[0] if several is not None and len(several) == 1 else given
        is_named = isinstance(path, SourcePath)
        found = path.path if isinstance(path, SourcePath) else text(path)
        is_of_source = bool(found) and (is_named or not re.match(NOT_OF_SOURCE, found or ""))
        is_first = self._read is None
        if found and is_of_source and is_first and call.is_certain and not record_of(call.run).may_have_files:
            normal = posixpath.normpath(found)
            self._read = FileUse(path=normal, operation="configparser", place=call.place, is_named=is_named)
        else:
            self._is_open = True

    def _needs(self, section: Value | None) -> None:
        name = text(section)
        if self._read is not None and not self._is_open and self._run.is_certain and name not in (None, "DEFAULT"):
            record_of(self._run).file_reads.append(replace(self._read, section=name))


HANDLERS = {f"configparser.{name}": ConfigFile for name in ("ConfigParser", "RawConfigParser", "SafeConfigParser")}
