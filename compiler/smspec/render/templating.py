"""The jinja2 environment: templates for layout, filters for quoting, and an error for a missing name.

The filters ``…_pragma`` ignore rules of hadolint line by line: those about the author's choices, which `validate`
checks. Each returns the comment line with its line break, or an empty string. An unnecessary comment does no harm.
"""

from __future__ import annotations

import functools
import os
import re
from collections.abc import Iterable
from typing import TYPE_CHECKING

from smspec.render import quoting

if TYPE_CHECKING:
    import jinja2

TEMPLATES = os.path.join(os.path.dirname(os.path.abspath(__file__)), "templates")

_CONTINUED_LINE = " \\\n        "

_PINNED_APT = re.compile(r"[^=]+=[^=]+")
_PINNED_PIP = re.compile(r"[^=;]+===?[^=;*]+(;.*)?")
_SECRET_SOUNDING = re.compile(
    r"token|secret|passw|private|user|key|email|app_id|okta_|device_name|travis_", re.IGNORECASE
)
_PLAIN_LABEL = re.compile(r"[a-z](?:[a-z0-9]|[.-](?=[a-z0-9]))*")
_NAMESPACES_OF_DOCKER = ("com.docker.", "io.docker.", "org.dockerproject.")


def filled(template: str, **names: object) -> str:
    """Return a template with its names filled in."""
    return _environment().get_template(template).render(names)


@functools.cache
def _environment() -> jinja2.Environment:
    import jinja2  # imported late: a request needs no template

    environment = jinja2.Environment(
        loader=jinja2.FileSystemLoader(TEMPLATES),
        undefined=jinja2.StrictUndefined,
        autoescape=False,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )
    environment.filters.update(
        exec_form=quoting.exec_form,
        shell_form=quoting.shell_form,
        shell_words=quoting.shell_words,
        continued_words=lambda words: quoting.shell_words(words, _CONTINUED_LINE),
        env_line=quoting.env_line,
        env_prepend_line=quoting.env_prepend_line,
        arg_line=quoting.arg_line,
        label_line=quoting.label_line,
        docstring=quoting.docstring,
        base_pragma=_base_pragma,
        env_pragma=_env_pragma,
        user_pragma=_user_pragma,
        label_pragma=_label_pragma,
        apt_pragma=_apt_pragma,
        pip_pragma=_pip_pragma,
    )
    return environment


def _base_pragma(base: str) -> str:
    """Ignore warnings about a pinned platform (DL3029), and a base image without a tag (DL3006) or with ``latest``."""
    tag = base.rpartition("/")[2].partition(":")[2]
    if "@" in base or tag not in ("", "latest"):
        return _pragma("DL3029")
    return _pragma("DL3029", "DL3007" if tag else "DL3006")


def _env_pragma(name: str) -> str:
    """Ignore DL3064 for names that look like a secret, such as ``TOKENIZERS_PARALLELISM``."""
    return _pragma("DL3064") if _SECRET_SOUNDING.search(name) else ""


def _user_pragma(user: str) -> str:
    """Ignore warnings about root as the last user (DL3002), and about a user with a name (DL3066)."""
    rules = ["DL3002"] if user.partition(":")[0] in ("root", "0") else []
    rules += [] if user.replace(":", "").isdigit() else ["DL3066"]
    return _pragma(*rules) if rules else ""


def _label_pragma(key: str) -> str:
    """Ignore DL3048 for keys outside the style that Docker recommends."""
    plain = _PLAIN_LABEL.fullmatch(key) and not key.startswith(_NAMESPACES_OF_DOCKER)
    return "" if plain else _pragma("DL3048")


def _apt_pragma(packages: Iterable[str]) -> str:
    """Ignore DL3008 if a package is not pinned."""
    return "" if all(_PINNED_APT.fullmatch(word) for word in packages) else _pragma("DL3008")


def _pip_pragma(packages: Iterable[str]) -> str:
    """Ignore DL3013 if a package is not pinned."""
    return "" if all(_PINNED_PIP.fullmatch(word) for word in packages) else _pragma("DL3013")


def _pragma(*rules: str) -> str:
    return f"# hadolint ignore={','.join(rules)}\n"
