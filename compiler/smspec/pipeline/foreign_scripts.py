"""Read the script of a spec that is not Python: a file of the source, or the text of a command, and what it calls.

A script whose first line names Python is started like any Python file.
"""

from __future__ import annotations

import os
import posixpath
import re
from collections.abc import Iterator, Sequence
from fnmatch import fnmatchcase
from typing import TYPE_CHECKING

from smspec.pipeline.script_reading import Started
from smspec.script.program import LAUNCHERS, MOST_FOREIGN_BYTES, ForeignScript, Program, StartedLauncher, UnreadScript
from smspec.script.shell import NotUnderstood, Simple, simple_commands
from smspec.script.shell.grammar import shell_script
from smspec.source import Document, Listing, Path, Scalar, SourceText, Span
from smspec.source import Sequence as SequenceNode
from smspec.source.real_file import open_real

if TYPE_CHECKING:
    from smspec.script.started import StartedByCommand

MOST_SCRIPTS = 20
"""Scripts that one script calls, and those call."""

_SHELL = re.compile(r"(?:/(?:usr/)?bin/)?(bash|sh|dash)")
_OF_PYTHON = re.compile(rb"#![ \t]*/(?:\S*/)?(?:env[ \t]+)?(?:-S[ \t]+)?python(?:3(?:\.\d+)?)?(?:[ \t]+-u)?[ \t]*\n")
_BEGINNING = 200
_CODE = "/opt/ml/code/"
_QUIET = frozenset({":", "cd", "date", "echo", "ls", "mkdir", "nvidia-smi", "printf", "pwd", "set", "ulimit"})
"""Commands that install nothing and do not change where programs are."""


class _Files:
    """The files of a source by their paths; ``directory``: its name in the spec."""

    def __init__(self, source: Listing, directory: str) -> None:
        self._files = {file.path: file for file in source.files}
        self._unsaved, self._directory = source.unsaved, directory

    def content(self, path: str) -> bytes | None:
        """Return the beginning of a file, one byte more than the limit of a script; None without it. Raise OSError."""
        if path not in self._files:
            return None
        if path in self._unsaved:
            return self._unsaved[path]
        with open(open_real(self._files[path].origin), "rb", buffering=0) as file:
            return file.read(MOST_FOREIGN_BYTES + 1)

    def is_executable(self, path: str) -> bool:
        return self._files[path].executable

    def name_of(self, path: str) -> str:
        """Return the path of a file as the author would type it."""
        return os.path.normpath(os.path.join(self._directory, path))


def python_behind(document: Document, unread: UnreadScript, source: Listing) -> Started | None:
    """Return the file that a spec starts, if its first line names Python. Raise OSError."""
    words = _words(document)
    if words and "/" not in words[0]:
        return None
    name = _in_source(words[0] if words else document.string(("entry_point", "script")) or "")
    content = _Files(source, "").content(name)
    if content is None or not _OF_PYTHON.match(content[:_BEGINNING]):
        return None
    searches = any(document.node((*above, "PYTHONPATH")) is not None for above in (("environment",), ("image", "env")))
    return Started(path=name, named=name, key=str(unread.path[1]), searches=searches)


def started_in(script: ForeignScript | None) -> StartedByCommand | None:
    """Return the Python program that every run of a shell script starts; None if there is none, or it is unknown."""
    if script is None or not script.name or not script.dialect or re.search(r"-[a-z]*[ns]", script.interpreter[1]):
        return None
    from smspec.script.started import started_by_script  # imported late, as above

    return started_by_script(script.text, script.name)


def python_in_shell(document: Document, script: ForeignScript, source: Listing) -> Started | None:
    """Return the file of the source that every run of a shell script starts; None if there is none, or it is unknown.

    What the runtime installs, and a Python that is not the one of the image, may change which modules there are.
    """
    started = started_in(script)
    files = {file.path for file in source.files}
    if started is None or "setup.py" in files:
        return None
    path = started.name.replace(".", "/") + ".py" if started.is_module else posixpath.normpath(started.name)
    if path not in files:
        return None
    is_sure = started.by in ("python", "python3") and not started.searches
    searches = any(document.node((*above, "PYTHONPATH")) is not None for above in (("environment",), ("image", "env")))
    return Started(
        path=path,
        named=started.name,
        key=str(script.path[1]),
        is_module=started.is_module,
        searches=searches or not is_sure,
    )


