"""Read the author's script, if it is a Python file of the source: its arguments, channels, and hyperparameters."""

from __future__ import annotations

import os
import re
from collections.abc import Sequence

from smspec.pipeline.ignored_modules import with_ignored
from smspec.pipeline.script_source import ProgramSource
from smspec.script.parsing import ScriptUnreadable, forget_trees
from smspec.script.program import ForeignScript, Program, UnreadScript
from smspec.script.reach import Reach, Version
from smspec.script.reach.reaching import Reaching
from smspec.script.script_files import has_relevant_word, names_imported
from smspec.script.script_reader import confirmed, read_handler, read_script
from smspec.source import Document, Node, Path, Scalar, SourceText
from smspec.source import Sequence as SequenceNode
from smspec.source.frozen import dataclass, replace
from smspec.source.listing import Listing

MOST_LOOKED_THROUGH = 200
"""Python files of a source that are searched for other uses of hyperparameters."""

_PYTHON = re.compile(r"python(3(\.\d+)?)?")


@dataclass(frozen=True, slots=True, kw_only=True)
class Started:
    """The file that is started, by its path in the source; ``handler`` is the function in it that gets the job.

    ``named``: its name in the spec, in ``key`` of the entry point. ``searches``: the job sets ``PYTHONPATH``.
    """

    path: str
    named: str
    key: str
    handler: str | None = None
    searches: bool = False


def started_program(document: Document) -> Started | UnreadScript | None:
    """Return which Python file a spec starts, or why none can be read; None for a spec that starts nothing itself."""
    searches = any(document.node((*above, "PYTHONPATH")) is not None for above in (("environment",), ("image", "env")))
    script = _text(document.node(("entry_point", "script")))
    if script is not None:
        if not script.endswith(".py"):
            return _foreign(script, ("entry_point", "script"))
        return Started(path=script, named=script, key="script", searches=searches)
    for key in ("module", "pipe_loop"):
        function = _text(document.node(("entry_point", key)))
        if function is not None:
            module, _, name = function.partition(":")
            return Started(
                path=module.replace(".", "/") + ".py", named=function, key=key, handler=name, searches=searches
            )
    command = document.node(("entry_point", "command"))
    if isinstance(command, SequenceNode):
        words = [_text(item) or "" for item in command.items]
        if len(words) >= 2 and _PYTHON.fullmatch(words[0]) and words[1].endswith(".py"):
            return Started(path=words[1], named=words[1], key="command", searches=searches)
        return _foreign(" ".join(words), ("entry_point", "command"))
    return _submitted(document)


def _foreign(name: str, path: Path) -> UnreadScript:
    return UnreadScript(name=name, reason="it is not a Python script", path=path)


def _submitted(document: Document) -> UnreadScript | None:
    """Return the script of a job as the SageMaker SDK starts it: its source is an archive that cannot be read."""
    if document.node(("entry_point",)) is not None:
        return None
    for above in (("hyperparameters",), ("api", "HyperParameters")):
        script = _text(document.node((*above, "sagemaker_program")))
        if script is not None and document.node((*above, "sagemaker_submit_directory")) is not None:
            return UnreadScript(
                name=script,
                reason="`sagemaker_submit_directory` is an archive in S3",
                path=(*above, "sagemaker_program"),
                help="set `source` and `entry_point` instead: docs/moving-in.md shows the change",
            )
    return None


def without_source(started: Started) -> UnreadScript | None:
    """Return why the script of a spec without ``source`` is unknown; a different rule reports a missing script."""
    if started.key == "script":
        return None
    return UnreadScript(name=started.named, reason="`source` is not set", path=("entry_point", started.key))


@dataclass(frozen=True, slots=True, kw_only=True)
class ReadScript:
    """``program``: the facts about a script, or why they are unknown; None if other rules report that it is missing.

    ``reach``: the modules that it imports, or the script itself if it is not Python; None if it cannot be found.
    """

    program: Program | UnreadScript | None = None
    reach: Reach | ForeignScript | None = None


