"""``python -m maintenance.facts``: update the tables of facts about AWS from public sources.

For developers of smspec, not for its users. The sources are the installed sagemaker-core, botocore, and moto, which are
only read as files, and clones of public repositories of AWS below the directory of ``--sources``. What cannot be read
stays as it is, and a line on standard error names it. The same sources make the same tables. The date of a table is
that of its newest source, and changes only with its content.
"""

from __future__ import annotations

import argparse
import csv
import io
import os
import re
import sys
from collections.abc import Iterable, Mapping

from maintenance.fact_sources import SOURCES, Refreshed
from maintenance.surroundings import Surroundings, Unreadable
from smspec.service.facts import Row, Table, parsed_table, table_path
from smspec.source.frozen import dataclass

COMMAND = "make facts"
_KEYS = {
    "accounts": 1,
    "images": 2,
    "image_packages": 1,
    "instances": 1,
    "instance_bandwidth": 1,
    "ec2_not_offered": 1,
    "partitions": 1,
}
"""The number of cells that identify a row of each table."""

_BY_HAND = (
    "algorithms, algorithm_hyperparameters, algorithm_modes, launchers: edited by hand, because no source can be read"
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Changes:
    """Keys of the rows that a refresh adds, changes, and removes."""

    added: tuple[str, ...]
    changed: tuple[str, ...]
    removed: tuple[str, ...]


def main(arguments: list[str]) -> int:
    parser = argparse.ArgumentParser(prog="python -m maintenance.facts", description=__doc__)
    parser.add_argument("--check", action="store_true", help="write nothing; exit 1 if a table would change")
    parser.add_argument("--accept-removals", action="store_true", help="remove the rows that the sources lack")
    parser.add_argument("--site-packages", metavar="DIR", help="where packages are (default: this environment)")
    parser.add_argument("--sources", metavar="DIR", help="where clones are, or are made (default: none are read)")
    parser.add_argument("--tables", metavar="DIR", help="the tables (default: those of this package)")
    parser.add_argument("--date", help="YYYY-MM-DD of a table that changes (default: that of its newest source)")
    chosen = parser.parse_args(arguments)
    around = Surroundings(site_packages=chosen.site_packages, sources=chosen.sources, date=chosen.date)
    paths = {name: _path(name, chosen.tables) for name in _KEYS}
    before = {name: _read(path) for name, path in paths.items() if os.path.exists(path)}
    different: dict[str, str] = {}
    has_removals = False
    for names, refresh in SOURCES:
        if not before.keys() >= {*names}:
            continue
        try:
            found = refresh(before, around)
        except Unreadable as error:
            _note(f"{', '.join(names)}: {error}")
            continue
        for line in found.unread:
            _note(line)
        for name, rows in found.rows.items():
            has_removals |= _print_changes(name, before[name], rows)
            if list(before[name].rows()) != rows:
                different[name] = table_text(before[name], rows, found)
    _note(_BY_HAND)
    fault = ""
    if has_removals and not chosen.accept_removals:
        fault = "no table was written; review the removed rows, and use --accept-removals"
    elif different and chosen.check:
        fault = f"{', '.join(different)}: not those of the sources; run {COMMAND}"
    if fault:
        print(fault, file=sys.stderr)  # noqa: T201 - a tool of its own, without the console of the command
        return 1
    # All or none: the images refer to columns of the accounts.
    for name, text in different.items():
        _write(paths[name], text)
    return 0


def compared(before: Iterable[Row], after: Iterable[Row], key: int) -> Changes:
    """Return the differences between two versions of a table whose first ``key`` cells identify a row."""
    old, new = ({":".join([*row.values()][:key]): row for row in rows} for rows in (before, after))
    return Changes(
        added=tuple(name for name in new if name not in old),
        changed=tuple(name for name in new if name in old and new[name] != old[name]),
        removed=tuple(name for name in old if name not in new),
    )


def table_text(before: Table, rows: list[Row], found: Refreshed) -> str:
    """Return the content of a table with new rows, their date, and the versions of their sources."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(rows[0])
    writer.writerows(row.values() for row in rows)
    return f"# as of {found.date}: {_sources(before.source, found.versions)}\n{text.getvalue()}"


def _sources(before: str, versions: Mapping[str, str]) -> str:
    """Return the sources of a table with new versions, as in ``sagemaker-core 2.27.0`` and ``aws/x at 0123abc``."""
    for name, version in versions.items():
        before = re.sub(rf"\b{re.escape(name)} (at )?\w[\w.]*( of [\d-]+)?", rf"{name} \g<1>{version}", before)
    return before


def _print_changes(name: str, before: Table, rows: list[Row]) -> bool:
    """Print which rows of a table change; return whether any is removed."""
    change = compared(before.rows(), rows, _KEYS[name])
    for kind in ("added", "changed", "removed"):
        for key in getattr(change, kind):
            print(f"{name}: {kind} {key}")  # noqa: T201
    return bool(change.removed)


def _note(line: str) -> None:
    print(f"unchanged: {line}", file=sys.stderr)  # noqa: T201


def _path(name: str, directory: str | None) -> str:
    return table_path(name) if directory is None else os.path.join(directory, f"{name}.csv")


def _read(path: str) -> Table:
    with open(path, encoding="utf-8", newline="") as file:
        return parsed_table(file.read())


def _write(path: str, text: str) -> None:
    with open(path, "w", encoding="utf-8", newline="\n") as file:
        file.write(text)


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
