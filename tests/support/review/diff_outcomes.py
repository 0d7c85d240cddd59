"""Parsed results of `smspec diff --format json`."""

from __future__ import annotations

import json


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