def read_program(
    started: Started, source: Listing, directory: str, python: Version | None = None, ignore: Sequence[str] = ()
) -> ReadScript:
    """Return what the text of a script shows.

    ``directory``: that of the source, as the author names it; ``ignore`` what it excludes. ``python``: the version that
    starts the script. Raise OSError.
    """
    files = {file.path: file.origin for file in source.files}
    path = started.path.removeprefix("./")
    if path not in files and started.handler is not None:
        path = path.removesuffix(".py") + "/__init__.py"
    if path not in files:
        return ReadScript(program=None if started.key == "script" else _unread(started, "it is not in `source`"))
    # A script's own directory is searched first, then that of the code.
    places = ("",) if started.handler is not None else tuple(dict.fromkeys((os.path.dirname(path), "")))
    modules = ProgramSource(files, directory, places, searches=started.searches, unsaved=source.unsaved)
    try:
        reach = with_ignored(_reach(started, path, modules, places, python), directory, ignore)
        try:
            return ReadScript(program=_program(started, path, files, modules), reach=reach)
        except ScriptUnreadable as fault:
            return ReadScript(program=_unread(started, str(fault)), reach=reach)
    finally:
        forget_trees()


def _unread(started: Started, reason: str) -> UnreadScript:
    return UnreadScript(name=started.named, reason=reason, path=("entry_point", started.key))


def _reach(
    started: Started, path: str, modules: ProgramSource, places: tuple[str, ...], python: Version | None
) -> Reach:
    """Return what a script imports. A source with `setup.py` is installed, and its script started as a module."""
    is_project = modules.has("setup.py")
    walk = Reaching(modules, ("",) if is_project else places, python, searches=started.searches or is_project)
    if started.handler is not None:
        found = walk.from_script(path, started.named.partition(":")[0])
        return _with_handler(found, started, modules, path)
    package = os.path.dirname(path).replace("/", ".") if is_project and started.key == "script" else ""
    return walk.from_script(path, None, package)


def _with_handler(reach: Reach, started: Started, modules: ProgramSource, path: str) -> Reach:
    """Return what a handler reaches, with the reasons why it cannot be called."""
    text = modules.text(path)
    if text is None or reach.faults or not started.handler:
        return reach
    from smspec.script.handlers import handler_faults  # imported late: few scripts are handlers

    faults = handler_faults(text, started.handler, is_loop=started.key == "pipe_loop")
    return replace(reach, handler=tuple(faults))


def _program(started: Started, path: str, files: dict[str, str], modules: ProgramSource) -> Program:
    text = modules.readable(path)
    if started.handler is not None:
        return read_handler(text, started.named.partition(":")[0], started.handler, modules)
    # Arguments that transformers would read from a file next to the script are unknown.
    if f"{path.removesuffix('.py')}.args" in files:
        raise ScriptUnreadable(f"`{path.removesuffix('.py')}.args` next to it may set arguments")
    if not _is_relevant(text, files):
        return Program(texts=(text,))
    program = read_script(text, modules)
    if not any(line.drops for line in program.command_lines):
        return program
    names = [name for name in files if name.endswith(".py")]
    texts = [modules.text(name) for name in names[:MOST_LOOKED_THROUGH]]
    is_whole = len(names) <= MOST_LOOKED_THROUGH and None not in texts
    return confirmed(program, [one.text for one in texts if one is not None] if is_whole else None)


def _is_relevant(text: SourceText, files: dict[str, str]) -> bool:
    """Return whether tracing is worth the time: usually the script itself contains a relevant word."""
    if has_relevant_word(text.text):
        return True
    names = {part for path in files if path.endswith(".py") for part in path.removesuffix(".py").split("/")}
    return any(name.rpartition(".")[2] in names for name in names_imported(text.text, ""))


def _text(node: Node | None) -> str | None:
    return node.value if isinstance(node, Scalar) and isinstance(node.value, str) and node.value else None
