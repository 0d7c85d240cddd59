"""`smspec fmt` orders keys in files, and damages none."""

import json
import os
import re
import shutil
import stat
import tempfile
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings

from support.examples import at_most
from support.small_job import BUILT, PROGRAM, READY, write_job
from support.smspec_command import smspec
from support.spec.job_samples import PLAIN
from support.spec.written_specs import written_specs

ROOT = Path(__file__).parents[3]

MIXED = "name: small\nsmspec: v1\n" + READY.partition("name: small\n")[2]


def test_keys_are_ordered_once(tmp_path):
    path = write_job(tmp_path, MIXED)
    done = smspec("fmt", cwd=tmp_path)
    assert (done.status, done.out, done.err) == (0, "", "job.yaml: ordered\n1 spec, 1 changed\n")
    assert path.read_text() == READY
    assert smspec("fmt", cwd=tmp_path) == (0, "", "1 spec, 0 changed\n")
    assert smspec("fmt", "-q", cwd=tmp_path) == (0, "", "")


def test_check_names_the_files_and_writes_nothing(tmp_path):
    path = write_job(tmp_path, MIXED)
    before = path.stat()
    done = smspec("fmt", "--check", cwd=tmp_path)
    assert (done.status, done.out, done.err) == (1, "job.yaml\n", "1 spec, 1 would change\n")
    assert path.read_text() == MIXED
    assert path.stat().st_mtime_ns == before.st_mtime_ns
    path.write_text(READY)
    assert smspec("fmt", "--check", cwd=tmp_path) == (0, "", "1 spec, 0 would change\n")


def test_diff_shows_what_would_change(tmp_path):
    path = write_job(tmp_path, MIXED.replace("name: small\n", "name: small # 漢\n"))
    before = path.read_text()
    done = smspec("fmt", "--diff", cwd=tmp_path)
    assert (done.status, done.err) == (1, "1 spec, 1 would change\n")
    assert done.out.startswith("--- job.yaml\n+++ job.yaml\n@@ -1,3 +1,3 @@\n")
    assert "+smspec: v1\n name: small # 漢\n-smspec: v1\n" in done.out
    assert path.read_text() == before
    path.write_text(READY)
    assert smspec("fmt", "--diff", cwd=tmp_path) == (0, "", "1 spec, 0 would change\n")


def test_specs_that_smspec_writes_and_shows_are_in_order(tmp_path):
    shutil.copytree(ROOT / "specs", tmp_path / "specs", ignore=shutil.ignore_patterns("build", "run", "data"))
    for template in ("script", "pipe", "torchrun", "mpi"):
        assert smspec("init", str(tmp_path / template), "--template", template).status == 0
    (tmp_path / "from/src").mkdir(parents=True)
    (tmp_path / "from/src/train.py").write_text(PROGRAM)
    assert smspec("init", "--from", "src/train.py", cwd=tmp_path / "from").status == 0
    pages = [ROOT / "README.md", *(ROOT / "docs").glob("*.md"), *(ROOT / "specs").glob("*/*.md")]
    for page in pages:
        for number, text in enumerate(re.findall(r"^```yaml\n(.*?)^```", page.read_text(), re.DOTALL | re.MULTILINE)):
            if re.search(r"^smspec:", text, re.MULTILINE):
                (tmp_path / f"{page.stem}-{number}.yaml").write_text(text)
    for number, spec in enumerate(sorted((ROOT / "tests/imported").glob("*/job.yaml"))):
        (tmp_path / f"imported-{number}.yaml").write_text(spec.read_text())
    done = smspec("fmt", "--diff", ".", cwd=tmp_path)
    assert (done.status, done.out) == (0, "")
    assert int(done.err.split()[0]) > 20


def test_directory_means_its_jobs_and_base_specs(tmp_path):
    write_job(tmp_path / "jobs", "extends: ../bases/base.yaml\nname: a\nsmspec: v1\n")
    base = tmp_path / "bases" / "base.yaml"
    base.parent.mkdir()
    base.write_text("retries: 1\nsmspec: v1\n")
    (tmp_path / "other.yaml").write_text("name: a\nkind: Deployment\n")
    done = smspec("fmt", ".", cwd=tmp_path)
    assert (done.status, done.err) == (0, "bases/base.yaml: ordered\njobs/job.yaml: ordered\n2 specs, 2 changed\n")
    assert base.read_text() == "smspec: v1\nretries: 1\n"
    assert (tmp_path / "other.yaml").read_text() == "name: a\nkind: Deployment\n"


def test_broken_file_stops_no_other(tmp_path):
    write_job(tmp_path, MIXED)
    (tmp_path / "broken.yaml").write_text("smspec: v1\nname: [\n")
    done = smspec("fmt", "broken.yaml", "job.yaml", cwd=tmp_path)
    assert done.status == 1
    assert "--> broken.yaml:3:1" in done.err
    assert (tmp_path / "job.yaml").read_text() == READY
    assert (tmp_path / "broken.yaml").read_text() == "smspec: v1\nname: [\n"


@pytest.mark.parametrize(
    "content",
    [b"smspec: v1\xff\nname: a\n", b"\xff\xfes\x00", b"name: a\n---\nsmspec: v1\n", b""],
    ids=["not UTF-8", "UTF-16", "two documents", "empty"],
)
def test_unreadable_bytes_stay(tmp_path, content):
    path = tmp_path / "job.yaml"
    path.write_bytes(content)
    done = smspec("fmt", cwd=tmp_path)
    assert done.status == 1
    assert "error[SM1" in done.err
    assert path.read_bytes() == content


