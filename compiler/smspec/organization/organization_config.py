"""The file with the settings of an organization for all of its specs: ``smspec.toml``, or pyproject.toml.

Faults in it are shown at their lines, which are searched for then: the libraries of TOML and JSON keep no positions.
"""

from __future__ import annotations

import json
import os
import re
import sys
from collections.abc import Iterable, Sequence

from smspec.diagnostics import MOST, Diagnostic, InvalidInput, Rule
from smspec.source import Path, SourceText, Span
from smspec.source.frozen import dataclass
from smspec.spec.yaml.events import MAX_DEPTH
from smspec.workspace.boundary import Boundary, FileNotRead
from smspec.workspace.boundary_search import NAME, PYPROJECT, mentions_smspec

_LARGEST = 128 << 10
_LARGEST_JSON = 16 << 20
_LONGEST_LINE = 2_000
"""Bytes. The parser takes quadratic time in the parts of a key: minutes for half a million parts."""

MALFORMED_POLICY = Rule("SM747", "malformed policy")

_WORD = r"""(?:"[^"]*"|'[^']*'|[A-Za-z0-9_-]+)"""
_DOTTED = rf"({_WORD}(?:\s*\.\s*{_WORD})*)\s*"
_KEY = rf"\s*{_DOTTED}="
_HEADER = rf"\s*\[{{1,2}}\s*{_DOTTED}\]"

_DEEPEST = 8
"""Steps of a path whose parents get a position."""

Fault = tuple[tuple[str, ...], str, str]
"""Path in the file, message, help."""


class MalformedConfig(Exception):
    """The file is not TOML, or sets an invalid value. ``fault`` describes the error without the name of the file.

    ``content`` is the content of the file; empty if it was not read.
    """

    def __init__(self, path: str, fault: str, content: bytes = b"") -> None:
        super().__init__(f"`{path}`: {fault}")
        self.path = path
        self.fault = fault
        self.content = content


@dataclass(frozen=True, slots=True)
class OrganizationConfig:
    """``tables`` is the parsed ``content``: all of smspec.toml, or the table ``tool.smspec`` of pyproject.toml."""

    path: str
    tables: dict[str, object]
    content: bytes

    def table(self, name: str) -> dict[str, object]:
        """Return a table, empty if there is none. Raise `MalformedConfig` if it is not a table."""
        table = self.tables.get(name, {})
        if not isinstance(table, dict):
            raise MalformedConfig(self.path, f"`{name}` is not a table", self.content)
        return table


@dataclass(frozen=True, slots=True, kw_only=True)
class SettingsLayer:
    """The settings in a directory itself. A pyproject.toml next to smspec.toml is a layer of its own, above it."""

    directory: str
    boundary: Boundary
    file: OrganizationConfig | MalformedConfig | None
    has_dated_files: bool


def organization_configs_in(directory: str, boundary: Boundary) -> tuple[OrganizationConfig, ...]:
    """Return the files in a directory itself: the table of pyproject.toml is above smspec.toml, and both apply.

    Raise `MalformedConfig` for a file that is not TOML, and for a name that leads to anything but a regular file
    inside of the boundary: what such a file requires is unknown, so nothing is checked without it.
    """
    found: list[OrganizationConfig] = []
    path = os.path.join(directory, PYPROJECT)
    if os.path.lexists(path) and (not boundary.is_file(path) or mentions_smspec(path, boundary)):
        content = _content(path, boundary)
        tool = _tables(path, content).get("tool")
        own = tool.get("smspec") if isinstance(tool, dict) else None
        if own is not None and not isinstance(own, dict):
            raise MalformedConfig(os.path.relpath(path), "`tool.smspec` is not a table", content)
        if isinstance(own, dict):
            found.append(OrganizationConfig(os.path.relpath(path), own, content))
    path = os.path.join(directory, NAME)
    if os.path.lexists(path):
        content = _content(path, boundary)
        found.append(OrganizationConfig(os.path.relpath(path), _tables(path, content), content))
    return tuple(found)


def parsed_config(path: str, content: bytes) -> OrganizationConfig | None:
    """Return the settings in the content of a file; None for a pyproject.toml without any. Raise `MalformedConfig`."""
    tables = _tables(path, content)
    if os.path.basename(path).lower() != PYPROJECT:
        return OrganizationConfig(path, tables, content)
    tool = tables.get("tool")
    own = tool.get("smspec") if isinstance(tool, dict) else None
    return OrganizationConfig(path, own, content) if isinstance(own, dict) else None


def _content(path: str, boundary: Boundary) -> bytes:
    shown = os.path.relpath(path)
    try:
        content = boundary.read_named(path, _LARGEST)
    except FileNotRead as fault:
        raise MalformedConfig(shown, f"this {fault.reason}") from None
    except OSError as fault:
        raise MalformedConfig(shown, f"this cannot be read: {fault.strerror or fault}") from None
    if len(content) > _LARGEST:
        raise MalformedConfig(shown, f"it has more than {_LARGEST >> 10} KiB")
    if any(len(line) > _LONGEST_LINE for line in content.split(b"\n")):
        raise MalformedConfig(shown, f"it has a line of more than {_LONGEST_LINE:,} bytes")
    return content


def _tables(path: str, content: bytes) -> dict[str, object]:
    # Imported late: most repositories have no such file.
    from decimal import Decimal

    if sys.version_info >= (3, 11):
        import tomllib
    else:
        import tomli as tomllib

    try:
        tables: dict[str, object] = tomllib.loads(content.decode(), parse_float=Decimal)
    except (ValueError, ArithmeticError, RecursionError) as fault:
        raise MalformedConfig(
            os.path.relpath(path), f"`{os.path.relpath(path)}` is not valid TOML: {fault}", content
        ) from None
    if nests_too_deep(tables):
        shown = os.path.relpath(path)
        raise MalformedConfig(shown, f"`{shown}`: tables are nested deeper than {MAX_DEPTH} levels", content)
    if not content.isascii() or b"\\" in content:
        _check_visible(path, content.decode(), tables)
    return tables


