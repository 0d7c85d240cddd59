"""The GitHub Action: its steps run against a server that stores comments like GitHub."""

import json
import os
import re
import shutil
import subprocess
import sys
import sysconfig
from pathlib import Path

import pytest

from support.composite_action import ACTION, ROOT, STEPS, run_action
from support.git_repository import commit, git, repository
from support.servers.github_server import github
from support.small_job import BUILT, write_job

MARKER = "<!-- smspec diff: smspec -->"

pytestmark = pytest.mark.skipif(
    not (Path(sys.prefix) / "bin/smspec").exists(), reason="smspec is not installed as a command beside this Python"
)


@pytest.fixture
def server():
    with github() as running:
        yield running


@pytest.fixture
def jobs(tmp_path):
    """A repository with one job on its main branch."""
    root = repository(tmp_path / "jobs")
    write_job(root)
    commit(root)
    return root


@pytest.fixture
def act(tmp_path, server):
    """Run the action on what is checked out, as for a pull request, or for another event."""

    def run(root, event=None, failing=(), **inputs):
        words, event = {name.replace("_", "-"): v for name, v in inputs.items()}, event or pull_request(root)
        return run_action(root, tmp_path / "runner", words, event, api=server.url, failing=failing)

    return run


def pull_request(root, *, fork=False, base="main", head="HEAD"):
    origin = "somebody/jobs" if fork else "example/jobs"
    base, head = git(root, "rev-parse", base), git(root, "rev-parse", head)
    return {"pull_request": {"number": 7, "base": {"sha": base}, "head": {"sha": head, "repo": {"full_name": origin}}}}


def change(root, old="count: 1", new="count: 4"):
    """Change the job on a branch, and commit."""
    spec = root / "job.yaml"
    assert old in spec.read_text()
    if git(root, "branch", "--show-current") == "main":
        git(root, "checkout", "-q", "-b", "topic")
    spec.write_text(spec.read_text().replace(old, new))
    commit(root)


def test_event_text_is_not_expanded_in_scripts():
    """An expression in `run` is pasted into the script before bash reads it; values go through variables."""
    for step in STEPS:
        assert "${{" not in step.get("run", "")
    assert not re.search(r"\$\{\{\s*github\.(event|head_ref|ref_name|actor)", json.dumps(ACTION))


def test_token_is_passed_to_one_step():
    assert [step["name"] for step in STEPS if "github.token" in json.dumps(step)] == ["Comment"]


def test_change_is_reported_in_one_updated_comment(jobs, act, server):
    change(jobs)
    done = act(jobs)
    assert done.status == 0, done.log
    first, rest = server.bodies[0].split("\n", 1)
    assert (len(server.bodies), first, "hosts.count" in rest) == (1, MARKER, True)
    assert done.outputs["diff"]["changed"] == "true"
    assert done.summary.strip() == rest.strip()

    assert act(jobs).status == 0
    assert [method for method, _ in server.asked] == ["GET", "POST", "GET"]  # the same words are not written again

    change(jobs, "count: 4", "count: 8")
    assert act(jobs).status == 0
    assert len(server.bodies) == 1
    assert "1 → 8" in server.bodies[0].replace("`", "")


def test_comment_is_updated_when_differences_vanish(jobs, act, server):
    change(jobs)
    act(jobs)
    change(jobs, "count: 4", "count: 1")
    done = act(jobs)
    assert (done.status, done.outputs["diff"]["changed"]) == (0, "false")
    assert server.bodies == [f"{MARKER}\nNo job differs from the base any more.\n"]


def test_unchanged_jobs_get_no_comment(jobs, act, server):
    git(jobs, "checkout", "-q", "-b", "topic")
    (jobs / "README.md").write_text("about\n")
    commit(jobs)
    assert act(jobs).status == 0
    assert server.comments == []


def test_only_one_marked_bot_comment_remains(jobs, act, server):
    """The marker may be forged, and concurrent runs may both comment."""
    for number in range(3):
        server.add(f"comment {number}", kind="User")
    forged = server.add(f"{MARKER}\nforged", kind="User")
    server.add("<!-- smspec diff: other -->\nof another use")
    first, second = server.add(f"{MARKER}\r\nold"), server.add(f"{MARKER}\nolder")
    change(jobs)
    assert act(jobs).status == 0
    texts = {comment["id"]: comment["body"] for comment in server.comments}
    assert (texts[forged], second in texts, len(texts)) == (f"{MARKER}\nforged", False, 6)
    assert "hosts.count" in texts[first]


