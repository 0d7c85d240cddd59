"""Read the author's script, if it is a Python file of the source: its arguments, channels, and hyperparameters.

The Python that starts it is known as far as its image shows it.
"""

from __future__ import annotations

import os
import posixpath
import re
from collections.abc import Mapping, Sequence

from smspec.pipeline.script_source import ProgramSource, with_ignored
from smspec.script.program import FileUse, ForeignScript, Program, UnreadScript, bare
from smspec.script.reach import Reach, Version
from smspec.script.reach.reaching import Reaching
from smspec.script.script_files import (
    MOST_BYTES,
    ScriptSource,
    ScriptUnreadable,
    forget_trees,
    has_relevant_word,
    is_readable,
    names_imported,
)
from smspec.service.image_python import locked_python, python_of_image
from smspec.source import Document, Listing, Path, Scalar, SourceText
from smspec.source import Sequence as SequenceNode
from smspec.source.frozen import dataclass, replace
from smspec.spec.lock import Lock

MOST_LOOKED_THROUGH = 200
"""Python files of a source that are searched for other uses of hyperparameters."""

MOST_REMEMBERED = 16
"""Scripts that a process remembers, with their texts: it may compile one spec again and again."""

_READ: dict[object, ReadScript] = {}

_OTHER_PYTHON = r"python|conda|mamba|pyenv|\buv\b|pixi|update-alternatives"
_MOVES = (("image", "env", "PATH"), ("environment", "PATH"), ("image", "env", "PYTHONHOME"))


@dataclass(frozen=True, slots=True, kw_only=True)
class Started:
    """The file that is started, by its path in the source; ``handler`` is the function in it that gets the job.

    ``named``: its name in the spec, in ``key`` of the entry point. ``is_module``: it is started with `-m`.
    ``searches``: the job sets ``PYTHONPATH``.
    """

    path: str
    named: str
    key: str
    handler: str | None = None
    is_module: bool = False
    searches: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class ReadScript:
    """``program``: the facts about a script, or why they are unknown; None if other rules report that it is missing.

    ``reach``: the modules that it imports, or the script itself if it is not Python; None if it cannot be found.
    ``shell``: the script of a shell that starts it.
    """

    program: Program | UnreadScript | None = None
    reach: Reach | ForeignScript | None = None
    shell: ForeignScript | None = None


def started_program(document: Document) -> Started | UnreadScript | None:
    """Return which Python file a spec starts, or why none can be read; None for a spec that starts nothing itself."""
    searches = any(document.node((*above, "PYTHONPATH")) is not None for above in (("environment",), ("image", "env")))
    script = document.string(("entry_point", "script"))
    if script is not None:
        if not script.endswith(".py"):
            return _foreign(script, ("entry_point", "script"))
        return Started(path=script, named=script, key="script", searches=searches)
    for key in ("module", "pipe_loop"):
        function = document.string(("entry_point", key))
        if function is not None:
            module, _, name = function.partition(":")
            return Started(
                path=module.replace(".", "/") + ".py", named=function, key=key, handler=name, searches=searches
            )
    command = document.node(("entry_point", "command"))
    if isinstance(command, SequenceNode):
        words = [
            item.value if isinstance(item, Scalar) and isinstance(item.value, str) else "" for item in command.items
        ]
        from smspec.script.started import started_by_command  # imported late: few jobs have a command

        found = started_by_command(words)
        if found is not None:
            name = found.name
            path = name.replace(".", "/") + ".py" if found.is_module else name
            searches |= found.searches
            return Started(path=path, named=name, key="command", is_module=found.is_module, searches=searches)
        return _foreign(" ".join(words), ("entry_point", "command"))
    return _submitted(document)


def _foreign(name: str, path: Path) -> UnreadScript:
    return UnreadScript(name=name, reason="it is not a Python script", path=path)


def _submitted(document: Document) -> UnreadScript | None:
    """Return the script of a job as the SageMaker SDK starts it: its source is an archive that cannot be read."""
    if document.node(("entry_point",)) is not None:
        return None
    for above in (("hyperparameters",), ("api", "HyperParameters")):
        script = document.string((*above, "sagemaker_program"))
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


