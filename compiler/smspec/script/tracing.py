"""Parse a script and follow it: as a script, or as the module of a function that is called with the job.

The modules of the source are imported as the script imports them.
"""

from __future__ import annotations

import ast
import builtins
import re
from collections.abc import Iterator

from smspec.script.file_use import SourcePath
from smspec.script.follow.classes import Class, Module
from smspec.script.follow.frames import Call, Frame, Function
from smspec.script.follow.interpreter import ProgramInterpreter, TooManySteps
from smspec.script.follow.values import UNKNOWN, Known, Value
from smspec.script.program import CommandLine, Program, Stop
from smspec.script.readers import LibraryRecord
from smspec.script.record import Record
from smspec.script.script_files import (
    BEFORE_SOURCE,
    DEEPEST_IMPORTS,
    MOST_CHARACTERS,
    MOST_MODULES,
    Glance,
    ScriptSource,
    ScriptUnreadable,
    glance,
    has_relevant_word,
    is_package,
    own_package,
    parsed,
)
from smspec.source import SourceText
from smspec.source.frozen import replace

MOST_LOOKED_AT = 3_000_000
"""Characters that are searched for words, to decide whether a module may do anything relevant."""

_MOST_WANTED = 50

_READS = r"\bopen\(|\bread_?\w*\(|\bload\w*\(|\bwraps\("
"""Words of a module whose functions may read a file that the script names, or call the script's own that do."""

_PHASES = ("begin", "epoch", "end")

_AT_START = ("sitecustomize", "usercustomize")
"""Python imports these before any script."""

_LIBRARIES = frozenset({"configargparse", "docopt", "gin", "plac", "simple_parsing", "tap"})
"""Libraries that parse a command line, besides those that `unread_libraries` knows by their calls."""

_READING = r"\bargparse\b|\bHfArgumentParser\b"


