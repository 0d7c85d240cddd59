"""The jobs of docs/ci/gitlab-ci.yml, run by bash like the GitLab runner does."""

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
import yaml

from support.git_repository import commit, git, repository
from support.small_job import BUILT, write_job

SNIPPET = yaml.safe_load((Path(__file__).parents[2] / "docs/ci/gitlab-ci.yml").read_text(encoding="utf-8"))
BIN = Path(sys.prefix) / "bin"
REPORT = "gl-code-quality-report.json"

pytestmark = [
    pytest.mark.skipif(not (BIN / "smspec").exists(), reason="smspec is not installed as a command beside this Python"),
    pytest.mark.skipif(shutil.which("bash") is None, reason="bash is not installed"),
]


@pytest.fixture
def jobs(tmp_path):
    root = repository(tmp_path / "jobs")
    write_job(root)
    commit(root)
    return root


def run_job(name, root, **variables):
    """Run the lines of a job; the packages are installed already."""
    done = subprocess.run(
        ["bash", "--noprofile", "--norc", "-eo", "pipefail", "-c", "\n".join(SNIPPET[name]["script"])],
        cwd=root,
        env={**os.environ, **SNIPPET["variables"], "PATH": f"{BIN}:{os.environ['PATH']}", **variables},
        capture_output=True,
        text=True,
        timeout=120,
    )
    return done.returncode, done.stdout, done.stderr


def test_artifacts_are_the_written_files():
    assert SNIPPET["smspec-validate"]["artifacts"]["reports"] == {"codequality": REPORT}
    assert SNIPPET["smspec-diff"]["artifacts"]["paths"] == ["smspec-diff.md"]


def test_valid_repository_has_an_empty_report(jobs):
    status, out, err = run_job("smspec-validate", jobs)
    assert (status, out) == (0, ""), err
    assert json.loads((jobs / REPORT).read_text()) == []


def test_findings_become_code_quality_records(jobs):
    write_job(jobs, BUILT + "spot: {max_wait: 2d}\nstopping: {max_runtime: 3d}\n")
    status, out, _ = run_job("smspec-validate", jobs)
    assert status == 1
    assert "--> job.yaml:11:" in out
    report = json.loads((jobs / REPORT).read_text())
    assert {finding["severity"] for finding in report} == {"critical", "minor"}
    assert {finding["location"]["path"] for finding in report} == {"job.yaml"}
    assert {"begin": 11, "end": 11} in [finding["location"]["lines"] for finding in report]
    assert len({finding["fingerprint"] for finding in report}) == len(report)
    before = {finding["fingerprint"] for finding in report}
    spec = jobs / "job.yaml"
    spec.write_text("# a line more\n" + spec.read_text())
    run_job("smspec-validate", jobs)
    assert {finding["fingerprint"] for finding in json.loads((jobs / REPORT).read_text())} == before


def test_directory_without_specs_fails(jobs):
    (jobs / "empty").mkdir()
    status, _, err = run_job("smspec-validate", jobs, SMSPEC_PATHS="empty")
    assert status == 2
    assert "no job spec found in `empty`" in err
    assert "Traceback" not in err


def test_differences_fail_only_on_request(jobs):
    base = git(jobs, "rev-parse", "HEAD")
    merge = {"CI_MERGE_REQUEST_DIFF_BASE_SHA": base}
    assert run_job("smspec-diff", jobs, **merge)[0] == 0
    assert (jobs / "smspec-diff.md").read_text() == ""
    write_job(jobs, BUILT.replace("count: 1", "count: 4"))
    status, out, err = run_job("smspec-diff", jobs, **merge)
    assert status == 0, err
    assert "hosts.count" in out
    assert (jobs / "smspec-diff.md").read_text() == out
    status, out, err = run_job("smspec-diff", jobs, **merge, SMSPEC_FAIL_ON="cost>20%")
    assert status == 1
    assert err.startswith("smspec: small: fails `cost>20%`: +300 % cost ceiling")
    assert out.startswith("### Fails `cost>20%`: 1 job") and (jobs / "smspec-diff.md").read_text() == out
    assert run_job("smspec-diff", jobs, **merge, SMSPEC_FAIL_ON="security")[0] == 0


