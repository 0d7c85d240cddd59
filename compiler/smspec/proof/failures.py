"""Findings about exceptions: whether the job certainly fails in the same way, and where its author finds the cause.

A NameError here says nothing about another run if code may bind the name somewhere. Packages of PyPI expect shared
libraries from the system, and small base images lack some of them.
"""

from __future__ import annotations

import ast
import os
import re
from collections.abc import Iterable, Iterator

from smspec.diagnostics import Finding, Note, Rule
from smspec.diagnostics.quoting import quoted
from smspec.plan import ImagePlan
from smspec.proof import FAILED_IMPORT, FAILED_SCRIPT, MISSING_LIBRARY, UNPROVEN
from smspec.proof.observation import Raised
from smspec.proof.shared_libraries import is_of_the_host, may_have, missing_library, package_of
from smspec.rules.program.program_and_image import file_name
from smspec.rules.program.provided_modules import package_of as project_of
from smspec.rules.script.starts import may_be_set
from smspec.script.reach import is_standard
from smspec.source import Path, Span
from smspec.source.frozen import dataclass

_CERTAIN = frozenset({"AttributeError", "ArgumentError", "ImportError", "NameError", "SyntaxError", "TypeError"})
"""Exceptions about the code itself. Others may be about data, devices, or a network that this machine lacks."""

_ANYWAY = frozenset({"KeyError", "NameError", "SyntaxError"})
"""Those that do not depend on packages."""

OF_THE_INSTANCE = re.compile(
    r"cuda|cudnn|nccl|nvidia|nvml|\bgpu|\bhip\b|rocm|neuron|\bxla\b|\btpu|smdistributed|\bdevices?\b|NoneType"
    r"|smspec check",
    re.IGNORECASE,
)
CIRCULAR = "partially initialized module"
_NO_FILE = re.compile(r"\[Errno 2\] No such file or directory: '([^']+)'$")
_UNDEFINED = re.compile(r"name '(\w+)' is not defined")
_NO_MEMBER = re.compile(r"(?:cannot import name '(\w+)' from|module '[\w.]+' has no attribute '(\w+)')")
_WITHOUT_DATA = re.compile(
    r"module '[\w.]+' has no attribute|type object '\w+' has no attribute"
    r"|unexpected keyword argument|multiple values for"
)
"""Messages about the code, whatever the data are: an empty channel makes no such call."""

_EMPTY = re.compile(r"\bempty\b", re.IGNORECASE)
_OF_THE_RUNTIME = "SM_"
"""The runtime sets these here as in the container."""

_CODE = "/opt/ml/code"
_OF_SYSTEMS = {
    *("bin", "boot", "dev", "etc", "home", "lib", "lib32", "lib64", "libx32", "media", "mnt", "opt", "proc", "root"),
    *("run", "sbin", "srv", "sys", "tmp", "usr", "var"),
}
"""Directories of every image, whose content may differ from that of this machine."""

_LONGEST = 100
_MOST_STEPS = 3

_ANY_NAME = re.compile(r"\bglobals\(|(?<![.\w])exec\(|\bbuiltins\b|__builtins__|\bsys\.modules\b")
"""A file with one of these may bind any name of its own."""

