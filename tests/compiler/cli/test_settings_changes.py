"""`smspec diff --base` names changed policies, prices, quotas, rules, and lockfiles first, and judges by the base's."""

import json
import os
import shutil

import pytest

from support.git_repository import commit, git, repository
from support.review.diff_outcomes import jobs, rewrite
from support.small_job import READY, write_job
from support.smspec_command import smspec

POLICY = """\
allowed_instance_families = ["m5"]
max_cost = 500
require_vpc = false
rule_files = ["rules/*.yaml"]

[required_tags]
team = ["ads"]

[rules]
SM332 = "warning"
"""
KEY = "a" * 15
TWICE = f'{{"lock": 1, "images": {{}},\n  "environments": {{\n    "a{KEY}": {{}},\n    "\\u0061{KEY}": {{}}\n  }}\n}}'
RULE = """\
code: ORG101
title: jobs have a team
why: costs
severity: error
require:
  tags.team: {matches: '^[a-z]+$'}
cases:
  right:
  - {tags: {team: ads}}
  wrong:
  - {hosts: {count: 1}}
"""
OTHER = RULE.replace("ORG101", "ORG102")
LISTED = {"as_of": "2026-11-01", "currency": "USD", "training": {"ml.m5.large": "0.115", "ml.m5.xlarge": "0.23"}}
GRANTED = {"as_of": "2026-11-01", "training": {"ml.m5.large for training job usage": 4}}
DIGEST = "sha256:" + "1" * 64
FILES = {
    "smspec.toml": POLICY,
    "rules/team.yaml": RULE,
    "rules/other.yaml": OTHER,
    "smspec.prices.json": json.dumps({"version": 1, "regions": {"us-west-2": LISTED}}, indent=2),
    "smspec.quotas.json": json.dumps({"version": 1, "accounts": {"111122223333": {"us-west-2": GRANTED}}}, indent=2),
    "smspec.lock": json.dumps({"lock": 1, "images": {"python:3.12-slim": DIGEST}, "requirements": {}}, indent=2),
    "smspec.lock.d/1111111111111111.txt": "six==1.16.0\n",
}
SPEC = READY + "tags: {team: ads}\n"


@pytest.fixture
def home(tmp_path):
    """A repository with a job two directories below its settings."""
    directory = repository(tmp_path / "home")
    write_job(directory / "jobs/ctr", SPEC)
    for name, text in FILES.items():
        (directory / name).parent.mkdir(exist_ok=True)
        (directory / name).write_text(text)
    commit(directory)
    return directory


def compared(home, *words):
    done = smspec("diff", "--base", "HEAD", "--format", "json", *words, cwd=home)
    return done.status, jobs(done)


def move(home, old, new):
    (home / new).parent.mkdir(exist_ok=True, parents=True)
    (home / old).rename(home / new)


def link(home, name, target):
    (home / name).unlink()
    os.symlink(target, home / name)


def write(home, name, text):
    (home / name).parent.mkdir(exist_ok=True, parents=True)
    (home / name).write_text(text)


def policy(old, new):
    return lambda home: rewrite(home / "smspec.toml", old, new)


def directory_for_policy(home):
    (home / "smspec.toml").unlink()
    write(home, "smspec.toml/policy.toml", "")


