"""``python -m maintenance.api_shapes`` (``make shapes``): update the pinned API shapes from the installed botocore.

botocore is only read as files, so nothing here can call AWS. The output for one botocore is reproducible: shapes are
sorted by name, members keep the order of the model. `drift` compares two models, for the test of the pinned one.
"""

from __future__ import annotations

import argparse
import datetime
import json
import os
import sys

from smspec.service.facts.installed_packages import botocore_version, pinned_text, service_model
from smspec.service.shapes import Model, Shape
from smspec.source.frozen import dataclass
from smspec_schemas import API_SHAPES

COMMAND = "make shapes"


def installed_text(date: str) -> str:
    """Return the content of the pinned file, if made from the installed botocore on ``date``."""
    model = service_model()
    if model is None:
        raise SystemExit("botocore is not installed")
    return pinned_text(model, version=botocore_version(), date=date)


def refreshed_text(before: str | None, today: str) -> str:
    """Return the new file; the date of ``before`` is kept while the same botocore has the same shapes."""
    if before is not None:
        unchanged = installed_text(json.loads(before)["date"])
        if unchanged == before:
            return unchanged
    return installed_text(today)


def main(arguments: list[str]) -> int:
    parser = argparse.ArgumentParser(prog="python -m maintenance.api_shapes", description=__doc__)
    parser.add_argument("--check", action="store_true", help="write nothing; exit 1 when the file would change")
    parser.add_argument("--date", default=None, help="YYYY-MM-DD to write where anything changed (default: today)")
    chosen = parser.parse_args(arguments)
    before: str | None = None
    if os.path.exists(API_SHAPES):
        with open(API_SHAPES, encoding="utf-8") as file:
            before = file.read()
    after = refreshed_text(before, chosen.date or datetime.date.today().isoformat())
    if after == before:
        return 0
    if chosen.check:
        print(f"the pinned shapes are not those of botocore {botocore_version()}: run {COMMAND}", file=sys.stderr)  # noqa: T201 - a tool of its own, without the console of the command
        return 1
    with open(API_SHAPES, "w", encoding="utf-8", newline="\n") as file:
        file.write(after)
    return 0


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))


@dataclass(frozen=True, slots=True, kw_only=True)
class Drift:
    """``widened``: the pinned shapes reject or lack it, the other model allows it. ``narrowed``: the reverse.

    A widened model keeps the results for existing jobs correct; a narrowed one makes some of them wrong.
    """

    widened: tuple[str, ...]
    narrowed: tuple[str, ...]


def drift(pinned: Model, other: Model) -> Drift:
    """Compare two models, member by member."""
    widened: list[str] = []
    narrowed: list[str] = []
    before = {_dotted(path): shape for path, shape in pinned.walk()} | {"": pinned.root}
    after = {_dotted(path): shape for path, shape in other.walk()} | {"": other.root}
    for place in sorted(before.keys() | after.keys()):
        if place not in after:
            narrowed.append(f"{place} is gone")
        elif place not in before:
            widened.append(f"{place} is new")
        else:
            _compare(place or "the request", before[place], after[place], widened, narrowed)
    return Drift(widened=tuple(widened), narrowed=tuple(narrowed))


def _compare(place: str, before: Shape, after: Shape, widened: list[str], narrowed: list[str]) -> None:
    if before.kind != after.kind:
        narrowed.append(f"{place} was a {before.kind} and is a {after.kind}")
    if before.pattern != after.pattern:
        # It is unknown which of two patterns matches more.
        (widened if after.pattern is None else narrowed).append(f"{place} has another pattern")
    _compare_names(f"{place} requires", before.required, after.required, more=narrowed, fewer=widened)
    if before.enum or after.enum:
        if not after.enum:
            widened.append(f"{place} takes any value")
        elif not before.enum:
            narrowed.append(f"{place} takes {len(after.enum)} values only")
        else:
            _compare_names(f"{place} takes", before.enum, after.enum, more=widened, fewer=narrowed)
    _compare_bounds(f"{place}: minimum", before.minimum, after.minimum, widened, narrowed, lower_is_wider=True)
    _compare_bounds(f"{place}: maximum", before.maximum, after.maximum, widened, narrowed, lower_is_wider=False)


def _compare_names(
    place: str, before: tuple[str, ...], after: tuple[str, ...], *, more: list[str], fewer: list[str]
) -> None:
    more += [f"{place} {name}" for name in after if name not in before]
    fewer += [f"{place} {name} no longer" for name in before if name not in after]


def _compare_bounds(
    place: str,
    before: int | None,
    after: int | None,
    widened: list[str],
    narrowed: list[str],
    *,
    lower_is_wider: bool,
) -> None:
    if before == after:
        return
    wider = after is None or (before is not None and (after < before) == lower_is_wider)
    (widened if wider else narrowed).append(f"{place} was {before} and is {after}")


def _dotted(path: tuple[str | int, ...]) -> str:
    return ".".join("[]" if step == 0 else str(step) for step in path)
