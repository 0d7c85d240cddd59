"""Failure and success files after a script changed their directories."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

import pytest

from smspec_runtime.failure import Report
from smspec_runtime.layout import Layout


@pytest.fixture
def author(tmp_path: Path) -> Path:
    """Files that a run must not change, with the names that the runtime writes."""
    directory = tmp_path / "author"
    (directory / "output").mkdir(parents=True)
    for place in (directory, directory / "output"):
        (place / "success").write_text("mine")
        (place / ".failure").write_text("mine")
    return directory


@pytest.fixture
def root(tmp_path: Path) -> Path:
    root = tmp_path / "host" / "opt" / "ml"
    (root / "output").mkdir(parents=True)
    return root


def contents(directory: Path) -> dict[str, str]:
    return {str(path): path.read_text() for path in directory.rglob("*") if path.is_file()}


def ended(root: Path, outcome: str, acts) -> None:
    report = Report(Layout(str(root)))
    report.prepare()
    acts()
    if outcome == "failure":
        report.fail("ValueError: no data")
    else:
        report.succeed()


@pytest.mark.parametrize("outcome", ["failure", "success"])
@pytest.mark.parametrize("replaced", ["output", "ml", "opt", "host"])
def test_link_replacing_a_directory_is_not_followed(root, author, outcome, replaced):
    place = next(path for path in (root / "output", *root.parents, root) if path.name == replaced)
    moved = place.with_name("moved")

    def acts():
        place.rename(moved)
        place.symlink_to(author)

    before = contents(author)
    ended(root, outcome, acts)
    assert contents(author) == before
    assert [path.name for path in moved.rglob(outcome)] == [outcome]


@pytest.mark.parametrize("outcome", ["failure", "success"])
def test_links_to_files_are_not_followed(root, author, outcome):
    def acts():
        for name in ("success", ".failure"):
            (root / "output" / name).unlink(missing_ok=True)
            os.link(author / name, root / "output" / name)

    before = contents(author)
    ended(root, outcome, acts)
    assert contents(author) == before


@pytest.mark.parametrize("outcome", ["failure", "success"])
@pytest.mark.parametrize("is_made_again", [True, False])
def test_recreated_directory_gets_the_result_file(root, outcome, is_made_again):
    def acts():
        shutil.rmtree(root / "output")
        if is_made_again:
            (root / "output").mkdir()

    ended(root, outcome, acts)
    assert (root / "output" / outcome).is_file()


@pytest.mark.parametrize("outcome", ["failure", "success"])
def test_link_present_before_the_start_is_followed(root, tmp_path, outcome):
    (root / "output").rmdir()
    (tmp_path / "mounted").mkdir()
    (root / "output").symlink_to(tmp_path / "mounted")
    ended(root, outcome, lambda: None)
    assert [path.name for path in (tmp_path / "mounted").iterdir()] == [outcome]
