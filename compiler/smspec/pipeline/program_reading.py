"""The author's program, read where it is a Python file of the source: what it says about what it wants."""

from __future__ import annotations

import os
import re

from smspec.script.program import Program
from smspec.script.readable import MOST_BYTES
from smspec.script.reading import read_handler, read_script, says_anything
from smspec.source import Document, Node, Scalar, SourceText
from smspec.source import Sequence as SequenceNode
from smspec.source.frozen import dataclass
from smspec.source.listing import Listing

_PYTHON = re.compile(r"python(3(\.\d+)?)?")


@dataclass(frozen=True, slots=True, kw_only=True)
class Started:
    """The file that is started, by its path in the source; ``handler`` names what in it is called with the job."""

    path: str
    handler: str | None = None


def started_program(document: Document) -> Started | None:
    """Return which Python file a spec starts; None where it is none, or not written plainly."""
    script = _text(document.node(("entry_point", "script")))
    if script is not None:
        return Started(path=script) if script.endswith(".py") else None
    for key in ("module", "pipe_loop"):
        function = _text(document.node(("entry_point", key)))
        if function is not None:
            module, _, name = function.partition(":")
            return Started(path=module.replace(".", "/") + ".py", handler=name)
    command = document.node(("entry_point", "command"))
    words = [_text(item) or "" for item in command.items[:2]] if isinstance(command, SequenceNode) else []
    if len(words) == 2 and _PYTHON.fullmatch(words[0]) and words[1].endswith(".py"):
        return Started(path=words[1])
    return None


def read_program(started: Started, source: Listing, directory: str) -> Program | None:
    """Return what a program says. ``directory``: of the source, as the author would name it. Raises OSError."""
    files = {file.path: file.origin for file in source.files}
    path = started.path.removeprefix("./")
    text = _source_text(files, path, directory)
    if text is None:
        return None

    def beside(module: str) -> SourceText | None:
        # A script's own directory comes first, then that of the code.
        places = ("",) if started.handler is not None else dict.fromkeys((os.path.dirname(path), ""))
        name = module.replace(".", "/")
        candidates = [os.path.join(place, f"{name}{end}") for place in places for end in ("/__init__.py", ".py")]
        return next((found for one in candidates if (found := _source_text(files, one, directory))), None)

    if started.handler is not None:
        return read_handler(text, started.handler, beside)
    # Arguments that transformers would read from a file beside the script are none that we know.
    if f"{path.removesuffix('.py')}.args" in files:
        return None
    return read_script(text, beside) if _says_anything(text, files) else None


def _says_anything(text: SourceText, files: dict[str, str]) -> bool:
    """Tell whether it is worth the time: most often the program itself has a word that is understood."""
    if says_anything(text.text):
        return True
    names = {os.path.splitext(os.path.basename(path))[0] for path in files if path.endswith(".py")}
    imports = r"^[ \t]*(?:from|import)[ \t]+[\w.]*\b"
    return any(re.search(rf"{imports}{re.escape(name)}\b", text.text, re.M) for name in names)


def _source_text(files: dict[str, str], path: str, directory: str) -> SourceText | None:
    """Return a file as text; None for one that is not there, too large, or not UTF-8."""
    if path not in files:
        return None
    with open(files[path], "rb", buffering=0) as file:
        content = file.read(MOST_BYTES + 1)
    try:
        text = content.decode("utf-8-sig")
    except UnicodeDecodeError:
        return None
    if len(content) > MOST_BYTES:
        return None
    return SourceText(name=os.path.normpath(os.path.join(directory, path)), text=text.replace("\r\n", "\n"))


def _text(node: Node | None) -> str | None:
    return node.value if isinstance(node, Scalar) and isinstance(node.value, str) and node.value else None
