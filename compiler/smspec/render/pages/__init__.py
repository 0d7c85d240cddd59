"""Pages for a browser: one file each, readable without a network and without JavaScript.

`repository_page` shows all jobs of a repository as `PageJob`s: their cost, data flow, and findings. A page shows text
of strangers, so templates escape everything, and its policy allows one script, by its hash. The package gets values and
returns text: it must not read specs or write files. `page_template` has the style that all pages share.
"""

from __future__ import annotations

import functools
import os
from typing import TYPE_CHECKING

from smspec.diagnostics.quoting import multiline_visible, visible

if TYPE_CHECKING:
    import jinja2


_SHARED = os.path.dirname(os.path.abspath(__file__))
STYLE = os.path.join(_SHARED, "style.css")
"""The file with the style that all pages share."""


def _visible(value: object) -> object:
    """Return what an expression shows: text of users without what cannot be seen."""
    is_user_text = isinstance(value, str) and not hasattr(value, "__html__")
    return multiline_visible(str(value)) if is_user_text else value


def _visible_line(value: object) -> object:
    """Return what an expression shows: text of users begins no line."""
    is_user_text = isinstance(value, str) and not hasattr(value, "__html__")
    return visible(str(value)) if is_user_text else value


@functools.cache
def page_template(name: str, *, has_lines: bool = True) -> jinja2.Template:
    """Return a template, compiled once; it can include ``style.css``. All text in it is escaped.

    ``has_lines`` False: values are lines, so that none of them begins one.
    """
    import jinja2  # Imported late: few commands write a page.

    environment = jinja2.Environment(
        loader=jinja2.FileSystemLoader(_SHARED),
        undefined=jinja2.StrictUndefined,
        autoescape=True,
        finalize=_visible if has_lines else _visible_line,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )
    return environment.get_template(name)