_ANY_ATTRIBUTE = re.compile(r"(?<![.\w])(?:setattr|exec)\(|__dict__|\bvars\(|\bbuiltins\b|__builtins__")
"""A file with one of these and a name may bind it in another module."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Circumstances:
    """What a failure is judged by. ``path``: where the spec names the script; ``code``: the copy of its source.

    ``directory``: that of the source, as the author names it. ``is_complete``: the packages are all that the image has.
    ``knows_variables``: the image has no others. ``data``: directories of the container that have content there only,
    those of channels and checkpoints. ``has_host``: below /opt/ml, the script sees what it sees in the container.
    """

    path: Path
    code: str
    directory: str
    script: str
    image: ImagePlan | None
    is_complete: bool
    knows_variables: bool
    data: tuple[str, ...]
    has_host: bool

    @property
    def has_data(self) -> bool:
        return bool(self.data)

    def shown(self, text: str) -> str:
        """Return a text with the paths of the container."""
        return text.replace(self.code.removesuffix(_CODE), "") if self.code.endswith(_CODE) else text

    def is_unknown(self, path: str) -> bool:
        """Return whether the container may have a file or directory at an absolute path that is missing here."""
        if path.startswith("/opt/ml/") or path == "/opt/ml":
            return not self.has_host
        return not self.knows_variables or path.split("/")[1] in _OF_SYSTEMS

    def places(self, raised: Raised) -> list[Span]:
        """Return the lines of the author's files that led to an exception, the last one last."""
        found: list[Span] = []
        for path, line in raised.frames:
            inside = os.path.relpath(os.path.realpath(path), os.path.realpath(self.code))
            if not inside.startswith("..") and not path.startswith("<"):
                place = Span(os.path.normpath(os.path.join(self.directory, inside)), line, 1, line, 1)
                if not found or found[-1] != place:
                    found.append(place)
        return found


def is_certain(raised: Raised, here: Circumstances) -> bool:
    """Return whether the job, too, certainly ends with an exception."""
    library = missing_library(raised.message)
    if library is not None:
        return not is_of_the_host(library) and not may_have(here.image, library)
    if OF_THE_INSTANCE.search(raised.message):
        return False
    if CIRCULAR in raised.message:
        return _is_own(_module(raised), here)
    if "FileNotFoundError" in raised.kinds:
        return _is_of_the_source(raised, here)
    if not here.is_complete and not _ANYWAY & set(raised.kinds):
        return raised.module is not None and _is_own(raised.module, here)
    if raised.kind == "KeyError":
        return here.knows_variables and _is_of_variables(raised) and _is_unset(raised.message.strip("'\""))
    if "NameError" in raised.kinds:
        return _is_unbound(raised, here)
    member = _NO_MEMBER.match(raised.message)
    files = () if member is None else files_of(_module(raised), here.code)
    if member is not None and files:
        # The module may bind the name in a loop over data, or under a condition.
        return not may_be_bound(member[1] or member[2], files, here.code, is_complete=here.is_complete)
    if {"AttributeError", "TypeError"} & set(raised.kinds):
        is_of_data = here.has_data and not _WITHOUT_DATA.search(raised.message)
        return not is_of_data and not _EMPTY.search(raised.message)
    return bool(_CERTAIN & set(raised.kinds))


def import_failure(
    raised: Raised, module: str, used: Span | None, here: Circumstances, *, is_changed: bool = False
) -> Finding:
    """Return the finding about a module that cannot be imported; ``used``: its import, unless the source has it.

    ``is_changed``: it may be imported after what the script does before.
    """
    places = here.places(raised)
    at = used or (places[-1] if places else None)
    file = here.script if at is None else file_name(at)
    library = missing_library(raised.message)
    is_import = used is not None or raised.module is not None
    notes = (
        _message(raised, here),
        *_chain(places, at, "the module is imported here" if is_import else "it fails here"),
    )
    named = quoted(module if used is not None else raised.module or module)
    what = f"imports {named}, which fails" if is_import else f"line {at.line if at else 1} fails"
    if is_changed:
        return UNPROVEN.at(here.path, f"`{file}` {what} without what the script does before", notes=notes)
    if not is_certain(raised, here):
        return UNPROVEN.at(here.path, f"`{file}` {what} on this machine", notes=notes)
    if library is not None:
        title = f"`{file}` requires `{library}`, but the image lacks it"
        return MISSING_LIBRARY.at(
            here.path, title, help=f"add `{package_of(library)}` to `image.system_packages`", notes=notes
        )
    title = f"`{file}` {what.replace('imports', 'cannot import').replace(', which fails', '')}: {raised.kind}"
    return FAILED_IMPORT.at(here.path, title, help=_remedy(raised, here), notes=notes)


