"""The commands of a wheel: its entry points and its scripts, for the Python of an image.

https://packaging.python.org/en/latest/specifications/entry-points/
"""

from __future__ import annotations

import configparser
import re

from smspec.publishing.packages.wheel import Wheel

_SECTIONS = ("console_scripts", "gui_scripts")
_NAME = re.compile(r"[\w-][\w .+-]*", re.ASCII)
_OF_PIP = re.compile(r"pip(?:\d+(?:\.\d+)?)?")
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


def entry_commands(wheel: Wheel, python: str, minor: str) -> dict[str, bytes]:
    """Return the name of each command, and its content. Raise PublishFailed for one that pip rejects.

    ``minor``: the version of Python, such as ``3.12``.
    """
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
    return _with_versions_of_pip(found, minor)


def _with_versions_of_pip(commands: dict[str, bytes], minor: str) -> dict[str, bytes]:
    """Return commands with those of pip for this Python, whichever its wheel lists."""
    if "pip" not in commands:
        return commands
    kept = {name: content for name, content in commands.items() if not _OF_PIP.fullmatch(name)}
    return {**kept, **dict.fromkeys(("pip", f"pip{minor.partition('.')[0]}", f"pip{minor}"), commands["pip"])}


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
