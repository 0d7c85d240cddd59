"""Why pip failed: its ERROR lines, or a package's exception."""

import re

from ..lean_typing import List
from .tracebacks import find_tracebacks, told

_ERROR = re.compile(r"(?:ERROR|error): (.*)")
_STEP = re.compile(r"\s*[×x] (.* did not run successfully)\.")
_ADVICE = ("pip's dependency resolver does not", "subprocess-exited-with-error", "metadata-generation-failed")
_MOST = 6


def pip_reason(lines: List[str]) -> str:
    errors = []
    for place, line in enumerate(lines):
        found = _ERROR.match(line)
        if found and not found[1].startswith(_ADVICE) and found[1] not in errors:
            errors.append(" ".join([found[1], *_indented(lines[place + 1 :])]))
    if built := [one for one in find_tracebacks(lines) if lines[one.start][:1] != "T"]:
        steps = [step[1] for step in map(_STEP.match, lines) if step]
        errors = [": ".join([*steps[:1], told(built[-1])]), *errors]
    return "; ".join(errors[:_MOST])


def _indented(lines: List[str]) -> List[str]:
    end = [*(line[:1].isspace() for line in lines), False].index(False)
    return [line.strip() for line in lines[:end] if line.strip(" ^")][:_MOST]
