"""What others wrote is no command of a CI system whose log shows it, whatever the command prints."""

import json
import re

import pytest

from support.git_repository import commit, repository
from support.small_job import READY, write_job
from support.smspec_command import smspec

WORDS = [
    "##vso[task.setvariable variable=PATH]/tmp/x",
    "##[stop-commands]x",
    "##[add-mask]error",
    "##teamcity[buildStatus text='fine']",
    "::stop-commands::x",
    "::set-output name=a::b",
]


def obeyed(line):
    """Return whether GitHub's runner (both forms), an agent of Azure, or TeamCity obeys a line."""
    return re.search(r"##(?:vso|teamcity)?\[", line) or re.match(r"\s*::[a-z-]+(?: [^:]*)?::", line)


def assert_no_command(*outputs):
    assert [line for output in outputs for line in output.split("\n") if obeyed(line)] == []


@pytest.fixture(params=WORDS, ids=lambda words: re.sub(r"\W+", "-", words))
def words(request):
    return request.param


@pytest.fixture
def changed(tmp_path, words):
    """A repository in which names of files and values are commands, and a spec whose errors show some."""
    place = words.replace("/", "-")
    spec = READY + f"environment: {{K: {json.dumps(words)}}}\n"
    (tmp_path / place).mkdir()
    write_job(tmp_path / place, spec)
    write_job(tmp_path, READY.replace("small", "other"))
    repository(tmp_path)
    commit(tmp_path)
    (tmp_path / place / "job.yaml").write_text(spec.replace(words, f"{words}2").replace("count: 1", "count: 2"))
    (tmp_path / "job.yaml").write_text(READY + f"tags: {{k: {json.dumps(words + '!')}}}\n{json.dumps(words)}: 1\n")
    return tmp_path


def test_diff_gives_no_command(changed):
    for kind in ("text", "markdown", "json"):
        assert_no_command(*smspec("diff", "--base", "HEAD", "--format", kind, cwd=changed)[1:])


def test_findings_give_no_command(changed, words):
    for kind in ("text", "json", "sarif", "junit"):
        assert_no_command(*smspec("validate", "-v", "--format", kind, ".", cwd=changed)[1:])
    findings = json.loads(smspec("validate", "--format", "json", ".", cwd=changed).out)
    assert any(words in finding["message"] for finding in findings)


def test_other_commands_give_no_command(changed, words):
    place = words.replace("/", "-")
    (changed / place / "job.yaml").write_text(READY.replace("smspec: v1\n", "") + "smspec: v1\n")
    for arguments in (["fmt", "--diff", "."], ["render", f"{place}/x.yaml"], ["explain", words], [words]):
        assert_no_command(*smspec(*arguments, cwd=changed)[1:])


def test_commands_for_github_are_ours(changed):
    done = smspec("validate", "--format", "github", ".", cwd=changed)
    assert [
        line for line in done.out.splitlines() if not line.startswith(("::error ", "::warning ", "::notice "))
    ] == []
    assert_no_command(done.err)
