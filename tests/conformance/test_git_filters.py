"""Filters of git, such as git-crypt: none is executed, what one wrote is no change, and none hides a change."""

import os

import pytest

from support.git_repository import commit, git, repository
from support.review.diff_outcomes import kinds
from support.small_job import write_job
from support.smspec_command import smspec


@pytest.fixture
def home(tmp_path):
    home = repository(tmp_path / "home")
    write_job(home / "jobs", **{"src/notes.txt": "one\ntwo\n"})
    commit(home)
    return home


FILTERS = {
    "of another size": ("sed s/^/=/", "sed s/^=//", "=one\n=two\n"),
    "of the same size": ("tr a-z A-Z", "tr A-Z a-z", "ONE\nTWO\n"),
    "that stores other bytes": ("base64 -d", "base64", "one\ntwo\n"),
}


@pytest.mark.parametrize("which", FILTERS)
def test_output_of_a_filter_is_unchanged(home, tmp_path, which):
    """The index has what git has written. What a filter would make of a file that is written later is unknown."""
    smudge, clean, expected = FILTERS[which]
    git(home, "config", "filter.crypt.smudge", smudge)
    git(home, "config", "filter.crypt.clean", clean)
    git(home, "config", "filter.crypt.required", "true")
    (home / ".gitattributes").write_text("*.txt filter=crypt\n")
    notes = home / "jobs/src/notes.txt"
    notes.write_text(expected)
    commit(home)
    notes.unlink()
    git(home, "checkout", "-q", "--", ".")
    assert notes.read_text() == expected
    ran = tmp_path / "ran"
    for kind in ("smudge", "clean"):
        git(home, "config", f"filter.crypt.{kind}", f"touch {ran}; exit 1")
    make_index_later(home)
    assert smspec("diff", "--base", "HEAD", "jobs", cwd=home) == (0, "", "no differences\n")
    assert "no changes" in smspec("validate", "--changed", "HEAD", "jobs", cwd=home).err
    os.utime(notes, (1, 1))  # git compares seconds
    sentence = (
        "`jobs/src/notes.txt` counts as changed: smspec does not execute filters of git (`crypt`); "
        "if nothing changed, run `git status` first\n"
    )
    done = smspec("validate", "--changed", "HEAD", "jobs", cwd=home)
    assert "checked 1 job" in done.err and sentence in done.err
    done = smspec("diff", "--base", "HEAD", "--format", "json", "jobs", cwd=home)
    assert (done.status, kinds(done), done.err) == (1, {"code", "image", "job"}, sentence)
    assert not ran.exists()
    for kind, program in (("smudge", smudge), ("clean", clean)):
        git(home, "config", f"filter.crypt.{kind}", program)
    git(home, "status")
    make_index_later(home)
    assert smspec("diff", "--base", "HEAD", "jobs", cwd=home) == (0, "", "no differences\n")
    assert "no changes" in smspec("validate", "--changed", "HEAD", "jobs", cwd=home).err
    notes.write_text(expected.replace(expected[1], "x"))
    assert_code_changed(home, "HEAD")


def make_index_later(home):
    """Make the index of a later moment than all files: one of the same moment may have changed since."""
    index = os.stat(home / ".git/index")
    os.utime(home / ".git/index", ns=(index.st_mtime_ns, index.st_mtime_ns + 10**9))


def test_filter_hides_no_change(home):
    """Neither one that a commit names, nor one of the user on a file that the commit changes."""
    git(home, "config", "filter.crypt.smudge", "tr a-z A-Z")
    git(home, "config", "filter.crypt.clean", "tr A-Z a-z")
    git(home, "checkout", "-q", "-b", "topic")
    (home / ".gitattributes").write_text("*.txt filter=crypt\n")
    commit(home)
    (home / "jobs/src/notes.txt").unlink()
    git(home, "checkout", "-q", "--", ".")
    make_index_later(home)
    assert_code_changed(home, "main")
    git(home, "checkout", "-q", "-b", "more")
    (home / "jobs/src/notes.txt").write_text("ONE\nTWO\nTHREE\n")
    commit(home)
    make_index_later(home)
    assert_code_changed(home, "topic")


def assert_code_changed(home, base):
    assert "code" in kinds(smspec("diff", "--base", base, "--format", "json", "jobs", cwd=home))
    assert "checked 1 job" in smspec("validate", "--changed", base, "jobs", cwd=home).err