def script_failure(raised: Raised, here: Circumstances) -> Finding:
    """Return the finding about a script that ends before its parser."""
    places = here.places(raised)
    if raised.module is not None or "ImportError" in raised.kinds:
        return import_failure(raised, raised.module or "a module", None, here)
    place = places[-1] if places else None
    file = here.script if place is None else file_name(place)
    line = "" if place is None else f" line {place.line}"
    notes = (_message(raised, here), *_chain(places, place, "the script ends here"))
    if not is_certain(raised, here):
        return unproven(here.path, f"`{here.script}` fails before its parser on this machine", *notes)
    title = f"`{file}`{line} fails before the parser of `{here.script}`: {raised.kind}"
    return FAILED_SCRIPT.at(
        here.path,
        title,
        help=_remedy(raised, here) if raised.kind == "FileNotFoundError" else "fix the line; the job fails at startup",
        notes=notes,
    )


def unproven(path: Path, message: str, *notes: Note, rule: Rule = UNPROVEN) -> Finding:
    """Return the note about a part that could not be proven."""
    return rule.at(path, message, notes=notes)


def _message(raised: Raised, here: Circumstances) -> Note:
    line = re.sub(r" \(/[^()]*\)$", "", " ".join(here.shown(raised.message).split()))  # an installed module
    shown = line if len(line) <= _LONGEST else f"{line[: _LONGEST - 1]}…"
    return Note(f"{raised.kind}: {shown}" if shown else raised.kind)


def _chain(places: list[Span], at: Span | None, words: str) -> tuple[Note, ...]:
    """Return the lines that led to a place, the nearest first."""
    notes = [] if at is None else [Note(words, at)]
    steps = [place for place in places if place != at][::-1][:_MOST_STEPS]
    return (*notes, *(Note("from here", place) for place in steps if place.file != (at.file if at else "")))


def _remedy(raised: Raised, here: Circumstances) -> str:
    if "ModuleNotFoundError" in raised.kinds and raised.module is not None and not _is_own(raised.module, here):
        top = raised.module.partition(".")[0]
        project = project_of(raised.module)
        # Python names the first part that is missing: those above it are installed.
        if top == raised.module or project != project_of(top):
            return f"add `{project}` to `image.python_packages`"
    if CIRCULAR in raised.message:
        return "move one of the imports into the function that needs it"
    if "FileNotFoundError" in raised.kinds:
        return "add the file to the source, or fix its path"
    if "ImportError" in raised.kinds:
        if is_standard(_module(raised).partition(".")[0]) and _is_of_the_author(raised, here):
            return "fix the import: the Python of the image has no such name"
        return "change the versions in `image.python_packages`, or the import"
    return "fix the module, or change the versions in `image.python_packages`"


def _is_of_the_author(raised: Raised, here: Circumstances) -> bool:
    """Return whether a line of the source failed, or the driver in its place, and no package."""
    files = [path for path, _ in raised.frames if not path.startswith("<")]
    return (
        not files
        or files[-1].endswith("starting.py")
        or os.path.realpath(files[-1]).startswith(os.path.join(os.path.realpath(here.code), ""))
    )


def _is_of_variables(raised: Raised) -> bool:
    """Return whether `os.environ` raised a KeyError."""
    last = raised.frames[-1][0] if raised.frames else ""
    return os.path.basename(last).strip("<>").removeprefix("frozen ") in ("os.py", "os")


def _is_of_the_source(raised: Raised, here: Circumstances) -> bool:
    """Return whether a file is missing in the container, too: one of the source, or of no image.

    A file that is named twice may be written before it is read, or after a test that it exists.
    """
    found = _NO_FILE.match(raised.message)
    if found is None or not here.places(raised) or not here.knows_variables:
        return False
    path = here.shown(os.path.normpath(found[1]))
    if os.path.isabs(path) and not path.startswith(f"{_CODE}/"):
        is_of_data = any(f"{path}/".startswith((f"{place}/", f"{place}_")) for place in here.data)
        return not is_of_data and not here.is_unknown(path)
    texts = [text for each in _modules(here.code) if (text := _text(each)) is not None]
    name = os.path.basename(path)
    return not path.startswith("..") and sum(text.count(name) for text in texts) == 1


def _is_unset(name: str) -> bool:
    """Return whether the container certainly lacks a variable that the job lacks here."""
    return name.startswith(_OF_THE_RUNTIME) or (name.isidentifier() and not may_be_set(name))


