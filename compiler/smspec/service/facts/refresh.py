"""``python -m smspec.service.facts.refresh``: update the tables of images and accounts.

Their source is the installed sagemaker-core. For developers of smspec, not for its users. The output for one
sagemaker-core is reproducible, and its files are only read. What it does not have stays as it is: full tags, dates, and
images that only the list of AWS's containers has.
"""

from __future__ import annotations

import argparse
import csv
import datetime
import glob
import gzip
import importlib.util
import io
import json
import os
import re
import sys
from collections.abc import Iterable

from smspec.service.facts.sdk_images import DISTRIBUTION, SdkImage, installed_sdk, sdk_images
from smspec.service.facts.table import Row, Table, parsed_table, table_path
from smspec.source.frozen import dataclass

COMMAND = "make facts"
_ONLY_IN_A_LIST = "dlc-only"
_KEYS = {"accounts": 1, "images": 2}
"""The number of cells that identify a row of each table."""

_KEPT = ("full_tag", "interpreter", "end_of_patch")
# The SDK has no processor for images that are for both, and for algorithms; the guide has.
_BOTH = "cpu gpu"
_REGION, _DOMAIN = "region", "dns_suffix"

Registries = tuple[tuple[str, str], ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Changes:
    """Keys of the rows that a refresh adds, changes, and removes."""

    added: tuple[str, ...]
    changed: tuple[str, ...]
    removed: tuple[str, ...]


def main(arguments: list[str]) -> int:
    parser = argparse.ArgumentParser(prog="python -m smspec.service.facts.refresh", description=__doc__)
    parser.add_argument("--check", action="store_true", help="write nothing; exit 1 if a table would change")
    parser.add_argument("--accept-removals", action="store_true", help="remove the rows that the source lacks")
    parser.add_argument("--site-packages", metavar="DIR", help="where sagemaker-core is (default: this environment)")
    parser.add_argument("--tables", metavar="DIR", help="the tables (default: those of this package)")
    parser.add_argument("--date", help="YYYY-MM-DD of a table that changes (default: today)")
    chosen = parser.parse_args(arguments)
    version, directory = installed_sdk(chosen.site_packages)
    paths = {name: _path(name, chosen.tables) for name in _KEYS}
    before = {name: _read(path) for name, path in paths.items()}
    after = refreshed(before, list(sdk_images(directory)))
    changes = {name: compared(before[name].rows(), rows, _KEYS[name]) for name, rows in after.items()}
    for name, change in changes.items():
        for kind in ("added", "changed", "removed"):
            for key in getattr(change, kind):
                print(f"{name}: {kind} {key}")  # noqa: T201 - a tool of its own, without the console of the command
    different = [name for name, rows in after.items() if list(before[name].rows()) != rows]
    fault = ""
    if any(change.removed for change in changes.values()) and not chosen.accept_removals:
        fault = "no table was written; review the removed rows, and use --accept-removals"
    elif different and chosen.check:
        fault = f"the tables are not those of {DISTRIBUTION} {version}: run {COMMAND}"
    if fault:
        print(fault, file=sys.stderr)  # noqa: T201
        return 1
    # All or none: the images refer to columns of the accounts.
    for name in different:
        date = chosen.date or datetime.date.today().isoformat()
        _write(paths[name], table_text(before[name], after[name], date=date, version=version))
    return 0


def refreshed(before: dict[str, Table], found: list[SdkImage]) -> dict[str, list[Row]]:
    """Return the rows of both tables for the images of the SDK."""
    old = {(row["repository"], row["tag"]): row for row in before["images"].rows()}
    columns = _columns(before["accounts"].rows(), old.values(), found)
    images = [_image_row(image, old.get((image.repository, image.tag)), columns) for image in found]
    images += [row for row in old.values() if row["sdk_framework"] == _ONLY_IN_A_LIST]
    listed = {row["accounts"] for row in images}
    kept = {column: registries for registries, column in columns.items() if column in listed}
    return {
        "accounts": _account_rows(before["accounts"].rows(), kept),
        "images": sorted(images, key=lambda row: (row["repository"], _natural(row["version"]), _natural(row["tag"]))),
    }


def compared(before: Iterable[Row], after: Iterable[Row], key: int) -> Changes:
    """Return the differences between two versions of a table whose first ``key`` cells identify a row."""
    old, new = ({":".join([*row.values()][:key]): row for row in rows} for rows in (before, after))
    return Changes(
        added=tuple(name for name in new if name not in old),
        changed=tuple(name for name in new if name in old and new[name] != old[name]),
        removed=tuple(name for name in old if name not in new),
    )


def table_text(before: Table, rows: list[Row], *, date: str, version: str) -> str:
    """Return the content of a table with new rows, the date of the change, and the version of its source."""
    source = re.sub(rf"{DISTRIBUTION} \S+", f"{DISTRIBUTION} {version}", before.source)
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(rows[0])
    writer.writerows(row.values() for row in rows)
    return f"# as of {date}: {source}\n{text.getvalue()}"


def _image_row(image: SdkImage, old: Row | None, columns: dict[Registries, str]) -> Row:
    kept = {name: old[name] if old else "" for name in _KEPT}
    return {
        "repository": image.repository,
        "tag": image.tag,
        "full_tag": kept.pop("full_tag"),
        "sdk_framework": image.framework,
        "version": image.version,
        "aliases": " ".join(image.aliases),
        "base": image.base,
        "python": image.python,
        "interpreter": kept.pop("interpreter"),
        "processor": image.processor or (old["processor"] if old else _BOTH),
        "accounts": columns[image.registries],
        **kept,
    }


def _columns(accounts: tuple[Row, ...], images: Iterable[Row], found: list[SdkImage]) -> dict[Registries, str]:
    """Return the column of each list of registries: its old one, that of the same image, or a new one.

    Columns keep their names, so that a new region changes one row.
    """
    names = [name for name in accounts[0] if name not in (_REGION, _DOMAIN)]
    before = {tuple(sorted((row[_REGION], row[name]) for row in accounts if row[name])): name for name in names}
    of_image = {(row["repository"], row["tag"]): row["accounts"] for row in images}
    columns: dict[Registries, str] = {}
    waiting: list[SdkImage] = []
    for image in found:
        if image.registries in before:
            columns[image.registries] = before[image.registries]
        else:
            waiting.append(image)
    used = set(columns.values())
    for image in waiting:
        if image.registries in columns:
            continue
        old = of_image.get((image.repository, image.tag), "")
        # A column of images that are only in the list keeps its registries.
        is_free = old not in used and old in names
        name = old if is_free else str(max(map(int, {*names, *used})) + 1)
        columns[image.registries] = name
        used.add(name)
    return {**{registries: name for registries, name in before.items() if name not in used}, **columns}


def _account_rows(before: tuple[Row, ...], columns: dict[str, Registries]) -> list[Row]:
    domains = {row[_REGION]: row[_DOMAIN] for row in before}
    accounts = {name: dict(registries) for name, registries in columns.items()}
    regions = sorted({region for found in accounts.values() for region in found})
    return [
        {
            _REGION: region,
            _DOMAIN: domains.get(region) or _domain(region),
            **{name: accounts[name].get(region, "") for name in sorted(accounts, key=int)},
        }
        for region in regions
    ]


def _domain(region: str) -> str:
    """Return the domain of the partition of a region, from the files of the installed botocore."""
    package = importlib.util.find_spec("botocore")
    if package is None or package.origin is None:
        raise SystemExit("botocore is not installed")
    pattern = os.path.join(os.path.dirname(package.origin), "data", "partitions.json*")
    path = min(glob.glob(pattern))
    with (gzip.open if path.endswith(".gz") else open)(path, "rt", encoding="utf-8") as file:
        partitions = json.load(file)["partitions"]
    for partition in partitions:
        if re.match(partition["regionRegex"], region):
            return str(partition["outputs"]["dnsSuffix"])
    raise SystemExit(f"botocore has no partition for {region}")


def _natural(text: str) -> list[tuple[int, str]]:
    """Return a key that sorts 2.10 after 2.9."""
    return [(int(part), "") if part.isdecimal() else (-1, part) for part in re.split("([0-9]+)", text) if part]


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