CHANGES = {
    "a higher limit": (lambda home: rewrite(home / "smspec.toml", "500", "900"), "smspec.toml", "max_cost", "loosens"),
    "a lower limit": (lambda home: rewrite(home / "smspec.toml", "500", "90"), "smspec.toml", "max_cost", "does not"),
    "one more family": (policy('["m5"]', '["m5", "p5"]'), "smspec.toml", "allowed_instance_families", "loosens"),
    "a removed key": (policy("max_cost = 500\n", ""), "smspec.toml", "max_cost", "loosens"),
    "a removed tag": (policy('team = ["ads"]\n', ""), "smspec.toml", "required_tags.team", "loosens"),
    "a rule that is off": (policy('"warning"', '"off"'), "smspec.toml", "rules.SM332", "loosens"),
    "a rule turned off": (policy("[rules]\n", '[rules]\nSM740 = "off"\n'), "smspec.toml", "rules.SM740", "loosens"),
    "a requirement": (policy("false", "true"), "smspec.toml", "require_vpc", "does not"),
    "no policy": (lambda home: (home / "smspec.toml").unlink(), "smspec.toml", "", "gone"),
    "a moved policy": (lambda home: move(home, "smspec.toml", "jobs/smspec.toml"), "jobs/smspec.toml", "", "moved"),
    "a policy moved away": (lambda home: move(home, "smspec.toml", "other/smspec.toml"), "smspec.toml", "", "gone"),
    "an inner policy": (lambda home: write(home, "jobs/ctr/smspec.toml", ""), "jobs/ctr/smspec.toml", "", "is new"),
    "an inner pyproject.toml": (
        lambda home: write(home, "jobs/pyproject.toml", "[tool.smspec]\nmax_hours = 1\n"),
        "jobs/pyproject.toml",
        "max_hours",
        "does not",
    ),
    "an executable policy": (lambda home: (home / "smspec.toml").chmod(0o755), "smspec.toml", "", "another form"),
    "a policy that is a link": (
        lambda home: (
            move(home, "smspec.toml", "other/smspec.toml"),
            os.symlink("other/smspec.toml", home / "smspec.toml"),
        ),
        "smspec.toml",
        "",
        "another form",
    ),
    "a policy that is a directory": (directory_for_policy, "smspec.toml", "", "another form"),
    "a broken policy": (lambda home: write(home, "smspec.toml", "max_cost = ["), "smspec.toml", "", "cannot be read"),
    "a value of another type": (
        policy("require_vpc = false", "require_vpc = 0"),
        "smspec.toml",
        "require_vpc",
        "may loosen",
    ),
    "an empty lockfile": (lambda home: write(home, "smspec.lock", "{}"), "smspec.lock", "lock", "may loosen"),
    "empty prices": (lambda home: write(home, "smspec.prices.json", "{}"), "smspec.prices.json", "version", "loosen"),
    "prices nested deeply": (
        lambda home: write(home, "smspec.prices.json", '{"a":' * 500 + "{}" + "}" * 500),
        "smspec.prices.json",
        "",
        "cannot be read",
    ),
    "a policy nested deeply": (
        lambda home: write(home, "smspec.toml", ".".join("a" * 900) + " = 1\n"),
        "smspec.toml",
        "",
        "cannot be read",
    ),
    "a lower price": (
        lambda home: rewrite(home / "smspec.prices.json", '"0.115"', '"0.001"'),
        "smspec.prices.json",
        'regions.us-west-2.training["ml.m5.large"]',
        "loosens",
    ),
    "a higher quota": (
        lambda home: rewrite(home / "smspec.quotas.json", 'usage": 4', 'usage": 400'),
        "smspec.quotas.json",
        'accounts.111122223333.us-west-2.training["ml.m5.large for training job usage"]',
        "loosens",
    ),
    "no quotas": (lambda home: (home / "smspec.quotas.json").unlink(), "smspec.quotas.json", "", "gone"),
    "a changed rule": (
        lambda home: rewrite(home / "rules/team.yaml", "severity: error", "severity: note"),
        "rules/team.yaml",
        "severity",
        "may loosen",
    ),
    "a removed rule": (lambda home: (home / "rules/team.yaml").unlink(), "rules/team.yaml", "", "gone"),
    "a new rule": (
        lambda home: write(home, "rules/new.yaml", RULE.replace("ORG101", "ORG103")),
        "rules/new.yaml",
        "",
        "is new",
    ),
    "another digest": (
        lambda home: rewrite(home / "smspec.lock", "1" * 64, "2" * 64),
        "smspec.lock",
        'images["python:3.12-slim"]',
        "may loosen",
    ),
    "a lockfile with an entry twice": (
        lambda home: write(home, "smspec.lock", TWICE),
        "smspec.lock",
        "",
        "cannot be read",
    ),
    "an inner lockfile": (
        lambda home: write(home, "jobs/smspec.lock", '{"lock": 1, "images": {}, "requirements": {}}'),
        "jobs/smspec.lock",
        "",
        "is new",
    ),
    "other locked packages": (
        lambda home: write(home, "smspec.lock.d/1111111111111111.txt", "six==1.17.0\n"),
        "smspec.lock.d/1111111111111111.txt",
        "",
        "changed",
    ),
}


MALFORMED = ("broken", "directory", "nested", "empty", "type")
"""Words of cases after which the working tree cannot be judged."""