def read_foreign_script(
    document: Document, unread: UnreadScript, source: Listing, directory: str
) -> ForeignScript | None:
    """Return the script of a spec that is not Python, if its text is known; ``directory``: that of the source.

    Raise OSError.
    """
    files = _Files(source, directory)
    path: Path = unread.path
    if path == ("entry_point", "script"):
        script = _file(document.string(path) or "", files, path)
    else:
        script = _command(_words(document), files, path)
    return None if script is None else _with_called(script, files)


def shell_of_command(document: Document, source: Listing, directory: str) -> ForeignScript | None:
    """Return the text of a shell in the command of a spec, which starts a Python program; None if it has none.

    Raise OSError.
    """
    files = _Files(source, directory)
    script = _command(_words(document), files, ("entry_point", "command"))
    return None if script is None or script.name else _with_called(script, files)


_STARTS = re.compile(r"\b(?:subprocess|os\.system|os\.popen)\b")
_STARTERS = frozenset({"call", "check_call", "check_output", "popen", "Popen", "run", "system"})
_REPAIRS = r"dos2unix|fromdos|\\r(?!\w)|^.*{0}.*(?:['\"][wax]|write|\bsed\b)|(?:copy|save|download).*{0}"
"""What a program that may write a script, or remove its carriage returns, contains."""


def shells_of_program(program: Program, path: Path, source: Listing, directory: str) -> ForeignScript | None:
    """Return the shell scripts of the source that a Python program starts, as what the program calls.

    Raise OSError.
    """
    names = {posixpath.basename(file.path) for file in source.files if not file.path.endswith(".py")}
    texts = [one for one in program.texts if _STARTS.search(one.text) and any(name in one.text for name in names)]
    if not texts or any(re.search(r"\bchdir\b", one.text) for one in program.texts):
        return None
    files, every = _Files(source, directory), "\n".join(one.text for one in program.texts)
    found: dict[tuple[str, str], ForeignScript] = {}
    for word, line, shell in (call for one in texts for call in _calls_of_python(one)):
        called = _file(word, files, path, shell=shell)
        if called is None or not called.dialect:
            continue
        of_program = called.called_in_line(line, is_sourced=False, sets_mode=False, sets_content=False)
        for one in (of_program, *_with_called(called, files).called):
            name = re.escape(posixpath.basename(one.name))
            is_repaired = re.search(_REPAIRS.format(name), every, re.MULTILINE) is not None
            found[one.name, one.shell] = one.called_in_line(
                one.line,
                is_sourced=one.is_sourced,
                sets_mode=one.sets_mode or "chmod" in every,
                sets_content=one.sets_content or is_repaired,
            )
    root = ForeignScript(name=program.texts[0].name, file=program.texts[0].name, path=path, shell="python")
    return root.with_called(tuple(found.values())) if found else None


def _calls_of_python(module: SourceText) -> Iterator[tuple[str, int, str]]:
    """Yield (file, line, shell) of what the calls of a module start in the directory of the source."""
    import ast  # imported late: few programs start others

    from smspec.script.script_files import nodes_of, parsed

    tree = parsed(module)
    for node in () if tree is None else nodes_of(tree):
        if not isinstance(node, ast.Call) or not node.args or any(one.arg in ("cwd", None) for one in node.keywords):
            continue
        name = getattr(node.func, "attr", getattr(node.func, "id", ""))
        first = node.args[0]
        words: list[str | None] = []
        if isinstance(first, ast.List | ast.Tuple):
            values = [one.value if isinstance(one, ast.Constant) else None for one in first.elts]
            words = [value if isinstance(value, str) else None for value in values]
        elif isinstance(first, ast.Constant) and isinstance(first.value, str):
            is_text = name in ("popen", "system") or any(one.arg == "shell" for one in node.keywords)
            text = ForeignScript(name="", file="", content=first.value.encode(), shell="sh") if is_text else None
            words = [] if is_text else [first.value]
            if name in _STARTERS and text is not None:
                yield from ((word, node.lineno, shell) for word, _, shell, is_read in _calls(text) if not is_read)
        if name in _STARTERS:
            yield from ((word, line, shell) for word, line, shell, _ in _called(node.lineno, words))


