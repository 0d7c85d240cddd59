"""Walk from a script to the modules of its source that every run imports."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable
from functools import partial
from typing import TYPE_CHECKING

from smspec.script.follow.code import absolute
from smspec.script.reach import (
    CHANGES,
    ForeignImport,
    ForeignMember,
    MissingModule,
    NewSyntax,
    Reach,
    ReachedModule,
    SourceModules,
    SyntaxFault,
    Version,
    is_in_every_version,
    may_be_newer,
    may_change_paths,
    may_write_modules,
    writing_words,
)
from smspec.script.reach.certain_code import (
    TAMPERS,
    CertainCode,
    Event,
    FunctionCall,
    Import,
    NamedImport,
    carriers_of,
    doubtful_imports,
    early_statements,
    may_be_set,
)
from smspec.script.reach.syntax import broken_syntax, new_syntax, undecodable
from smspec.script.script_files import (
    BEFORE_SOURCE,
    DEEPEST_IMPORTS,
    MOST_BYTES,
    MOST_CHARACTERS,
    MOST_IMPORTS,
    MOST_MODULES,
    ScriptUnreadable,
    own_package,
    parsed,
)
from smspec.source import SourceText, Span

if TYPE_CHECKING:
    from smspec.script.reach.calls import Calls

_HIDING = ("copy", "logging", "numbers", "queue", "random", "socket", "string", "token")
"""The keys of `TAKEN`."""

_INNER_IMPORT = r"^[ \t]+(?:from|import)\b|import_module|__import__|;[ \t]*(?:from|import)\b|:[ \t]*(?:from|import)\b"

_SETS_PACKAGE = r"\b__package__\b[\"'\]\s]*(?::[^=\n]+)?=(?!=)"
"""A script that names its own package imports from it (PEP 366)."""


class Reaching:
    """One walk. ``places`` are the directories that Python searches, in order; ``base`` the Python of the image."""

    def __init__(self, source: SourceModules, places: tuple[str, ...], base: Version | None, *, searches: bool) -> None:
        self._source = source
        self._places = places
        self._base = base
        self._is_open = searches
        self._searches = searches
        self._has_opened = searches
        self._has_ended = False
        self._own: dict[str, ReachedModule | None] = {}
        self._texts: list[SourceText] = []
        self._characters = 0
        self._written_by: dict[str, set[str]] = {}
        self._depth = 0
        self._faults: list[SyntaxFault] = []
        self._new: list[NewSyntax] = []
        self._missing: dict[str, MissingModule] = {}
        self._foreign: dict[str, ForeignImport] = {}
        self._members: dict[tuple[str, str], ForeignMember] = {}
        self._hiding: list[str] = []
        self._calls: Calls | None = None
        self._looked_through = 0

    def from_script(self, file: str, handler: str | None, package: str = "") -> Reach:
        """Return what a script in a package reaches; ``handler``: the full name of the module, if it is imported."""
        try:
            if handler is None:
                self._hiding = [name for name in _HIDING if self._find(name) is not None]
                self._enter("__main__", file, package)
            else:
                self._full_import(handler, None)
        except (RecursionError, MemoryError):
            return Reach(is_open=True)
        foreign = [
            found for found in self._foreign.values() if not (self._searches and self._source.is_elsewhere(found.top))
        ]
        missing = [found for found in self._missing.values() if not (self._searches and not found.reason)]
        return Reach(
            texts=tuple(self._texts),
            faults=tuple(self._faults),
            new_syntax=tuple(self._new),
            missing=tuple(missing),
            places=self._places,
            foreign=tuple(foreign),
            members=tuple(self._members.values()),
            is_open=self._is_open,
        )

    def _enter(self, name: str, file: str, package: str) -> ReachedModule | None:
        """Read a module and follow what it does when it is imported."""
        self._own[name] = None
        if len(self._texts) >= MOST_MODULES or self._characters > MOST_CHARACTERS or self._depth >= DEEPEST_IMPORTS:
            return None
        try:
            text = self._source.readable(file)
        except ScriptUnreadable:
            self._undecodable(file)
            return None
        self._texts.append(text)
        self._characters += len(text.text)
        fault = broken_syntax(text, self._base)
        if fault is not None:
            self._faults.append(fault)
        tree = None if fault is not None else parsed(text)
        own = self._own[name] = ReachedModule(name, file, text, tree, package)
        if tree is None:
            return own
        if self._base is not None and may_be_newer(text.text, self._base):
            self._new += new_syntax(text, tree, self._base)
        opens = False
        if may_change_paths(text.text):
            from smspec.script.reach.module_paths import module_paths  # imported late: few scripts need it

            paths = module_paths(text.text, tree, file)
            self._is_open |= paths.is_open
            opens = paths.is_open
            self._searches |= paths.is_open or bool(paths.places)
            self._places = tuple(dict.fromkeys((*self._places, *paths.places)))
        code = CertainCode(is_main=name == "__main__", names=own.names, contexts=partial(self._context, own))
        doubtful = [] if self._has_opened else self._doubtful_openings(own)
        self._is_open |= bool(doubtful)
        writers = set() if self._has_opened else self._writers(text.text, package)
        words = [CHANGES] * opens + [writing_words(text.text)] * (may_write_modules(text.text) or bool(writers))
        words += [rf"\b{re.escape(name.rpartition('.')[2])}\b" for name in doubtful]
        if words and not self._has_opened:
            early = early_statements(text.text, tree, "|".join(words), writers)
            self._follow(own, code, code.of_statements(tree.body[:early]))
            # What a module may do to the search, its functions may do later. What they write is rarely a module.
            self._has_opened |= opens or bool(doubtful) or early < len(tree.body)
            self._follow(own, code, code.of_statements(tree.body[early:]))
        else:
            self._follow(own, code, code.of_statements(tree.body))
        self._has_ended |= code.has_ended
        return own

    def _doubtful_openings(self, own: ReachedModule) -> list[str]:
        """Return the names of imports that some runs execute, of modules of the source that may open the search."""
        text = own.text.text
        if not any(word in text for word in ("  import ", "  from ", "\timport ", "\tfrom ")):
            return []
        return [name for name in doubtful_imports(text) if self._may_open(absolute(name, own.package), set())]

    def _may_open(self, name: str | None, seen: set[str]) -> bool:
        """Return whether a module of the source, or one that it may import, changes where modules come from."""
        file = None if name is None or name in self._own else self._find(name)
        if file is None or file in seen or len(seen) > MOST_MODULES:
            return False
        seen.add(file)
        try:
            text = self._source.readable(file)
        except ScriptUnreadable:
            return False
        if may_change_paths(text.text):
            from smspec.script.reach.module_paths import module_paths

            tree = parsed(text)
            if tree is not None and module_paths(text.text, tree, file).is_open:
                return True
        assert name is not None
        package = own_package(name, file)
        names = doubtful_imports(text.text, all_of_them=True)
        return any(self._may_open(absolute(one, package), seen) for one in names)

    def _writers(self, text: str, package: str) -> set[str]:
        """Return the names of what modules that a text imports define, and that may create modules when used."""
        found: set[str] = set()
        for name in doubtful_imports(text, all_of_them=True):
            full = absolute(name, package)
            file = None if full is None else self._find(full)
            if full is None or file is None:
                continue
            if file not in self._written_by and len(self._written_by) < MOST_MODULES:
                self._written_by[file] = set()
                try:
                    there = self._source.readable(file)
                except ScriptUnreadable:
                    continue
                inner = self._writers(there.text, own_package(full, file))
                tree = parsed(there) if inner or may_write_modules(there.text) else None
                if tree is not None:
                    self._written_by[file] = carriers_of(there.text, tree, writing_words(there.text), inner)
            found |= self._written_by.get(file, set())
        return found

    def _undecodable(self, file: str) -> None:
        content = self._source.content(file)
        fault = undecodable(self._source.name_of(file), content) if len(content) <= MOST_BYTES else None
        if fault is not None:
            self._faults.append(fault)

    def _follow(self, own: ReachedModule, code: CertainCode, events: Iterable[Event]) -> None:
        self._depth += 1
        for event in events:
            if len(self._foreign) > MOST_IMPORTS:
                break
            if isinstance(event, FunctionCall):
                if self._call(own, event):
                    code.exit()
                    break
            elif isinstance(event, NamedImport):
                if all(part.isidentifier() for part in event.name.split(".")):
                    self._full_import(event.name, _place(event.node, own))
            elif isinstance(event, ast.Import):
                for alias in event.names:
                    found = self._full_import(alias.name, _place(alias, own))
                    # What others import may get attributes from them.
                    if found is not None and found.file == own.file and own.name == "__main__":
                        self._itself(own, event, alias.name, alias.asname or alias.name)
            else:
                self._from(own, event)
            if self._has_ended:
                code.exit()
                break
        self._depth -= 1

    def _from(self, own: ReachedModule, node: ast.ImportFrom) -> None:
        """Follow ``from name import …``: the module, and submodules of it."""
        place = _place(node, own)
        name = absolute("." * node.level + (node.module or ""), own.package)
        if name is None or (node.level and not own.package):
            if re.search(_SETS_PACKAGE, own.text.text):
                return
            why = "it leaves the top-level package" if own.package else f"`{own.file}` is not in a package when it runs"
            written = "." * node.level + (node.module or "")
            self._miss(MissingModule(name=written, place=place, reason=why))
            return
        found = self._full_import(name, place)
        is_foreign = found is None and not self._has_opened and name.partition(".")[0] not in self._own
        if is_foreign and self._find(name.partition(".")[0]) is None:
            for alias in node.names:
                if alias.name != "*":
                    member = ForeignMember(module=name, name=alias.name, place=place)
                    self._members.setdefault((name, alias.name), member)
        if found is not None and found.file == own.file:
            self._itself(own, node, name)
        # A handler of AttributeError may be around an indented import.
        if found is not None and found.tree is not None and node.names[0].name == "*" and place.column == 1:
            self._all_of(found, name, place)
        if found is None:
            return
        from smspec.script.reach.names import may_have  # imported late: many scripts have no modules

        for alias in node.names:
            below = f"{name}.{alias.name}"
            if alias.name == "*" or may_have(found.tree, found.text.text, alias.name):
                continue
            if self._find(below) is not None:
                self._full_import(below, place)
            elif (
                not self._source.is_other_module(below, self._places)
                and not re.search(TAMPERS, found.text.text)
                and not may_be_set(self._texts, name, alias.name, place)
            ):
                why = "" if found.is_package else f"`{found.text.name}` has no `{alias.name}`"
                self._miss(MissingModule(name=below, place=place, reason=why))

    def _all_of(self, found: ReachedModule, name: str, place: Span) -> None:
        """Report the first name that `__all__` of a module lists, and the module does not have."""
        from smspec.script.reach.names import lacking_names

        for lacked in lacking_names(found.syntax, found.text.text):
            below = f"{name}.{lacked}"
            is_there = self._find(below) is not None or self._source.is_other_module(below, self._places)
            if not is_there and not may_be_set(self._texts, name, lacked, place):
                reason = f"`__all__` of `{found.text.name}` lists it, and the file does not have it"
                self._miss(MissingModule(name=below, place=place, reason=reason))
                return

    def _itself(self, own: ReachedModule, node: Import, name: str, alias: str = "") -> None:
        """Report what a file takes from itself and does not have: it hides the module of its name that has it."""
        from smspec.script.reach.names import first_lacked

        lacked = first_lacked(own.syntax, own.text.text, node, alias)
        if lacked is not None and self._find(f"{name}.{lacked}") is None:
            reason = f"the file imports itself, and has no `{lacked}`"
            self._miss(MissingModule(name=f"{name}.{lacked}", place=_place(node, own), reason=reason))

    def _full_import(self, name: str, place: Span | None) -> ReachedModule | None:
        """Import a module after its parent packages; return it if it is one of the source that was read."""
        parts = name.split(".")
        found: ReachedModule | None = None
        for count in range(1, len(parts) + 1):
            full = ".".join(parts[:count])
            if full in self._own:
                found = self._own[full]
                continue
            file = self._find(full)
            if file is not None:
                found = self._enter(full, file, own_package(full, file))
                continue
            if self._source.is_other_module(full, self._places):
                self._own[full] = found = None
                continue
            if count == 1:
                if self._hiding and place is not None:
                    self._standard(name, place)
                if place is not None and not is_in_every_version(full):
                    self._foreign.setdefault(name, ForeignImport(name=name, place=place, is_early=not self._has_opened))
            elif (
                place is not None
                and found is not None
                and found.tree is not None
                and not re.search(TAMPERS, found.text.text)
            ):
                self._miss(MissingModule(name=full, place=place))
            return None
        return found

    def _standard(self, name: str, place: Span) -> None:
        """Report a module of Python's library that takes a name from one that the source hides, and that lacks it."""
        from smspec.script.reach.names import may_have, taken_by

        for module, needed in taken_by(name):
            if self._has_opened or self._searches or module not in self._hiding or module == name:
                continue
            found = self._full_import(module, place)
            if found is None or may_have(found.tree, found.text.text, needed):
                continue
            if not may_be_set(self._texts, module, needed, place):
                reason = f"it takes `{needed}` from `{module}`, which `{found.file}` hides"
                self._miss(MissingModule(name=name, place=place, reason=reason, hidden_by=found.file))

    def _find(self, name: str) -> str | None:
        if name.partition(".")[0] in BEFORE_SOURCE:
            return None
        return self._source.file_of(name, self._places)

    def _miss(self, missing: MissingModule) -> None:
        if missing.reason or not self._has_opened:
            self._missing.setdefault(missing.name, missing)

    def _read(self, name: str) -> ReachedModule | None:
        """Return a module that is imported by now, and has a tree."""
        found = self._own.get(name)
        return found if found is not None and found.tree is not None else None

    def _look_up(self) -> Calls | None:
        """Return what looks up calls, once a module has an import that no module executes by itself."""
        new, self._looked_through = self._texts[self._looked_through :], len(self._texts)
        if self._calls is None and any(re.search(_INNER_IMPORT, text.text, re.MULTILINE) for text in new):
            from smspec.script.reach.calls import Calls  # imported late: few scripts have such imports

            self._calls = Calls(self._read, self._texts)
        return self._calls

    def _context(self, own: ReachedModule, question: str, name: str) -> bool:
        calls = self._look_up()
        return calls is not None and bool(getattr(calls, question)(name, own))

    def _call(self, own: ReachedModule, event: FunctionCall) -> bool:
        """Follow a call of a function of the source; return whether it certainly ends the script."""
        calls = self._look_up()
        found = None if calls is None else calls.found(event.name, own, event.arguments, is_consumed=event.is_consumed)
        there = None if found is None else self._read(found.module.name)
        if found is None or there is None or self._depth >= DEEPEST_IMPORTS:
            return self._context(own, "ends_well", event.name.rpartition(".")[2])
        key = (found.function, *sorted(found.names.items()))
        if key in there.called:
            return False
        there.called.add(key)
        names = {**there.names, **found.names}
        code = CertainCode(is_main=False, names=names, contexts=partial(self._context, there))
        self._follow(there, code, code.of_function(found.function))
        return code.has_exited


def _place(node: ast.stmt | ast.expr | ast.alias, own: ReachedModule) -> Span:
    return Span(
        own.text.name, node.lineno, node.col_offset + 1, node.end_lineno or node.lineno, (node.end_col_offset or 0) + 1
    )