def test_pull_request_from_a_fork_gets_annotations_only(jobs, act, server):
    change(jobs, "count: 1", "count: 0")
    done = act(jobs, pull_request(jobs, fork=True), sarif="true")
    assert done.status == 1
    assert re.search(r"^::error file=job\.yaml,line=\d+", done.log, re.MULTILINE)
    assert "Upload findings" not in done.used
    event = pull_request(jobs)
    event["pull_request"]["head"]["repo"] = None  # the fork is gone
    assert act(jobs, event).status == 1
    assert server.asked == []


def test_comment_does_not_need_the_upload(jobs, act, server):
    change(jobs)
    done = act(jobs, failing=("Upload findings",), sarif="true", name="my jobs")
    upload = done.used["Upload findings"]
    assert (done.status, len(server.comments), upload["category"]) == (1, 1, "my jobs")
    assert json.loads(Path(upload["sarif_file"]).read_text())["runs"][0]["results"] == []


def test_warnings_fail_only_in_strict_mode(jobs, act):
    change(jobs, "hosts:", "spot: {max_wait: 2d}\nhosts:")  # without checkpoints
    loose, strict = act(jobs), act(jobs, strict="true")
    assert "::warning file=job.yaml" in loose.log
    assert (loose.status, strict.status) == (0, 1)


def test_selected_kind_of_change_fails(jobs, act, server):
    change(jobs)
    assert act(jobs, fail_on="security").status == 0
    assert "--fail-on" not in server.bodies[0]
    done = act(jobs, fail_on="security,cost>20%")
    assert done.status == 1
    assert "hosts.count" in server.bodies[0]
    for text in (done.summary, server.bodies[0]):
        assert "### Fails `cost>20%`: 1 job" in text
    assert "smspec: small: fails `cost>20%`: +300 % cost ceiling" in done.log
    line = "::error file=job.yaml,line=8,title=smspec diff --fail-on cost>20%25::small: +300 %25 cost ceiling"
    assert [each for each in done.log.splitlines() if each.startswith(line)]
    unknown = act(jobs, fail_on="everything")
    assert unknown.status != 0
    assert "everything" in unknown.log


@pytest.mark.parametrize(("broken", "fixed"), [("count: 0", "count: 1"), ("count: 1", "count: 0")])
def test_uncompared_job_is_listed_and_fails(broken, fixed, jobs, act, server):
    """The base may be broken, or the pull request; that no job differs is not known then."""
    other = write_job(jobs / "other", BUILT.replace("name: ", "name: other-"))
    (jobs / "job.yaml").write_text(BUILT.replace("count: 1", broken))
    commit(jobs)
    git(jobs, "checkout", "-q", "-b", "topic")
    change(jobs, broken, fixed)
    other.write_text(other.read_text().replace("count: 1", "count: 4"))
    write_job(jobs / "a\u202e\x1b\n::error::b", BUILT.replace("count: 1", "count: 0"))
    commit(jobs)
    done = act(jobs)
    assert done.status
    path = r"a\u202e\x1b\x0a::error::b/job.yaml"
    assert f"::error title=smspec::2 jobs were not compared: small, {path}" in done.log.splitlines()
    assert done.outputs["diff"]["not-compared"] == "2"
    assert done.outputs["diff"]["changed"] == "true"
    for text in (done.summary, server.bodies[0]):
        assert "### Not compared: 2 jobs" in text and "hosts.count" in text
        assert "No job differs" not in text


def test_variables_of_submission_are_compared(jobs, act):
    change(jobs, "epochs: 2", 'epochs: "${{ vars.n }}"}\nvars: {n: {default: 1}, d: {default: x}')
    event = pull_request(jobs, base="HEAD")
    change(jobs, "count: 1", 'count: "${{ vars.n }}"')
    failed = [act(jobs, event, fail_on="cost", set=f"vars.n={n}\n\n vars.d=$(a) b").status for n in (1, 4)]
    assert failed == [0, 1]


def test_uncompared_job_can_be_a_warning(jobs, act):
    (jobs / "job.yaml").write_text(BUILT.replace("count: 1", "count: 0"))
    commit(jobs)
    change(jobs, "count: 0", "count: 1")
    done = act(jobs, not_compared="warn")
    assert done.status == 0
    assert "::warning title=smspec::1 job was not compared: small" in done.log
    assert "changed" not in done.outputs["diff"]
    assert act(jobs, not_compared="warn", fail_on="security").status != 0


def test_comment_claims_equality_only_if_known(jobs, act, server):
    server.add(f"{MARKER}\nold")
    change(jobs, "count: 1", "count: 0")
    assert act(jobs).status != 0
    assert "No job differs" not in server.bodies[0]
    assert "Not compared: 1 job" in server.bodies[0]