def read_program(
    started: Started, source: Listing, directory: str, python: Version | None = None, ignore: Sequence[str] = ()
) -> ReadScript:
    """Return what the text of a script shows.

    ``directory``: that of the source, as the author names it; ``ignore`` what it excludes. ``python``: the version that
    starts the script. Raise OSError.
    """
    # The texts have names below the directory, and the digests are those of the files when they were listed.
    key = started, directory, python, tuple((file.path, file.origin, file.sha256) for file in source.files)
    read = _READ.get(key)
    if read is None:
        files = {file.path: file.origin for file in source.files}
        digests = {file.path: file.sha256 for file in source.files}
        # A script's own directory is searched first, then that of the code.
        is_imported = started.handler is not None or started.is_module
        path = _path_of_started(started, files)
        places = ("",) if is_imported else tuple(dict.fromkeys((os.path.dirname(path), "")))
        modules = ProgramSource(
            files, directory, places, searches=started.searches, unsaved=source.unsaved, digests=digests
        )
        read = _read_program(started, path, files, modules, places, python)
        if modules.is_as_listed:
            if len(_READ) >= MOST_REMEMBERED:
                _READ.clear()
            _READ[key] = read
    # What is excluded from a source is on the disk, not in the listing.
    return replace(read, reach=with_ignored(read.reach, directory, ignore)) if isinstance(read.reach, Reach) else read


def _path_of_started(started: Started, files: Mapping[str, str]) -> str:
    path = posixpath.normpath(started.path)
    if path not in files and (started.handler is not None or started.is_module):
        return path.removesuffix(".py") + ("/__main__.py" if started.is_module else "/__init__.py")
    return path


def _read_program(
    started: Started,
    path: str,
    files: dict[str, str],
    modules: ProgramSource,
    places: tuple[str, ...],
    python: Version | None,
) -> ReadScript:
    if path not in files:
        return ReadScript(program=None if started.key == "script" else _unread(started, "it is not in `source`"))
    try:
        reach = _reach(started, path, modules, places, python)
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
    is_in_package = started.is_module or (is_project and started.key == "script")
    package = os.path.dirname(path).replace("/", ".") if is_in_package else ""
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
    if not _is_relevant(text, files, modules):
        return Program(texts=(text,))
    program = _with_missing_files(read_script(text, modules), files, modules)
    if not any(line.drops for line in program.command_lines):
        return program
    return confirmed(program, _python_texts(files, modules))


def _python_texts(files: dict[str, str], modules: ProgramSource) -> list[str] | None:
    """Return the texts of all Python files of a source; None if there are too many, or one cannot be read."""
    names = [name for name in files if name.endswith(".py")]
    texts = [modules.text(name) for name in names[:MOST_LOOKED_THROUGH]]
    found = [one.text for one in texts if one is not None]
    return found if len(found) == len(names) else None


_CREATES = (
    r"^(?![ \t#@\"']|(?:async|class|def|from|import)\b)"
    r".*(?:open\(|write|dump\(|save|mkdir|makedirs|touch\(|copy|download|extract|system\(|subprocess)"
)
"""A line of a module that is not followed, at its import, that may create a file."""


def _with_missing_files(program: Program, files: dict[str, str], modules: ProgramSource) -> Program:
    """Return the script with the files, or sections of files, that it reads and the source lacks.

    A file that the source names a second time may be one that it writes.
    """
    directories = {path[: index + 1] for path in files for index, letter in enumerate(path) if letter == "/"}
    missing: dict[str, FileUse] = {}
    for use in reversed(program.file_reads):
        path = modules.path_of(use.path) if use.is_named else use.path
        if path not in files and not path.startswith("..") and not (use.is_named and "setup.py" in files):
            missing[path] = replace(use, path=path, section="")
        elif use.section and path in files and not _may_have_section(modules, path, use.section):
            missing[path] = replace(use, path=path)
    texts = _python_texts(files, modules) if missing else None
    followed = {one.text for one in program.texts}
    if texts is None or any(re.search(_CREATES, text, re.MULTILINE) for text in texts if text not in followed):
        missing.clear()
    if any(re.search(r"\bbuiltins\b.*\bopen\b", text) for text in texts or ()):
        missing.clear()
    found = [
        use
        for path, use in missing.items()
        if f"{path}/" not in directories and _mentions(posixpath.basename(path), texts or ()) == 1
    ]
    return replace(program, file_reads=(), missing_files=tuple(reversed(found)))


def _may_have_section(modules: ProgramSource, path: str, section: str) -> bool:
    """Return whether an INI file may have a section."""
    from configparser import Error, RawConfigParser  # imported late: few scripts read such files

    parser = RawConfigParser(allow_no_value=True, strict=False)
    try:
        content = modules.content(path)
        parser.read_string(content.decode("utf-8-sig"))
    except (OSError, ValueError, Error):
        return True
    return len(content) > MOST_BYTES or parser.has_section(section)