@pytest.mark.parametrize("name", ["smspec.json", REPORT, "smspec-diff.md", "findings.json"])
def test_report_is_not_written_through_a_link(jobs, tmp_path, name):
    """A merge request may track a link of the name of a report: to its spec, or out of the checkout."""
    merge = {"CI_MERGE_REQUEST_DIFF_BASE_SHA": git(jobs, "rev-parse", "HEAD"), "SMSPEC_FAIL_ON": "cost>20%"}
    spec = BUILT.replace("count: 1", "count: 4") + "spot: {max_wait: 2d}\nstopping: {max_runtime: 3d}\n"
    write_job(jobs, BUILT.replace("count: 1", "count: 4"))
    outside = tmp_path / "outside"
    outside.write_text("kept\n")
    for target in ("job.yaml", "../outside"):
        (jobs / name).unlink(missing_ok=True)
        (jobs / name).symlink_to(target)
        commit(jobs)
        status, out, err = run_job("smspec-diff", jobs, **merge)
        assert (status, "+300 % cost ceiling" in out) == (1, True), err
        commit(jobs)
        (jobs / "job.yaml").write_text(spec)
        assert run_job("smspec-validate", jobs)[0] == 1
        assert (jobs / "job.yaml").read_text() == spec
        assert outside.read_text() == "kept\n"
        write_job(jobs, BUILT.replace("count: 1", "count: 4"))


def test_variables_of_submission_are_compared(jobs):
    """Lines with spaces, and patterns in them, stay one value."""
    spec = BUILT.replace("count: 1", 'count: "${{ vars.n }}"') + "vars: {n: {default: 1}, d: {default: x}}\n"
    write_job(jobs, spec)
    git(jobs, "commit", "-q", "-a", "-m", "x")
    merge = {"CI_MERGE_REQUEST_DIFF_BASE_SHA": git(jobs, "rev-parse", "HEAD"), "SMSPEC_FAIL_ON": "cost>20%"}
    write_job(jobs, spec.replace("name: small", 'name: small\ndescription: "${{ vars.d }}"'))
    assert run_job("smspec-diff", jobs, **merge, SMSPEC_SET="vars.n=4\n\n  vars.d=a * b\n")[0] == 0
    write_job(jobs, spec.replace('count: "${{ vars.n }}"', "count: 4"))
    status, _, err = run_job("smspec-diff", jobs, **merge, SMSPEC_SET="vars.n=2")
    assert status == 1 and "+100 % cost ceiling" in err


def test_file_name_never_becomes_an_option(jobs):
    (jobs / "--help").mkdir()
    (jobs / "--help/a").write_text("x")
    status, out, _ = run_job("smspec-validate", jobs, SMSPEC_PATHS="*")
    assert status == 2 and "usage" not in out


@pytest.mark.parametrize("gates", ["", "security"])
def test_spec_that_cannot_be_compared_fails(jobs, gates):
    base = git(jobs, "rev-parse", "HEAD")
    write_job(jobs, BUILT.replace("count: 1", "count: 0"))
    assert run_job("smspec-diff", jobs, CI_MERGE_REQUEST_DIFF_BASE_SHA=base, SMSPEC_FAIL_ON=gates)[0] == 2


@pytest.mark.skipif(shutil.which("bash") is None, reason="bash is not installed")
def test_package_has_no_default(tmp_path):
    """Without a release, the name alone is anyone's: pip does not start before the variable is set."""
    pip = tmp_path / "pip"
    pip.write_text(f'#!/bin/sh\necho "$@" > {tmp_path}/ran\n')
    pip.chmod(0o755)
    script = "\n".join(SNIPPET[".smspec"]["before_script"])
    variables = {**SNIPPET["variables"], "PATH": f"{tmp_path}:{os.environ['PATH']}"}
    for package, status in (("", 1), ("git+https://git.example.com/smspec@COMMIT", 0)):
        environment = {**os.environ, **variables, **({"SMSPEC_PACKAGE": package} if package else {})}
        done = subprocess.run(["bash", "-ec", script], env=environment, capture_output=True, text=True)
        assert (done.returncode != 0, (tmp_path / "ran").exists()) == (bool(status), not status), done.stderr
    assert package in (tmp_path / "ran").read_text()