def test_mark_line_ends_and_mode_stay(tmp_path):
    path = tmp_path / "job.yaml"
    path.write_bytes(b"\xef\xbb\xbfname: a # \xc3\xa9\r\nsmspec: v1")
    path.chmod(0o640)
    assert smspec("fmt", cwd=tmp_path).status == 0
    assert path.read_bytes() == b"\xef\xbb\xbfsmspec: v1\r\nname: a # \xc3\xa9"
    assert stat.S_IMODE(path.stat().st_mode) == 0o640


def test_link_stays_a_link(tmp_path):
    write_job(tmp_path / "real", MIXED)
    (tmp_path / "job.yaml").symlink_to("real/job.yaml")
    assert smspec("fmt", cwd=tmp_path).status == 0
    assert os.readlink(tmp_path / "job.yaml") == "real/job.yaml"
    assert (tmp_path / "real" / "job.yaml").read_text() == READY


def test_link_out_of_the_repository_is_rejected(tmp_path):
    write_job(tmp_path / "elsewhere", MIXED)
    (tmp_path / "repository" / ".git").mkdir(parents=True)
    (tmp_path / "repository" / "job.yaml").symlink_to("../elsewhere/job.yaml")
    done = smspec("fmt", cwd=tmp_path / "repository")
    assert done.status == 1
    assert "error[SM145]" in done.err
    assert (tmp_path / "elsewhere" / "job.yaml").read_text() == MIXED


def test_read_only_file_stays(tmp_path):
    path = write_job(tmp_path, MIXED)
    path.chmod(0o444)
    done = smspec("fmt", cwd=tmp_path)
    assert (done.status, done.out) == (3, "")
    assert "smspec: `job.yaml` is read-only\n" in done.err
    assert path.read_text() == MIXED


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("# @generated by tool\n" + MIXED, "because a program generates it"),
        ("# Code generated by x. DO NOT EDIT.\n" + MIXED, "because a program generates it"),
        ("metadata: 1\nname: a\n", "because it is not a spec; a spec sets `smspec: v1`"),
    ],
)
def test_files_of_others_stay(tmp_path, text, why):
    path = write_job(tmp_path, text)
    done = smspec("fmt", cwd=tmp_path)
    assert (done.status, done.err) == (0, f"job.yaml: not changed, {why}\n1 spec, 0 changed\n")
    assert path.read_text() == text


def test_pipe_and_standard_input_are_rejected(tmp_path):
    os.mkfifo(tmp_path / "pipe.yaml")
    assert smspec("fmt", "-", cwd=tmp_path).status == 2
    assert smspec("fmt", "missing.yaml", cwd=tmp_path).status == 2
    assert smspec("fmt", ".", cwd=tmp_path) == (0, "", "0 specs, 0 changed\n")


def result(directory):
    """Return the codes and paths that `validate` reports, and the request."""
    found = json.loads(smspec("validate", "--format", "json", cwd=directory).out)
    return sorted((one["code"], one["path"]) for one in found), smspec("render", "--api-json", cwd=directory).out


JOB = {**PLAIN, "hyperparameters": {"lr": 0.1, "epochs": 2}, "hosts": {**PLAIN["hosts"], "volumes": "1"}}
JOB_WITHOUT_ERRORS = {**JOB, "hosts": PLAIN["hosts"], "stopping": {"max_runtime": "1h"}}


@pytest.mark.parametrize("job", [JOB, JOB_WITHOUT_ERRORS], ids=["with an error", "without errors"])
def test_findings_and_request_stay_the_same(job):
    with tempfile.TemporaryDirectory() as name:
        directory = Path(name)
        write_job(directory, BUILT, src__train__py=PROGRAM)

        @settings(max_examples=at_most(100) // 3, suppress_health_check=[HealthCheck.too_slow])
        @given(written_specs(job))
        def law(text):
            (directory / "job.yaml").write_bytes(text.encode())
            before = result(directory)
            assert smspec("fmt", cwd=directory).status == 0
            assert result(directory) == before
            assert bool(before[1]) == (job is JOB_WITHOUT_ERRORS)

        law()


BODY = "\n".join(f"{number:02}{'Ab3' * 20}" for number in range(20))
SECRETS = {
    "private key": (
        "KEY: |-",
        *(f"  {line}" for line in f"-----BEGIN PRIVATE KEY-----\n{BODY}\n-----END PRIVATE KEY-----".split("\n")),
    ),
    "value behind its name": ("- name: DB_PASSWORD", "  value: hunter2Hunter2"),
}


@pytest.mark.parametrize("lines", SECRETS.values(), ids=SECRETS)
@pytest.mark.parametrize("ending", ["\n", "\r\n"], ids=["lf", "crlf"])
def test_diff_masks_secrets_of_several_lines(lines, ending, tmp_path):
    moved = ["overlays:", "  dev:", "    environment:", *(f"      {line}" for line in lines)]
    many = [f"  a{number}: {number}" for number in range(len(moved) + 5)]
    text = ending.join(["smspec: v1", *moved, "hyperparameters:", *many, "output: s3://models/small/", ""])
    (tmp_path / "job.yaml").write_bytes(text.encode())
    done = smspec("fmt", "--diff", cwd=tmp_path)
    assert done.status == 1
    assert "-overlays:\n" in done.out
    assert "\\x0d" not in done.out
    for secret in (*BODY.split("\n"), "hunter2Hunter2"):
        assert secret not in done.out
