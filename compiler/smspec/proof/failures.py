"""Findings about exceptions: whether the job certainly fails in the same way, and where its author finds the cause."""

from __future__ import annotations

import os
import re

from smspec.diagnostics import Finding, Note, Rule
from smspec.diagnostics.quoting import quoted
from smspec.plan.plan import ImagePlan
from smspec.proof.codes import FAILED_IMPORT, FAILED_SCRIPT, MISSING_LIBRARY, UNPROVEN
from smspec.proof.names import files_of, may_be_bound
from smspec.proof.observation import Raised
from smspec.proof.shared_libraries import is_of_the_host, may_have, missing_library, package_of
from smspec.rules.program.program_and_image import file_name
from smspec.rules.program.provided_modules import package_of as project_of
from smspec.rules.script.variables import may_be_set
from smspec.source import Path, Span
from smspec.source.frozen import dataclass

_CERTAIN = frozenset({"AttributeError", "ArgumentError", "ImportError", "NameError", "SyntaxError", "TypeError"})
"""Exceptions about the code itself. Others may be about data, devices, or a network that this machine lacks."""

_ANYWAY = frozenset({"KeyError", "NameError", "SyntaxError"})
"""Those that do not depend on packages."""

_OF_THE_INSTANCE = re.compile(
    r"cuda|cudnn|nccl|nvidia|nvml|\bgpu|\bhip\b|rocm|neuron|\bxla\b|\btpu|smdistributed|\bdevices?\b|NoneType"
    r"|smspec check",
    re.IGNORECASE,
)
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

_LONGEST, _SHORTEST = 100, 60
_MOST_STEPS = 3


@dataclass(frozen=True, slots=True, kw_only=True)
class Circumstances:
    """What a failure is judged by. ``path``: where the spec names the script; ``code``: the copy of its source.

    ``directory``: that of the source, as the author names it. ``is_complete``: the packages are all that the image has.
    ``knows_variables``: the image has no others. ``has_data``: the job has channels or checkpoints, empty here.
    """

    path: Path
    code: str
    directory: str
    script: str
    image: ImagePlan | None
    is_complete: bool
    knows_variables: bool
    has_data: bool

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
    if _OF_THE_INSTANCE.search(raised.message):
        return False
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


def import_failure(raised: Raised, module: str, used: Span | None, here: Circumstances) -> Finding:
    """Return the finding about a module that cannot be imported; ``used``: its import, unless the source has it."""
    places = here.places(raised)
    at = used or (places[-1] if places else None)
    file = here.script if at is None else file_name(at)
    library = missing_library(raised.message)
    is_import = used is not None or raised.module is not None
    notes = (_message(raised), *_chain(places, at, "the module is imported here" if is_import else "it fails here"))
    named = quoted(module if used is not None else raised.module or module)
    what = f"imports {named}, which fails" if is_import else f"line {at.line if at else 1} fails"
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
    notes = (_message(raised), *_chain(places, place, "the script ends here"))
    if not is_certain(raised, here):
        return unproven(here.path, f"`{here.script}` fails before its parser on this machine", *notes)
    title = f"`{file}`{line} fails before the parser of `{here.script}`: {raised.kind}"
    return FAILED_SCRIPT.at(here.path, title, help="fix the line; the job fails at startup", notes=notes)


def unproven(path: Path, message: str, *notes: Note, rule: Rule = UNPROVEN) -> Finding:
    """Return the note about a part that could not be proven."""
    return rule.at(path, message, notes=notes)


def _message(raised: Raised) -> Note:
    line = re.sub(r" \(/[^()]*\)$", "", " ".join(raised.message.split()))  # the path of an installed module
    shown = line if len(line) <= _LONGEST else f"{line[: _LONGEST - 1]}…"
    return Note(f"{raised.kind}: {shown}" if shown else raised.kind)


def _chain(places: list[Span], at: Span | None, words: str) -> tuple[Note, ...]:
    """Return the lines that led to a place, the nearest first."""
    notes = [] if at is None else [Note(words, at)]
    steps = [place for place in places if place != at][::-1][:_MOST_STEPS]
    return (*notes, *(Note("from here", place) for place in steps if place.file != (at.file if at else "")))


def _remedy(raised: Raised, here: Circumstances) -> str:
    if "ModuleNotFoundError" in raised.kinds and raised.module is not None and not _is_own(raised.module, here):
        return f"add `{project_of(raised.module.partition('.')[0])}` to `image.python_packages`"
    if "ImportError" in raised.kinds:
        return "change the versions in `image.python_packages`, or the import"
    return "fix the module, or change the versions in `image.python_packages`"


def _is_of_variables(raised: Raised) -> bool:
    """Return whether `os.environ` raised a KeyError."""
    last = raised.frames[-1][0] if raised.frames else ""
    return os.path.basename(last).strip("<>").removeprefix("frozen ") in ("os.py", "os")


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
