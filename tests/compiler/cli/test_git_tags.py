"""The commit of a spec as tags of its job, from `smspec submit` to `smspec status`."""

import json

import pytest

from support.git_repository import commit, repository
from support.servers.job_server import COMPLETED
from support.small_job import write_job
from support.smspec_command import smspec
from support.submitted_job import SPEC

GIT_TAGS = ("smspec:git-commit", "smspec:git-dirty")


@pytest.fixture
def head(aws, tmp_path):
    repository(tmp_path)
    return commit(tmp_path)


def git_tags(aws):
    tags = {tag["Key"]: tag["Value"] for tag in aws.created[-1]["Tags"]}
    return tuple(tags.get(name) for name in GIT_TAGS)


def test_job_has_the_commit_of_its_spec(aws, head):
    outside = json.loads(smspec("render", "--api-json").out)["TrainingJobName"]
    name = smspec("submit", "--detach").out.strip()
    assert git_tags(aws) == (head, "false")
    assert name == outside
    assert f"\ngit commit: {head}\n" in smspec("status", name).out
    record = json.loads(smspec("status", name, "--format", "json").out)
    assert (record["git_commit"], record["git_dirty"]) == (head, False)


def test_untracked_file_of_the_source_is_dirty(aws, head, tmp_path):
    (tmp_path / "notes.txt").write_text("no part of the job")
    smspec("submit", "--detach")
    assert git_tags(aws) == (head, "false")
    (tmp_path / "src" / "new.py").write_text("x = 1\n")
    name = smspec("submit", "--detach").out.strip()
    assert git_tags(aws) == (head, "true")
    assert f"git commit: {head}, with changes that it does not contain\n" in smspec("status", name).out


def test_later_commit_leaves_the_tags_of_a_job(aws, head, tmp_path):
    first = smspec("submit", "--detach").out
    (tmp_path / "notes.txt").write_text("x")
    commit(tmp_path)
    write_job(tmp_path, SPEC.replace("team: ads", "team: search"))
    again = smspec("submit", "--detach")
    assert (again.out, aws.asked["AddTags"]) == (first, 1)
    assert git_tags(aws) == (head, "false")


def test_job_without_git_has_no_tags_about_it(aws):
    name = smspec("submit", "--detach").out.strip()
    assert git_tags(aws) == (None, None)
    assert "git commit" not in smspec("status", name).out


@pytest.mark.parametrize(("count", "has_room"), [(47, True), (48, False)])
def test_tags_of_the_spec_go_first(aws, head, tmp_path, count, has_room):
    tags = ", ".join(f"t{number}: x" for number in range(count))
    write_job(tmp_path, SPEC.replace("{team: ads}", f"{{{tags}}}"))
    done = smspec("submit", "--detach")
    assert done.status == 0, done.err
    assert git_tags(aws) == ((head, "true") if has_room else (None, None))
    assert len(aws.created[0]["Tags"]) == (50 if has_room else 49)


def test_status_without_permission_to_read_tags(aws, head):
    aws.first_looks = [COMPLETED]
    name = smspec("submit", "--detach").out.strip()
    aws.faults["ListTags"] = [(400, "AccessDeniedException")]
    done = smspec("status", name)
    assert done.status == 0 and "git commit" not in done.out