def nests_too_deep(value: object) -> bool:
    """Return whether lists and tables are nested deeper than those of a spec may be; functions call themselves."""
    level = [value]
    for _ in range(MAX_DEPTH + 1):
        level = [inner for outer in level for inner in _inside(outer)]
    return bool(level)


def _inside(value: object) -> Iterable[object]:
    return value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()


def _check_visible(file: str, text: str, tables: object) -> None:
    """Raise `MalformedConfig` for what a reviewer of the policy cannot see; pyproject.toml has text of others, too."""
    # Imported late: most policies are ASCII.
    from smspec.diagnostics.unseen import called, unseen_parts
    from smspec.diagnostics.unseen_names import fault_in_data

    shown = os.path.relpath(file)
    is_ours = os.path.basename(file) == NAME
    for start, _ in unseen_parts(text.replace("\r\n", "\n")) if is_ours else ():
        line = text.count("\n", 0, start) + 1
        place = f"(at line {line}, column {start - text.rfind(chr(10), 0, start)})"
        raise MalformedConfig(shown, f"`{shown}` contains {called(text[start])} {place}", text.encode())
    tool = tables.get("tool") if isinstance(tables, dict) and not is_ours else None
    found = fault_in_data(tables if is_ours else tool.get("smspec") if isinstance(tool, dict) else None)
    if found:
        path, fault = found
        key = next((step for step in reversed(path) if isinstance(step, str)), "")
        line = next((number for number, line in enumerate(text.split("\n"), 1) if key in line), 1)
        raise MalformedConfig(shown, f"`{shown}`: {fault} (at line {line}, column 1)", text.encode())


def rejected(malformed: MalformedConfig) -> InvalidInput:
    """Return the error for a file that cannot be parsed."""
    at = re.search(r"\(at line (\d+), column (\d+)\)\Z", malformed.fault)
    line, column = (int(at[1]), int(at[2])) if at else (1, 1)
    span = Span(malformed.path, line, column, line, column)
    help = "fix the syntax" if at else "replace it with a TOML file of less than 128 KiB"
    return _invalid(text_of(malformed), [(span, (), malformed.fault, help)], MALFORMED_POLICY)


def rejected_values(file: OrganizationConfig, faults: Sequence[Fault], rule: Rule) -> InvalidInput:
    """Return the error for values in a file, at most `MOST`."""
    places = TomlPlaces(file)
    located = [(places.of(path), path, message, help) for path, message, help in faults[:MOST]]
    return _invalid(places.text, located, rule)


class TomlPlaces:
    """The positions of the keys and tables of a file."""

    def __init__(self, file: OrganizationConfig) -> None:
        self.text = text_of(file)
        self._top = ("tool", "smspec") if file.path.endswith(PYPROJECT) else ()
        self._places = _places(self.text)

    def of(self, path: Path) -> Span:
        """Return the position of a key, or of its nearest known parent."""
        whole = (*self._top, *path)
        known = (self._places[whole[:length]] for length in range(len(whole), 0, -1) if whole[:length] in self._places)
        return next(known, Span(self.text.name, 1, 1, 1, 1))


def json_place(path: str, keys: Sequence[object], boundary: Boundary) -> tuple[Span, SourceText]:
    """Return the position of the last of nested keys in a JSON file that smspec writes, and the text of the file."""
    try:
        text = boundary.read_named(path, _LARGEST_JSON).decode("utf-8", "replace")
    except FileNotRead:  # it was replaced after it was read
        text = ""
    at, length = 0, 0
    for key in keys:
        written = json.dumps(key, ensure_ascii=False)
        at, length = max(at, text.find(written, at)), len(written)
    line, column = text.count("\n", 0, at) + 1, at - text.rfind("\n", 0, at)
    return Span(path, line, column, line, column + length), SourceText(path, text)


def _invalid(text: SourceText, faults: Sequence[tuple[Span, Path, str, str]], rule: Rule) -> InvalidInput:
    diagnostics = [
        Diagnostic(code=rule.code, severity=rule.severity, message=message, span=span, path=path, help=help)
        for span, path, message, help in faults
    ]
    return InvalidInput(tuple(sorted(diagnostics, key=lambda d: (d.span.line, d.span.column))), (text,))


def text_of(file: OrganizationConfig | MalformedConfig) -> SourceText:
    """Return the text of a file."""
    return SourceText(file.path, file.content.decode("utf-8", "replace").replace("\r\n", "\n"))


def _places(text: SourceText) -> dict[Path, Span]:
    """Return the first position of each key and table. The TOML library keeps no positions."""
    places: dict[Path, Span] = {}
    table: Path = ()
    for number, line in enumerate(text.text.split("\n"), 1):
        header, key = re.match(_HEADER, line), re.match(_KEY, line)
        named = header or key
        if named is None:
            continue
        here: Path = (*(() if header else table), *_steps(named[1]))
        table = here if header else table
        span = Span(text.name, number, named.start(1) + 1, number, named.end(1) + 1)
        places.setdefault(here, span)
        # `stopping.max_runtime = …` is the position of `stopping` too.
        for length in range(len(table) + 1 if key else 1, min(len(here), _DEEPEST)):
            places.setdefault(here[:length], span)
    return places


def _steps(written: str) -> Path:
    return tuple(a or b or c for a, b, c in re.findall(r""""([^"]*)"|'([^']*)'|([A-Za-z0-9_-]+)""", written))
