"""pip replaces ``${NAME}`` in a requirements file by a variable of the build; without one it stays as it is written."""

from __future__ import annotations

from collections.abc import Iterator

from smspec.diagnostics import Finding, Rule
from smspec.service.index_variables import variables_in, without_comment
from smspec.spec.model import BuiltImage

RULE = Rule("SM608", "unset variable in the requirements", "warning")


def check_variables(image: BuiltImage, content: bytes | None) -> Iterator[Finding]:
    """Warn about the first line with a variable that neither `image.env` nor `image.secrets` sets; the base might."""
    for number, line in enumerate((content or b"").decode("utf-8", "replace").splitlines(), 1):
        unset = [
            name
            for name in variables_in(without_comment(line))
            if name not in image.build_variables and name not in image.secrets
        ]
        if unset:
            yield RULE.at(
                ("image", "python_requirements"),
                f"`image.python_requirements`: line {number} uses `${{{unset[0]}}}`, which the build does not set",
                help=f"add `{unset[0]}: {{env: {unset[0]}}}` to `image.secrets`",
            )
            return
