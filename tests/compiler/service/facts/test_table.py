"""Tables of facts: dated CSV files of the package, whose rows are parsed when they are needed."""

from __future__ import annotations

import csv
import datetime
import glob
import os
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

from smspec.service.facts import parsed_table, table, table_path

REPOSITORY = Path(__file__).parents[4]
TABLES = sorted(Path(path).stem for path in glob.glob(table_path("*")))


@pytest.mark.parametrize("name", TABLES)
def test_each_table_is_dated_with_its_license(name: str) -> None:
    found = table(name)
    assert datetime.date.fromisoformat(found.date).isoformat() == found.date
    assert "(Apache-2.0)" in found.source or "(CC BY-SA 4.0)" in found.source
    assert found.as_of == f"as of {found.date}"


@pytest.mark.parametrize("name", TABLES)
def test_each_row_has_a_cell_for_each_column(name: str) -> None:
    found = table(name)
    assert [list(row) for row in found.rows()] == [list(found.columns)] * len(found.lines)
    assert len(set(found.lines)) == len(found.lines)


@pytest.mark.parametrize("name", TABLES)
def test_rows_of_a_first_cell_are_those_of_the_csv_module(name: str) -> None:
    found = table(name)
    first = found.columns[0]
    with open(table_path(name), encoding="utf-8", newline="") as file:
        next(file)
        expected = [*csv.DictReader(file)]
    assert [*found.rows()] == expected
    for key in {row[first] for row in expected}:
        assert [*found.rows(key)] == [row for row in expected if row[first] == key]


def test_quoted_cells_are_unquoted() -> None:
    found = parsed_table('# as of 2026-01-02: a source (Apache-2.0)\nname,words\nb,\nc,"one, two"\ncc,three\n')
    assert found.date == "2026-01-02"
    assert found.rows("c") == ({"name": "c", "words": "one, two"},)
    assert found.rows("nothing") == ()


def test_wheel_contains_each_table(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "hatchling", "build", "--target", "wheel", "--directory", str(tmp_path)]
    subprocess.run(command, cwd=REPOSITORY, check=True, capture_output=True)
    (wheel,) = tmp_path.glob("*.whl")
    with zipfile.ZipFile(wheel) as archive:
        names = {os.path.basename(name) for name in archive.namelist() if "/service/facts/" in name}
    assert {f"{name}.csv" for name in TABLES} <= names
    assert "images.py" in names