def launches_of(script: ForeignScript) -> Iterator[StartedLauncher]:
    """Yield the launchers that every run of a shell script starts before it could install any."""
    try:
        items = shell_script(script.text) if script.dialect else ()
    except NotUnderstood:
        return
    for item in items:
        if any(operator != "&&" for operator in item.operators):
            return
        for pipeline in item.pipelines:
            command = pipeline.commands[0]
            if not isinstance(command, Simple) or any(word.text.startswith("PATH=") for word in command.assigned):
                return
            words = [word.value for word in command.words]
            name = words[1] if words[:1] == ["exec"] and len(words) > 1 else words[0] if words else ":"
            if name in LAUNCHERS:
                place = Span(script.file, command.line, 1, command.line, 2) if script.name else None
                yield StartedLauncher(name=name, path=script.path, place=place)
            if name not in _QUIET or len(pipeline.commands) > 1:
                return


def _words(document: Document) -> list[str]:
    command = document.node(("entry_point", "command"))
    items = command.items if isinstance(command, SequenceNode) else ()
    return [item.value if isinstance(item, Scalar) and isinstance(item.value, str) else "" for item in items]


def _command(words: Sequence[str], files: _Files, path: Path) -> ForeignScript | None:
    """Return the script that a command starts, also through wrappers: the text after `-c`, or a file."""
    from smspec.script.started import program_index  # imported late: few jobs have a command

    start = program_index(words)
    words = [] if start is None else words[start:]
    if not words or (shell := _SHELL.fullmatch(words[0])) is None:
        return _file(words[0], files, path) if words and "/" in words[0] else None
    options, rest = [], list(words[1:])
    while rest and re.fullmatch(r"-[A-Za-z]+", rest[0]):
        options.append(rest.pop(0))
        if options[-1].endswith("o") and rest:
            options.append(rest.pop(0))
    if not rest or rest[0][:1] in ("", "-", "+"):
        return None
    kind, written = shell[1], " ".join(options)
    is_text = any("c" in option for option in options if option.startswith("-"))
    if not is_text:
        return _file(rest[0], files, path, shell=kind, options=written)
    index = (start or 0) + len(words) - len(rest)
    text = rest[0].encode()
    content = text if len(text) <= MOST_FOREIGN_BYTES else b""
    return ForeignScript(name="", file="", content=content, path=(*path, index), shell=kind, options=written)


def _in_source(name: str) -> str:
    """Return a path as one in the source, which is where the job starts; another absolute one stays absolute."""
    return posixpath.normpath(name).removeprefix(_CODE)


def _file(name: str, files: _Files, path: Path, *, shell: str = "", options: str = "") -> ForeignScript | None:
    name = _in_source(name)
    content = None if name.endswith(".py") else files.content(name)
    if content is None:
        return None
    return ForeignScript(
        name=name,
        file=files.name_of(name),
        content=content if len(content) <= MOST_FOREIGN_BYTES else b"",
        path=path,
        shell=shell,
        options=options,
        is_executable=files.is_executable(name),
    )


def _with_called(script: ForeignScript, files: _Files) -> ForeignScript:
    """Return a script with those of the source that it calls, and that these call, each once."""
    found: dict[tuple[str, str], ForeignScript] = {}
    ahead = [(script, "")]
    while ahead and len(found) < MOST_SCRIPTS:
        caller, before = ahead.pop(0)
        for word, line, shell, is_sourced in _calls(caller):
            called = _file(word, files, script.path, shell=shell)
            if called is not None and called.name != script.name and (called.name, shell) not in found:
                text = before + _before(caller.text, word, line)
                found[called.name, shell] = called = called.called_in_line(
                    line,
                    is_sourced=is_sourced,
                    sets_mode=_may_set(_MODES, text, called.name),
                    sets_content=_may_set(_WRITERS, text, called.name),
                )
                ahead.append((called, text))
    return script.with_called(tuple(found.values()))