def test_variables_of_the_run_do_not_reach_smspec(jobs, act, monkeypatch, tmp_path):
    for name in ("ACTIONS_ID_TOKEN_REQUEST_TOKEN", "AWS_SECRET_ACCESS_KEY", "GITHUB_TOKEN"):
        monkeypatch.setenv(name, "planted-value")
    program = tmp_path / "bin/git"
    program.parent.mkdir()
    # The action itself lists no files of a commit.
    program.write_text('#!/bin/sh\ncase "$*" in *ls-tree*) env >> "$0.env";; esac\nPATH=${PATH#*:}\nexec git "$@"\n')
    program.chmod(0o755)
    monkeypatch.setenv("PATH", f"{program.parent}:{os.environ['PATH']}")
    change(jobs)
    done = act(jobs)
    assert done.status == 0, done.log
    seen = Path(f"{program}.env").read_text()
    assert ("GIT_NO_LAZY_FETCH" in seen, "planted-value" in seen) == (True, False)


def test_shallow_merge_is_compared_with_its_parent(jobs, act, server, tmp_path):
    """actions/checkout takes one commit, the merge; the base may have moved on since the event."""
    before = git(jobs, "rev-parse", "main")
    change(jobs)
    head = git(jobs, "rev-parse", "HEAD")
    git(jobs, "checkout", "-q", "main")
    other = jobs / "other"
    other.mkdir()
    write_job(other, BUILT.replace("name: ", "name: other-"))
    commit(jobs)
    git(jobs, "checkout", "-q", "--detach")
    git(jobs, "merge", "-q", "--no-ff", "-m", "merge", "topic")
    git(jobs, "branch", "merged")
    clone = tmp_path / "clone"
    git(tmp_path, "clone", "-q", "--depth=1", "--branch=merged", f"file://{jobs}", str(clone))
    assert git(clone, "rev-list", "--count", "HEAD") == "1"
    done = act(clone, pull_request(jobs, base=before, head=head))
    assert done.status == 0, done.log
    assert "hosts.count" in server.bodies[0]
    assert "other-" not in server.bodies[0]


def test_full_clone_is_not_fetched_again(jobs, act, tmp_path):
    change(jobs)
    clone = tmp_path / "clone"
    git(tmp_path, "clone", "-q", "--single-branch", f"file://{jobs}", str(clone))
    git(jobs, "checkout", "-q", "main")
    (jobs / "README.md").write_text("later\n")
    commit(jobs)
    done = act(clone, pull_request(jobs, base="main", head="topic"))
    assert done.status == 0, done.log
    assert git(clone, "rev-parse", "--is-shallow-repository") == "false"


def test_push_is_compared_only_on_request(jobs, act, server):
    before = git(jobs, "rev-parse", "HEAD")
    change(jobs)
    assert act(jobs, {"ref": "refs/heads/main"}).outputs["diff"] == {"status": "0"}
    asked = act(jobs, {"ref": "refs/heads/main"}, base=before)
    assert "hosts.count" in asked.summary
    assert server.asked == []


def test_missing_revision_is_reported(jobs, act, tmp_path):
    done = act(jobs, base="no-such-branch", sarif="true")
    assert (done.status, "Upload findings" in done.used) == (1, True)
    assert "no revision `no-such-branch`" in done.log
    assert act(jobs, base=f"--upload-pack=touch {tmp_path}/ran").status == 1
    assert not (tmp_path / "ran").exists()


@pytest.mark.parametrize(("owner", "status"), [("https://github.com/example", 0), ("/somebody", 1)])
def test_branch_of_a_fork_is_rejected_as_base(jobs, act, owner, status):
    change(jobs)
    event = pull_request(jobs, fork=True)
    git(jobs, "branch", "-f", "main")
    git(jobs, "remote", "add", "origin", f"{owner}/jobs.git")
    assert act(jobs, event, base="main").status == status
    assert act(jobs, event, base=event["pull_request"]["base"]["sha"], fail_on="hosts").status == 1


@pytest.mark.parametrize("status", [403, 404])
def test_read_only_token_causes_a_warning(jobs, act, server, status):
    change(jobs)
    server.refusals = [status]
    done = act(jobs)
    assert done.status == 0
    assert "pull-requests: write" in done.log


def test_failing_server_is_retried(jobs, act, server):
    change(jobs)
    server.refusals = [502]
    assert act(jobs).status == 0
    assert len(server.comments) == 1


