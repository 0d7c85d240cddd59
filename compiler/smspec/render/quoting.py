"""Quote values as words of a Dockerfile, a shell line, or a docstring: the filters of the templates.

The functions ``…_pragma`` ignore rules of hadolint line by line: those about the author's choices, which `validate`
checks. Each returns the comment line with its line break, or an empty string. An unnecessary comment does no harm.
`smspec.render.representable` reports what cannot be quoted at all; nothing here rejects anything.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable

_PINNED_APT = re.compile(r"[^=]+=[^=]+")
_PINNED_PIP = re.compile(r"[^=;]+===?[^=;*]+(;.*)?")
_SECRET_SOUNDING = re.compile(
    r"token|secret|passw|private|user|key|email|app_id|okta_|device_name|travis_", re.IGNORECASE
)
_PLAIN_LABEL = re.compile(r"[a-z](?:[a-z0-9]|[.-](?=[a-z0-9]))*")
_NAMESPACES_OF_DOCKER = ("com.docker.", "io.docker.", "org.dockerproject.")
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


def continued_words(words: Iterable[str]) -> str:
    """Return words quoted for a shell, each on a line of its own."""
    return shell_words(words, " \\\n        ")


def docstring(text: str) -> str:
    r"""Return a text escaped for a Python docstring: all but printable ASCII, ``\`` and ``"`` is escaped."""
    return "".join(
        f"\\{character}" if character in '\\"' else character if " " <= character <= "~" else _escape(character)
        for character in text
    )


def base_pragma(base: str) -> str:
    """Ignore warnings about a pinned platform (DL3029), and a base image without a tag (DL3006) or with ``latest``."""
    tag = base.rpartition("/")[2].partition(":")[2]
    if "@" in base or tag not in ("", "latest"):
        return _pragma("DL3029")
    return _pragma("DL3029", "DL3007" if tag else "DL3006")


def env_pragma(name: str) -> str:
    """Ignore DL3064 for names that look like a secret, such as ``TOKENIZERS_PARALLELISM``."""
    return _pragma("DL3064") if _SECRET_SOUNDING.search(name) else ""


def user_pragma(user: str) -> str:
    """Ignore warnings about root as the last user (DL3002), and about a user with a name (DL3066)."""
    rules = ["DL3002"] if user.partition(":")[0] in ("root", "0") else []
    rules += [] if user.replace(":", "").isdigit() else ["DL3066"]
    return _pragma(*rules) if rules else ""


def label_pragma(key: str) -> str:
    """Ignore DL3048 for keys outside the style that Docker recommends."""
    plain = _PLAIN_LABEL.fullmatch(key) and not key.startswith(_NAMESPACES_OF_DOCKER)
    return "" if plain else _pragma("DL3048")


def apt_pragma(packages: Iterable[str]) -> str:
    """Ignore DL3008 if a package is not pinned."""
    return "" if all(_PINNED_APT.fullmatch(word) for word in packages) else _pragma("DL3008")


def pip_pragma(packages: Iterable[str]) -> str:
    """Ignore DL3013 if a package is not pinned."""
    return "" if all(_PINNED_PIP.fullmatch(word) for word in packages) else _pragma("DL3013")


def _within_quotes(text: str) -> str:
    return text.replace("\\", "\\\\").replace('"', '\\"').replace("$", "\\$")


def _escape(character: str) -> str:
    code = ord(character)
    return f"\\U{code:08x}" if code > 0xFFFF else f"\\u{code:04x}"


def _pragma(*rules: str) -> str:
    return f"# hadolint ignore={','.join(rules)}\n"
