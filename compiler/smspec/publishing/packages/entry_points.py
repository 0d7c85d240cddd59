"""The commands of a wheel: its entry points and its scripts, for the Python of an image.

https://packaging.python.org/en/latest/specifications/entry-points/
"""

from __future__ import annotations

import configparser
import re

from smspec.publishing.packages.wheel import Wheel

_SECTIONS = ("console_scripts", "gui_scripts")
_NAME = re.compile(r"[\w-][\w .+-]*", re.ASCII)
_IDENTIFIERS = r"[^\W\d]\w*(?:\.[^\W\d]\w*)*"
_REFERENCE = re.compile(rf"({_IDENTIFIERS})\s*:\s*({_IDENTIFIERS})\s*(?:\[[^]]*\])?")

# As pip writes it. The suffix is that of a program on Windows.
_COMMAND = """\
#!{python}
# -*- coding: utf-8 -*-
import re
import sys
from {module} import {name}
if __name__ == '__main__':
    sys.argv[0] = re.sub(r'(-script\\.pyw|\\.exe)?$', '', sys.argv[0])
    sys.exit({called}())
"""


def entry_commands(wheel: Wheel, python: str) -> dict[str, bytes]:
    """Return the name of each command, and its content. Raise PublishFailed for one that pip rejects."""
    text = wheel.text("entry_points.txt")
    if text is None:
        return {}
    parser = configparser.RawConfigParser(delimiters=("=",), strict=False, allow_no_value=True)
    parser.optionxform = str  # type: ignore[method-assign,assignment]  # names keep their case
    try:
        parser.read_string(text)
    except configparser.Error:
        raise wheel.rejected("its `entry_points.txt` is malformed") from None
    found = {}
    for section in _SECTIONS:
        for name, reference in parser.items(section) if parser.has_section(section) else ():
            found[name] = _command(wheel, name, reference or "", python)
    return found


def _command(wheel: Wheel, name: str, reference: str, python: str) -> bytes:
    match = _REFERENCE.fullmatch(reference.strip())
    if match is None or _NAME.fullmatch(name) is None:
        raise wheel.rejected(f"its entry point `{name[:60]} = {reference[:100]}` is malformed")
    module, called = match.groups()
    return _COMMAND.format(python=python, module=module, name=called.partition(".")[0], called=called).encode()


def started_by(script: bytes, python: str) -> bytes | None:
    """Return a script that starts with ``#!python`` with the Python of an image; None for any other."""
    first, _, rest = script.partition(b"\n")
    return b"#!" + python.encode() + b"\n" + rest if first.startswith(b"#!python") else None
