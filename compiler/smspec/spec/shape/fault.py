"""One place where a spec does not fit the schema, before it becomes a message."""

from __future__ import annotations

from typing import Literal

from smspec.source import Path
from smspec.source.frozen import dataclass
from smspec.spec.schema.job_schema import SchemaPart


@dataclass(frozen=True, slots=True, kw_only=True)
class ShapeFault:
    """``keyword`` of ``schema``, with its ``argument``, rejects the ``value`` at ``path``.

    ``on`` is "key" where the name of the key does not fit, not its value.
    """

    path: Path
    keyword: str
    argument: SchemaPart
    schema: dict[str, SchemaPart]
    value: object
    on: Literal["key", "value"] = "value"

    @property
    def names(self) -> tuple[str, ...]:
        """The keys of the value, if it is a mapping."""
        return tuple(self.value) if isinstance(self.value, dict) else ()