class Neighbors:
    """The modules of a source. ``texts`` are those that were parsed.

    For speed, a module without any relevant word, in itself or in what it imports, is not parsed. ``wanted``: a pattern
    of the names of choices and types, whose modules are relevant, too; ``looks_for_files``: so are those that may read
    a file which the source lacks.
    """

    def __init__(
        self, source: ScriptSource, own: SourceText, name: str, frame: Frame, wanted: str, *, looks_for_files: bool
    ) -> None:
        self.texts: list[SourceText] = []
        self._source = source
        self._own = own
        self._wanted = wanted
        self._searches = source.searches
        self._looks_for_files = looks_for_files
        self._lacks_files: bool | None = None
        self.has_readers = False
        self._has_looked = False
        self._modules: dict[str, Module | None] = {name: Module(frame)}
        self._found: dict[str, SourceText | None] = {}
        self._glances: dict[str, Glance] = {}
        self._looked_at = 0
        self._quiet: set[str] = set()
        self._brought: set[str] = set()
        self._depth = 0

    def find(self, run: ProgramInterpreter, name: str) -> Module | None:
        """Import a module, after its parent packages; None for one that is not in the source."""
        found: Module | None = None
        above: Module | None = None
        parts = name.split(".")
        for count in range(1, len(parts) + 1):
            full = ".".join(parts[:count])
            is_new = full not in self._modules
            found = self._one(run, full)
            if is_new and found is not None and above is not None:
                above.frame.set(parts[count - 1], found)
            above = found
        return found

    def _one(self, run: ProgramInterpreter, name: str) -> Module | None:
        if name in self._modules:
            return self._modules[name]
        self._modules[name] = None
        if name.partition(".")[0] in BEFORE_SOURCE:
            return None
        try:
            text = self._text(name)
            if text is None:
                self._perhaps(run, name)
            else:
                self._bring(run, name, text)
        except ScriptUnreadable:
            run.gives_up(f"smspec could not follow the module `{name}`, which the script imports")
        return self._modules[name]

    def _text(self, name: str) -> SourceText | None:
        """Return the text of a module; None for one outside of the source. Raise `ScriptUnreadable`."""
        if name not in self._found and self._looked_at > MOST_LOOKED_AT:
            raise ScriptUnreadable("it is too much to look at")
        if name not in self._found:
            self._found[name] = None if name.partition(".")[0] in BEFORE_SOURCE else self._source.module(name)
        return self._found[name]

    def _elsewhere(self, name: str) -> SourceText | None:
        """Return a module that is found only in a directory that the script adds. Raise `ScriptUnreadable`."""
        found = self._source.elsewhere(name)
        if found is not None and not self._searches and not self._has_looked:
            self._has_looked = True
            self._glance("__main__", self._own)
        return found if self._searches else None

    def _perhaps(self, run: ProgramInterpreter, name: str) -> None:
        """Read a file that may be the module, if the script adds directories for modules."""
        text = self._elsewhere(name)
        # A file that is found by the end of its name may import itself under ever longer names.
        if text is not None and text.name not in self._brought and not self._is_quiet(name, text):
            with run.out_of_order():
                self._bring(run, name, text)
            found, self._modules[name] = self._modules[name], None
            if found is not None:
                found.escape()

    def _bring(self, run: ProgramInterpreter, name: str, text: SourceText) -> None:
        module = self._modules[name] = Module(Frame(text))
        self._brought.add(text.name)
        frame = module.frame
        frame.names |= _names_at_start(name, text.name)
        frame.package = own_package(name, text.name)
        frame.is_entered = has_relevant_word(text.text) or "dataclass" in text.text or self._reads_files(text)
        if self._glance(name, text) is None:
            raise ScriptUnreadable("it is too much to look at")
        if (not is_package(text.name) or not text.text.strip()) and self._is_quiet(name, text):
            return
        self.texts.append(text)
        is_too_much = len(self.texts) > MOST_MODULES or sum(len(one.text) for one in self.texts) > MOST_CHARACTERS
        tree = None if is_too_much or self._depth >= DEEPEST_IMPORTS else parsed(text)
        if tree is None:
            raise ScriptUnreadable("it is too much to follow")
        self._depth += 1
        run.module(tree, frame)
        self._depth -= 1

    def _glance(self, name: str, text: SourceText) -> Glance | None:
        """Return the result of a quick search of a module; None above the limit."""
        if name not in self._glances:
            self._looked_at += len(text.text)
            if self._looked_at > MOST_LOOKED_AT:
                return None
            found = glance(text.text, own_package(name, text.name))
            if self._reads_files(text):
                found = replace(found, is_quiet=False)
            if self._wanted and re.search(rf"^(?:def +)?(?:{self._wanted})\b", text.text, re.MULTILINE):
                found = replace(found, is_quiet=False)  # it defines the choices or the type of an argument
            self._glances[name] = found
            self._searches |= self._glances[name].searches
        return self._glances[name]

    def _reads_files(self, text: SourceText) -> bool:
        """Return whether a module may read a file that the source lacks, named there or in the script."""
        if not self._looks_for_files:
            return False
        if self._lacks_files is None:
            self._lacks_files = self._source.lacks_files(self._own.text)
        may_read = self._lacks_files and re.search(_READS, text.text) is not None
        found = may_read or self._source.lacks_files(text.text)
        self.has_readers |= found
        return found

    def _is_quiet(self, name: str, text: SourceText) -> bool:
        """Return whether a module, with everything that it imports, has none of the relevant words."""
        seen, files = {name}, {text.name}
        rest = [(name, text)]
        while rest:
            name, text = rest.pop()
            found = self._glance(name, text)
            if found is None or not found.is_quiet or text.name == self._own.name:
                return False
            for other in found.names:
                if other in seen or other in self._quiet:
                    continue
                seen.add(other)
                try:
                    one = self._text(other) or self._elsewhere(other)
                except ScriptUnreadable:
                    return False
                if one is not None and one.name not in files:
                    files.add(one.name)
                    rest.append((other, one))
        self._quiet |= seen
        return True


def _wanted(text: str) -> set[str]:
    """Return the names in the choices and types of arguments."""
    found = re.findall(r"\b(?:choices|type)\s{0,9}=\s{0,9}([\w.]+(?:\([\w.]+)?)", text)
    return {name for part in found for name in re.findall(r"[A-Za-z_]\w*", part) if not hasattr(builtins, name)}


def _names_at_start(name: str, file: str) -> dict[str, Value]:
    """Return the names that a module has at its start."""
    return {
        "__name__": Known(name),
        "__file__": SourcePath(file.replace("\\", "/")) if file else UNKNOWN,
        "TYPE_CHECKING": Known(False),
    }


def followed(text: SourceText, source: ScriptSource, module: str, handler: str | None) -> Program:
    """Return what is known about a script. Raise `ScriptUnreadable` if this Python cannot parse or follow it.

    ``module``: its module name, ``__main__`` for a script.
    """
    wanted = "|".join(sorted(_wanted(text.text))[:_MOST_WANTED])
    try:
        found, is_whole = _followed(text, source, module, handler, wanted, is_wide=True)
        if is_whole:
            return found
    except ScriptUnreadable:
        pass  # it may be less without the modules that define choices, or read files
    return _followed(text, source, module, handler, "", is_wide=False)[0]


