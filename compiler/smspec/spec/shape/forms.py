"""The required forms of strings in the spec: the rule for each, and what was probably meant."""

from __future__ import annotations

import re
from collections.abc import Callable

from smspec.diagnostics import Rule
from smspec.diagnostics.suggestions import bare
from smspec.source.frozen import dataclass
from smspec.spec.keys.durations import duration_meant
from smspec.spec.keys.sizes import size_in_bytes, size_meant, volume_meant
from smspec.spec.schema.job_schema import SchemaPart, author_schema, part

TEXT_OF_ANOTHER_FORM = Rule("SM206", "malformed value")
MALFORMED_NAME = Rule("SM208", "malformed name")
MALFORMED_DURATION = Rule("SM211", "malformed duration")
MALFORMED_SIZE = Rule("SM212", "malformed size")
VOLUME_THAT_IS_NOT_WHOLE_GIGABYTES = Rule("SM213", "fractional volume size")


@dataclass(frozen=True, slots=True)
class Form:
    """``meant`` returns the probable value, and ``is_certain`` whether it is exactly the one that was written."""

    rule: Rule
    meant: Callable[[str], str | None]
    is_certain: Callable[[str, str], bool] = lambda _written, _meant: False


def _unknown(_: str) -> str | None:
    return None


def _name_meant(text: str) -> str | None:
    words = re.sub(r"[^a-z0-9]+", "-", text.lower()).strip("-")[:48]
    return words.strip("-") or None


def _is_same_name(written: str, meant: str) -> bool:
    """Return whether only case and separators differ; other characters may be part of what makes a name unique."""
    return re.fullmatch(r"[A-Za-z0-9 _.-]+", written) is not None and bare(written.replace(".", "")) == bare(meant)


def _has_unit(written: str, _: str) -> bool:
    """Return whether an amount names its unit: `1:30` and a number alone may be several."""
    return re.search("[A-Za-z]", written) is not None


def _is_same_volume(written: str, meant: str) -> bool:
    """Return whether a volume need not be rounded up."""
    exact = size_meant(written)
    return _has_unit(written, meant) and exact is not None and size_in_bytes(exact) == size_in_bytes(meant)


_FORMS: dict[str, Form] = {
    "name": Form(MALFORMED_NAME, _name_meant, _is_same_name),
    "jobName": Form(MALFORMED_NAME, _unknown),
    "duration": Form(MALFORMED_DURATION, duration_meant, _has_unit),
    "size": Form(MALFORMED_SIZE, size_meant, _has_unit),
    "volume": Form(VOLUME_THAT_IS_NOT_WHOLE_GIGABYTES, volume_meant, _is_same_volume),
}
_ANY_OTHER = Form(TEXT_OF_ANOTHER_FORM, _unknown)


def form_of(schema: dict[str, SchemaPart]) -> Form:
    """Return the form that ``schema`` requires."""
    definitions = part(author_schema(), "definitions")
    for name, form in _FORMS.items():
        if definitions[name] == schema:
            return form
    return _ANY_OTHER
