"""The required forms of strings in the spec: the rule for each, and what was probably meant."""

from __future__ import annotations

import re
from collections.abc import Callable

from smspec.diagnostics import Rule
from smspec.source.frozen import dataclass
from smspec.spec.keys.durations import duration_meant
from smspec.spec.keys.sizes import size_meant, volume_meant
from smspec.spec.schema.job_schema import SchemaPart, author_schema, part

TEXT_OF_ANOTHER_FORM = Rule("SM206", "malformed value")
MALFORMED_NAME = Rule("SM208", "malformed name")
MALFORMED_DURATION = Rule("SM211", "malformed duration")
MALFORMED_SIZE = Rule("SM212", "malformed size")
VOLUME_THAT_IS_NOT_WHOLE_GIGABYTES = Rule("SM213", "fractional volume size")


@dataclass(frozen=True, slots=True)
class Form:
    rule: Rule
    meant: Callable[[str], str | None]


def _unknown(_: str) -> str | None:
    return None


def _name_meant(text: str) -> str | None:
    words = re.sub(r"[^a-z0-9]+", "-", text.lower()).strip("-")[:48]
    return words.strip("-") or None


_FORMS: dict[str, Form] = {
    "name": Form(MALFORMED_NAME, _name_meant),
    "jobName": Form(MALFORMED_NAME, _unknown),
    "duration": Form(MALFORMED_DURATION, duration_meant),
    "size": Form(MALFORMED_SIZE, size_meant),
    "volume": Form(VOLUME_THAT_IS_NOT_WHOLE_GIGABYTES, volume_meant),
}
_ANY_OTHER = Form(TEXT_OF_ANOTHER_FORM, _unknown)


def form_of(schema: dict[str, SchemaPart]) -> Form:
    """Return the form that ``schema`` requires."""
    definitions = part(author_schema(), "definitions")
    for name, form in _FORMS.items():
        if definitions[name] == schema:
            return form
    return _ANY_OTHER
