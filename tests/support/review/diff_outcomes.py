"""Parsed results of `smspec diff --format json`, and whether it sees a change."""

from __future__ import annotations

import json

from support.smspec_command import smspec


def jobs(done):
    return json.loads(done.out)


def kinds(done):
    return {change["kind"] for job in jobs(done) for change in job["changes"]}


def change_of(done, kind):
    (change,) = [change for job in jobs(done) for change in job["changes"] if change["kind"] == kind]
    return change


def rewrite(path, old, new):
    text = path.read_text()
    assert old in text
    path.write_text(text.replace(old, new))


def assert_unchanged(home, base="HEAD", path="jobs"):
    """Assert that neither `diff` nor `validate --changed` sees a change of the one job."""
    done = smspec("diff", "--base", base, path, cwd=home)
    assert done == (0, "", "no differences\n")
    done = smspec("validate", "--changed", base, path, cwd=home)
    assert done == (0, "", f"no changes since {base} affect any of 1 job\n")


def assert_changed(home, expected, base="HEAD", path="jobs"):
    """Assert that both see one, of the ``expected`` kinds at least."""
    done = smspec("diff", "--base", base, "--format", "json", path, cwd=home)
    assert done.status == 1, done
    assert kinds(done) >= expected
    assert "checked 1 job" in smspec("validate", "--changed", base, path, cwd=home).err