@pytest.mark.parametrize("case", CHANGES)
def test_changed_settings_are_named_first_without_a_changed_spec(home, case):
    edit, file, path, words = CHANGES[case]
    edit(home)
    _, found = compared(home)
    reports = [report for report in found if report["job"] == ""]
    assert found[: len(reports)] == reports, "settings are not first"
    report = next(report for report in reports if report["file"] == file)
    change = next(change for change in report["changes"] if change["path"] == path and words in change["what"])
    assert {change["kind"] for change in report["changes"]} == {"security"}
    assert "does not" in change["what"] if words == "does not" else "does not" not in change["what"]
    if not any(word in case for word in MALFORMED):
        assert smspec("diff", "--base", "HEAD", "--fail-on", "security", cwd=home).status == 1
        assert smspec("diff", "--base", "HEAD", "--fail-on", "hosts", cwd=home).status == 0
    text = smspec("diff", "--base", "HEAD", cwd=home).out
    assert text.startswith(reports[0]["file"])
    assert f"`{file}`" in smspec("diff", "--base", "HEAD", "--format", "markdown", cwd=home).out


@pytest.mark.parametrize(
    ("file", "text"),
    [
        ("smspec.toml", "# a comment\n" + POLICY),
        ("pyproject.toml", "[project]\nname = 'x'\n"),
        ("jobs/README.md", "x"),
    ],
)
def test_file_that_changes_no_setting_is_not_named(home, file, text):
    (home / file).write_text(text)
    assert compared(home) == (0, [])


@pytest.mark.parametrize("is_ignored", [False, True])
def test_policy_outside_of_the_index_is_named(home, is_ignored):
    if is_ignored:
        (home / ".git/info").mkdir(exist_ok=True)
        (home / ".git/info/exclude").write_text("smspec.toml\n")
    write(home, "jobs/ctr/smspec.toml", "max_hours = 1\n")
    assert [report["file"] for report in compared(home)[1]] == ["jobs/ctr/smspec.toml"]


def test_settings_of_other_directories_are_not_named(home):
    write_job(home / "jobs/other", SPEC.replace("small", "other"))
    write(home, "jobs/other/smspec.toml", "")
    commit(home)
    write(home, "jobs/other/smspec.toml", "max_hours = 1\n")
    assert compared(home, "jobs/ctr") == (0, [])
    assert [report["file"] for report in compared(home, "jobs")[1]] == ["jobs/other/smspec.toml"]


def test_prices_of_a_comparison_are_those_of_the_base(home):
    rewrite(home / "smspec.prices.json", '"0.23"', '"0.0001"')
    rewrite(home / "jobs/ctr/job.yaml", "ml.m5.large", "ml.m5.xlarge")
    write(home, "jobs/ctr/smspec.toml", '[prices]\n"ml.m5.xlarge" = 0.0001\n')
    rewrite(home / "jobs/ctr/job.yaml", "smspec: v1", "smspec: v1\nregion: us-west-2")
    done = smspec("diff", "--base", "HEAD", "--fail-on", "cost>20%", "jobs/ctr", cwd=home)
    assert "$2.76 → $5.52" in done.out
    assert smspec("diff", "--base", "HEAD", "--fail-on", "cost>20%", cwd=home).status == 1


def test_pull_request_cannot_lower_errors_for_itself(home):
    key = "arn:aws:kms:eu-west-1:111122223333:key/1234abcd-12ab-34cd-56ef-1234567890ab"
    rewrite(
        home / "jobs/ctr/job.yaml",
        "output: s3://models/small/",
        f"output: {{s3: s3://models/small/, kms_key: '{key}'}}",
    )
    rewrite(home / "jobs/ctr/job.yaml", "smspec: v1", "smspec: v1\nregion: us-west-2")
    rewrite(home / "smspec.toml", "[rules]\n", '[rules]\nSM477 = "off"\n')
    done = smspec("diff", "--base", "HEAD", cwd=home)
    assert (done.status, "SM477" in done.err) == (2, True)


def test_directory_that_became_a_link_reveals_nothing(home, tmp_path):
    write(tmp_path, "elsewhere/smspec.toml", '[prices]\n"secret" = 12345\n')
    write(home, "jobs/smspec.toml", "max_hours = 9\n")
    commit(home)
    shutil.rmtree(home / "jobs")
    os.symlink(tmp_path / "elsewhere", home / "jobs")
    for format in ("text", "json", "markdown"):
        done = smspec("diff", "--base", "HEAD", "--format", format, ".", cwd=home)
        assert "12345" not in done.out + done.err and "secret" not in done.out + done.err
    assert "jobs/smspec.toml" in done.out