def _is_unbound(raised: Raised, here: Circumstances) -> bool:
    """Return whether nothing binds the name of a NameError: a loop or a condition may bind it in the container."""
    undefined = _UNDEFINED.match(raised.message)
    if undefined is None or not raised.frames:
        return False
    return not may_be_bound(undefined[1], (raised.frames[-1][0],), here.code, is_complete=here.is_complete)


def _module(raised: Raised) -> str:
    found = re.search(r"\b(?:from|module) '([\w.]+)'", raised.message)
    return raised.module or (found[1] if found else "")


def _is_own(module: str, here: Circumstances) -> bool:
    top = module.partition(".")[0]
    return any(os.path.lexists(os.path.join(here.code, name)) for name in (top, f"{top}.py"))


def may_be_bound(name: str, files: Iterable[str], code: str, *, is_complete: bool = True) -> bool:
    """Return whether one of ``files``, or another file below ``code`` as its attribute, may bind a name.

    ``is_complete``: all packages of the job are installed, so that
    ``import *`` binds here what it binds there.
    """
    own = frozenset(map(os.path.realpath, files))
    for path in (*own, *(each for each in _modules(code) if each not in own)):
        text = _text(path)
        tree = None if text is None else _parsed(text)
        if text is None or tree is None:
            if path in own or (text is not None and name in text):
                return True
        elif path in own:
            is_elsewhere = _has_star(tree) and (not is_complete or _is_bound_below(name, code))
            if is_elsewhere or _ANY_NAME.search(text) or name in _bound(tree):
                return True
        elif name in text and (_ANY_ATTRIBUTE.search(text) or name in _attributes(tree)):
            return True
    return False


def files_of(module: str, code: str) -> tuple[str, ...]:
    """Return the files below ``code`` that an import of a module may find."""
    inside = os.path.join("", *module.split("."))
    ends = (f"{os.sep}{inside}.py", os.path.join(f"{os.sep}{inside}", "__init__.py"))
    return tuple(path for path in _modules(code) if path.endswith(ends))


def _modules(code: str) -> Iterator[str]:
    for directory, _, names in os.walk(code):
        yield from (os.path.realpath(os.path.join(directory, name)) for name in names if name.endswith(".py"))


def _text(path: str) -> str | None:
    try:
        with open(path, encoding="utf-8", errors="replace") as file:
            return file.read()
    except OSError:
        return None


def _parsed(text: str) -> ast.Module | None:
    """Return the tree of a file; None if only a newer or older Python can read it."""
    try:
        return ast.parse(text)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None


def _has_star(tree: ast.Module) -> bool:
    imports = (node for node in ast.walk(tree) if isinstance(node, ast.ImportFrom))
    return any(alias.name == "*" for node in imports for alias in node.names)


def _is_bound_below(name: str, code: str) -> bool:
    trees = (_parsed(text) for path in _modules(code) for text in [_text(path)] if text is not None and name in text)
    return any(tree is None or name in _bound(tree) for tree in trees)


def _attributes(tree: ast.Module) -> set[str]:
    """Return the names that a file assigns as attributes, perhaps of another module."""
    nodes = (node for node in ast.walk(tree) if isinstance(node, ast.Attribute))
    return {node.attr for node in nodes if isinstance(node.ctx, ast.Store)}


def _bound(tree: ast.Module) -> set[str]:
    """Return every name that a file binds, in whichever scope."""
    found = _attributes(tree)
    for node in ast.walk(tree):
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            found.add(node.id)
        elif isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            found.add(node.name)
        elif isinstance(node, ast.arg):
            found.add(node.arg)
        elif isinstance(node, ast.alias):
            found.add(node.asname or node.name.partition(".")[0])
        elif isinstance(node, ast.ExceptHandler | ast.MatchAs | ast.MatchStar) and node.name is not None:
            found.add(node.name)
        elif isinstance(node, ast.MatchMapping) and node.rest is not None:
            found.add(node.rest)
        elif isinstance(node, ast.Global):
            found.update(node.names)
    return found