def test_changes_of_many_jobs_are_one_whole_comment(jobs, act, server):
    channels = "".join(f"  channel-{number:02d}: s3://example-data/old/{'y' * 60}/{number}/\n" for number in range(20))
    for number in range(30):
        place = jobs / f"job-{number:02d}"
        place.mkdir()
        write_job(place, BUILT.replace("name: ", f"name: j{number}-") + f"channels:\n{channels}")
    commit(jobs)
    git(jobs, "checkout", "-q", "-b", "topic")
    for spec in jobs.glob("job-*/job.yaml"):
        spec.write_text(spec.read_text().replace("/old/", "/new/"))
    commit(jobs)
    done = act(jobs)
    assert done.status == 0, done.log
    (body,) = server.bodies
    assert body == f"{MARKER}\n{Path(done.outputs['diff']['markdown']).read_text()}"
    assert "30 changed" in body


def test_long_comment_is_cut_between_jobs(tmp_path, server):
    """`smspec diff` keeps below this length, but for paths of thousands of characters."""
    whole = "".join(f"### `job-{number}`\n\n{'ä' * 2_500}\n" for number in range(30))
    event, comment = tmp_path / "event.json", tmp_path / "diff.md"
    head = {"sha": "1", "repo": {"full_name": "example/jobs"}}
    event.write_text(json.dumps({"pull_request": {"number": 7, "base": {"sha": "0"}, "head": head}}))
    comment.write_text(whole)
    settings = {
        "GITHUB_EVENT_PATH": str(event),
        "GITHUB_REPOSITORY": "example/jobs",
        "GITHUB_API_URL": server.url,
        "GITHUB_TOKEN": "t0ken",
        "SMSPEC_MARKDOWN": str(comment),
        "SMSPEC_NAME": "smspec",
    }
    step = ROOT / ".github/action/commenting.py"
    done = subprocess.run([sys.executable, step], env={**os.environ, **settings}, capture_output=True, text=True)
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
    (body,) = server.bodies
    assert len(body.encode()) < 65_536
    kept = body.split("\n", 1)[1].removesuffix("… and more; the page of the run has the rest of it.\n")
    assert kept.count("### ") == 12
    assert whole.startswith(f"{kept}### ")


def test_spec_text_cannot_command_the_runner(jobs, act):
    """A spec that fails is shown in the log with its own words, which the runner must not obey."""
    change(jobs, "name: ", "name: '##[add-mask]x ::add-mask::y'\n# ")
    done = act(jobs)
    stopped = re.sub(r"::stop-commands::(\w+)\n.*?\n::\1::", "", done.log, flags=re.DOTALL)
    assert done.status == 1
    lines = [line for line in stopped.splitlines() if line.startswith("::")]
    assert lines
    assert all(line.startswith(("::error ", "::warning ", "::notice ")) for line in lines)
    assert not [line for line in stopped.splitlines() if "##[" in line and not line.startswith("::")]


def test_modules_of_the_repository_are_not_imported(jobs, act, tmp_path):
    """A pull request may bring files named as what the action imports."""
    for name in ("yaml", "json", "smspec", "workflow", "pip", "venv", "runpy", "sitecustomize"):
        (jobs / f"{name}.py").write_text(f"open({str(tmp_path / 'ran')!r}, 'w')\n")
    change(jobs)
    assert act(jobs).status == 0
    assert not (tmp_path / "ran").exists()


def test_malformed_boolean_input_is_reported(jobs, act):
    done = act(jobs, strict="yes please")
    assert done.status == 1
    assert "the input strict is `yes please`: write true or false" in done.log


def test_action_installs_smspec(jobs, tmp_path, server, monkeypatch):
    """From the files of the action. pip finds what smspec requires; test_pre_commit.py has it installed, too."""
    monkeypatch.setenv("PIP_NO_BUILD_ISOLATION", "0")  # how pip spells --no-build-isolation
    here = sysconfig.get_path("purelib")
    site = tmp_path / "runner/temp/smspec" / Path(here).relative_to(sys.prefix)
    site.mkdir(parents=True)
    (site / "required.pth").write_text(here)  # of packages, not of smspec, which another .pth file there makes known
    root = Path(__file__).parents[2]
    action = tmp_path / "action"
    for name in ("compiler", "runtime", "schemas", ".github"):
        shutil.copytree(root / name, action / name, ignore=shutil.ignore_patterns("__pycache__"))
    for name in ("pyproject.toml", "README.md", "LICENSE", "action.yml"):
        shutil.copy(root / name, action)
    change(jobs)
    done = run_action(jobs, tmp_path / "runner", {}, pull_request(jobs), api=server.url, action=action, skip=())
    assert done.status == 0, done.log
    assert len(server.comments) == 1