@pytest.fixture
def linked(home):
    """The repository with the job behind a link to `ml/ctr`, and settings above that place."""
    move(home, "jobs/ctr", "ml/ctr")
    os.symlink("../ml/ctr", home / "jobs/ctr")
    write(home, "ml/smspec.toml", 'max_hours = 24\nrule_files = ["own/*.yaml"]\n')
    write(home, "ml/own/hosts.yaml", RULE.replace("ORG101", "ORG103"))
    for name in ("smspec.prices.json", "smspec.quotas.json", "smspec.lock"):
        shutil.copy(home / name, home / "ml")
    commit(home)
    return home


@pytest.mark.parametrize("path", ["jobs", "jobs/ctr/job.yaml"])
@pytest.mark.parametrize(
    ("file", "old", "new"),
    [
        ("ml/smspec.toml", "24", "2400"),
        ("ml/own/hosts.yaml", "error", "note"),
        ("ml/smspec.prices.json", "0.115", "0.001"),
        ("ml/smspec.quotas.json", " 4", " 400"),
        ("ml/smspec.lock", "1" * 64, "2" * 64),
    ],
)
def test_settings_where_a_link_leads_are_named(linked, path, file, old, new):
    rewrite(linked / file, old, new)
    named = [] if file == "ml/smspec.lock" else [file]
    found = compared(linked, path)[1]
    assert [report["file"] for report in found] == named
    assert all("is new" not in change["what"] for report in found for change in report["changes"])
    said = smspec("validate", "--changed", "HEAD", "jobs/ctr/job.yaml", cwd=linked).err
    assert (f"settings that changed since HEAD: `{file}`" in said) == bool(named)


def replace_link(home):
    (home / "jobs/ctr").unlink()
    shutil.copytree(home / "ml/ctr", home / "jobs/ctr")


def point_elsewhere(home):
    shutil.copytree(home / "ml/ctr", home / "other/ctr")
    link(home, "jobs/ctr", "../other/ctr")


def move_job(home):
    (home / "jobs/ctr").unlink()
    commit(home)
    move(home, "ml/ctr", "other/ctr")


@pytest.mark.parametrize("edit", [replace_link, point_elsewhere, move_job])
def test_policy_that_no_longer_applies_is_named(linked, edit):
    edit(linked)
    done = smspec("diff", "--base", "HEAD", "--fail-on", "security", cwd=linked)
    assert done.status == 1
    assert "ml/smspec.toml: fails `security`" in done.err
    assert "the policy no longer applies to specs in `" in done.out


def test_secrets_in_settings_are_masked(home):
    write(
        home, "smspec.toml", POLICY + '[defaults.environment]\nAPI_TOKEN = "ghp_0123456789abcdefghijklmnopqrstuvwxyz"\n'
    )
    for format in ("text", "json", "markdown"):
        assert "ghp_0123" not in smspec("diff", "--base", "HEAD", "--format", format, cwd=home).out


@pytest.mark.parametrize(
    ("edit", "named"),
    [
        (lambda home: rewrite(home / "smspec.toml", "500", "900"), "smspec.toml"),
        (lambda home: write(home, "jobs/ctr/smspec.toml", ""), "jobs/ctr/smspec.toml"),
        (lambda home: (home / "rules/team.yaml").unlink(), "rules/team.yaml"),
        (lambda home: (home / "smspec.quotas.json").unlink(), "smspec.quotas.json"),
        (lambda home: rewrite(home / "smspec.lock", "1" * 64, "2" * 64), "smspec.lock"),
        (lambda home: write(home, "jobs/other/smspec.toml", ""), None),
        (lambda home: rewrite(home / "jobs/ctr/job.yaml", "count: 1", "count: 2"), None),
    ],
    ids=["policy", "inner policy", "removed rule", "removed quotas", "lock", "a policy elsewhere", "a spec"],
)
def test_validation_of_changes_names_changed_settings(home, edit, named):
    edit(home)
    done = smspec("validate", "--changed", "HEAD", cwd=home)
    assert ("judged by settings that changed since HEAD" in done.err) == (named is not None)
    if named is not None:
        assert f"`{named}`" in done.err and "checked 1 job" in done.err


def test_other_base_than_head(home):
    write(home, "smspec.toml", POLICY.replace("500", "900"))
    commit(home)
    assert compared(home) == (0, [])
    (report,) = jobs(smspec("diff", "--base", "HEAD~1", "--format", "json", cwd=home))
    assert [(c["path"], c["old"], c["new"], c["line"]) for c in report["changes"]] == [("max_cost", 500, 900, 2)]
    assert git(home, "status", "--porcelain") == ""
