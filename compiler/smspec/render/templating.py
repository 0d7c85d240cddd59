"""The jinja2 environment: templates for layout, filters for quoting, and an error for a missing name."""

from __future__ import annotations

import functools
import os
from typing import TYPE_CHECKING

from smspec.render import pragmas, quoting

if TYPE_CHECKING:
    import jinja2

TEMPLATES = os.path.join(os.path.dirname(os.path.abspath(__file__)), "templates")

_CONTINUED_LINE = " \\\n        "


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
        base_pragma=pragmas.base_pragma,
        env_pragma=pragmas.env_pragma,
        user_pragma=pragmas.user_pragma,
        label_pragma=pragmas.label_pragma,
        apt_pragma=pragmas.apt_pragma,
        pip_pragma=pragmas.pip_pragma,
    )
    return environment
