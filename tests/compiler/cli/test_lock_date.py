"""The date in smspec.lock: when what it pins last changed, and what ends of patches are compared with."""

import json
import re
from datetime import datetime, timezone

import pytest

from support.small_job import BUILT, READY, write_job
from support.smspec_command import smspec

BASE = "python:3.12-slim-bookworm"
DIGESTS = ["sha256:" + letter * 64 for letter in "ab"]
ENDS_2026_11_17 = "246618743249.dkr.ecr.us-west-2.amazonaws.com/sagemaker-xgboost:3.0-5"
ENDED_2026_01_29 = "763104351884.dkr.ecr.us-west-2.amazonaws.com/pytorch-training:2.6.0-gpu-py312"


def lock(directory, digest):
    done = smspec("lock", "--digest", f"{BASE}={digest}", cwd=directory)
    assert done.status == 0, done.err
    return (directory / "smspec.lock").read_text()


def today():
    return datetime.now(timezone.utc).date().isoformat()


def test_date_is_kept_until_something_else_changes(tmp_path):
    write_job(tmp_path, re.sub(r"image: .*", f'image: {{base: "{BASE}"}}', BUILT))
    before = today()
    first = lock(tmp_path, DIGESTS[0])
    assert before <= json.loads(first)["locked"] <= today()
    old = re.sub(r'"locked": "[^"]*"', '"locked": "2020-01-31"', first)
    (tmp_path / "smspec.lock").write_text(old)
    assert lock(tmp_path, DIGESTS[0]) == old
    assert json.loads(lock(tmp_path, DIGESTS[1]))["locked"] >= before


def test_lock_of_an_earlier_version_keeps_its_bytes(tmp_path):
    write_job(tmp_path, re.sub(r"image: .*", f'image: {{base: "{BASE}"}}', BUILT))
    old = re.sub(r'  "locked": .*\n', "", lock(tmp_path, DIGESTS[0]))
    (tmp_path / "smspec.lock").write_text(old)
    assert lock(tmp_path, DIGESTS[0]) == old
    assert smspec("validate", cwd=tmp_path).status == 0


@pytest.mark.parametrize(
    ("image", "locked", "facts", "expected"),
    [
        (ENDS_2026_11_17, "2026-11-17", "", []),
        (ENDS_2026_11_17, "2026-11-18", "", ["SM387"]),
        (ENDS_2026_11_17, "2026-11-18", "2026-11-17", []),
        (ENDS_2026_11_17, "2026-11-17", "2026-11-18", ["SM387"]),
        (ENDED_2026_01_29, "2026-01-29", "", []),
        (ENDED_2026_01_29, "2026-01-30", "", ["SM387"]),
        (ENDED_2026_01_29, "", "2026-01-29", []),
        (ENDED_2026_01_29, "", "", ["SM387"]),
    ],
)
def test_end_of_patch_is_compared_with_the_stated_date(tmp_path, image, locked, facts, expected):
    write_job(tmp_path, re.sub(r"image: .*", f"image: {image}", READY))
    if locked:
        (tmp_path / "smspec.lock").write_text(json.dumps({"lock": 1, "locked": locked}))
    (tmp_path / "smspec.toml").write_text(f'[facts]\ntoday = "{facts}"\n' if facts else "")
    done = smspec("validate", "--format", "json", cwd=tmp_path)
    found = [record for record in json.loads(done.out) if record["code"] == "SM387"]
    assert [record["code"] for record in found] == expected
    for record in found:
        assert (facts or locked or "as of 20") in record["message"]
        assert ("states no date" in record["help"]) == (not facts and not locked)


@pytest.mark.parametrize("locked", ["2026-13-01", "20261129", "today", "", 20261129, None, ["2026-11-29"]])
def test_lock_with_anything_but_a_date_is_malformed(tmp_path, locked):
    write_job(tmp_path, READY)
    (tmp_path / "smspec.lock").write_text(json.dumps({"lock": 1, "locked": locked}, indent=2))
    done = smspec("validate", cwd=tmp_path)
    assert done.status == 1
    assert "`locked` is not a date" in done.out + done.err
    assert "smspec.lock:3:" in done.out + done.err


def test_inner_lock_does_not_set_the_date_back(tmp_path):
    write_job(tmp_path / "jobs", re.sub(r"image: .*", f"image: {ENDS_2026_11_17}", READY))
    (tmp_path / ".git").mkdir()
    for directory, date in ((tmp_path, "2026-11-18"), (tmp_path / "jobs", "2026-01-01")):
        (directory / "smspec.lock").write_text(json.dumps({"lock": 1, "locked": date}))
    done = smspec("validate", "--format", "json", "jobs", cwd=tmp_path)
    assert "SM387" in [record["code"] for record in json.loads(done.out)]
