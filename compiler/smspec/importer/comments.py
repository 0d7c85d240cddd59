"""Format the spec for people: groups of keys, comments where needed, and at the end what was not imported."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import groupby

from smspec.diagnostics.visible import visible
from smspec.importer.imported import Imported, NotImported
from smspec.importer.nodes import DOLLAR, node
from smspec.render.spec_yaml import spec_yaml
from smspec.source import Document
from smspec.spec.keys import rows_below
from smspec.spec.keys.row import Row

_WORDS = {
    "job_name": "name of the imported job; without this key, the job name is `name` and a digest of the request",
    "api": "members without a spec key, merged into the request",
}


def commented(spec: dict[str, object], imported: Imported, not_imported: tuple[NotImported, ...]) -> str:
    """Return the spec as YAML with comments."""
    written = [row for row in rows_below("") if row.path in spec]
    groups = ["".join(_group(spec, rows)) for _, rows in groupby(written, lambda row: row.group or row.path)]
    comments = "".join(f"# {visible(line)}\n" for line in _not_kept(imported, not_imported))
    return "\n".join([f"# Imported from {imported.form}.\n" + groups[0], *groups[1:], *filter(None, [comments])])


def _group(spec: dict[str, object], rows: Iterable[Row]) -> Iterator[str]:
    for key in (row.path for row in rows):
        if key in _WORDS:
            yield f"# {_WORDS[key]}\n"
        if key == "vars":
            yield from (f"# {line}\n" for line in _about_variables(spec[key]))
        yield spec_yaml(Document(node({key: spec[key]}), ()))


def _about_variables(declared: object) -> Iterator[str]:
    declared = declared if isinstance(declared, dict) else {}
    if any("default" not in about for about in declared.values() if isinstance(about, dict)):
        yield "values that only a run of the source has: set them with --set, or give each a default"
    if DOLLAR in declared:
        yield f"`${{{{ vars.{DOLLAR} }}}}{{{{` stands for a dollar sign and two braces"


def _not_kept(imported: Imported, not_imported: tuple[NotImported, ...]) -> Iterator[str]:
    if imported.additions:
        yield f"Added by the SDK, not by the source: {', '.join(imported.additions)}"
    if not_imported:
        yield "Not imported:"
        yield from (f"- {part}" for part in not_imported)
    if imported.left_out:
        yield f"Ignored, not part of a request: {', '.join(imported.left_out)}"
