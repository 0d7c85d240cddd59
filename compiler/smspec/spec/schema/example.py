"""Examples of the schema for a key."""

from __future__ import annotations

from smspec.source import Path
from smspec.spec.schema.keys import key_path, spec_keys
from smspec.spec.yaml.flow_style import flow_style


def example_of(path: Path) -> str | None:
    """Return ``key: value`` for the key at ``path``, a bare value for an item of a list; None for an unknown key."""
    key = key_path(path)
    examples = spec_keys()[key].get("examples") if key else None
    if not path or not isinstance(examples, list) or not examples:
        return None
    value = flow_style(examples[0])
    return f"{flow_style(path[-1])}: {value}" if isinstance(path[-1], str) else value
