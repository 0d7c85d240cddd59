"""Quote values as words of a Dockerfile, a shell line, or a docstring: the only module that does so.

`smspec.render.representable` reports what cannot be quoted at all; nothing here rejects anything.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable

_BACKSLASHES_BEFORE_A_QUOTE = re.compile(r'\\+(?="|\Z)')


def exec_form(words: Iterable[str]) -> str:
    """Return the JSON array with which RUN and ENTRYPOINT start a command without a shell."""
    return json.dumps(list(words), ensure_ascii=False)


def shell_form(script: str) -> str:
    """Return the exec form that runs a script of one or several lines with ``/bin/sh``.

    A shell form would be shorter, but there a first word may be taken for a flag or an array, ``<<`` for the start of a
    here-document, and a line break cannot be written.
    """
    return exec_form(("/bin/sh", "-c", script))


def double_quoted(text: str) -> str:
    r"""Return a text as the Dockerfile word that means it, for ENV and LABEL.

    Within double quotes a backslash is doubled, ``"`` and ``$`` get one. Backslashes before a quote or at the end stand
    outside the quotes (``"a"\\""``), which means the same to Docker: hadolint cannot read ``"a\\"``.
    """
    words = []
    start = 0
    for match in _BACKSLASHES_BEFORE_A_QUOTE.finditer(text):
        words += [f'"{_within_quotes(text[start : match.start()])}"', "\\\\" * len(match.group())]
        start = match.end()
    words.append(f'"{_within_quotes(text[start:])}"')
    return "".join(words)


def env_line(name: str, value: str) -> str:
    """Return the ENV instruction; nothing in the value is expanded."""
    return f"ENV {name}={double_quoted(value)}"


def env_prepend_line(name: str, value: str) -> str:
    """Return the ENV instruction that puts a value before that of the base image, if the base has one."""
    return f'ENV {name}={double_quoted(value)}"${{{name}:+:${name}}}"'


def arg_line(name: str, value: str) -> str:
    """Return the ARG instruction; nothing in the value is expanded."""
    return f"ARG {name}={double_quoted(value)}"


def label_line(key: str, value: str) -> str:
    """Return the LABEL instruction; nothing in the value is expanded."""
    return f"LABEL {key}={double_quoted(value)}"


def shell_words(words: Iterable[str], between: str = " ") -> str:
    """Return words quoted for a POSIX shell, joined with ``between``: a space or a continued line."""
    import shlex  # imported late: only a Dockerfile or an entrypoint needs it

    return between.join(shlex.quote(word) for word in words)


def docstring(text: str) -> str:
    r"""Return a text escaped for a Python docstring: all but printable ASCII, ``\`` and ``"`` is escaped."""
    return "".join(
        f"\\{character}" if character in '\\"' else character if " " <= character <= "~" else _escape(character)
        for character in text
    )


def _within_quotes(text: str) -> str:
    return text.replace("\\", "\\\\").replace('"', '\\"').replace("$", "\\$")


def _escape(character: str) -> str:
    code = ord(character)
    return f"\\U{code:08x}" if code > 0xFFFF else f"\\u{code:04x}"