def _followed(
    text: SourceText, source: ScriptSource, module: str, handler: str | None, wanted: str, *, is_wide: bool
) -> tuple[Program, bool]:
    """Return what is known about a script, and whether that would be no more if fewer modules were relevant."""
    tree = parsed(text)
    if tree is None:
        raise ScriptUnreadable("the Python that runs smspec cannot parse it")
    frame = Frame(text)
    frame.names |= _names_at_start(module, text.name)
    frame.package = module if text.name.endswith("__init__.py") else module.rpartition(".")[0]
    neighbors = Neighbors(source, text, module, frame, wanted, looks_for_files=is_wide)
    record = LibraryRecord()
    run = ProgramInterpreter(record, neighbors.find)
    try:
        for name in (*_AT_START, *filter(None, [frame.package])):
            neighbors.find(run, name)
        run.module(tree, frame)
        if handler is not None:
            _call_handler(run, frame, handler)
    except (TooManySteps, RecursionError):
        raise ScriptUnreadable("it is too long or too deeply nested to follow") from None
    program = Program(
        texts=(text, *neighbors.texts),
        command_lines=() if run.is_tampered else tuple(dict.fromkeys(_with_left_over(record))),
        repeated_options=() if run.is_tampered or run.is_blind else tuple(record.repeated_options[:1]),
        variables=tuple(dict.fromkeys(record.variables)),
        optional_variables=tuple(dict.fromkeys(record.optional_variables)),
        other_variables=tuple(dict.fromkeys(record.other_variables)),
        channel_uses=() if run.is_blind else tuple(dict.fromkeys(record.channel_uses)),
        aws_uses=() if run.is_blind else tuple(record.aws_uses),
        installations=() if run.is_blind else tuple(record.installations),
        searches=() if run.is_blind else tuple(dict.fromkeys(record.searches)),
        launches=() if run.is_blind else tuple(record.launches),
        file_reads=() if run.is_blind else tuple(dict.fromkeys(record.file_reads)),
        repeated_uses=() if run.is_blind else tuple(dict.fromkeys(record.repeated_uses)),
        channels=tuple(dict.fromkeys(record.channels)),
        hyperparameters=tuple(dict.fromkeys(record.hyperparameters)),
        file_uses=() if run.is_blind else tuple(dict.fromkeys(record.file_uses)),
        process_groups=() if run.is_blind else tuple(record.process_groups),
        stop=_stop(run, record, text) if handler is None else None,
    )
    return program, not run.why_blind or not (wanted or neighbors.has_readers)


def _with_left_over(record: Record) -> Iterator[CommandLine]:
    """Yield the command lines, once the use of their remaining arguments is known."""
    for line in record.command_lines:
        left_over = record.left_over.get(line)
        yield line if left_over is None or left_over.is_used else replace(line, drops=True)


def _stop(run: ProgramInterpreter, record: Record, text: SourceText) -> Stop | None:
    """Return why the arguments of a script are not known, or not all of them; None if they are, or there are none."""
    if record.command_lines and run.is_tampered:
        return Stop(reason="the script changes `sys.argv`, or what reads it", place=record.command_lines[0].place)
    if record.stops:
        return record.stops[0]
    if record.command_lines:
        return None
    from smspec.script.readers.unread_libraries import PROVEN, why_unread  # imported late: most scripts use argparse

    for library in sorted((_LIBRARIES | PROVEN) & {name.partition(".")[0] for name in run.imported}):
        return Stop(reason=why_unread(library), place=None)
    if re.search(_READING, text.text):
        return Stop(reason="smspec could not follow the script to where it reads them", place=None)
    return None


def _call_handler(run: ProgramInterpreter, frame: Frame, name: str) -> None:
    """Call a function, or the methods of a class, as the runtime does: with the job first."""
    found = frame.get(name)
    from smspec.script.readers.environment import JobValue  # imported late: few scripts are handlers

    node = ast.parse("handler()", mode="eval").body
    assert isinstance(node, ast.Call)

    def call() -> Call:
        return Call(run, node, (JobValue(run),), {}, True)

    if isinstance(found, Function):
        found.call(call())
    elif isinstance(found, Class) and not found.bases:
        instance = found.call(Call(run, node, (), {}, True))
        for phase in _PHASES:
            if isinstance(found.function(phase), Function):
                instance.method(phase, call())