_MODES = (
    r"\bchmod\s+(?:-\S+\s+)*(?:[ugoa,]*[+=][rwXst]*x|[0-7]*[1357][0-7]{0,2}\b)[^\n;&|]*|(?:\[|\btest\b|!|&&|-a)\s+-x\s+[^\s;]+"
    r"|\|\|\s*(?:ba|da)?sh\s+[^\n;&|]*"
)
"""Words that make files executable, test whether they are, or start them with a shell if they are not."""

_WRITERS = (
    r"\b(?:sed|perl|tr|awk|gawk)\b[^\n]{0,300}(?:\\r|\\x0[dD]|\\015|\^M|\\x[eE][fF])[^\n]{0,300}|\b(?:dos2unix|fromdos|d2u)\b[^\n;&|]*"
    r"|>\|?\s*[^\s;&|<>]+"
)
"""Words that remove carriage returns or a byte order mark from files, or write them."""


def _before(text: str, word: str, line: int) -> str:
    """Return what a script may run before it calls ``word`` in a line; all of it if it has functions."""
    if re.search(r"\(\s*\)\s*\{|\bfunction\s", text):
        return text + "\n"
    lines = text.split("\n")[:line]
    last = lines[-1] if lines else ""
    tests = re.search(r"\|\|\s*(?:ba|da)?sh\s", last)
    return "\n".join([*lines[:-1], last if tests or word not in last else last[: last.rfind(word)]]) + "\n"


def _may_set(words: str, text: str, name: str) -> bool:
    """Return whether code of a shell does with a file what ``words``, a pattern, stand for."""
    code = re.sub(r"(?m)(?:^|(?<=\s))#.*", "", text.replace("\\\n", " "))
    for match in re.finditer(words, code):
        line = code[max(match.start() - 300, 0) : match.start()].rpartition("\n")[2]
        if re.search(r"\bxargs\b|-exec\b", line):
            return True
        for target in re.split(r"[\s<>]+", match[0]):
            path = posixpath.normpath(target.strip("\"'")) if target else ""
            if _is_variable(target) and not match[0].startswith(">"):
                return True
            is_pattern = path.count("/") == name.count("/") and any(sign in path for sign in "*?[")
            if path in ("{}", ".", name) or (is_pattern and fnmatchcase(name, path)):
                return True
            if path and "chmod" in match[0] and name.startswith(f"{path}/"):
                return True
    return False


def _is_variable(word: str) -> bool:
    """Return whether a word may name any file; a substitution of sed, or the path of a program, does not."""
    return "$" in word and re.match(r"[\"']?(?:\d*s\W|\$\((?:command|which)\b)", word) is None


def _calls(script: ForeignScript) -> Iterator[tuple[str, int, str, bool]]:
    """Yield (file, line, shell, is read by this shell) of the files that a script starts, with the shell it names."""
    if not script.dialect:
        return
    try:
        commands = simple_commands(shell_script(script.text))
    except NotUnderstood:
        return
    if any(command.words and command.words[0].value in ("cd", "pushd") for command in commands):
        return
    for command in commands:
        words = [word.value for word in command.words]
        if words and words[0] == "exec":
            del words[0]
        is_sourced = len(words) > 1 and words[0] in (".", "source")
        if is_sourced and words[1] and ("/" in words[1] or script.dialect == "bash") and words[1][0] != "/":
            yield words[1], command.line, script.dialect, True
        yield from _called(command.line, words)


def _called(line: int, words: list[str | None]) -> Iterator[tuple[str, int, str, bool]]:
    name = words[0] if words else None
    if name is None:
        return
    if shell := _SHELL.fullmatch(name):
        if len(words) > 1 and words[1] and words[1][0] not in "-+":
            yield words[1], line, shell[1], False
    elif "/" in name and not _in_source(name).startswith("/"):
        yield name, line, "", False