def _mentions(name: str, texts: Sequence[str]) -> int:
    return sum(text.count(name + quote) for text in texts for quote in "'\"")


def _is_relevant(text: SourceText, files: dict[str, str], modules: ProgramSource) -> bool:
    """Return whether tracing is worth the time: usually the script itself contains a relevant word."""
    if has_relevant_word(text.text) or modules.lacks_files(text.text):
        return True
    names = {part for path in files if path.endswith(".py") for part in path.removesuffix(".py").split("/")}
    return any(name.rpartition(".")[2] in names for name in names_imported(text.text, ""))


def python_of_command(words: Sequence[str]) -> str:
    """Return the word of a command that names its Python; the first one if it starts no Python program."""
    from smspec.script.started import started_by_command  # imported late: few jobs have a command

    found = started_by_command(words)
    return words[0] if found is None else found.by


def image_python(document: Document, lock: Lock | None) -> Version | None:
    """Return the version of Python that starts the script; None if the spec does not show it.

    The URI of a short name in a lock shows it better than a table that may be newer.
    """
    if any(document.node(path) is not None for path in _MOVES):
        return None
    if any(re.search(_OTHER_PYTHON, line) for line in document.strings(("image", "run"))):
        return None
    words = document.strings(("entry_point", "command"))
    if words and python_of_command(words) not in ("python", "python3"):
        return None
    image = document.string(("image",)) or document.string(("image", "base"))
    packages = document.strings(("image", "system_packages"))
    if image is None:
        return None
    locked = {uri for name, uri in (lock.names if lock else {}).items() if name.startswith(f"{image} ")}
    pythons = lock.pythons if lock else {}
    versions = {python_of_image(uri, packages) or locked_python(pythons.get(uri, "")) for uri in locked or (image,)}
    return versions.pop() if len(versions) == 1 else None


_OTHER_WAYS = (
    r"SM_HPS|SM_HP_|SM_USER_ARGS|SM_TRAINING_ENV|hyperparameters\.json|smspec_runtime|sagemaker_training"
    r"|sagemaker_containers|\bargv\b|\bflags\b"
    r"|^[ \t]*(?:from|import)[ \t]+(?:absl|click|colossalai|deepspeed|detectron2|fairseq|fire|hydra|jsonargparse"
    r"|lightning|megatron|mmcv|mmengine|nemo|parlai|pytorch_lightning|tensorflow_models|typer)\b"
)
"""Other ways to read hyperparameters, and libraries that may read the command line themselves."""

_QUOTED = r"""["']-{0,2}([A-Za-z0-9][\w.-]*)"""


def read_script(text: SourceText, source: ScriptSource) -> Program:
    """Return what is known about a script. Raise `ScriptUnreadable`."""
    return _read(text, source, "__main__", None)


def read_handler(text: SourceText, module: str, name: str, source: ScriptSource) -> Program:
    """Return what is known about a function or class ``name`` that is called with the job, or that it is missing.

    Raises `ScriptUnreadable`.
    """
    from smspec.script.handlers import definitions, lacks  # imported late: few scripts are handlers

    if lacks(text.text, name):
        return Program(texts=(text,), missing_handler=name, definitions=definitions(text.text))
    asks = any(word in text.text for word in ("hyperparameters", "channel", "/opt"))
    return _read(text, source, module, name) if asks else Program(texts=(text,))


def _read(text: SourceText, source: ScriptSource, module: str, handler: str | None) -> Program:
    if not is_readable(text.text):
        raise ScriptUnreadable("it is too long or too deeply nested to follow")
    from smspec.script.tracing import followed  # imported late: `ast` is only needed for Python scripts

    return followed(text, source, module, handler)


def confirmed(program: Program, texts: Sequence[str] | None) -> Program:
    """Return the script, with the quoted names in the Python files of its source where it may drop arguments.

    ``texts`` None: there are too many files.
    """
    if not any(line.drops for line in program.command_lines):
        return program
    if texts is None or any(re.search(_OTHER_WAYS, text, re.MULTILINE) for text in texts):
        lines = tuple(replace(line, drops=False) for line in program.command_lines)
        return replace(program, command_lines=lines)
    return replace(program, mentioned=frozenset(bare(name) for text in texts for name in re.findall(_QUOTED, text)))
