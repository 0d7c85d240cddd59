"""The modules that every run of a script imports, and the errors in their texts."""

from __future__ import annotations

from smspec.source import SourceText, Span
from smspec.source.frozen import dataclass

Version = tuple[int, int]


@dataclass(frozen=True, slots=True, kw_only=True)
class SyntaxFault:
    """An error in the text of a module. ``is_universal``: no Python 3 accepts it."""

    reason: str
    place: Span
    is_universal: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class NewSyntax:
    """A construct that exists since a version of Python."""

    construct: str
    since: Version
    place: Span


@dataclass(frozen=True, slots=True, kw_only=True)
class HandlerFault:
    """Why the runtime cannot call a handler, as a message, and the remedy."""

    reason: str
    place: Span
    help: str


@dataclass(frozen=True, slots=True, kw_only=True)
class MissingModule:
    """A module of the source that the source does not have. ``reason``: the end of a sentence, if it is another."""

    name: str
    place: Span
    reason: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class IgnoredModule:
    """A module next to the script that is not sent. ``by`` names what excludes its ``file``."""

    name: str
    place: Span
    file: str
    by: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ForeignImport:
    """An import of a module that is not in the source, by its full name.

    ``is_early``: it runs before the script can install packages, create modules, or change where Python searches.
    """

    name: str
    place: Span
    is_early: bool = True

    @property
    def top(self) -> str:
        """The first part of the name."""
        return self.name.partition(".")[0]


@dataclass(frozen=True, slots=True, kw_only=True)
class Reach:
    """``texts``: the modules that every run imports, the script first. ``foreign``: their imports from elsewhere.

    ``places``: the directories of the source that Python searches. ``is_open``: the script may find modules in ways
    that its text does not show.
    """

    texts: tuple[SourceText, ...] = ()
    faults: tuple[SyntaxFault, ...] = ()
    handler: tuple[HandlerFault, ...] = ()
    new_syntax: tuple[NewSyntax, ...] = ()
    missing: tuple[MissingModule, ...] = ()
    ignored: tuple[IgnoredModule, ...] = ()
    foreign: tuple[ForeignImport, ...] = ()
    places: tuple[str, ...] = ()
    is_open: bool = False

    @property
    def is_sound(self) -> bool:
        """Whether there is nothing to check against an image."""
        return not (self.faults or self.handler or self.new_syntax or self.missing or self.ignored or self.foreign)
