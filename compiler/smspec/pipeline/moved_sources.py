"""Find jobs whose source is a different directory now, in which a checkout may have more files than git.

The listings of both states may be equal: neither checkout has these files. Another one may have them, and send them.
"""

from __future__ import annotations

import os
from collections.abc import Iterable

from smspec.pipeline.compilation import Faulty
from smspec.pipeline.lifted_patterns import above
from smspec.pipeline.named_files import SOURCE
from smspec.pipeline.variants import Gathered
from smspec.source.real_file import is_below
from smspec.workspace.revision import Revision, place_below


def moved_sources(
    specs: Iterable[Gathered], pairs: Iterable[tuple[str, str]], base: Revision, top: str
) -> dict[str, tuple[str, str]]:
    """Return places of specs, each with the old and the new place of its source, links resolved.

    Only for a directory that the base has, too, or that git ignores: no checkout has files in a new one, unless someone
    made them there. ``pairs``: old and new places of specs that are compared.
    """
    then: dict[str, dict[str | None, str]] = {}
    now: dict[str, dict[str | None, str]] = {}
    for side in specs:
        is_old = is_below(os.path.realpath(side.path), base.directory)
        start = base.directory if is_old else top
        found = (then if is_old else now).setdefault(place_below(side.path, start), {})
        for variant, inputs in side.inputs.items():
            name = None if isinstance(inputs, Faulty) else inputs.document.string(SOURCE)
            if name and "\0" not in name:
                source = os.path.realpath(os.path.join(os.path.dirname(side.path), name))
                found[variant] = os.path.relpath(source, start)
    moved = {}
    for before, after in {*((place, place) for place in then.keys() & now.keys()), *pairs}:
        for variant, new in now.get(after, {}).items():
            old = then.get(before, {}).get(variant)
            if old not in (None, new) and _may_have_more(new, base, top):
                moved[after] = str(old), new
    return dict(sorted(moved.items()))


def _may_have_more(place: str, base: Revision, top: str) -> bool:
    prefix = "" if place == os.curdir else f"{place}/"
    is_ignored = (above(os.path.join(start, place)).ignoring is not None for start in (base.directory, top))
    return any(name.startswith(prefix) for name in base.forms) or any(is_ignored)
