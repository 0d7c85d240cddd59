"""One place where a spec does not fit the schema, before it is put into words."""

from __future__ import annotations

from typing import Literal

from smspec.source import Path
from smspec.source.frozen import dataclass
from smspec.spec.schema.job_schema import SchemaPart


@dataclass(frozen=True, slots=True, kw_only=True)
class ShapeFault:
    """``keyword`` of ``schema``, with its ``argument``, is not met by the ``value`` at ``path``.

    ``on`` is "key" where not the value but the name of the key does not fit.
    """

    path: Path
    keyword: str
    argument: SchemaPart
    schema: dict[str, SchemaPart]
    value: object
    on: Literal["key", "value"] = "value"

    @property
    def names(self) -> tuple[str, ...]:
        """The keys that the value has, when it is a mapping."""
        return tuple(self.value) if isinstance(self.value, dict) else ()
