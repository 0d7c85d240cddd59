"""What a stranger adds next to a spec does not switch off the policy, the prices, the rules, or the lock above it."""

import json
import os

import pytest

from support.git_repository import commit, git, repository
from support.small_job import READY, write_job
from support.smspec_command import smspec

POLICY = """\
require_vpc = true
max_cost = 1
rule_files = ["rules/*.yaml"]

[prices]
"ml.m5.large" = 0.115
"""
RULE = """\
code: ORG101
title: jobs have a team
why: costs
require:
  tags.team: ads
cases:
  right:
  - {tags: {team: ads}}
  wrong:
  - {hosts: {count: 1}}
"""
REQUIRED = {"SM745", "SM748", "ORG101"}
"""What the policy reports about the job."""


@pytest.fixture(params=["git", "no git"])
def home(request, tmp_path):
    """A directory with a policy, and a job two directories below it."""
    directory = repository(tmp_path / "home") if request.param == "git" else tmp_path / "home"
    write_job(directory / "jobs/ctr", READY)
    write(directory, "smspec.toml", POLICY)
    write(directory, "rules/team.yaml", RULE)
    return directory


def write(home, name, text):
    (home / name).parent.mkdir(exist_ok=True, parents=True)
    (home / name).write_text(text)


def codes(home, *words, at="."):
    done = smspec("validate", *words, "--format", "json", cwd=home / at)
    assert done.status in (0, 1), done.err
    return {record["code"] for record in json.loads(done.out) if record["severity"] == "error"}


LOOSE = {
    "an empty smspec.toml": "",
    "a comment": "# nothing\n",
    "a requirement that is off": "require_vpc = false\n",
    "rules that are off": '[rules]\nSM745 = "off"\nSM748 = "note"\n',
    "the rule of the organization is off": '[rules]\nORG101 = "off"\n',
    "the entry is permitted": 'allow_ignores = ["SM745", "SM748", "SM751"]\n',
    "a higher limit": "max_cost = 100000\n",
    "a lower price": '[prices]\n"ml.m5.large" = 0.00001\n',
    "no rules": "rule_files = []\n",
    "unknown types are facts": '[facts]\ninstance_types = ["ml.m5.large"]\n',
    "defaults": '[defaults]\nregion = "us-west-2"\n',
}


@pytest.mark.parametrize("name", ["smspec.toml", "pyproject.toml"])
@pytest.mark.parametrize("case", LOOSE)
def test_inner_policy_leaves_the_outer_one_in_force(home, case, name):
    text = LOOSE[case]
    if name == "pyproject.toml":
        text = (
            "[tool.smspec]\n" + text.replace("\n[", "\n[tool.smspec.")
            if not text.startswith("[")
            else (text.replace("[", "[tool.smspec.", 1))
        )
    for place in ("jobs/ctr", "jobs"):
        write(home, f"{place}/{name}", text)
        for at, words in ((".", ["."]), ("jobs/ctr", []), ("jobs/ctr", ["."]), (".", ["jobs/ctr/job.yaml"])):
            found = codes(home, *words, at=at)
            assert found >= REQUIRED or "SM760" in found or "SM747" in found, (place, at, words, found)
        (home / place / name).unlink()


@pytest.mark.parametrize("case", [*LOOSE, "an infinite limit", "a limit that is no number"])
def test_rejected_inner_policy_is_not_harmless(tmp_path, case):
    home = repository(tmp_path / "home")
    write_job(home / "jobs/ctr", READY)
    write(home, "smspec.toml", POLICY)
    write(home, "rules/team.yaml", RULE)
    commit(home)
    more = {"an infinite limit": "max_cost = inf\n", "a limit that is no number": "max_cost = nan\n"}
    write(home, "jobs/smspec.toml", LOOSE.get(case) or more.get(case, ""))
    done = smspec("diff", "--base", "HEAD", cwd=home)
    assert done.out.startswith("jobs/smspec.toml: changes security")
    found = codes(home, ".")
    assert ("this loosens the policy" in done.out) == ("SM760" in found), done.out
    assert "does not loosen" not in done.out


@pytest.mark.parametrize(("date", "is_loose"), [("2026-11-17", True), ("2026-11-18", False), ("2026-12-01", False)])
def test_inner_policy_states_no_earlier_date(tmp_path, date, is_loose):
    home = repository(tmp_path / "home")
    write_job(home / "jobs/ctr", READY)
    write(home, "smspec.toml", "[facts]\ntoday = 2026-11-18\n")
    commit(home)
    write(home, "jobs/smspec.toml", f"facts = {{today = {date}}}\n")
    assert ("SM760" in codes(home, ".")) == is_loose
    (home / "jobs/smspec.toml").unlink()
    write(home, "smspec.toml", f"[facts]\ntoday = {date}\n")
    assert ("this loosens the policy" in smspec("diff", "--base", "HEAD", cwd=home).out) == is_loose


def test_malformed_quotas_hide_no_prices(tmp_path):
    home = repository(tmp_path / "home")
    write_job(home / "jobs/ctr", READY)
    write(home, "smspec.toml", POLICY)
    write(home, "rules/team.yaml", RULE)
    write(home, "smspec.quotas.json", "{}")
    commit(home)
    write(home, "jobs/ctr/job.yaml", READY.replace("count: 1", "count: 2"))
    done = smspec("diff", "--base", "HEAD", "--fail-on", "cost>20%", cwd=home)
    assert (done.status, "$2.76 → $5.52" in done.out) == (1, True)


def test_empty_policy_next_to_a_pyproject_hides_nothing(home):
    (home / "smspec.toml").rename(home / "pyproject.toml")
    text = (home / "pyproject.toml").read_text().replace("[prices]", "[tool.smspec.prices]")
    write(home, "pyproject.toml", f"[tool.smspec]\n{text}")
    write(home, "smspec.toml", "")
    assert codes(home, ".") == REQUIRED


UNREADABLE = {
    "a link to nothing": lambda path: os.symlink("nowhere", path),
    "a link out": lambda path: os.symlink("/etc/passwd", path),
    "a link to itself": lambda path: os.symlink(path.name, path),
    "a link to another name": lambda path: os.symlink(path.with_name("other.toml"), path),
    "a directory": lambda path: path.mkdir(),
    "a pipe": os.mkfifo,
    "not UTF-8": lambda path: path.write_bytes(b'[tool.smspec]\nx = "\xff"\n'),
    "too large": lambda path: path.write_bytes(b"[tool.smspec]\n" + b"#\n" * (1 << 17)),
    "not TOML": lambda path: path.write_bytes(b"[tool.smspec"),
}


@pytest.mark.parametrize("name", ["smspec.toml", "pyproject.toml"])
@pytest.mark.parametrize("case", UNREADABLE)
def test_unreadable_policy_is_an_error(home, case, name):
    for place in ("jobs/ctr", "."):
        path = home / place / name
        if path.exists():
            path.unlink()
        path.with_name("other.toml").write_text("[tool.smspec]\n")
        UNREADABLE[case](path)
        assert codes(home, "jobs/ctr/job.yaml") == {"SM747"}
        path.rmdir() if path.is_dir() and not path.is_symlink() else path.unlink()


@pytest.mark.skipif(os.geteuid() == 0, reason="root reads every file")
def test_policy_without_permission_is_an_error(home):
    (home / "smspec.toml").chmod(0)
    assert codes(home, "jobs/ctr/job.yaml") == {"SM747"}


def test_linked_directory_has_the_policy_of_its_own_place(home):
    (home / "smspec.toml").rename(home / "jobs/smspec.toml")
    (home / "rules").rename(home / "jobs/rules")
    os.symlink("jobs/ctr", home / "free")
    write(home, "smspec.toml", "")
    assert codes(home, "free/job.yaml") == REQUIRED
    assert codes(home, at="free") == REQUIRED


def test_overlays_and_extended_specs_have_the_policy_of_the_job(home):
    spec = READY + "extends: [../base/base.yaml]\noverlays: {dev: {retries: 1}}\n"
    write_job(home / "jobs/ctr", spec)
    write(home, "jobs/base/base.yaml", "smspec: v1\n")
    write(home, "jobs/base/smspec.toml", '[rules]\nSM745 = "off"\n')
    assert codes(home, ".") == REQUIRED
    assert codes(home, "jobs/ctr/job.yaml", "-O", "dev") == REQUIRED


@pytest.mark.parametrize("code", ["SM745", "SM748", "SM750", "SM751", "SM760"])
def test_spec_cannot_ignore_the_policy(home, code):
    write(home, "smspec.toml", POLICY + "\n".join(["", ""]))
    write(home, "smspec.toml", 'require_base = ["org.yaml"]\n' + POLICY)
    write_job(home / "jobs/ctr", READY + f"checks: {{ignore: [{{rule: {code}, because: no}}]}}\n")
    assert codes(home, ".") >= {*REQUIRED, "SM751"}


def test_rule_file_that_is_gone_is_an_error(home):
    (home / "rules/team.yaml").unlink()
    assert codes(home, ".") == {"SM747"}


def test_second_rule_with_one_code_is_an_error(home):
    write(home, "jobs/smspec.toml", 'rule_files = ["own.yaml"]\n')
    write(home, "jobs/own.yaml", RULE.replace("tags.team: ads", "tags.team: {present: true}"))
    assert codes(home, ".") == {"SM756"}


def test_inner_rules_are_added(home):
    write(home, "jobs/smspec.toml", 'rule_files = ["own.yaml"]\n')
    write(home, "jobs/own.yaml", RULE.replace("ORG101", "ORG102"))
    assert codes(home, ".") == {*REQUIRED, "ORG102"}


@pytest.mark.parametrize("name", ["SMSPEC.TOML", "Smspec.toml", "smspec.toml ", "smspec.toml.bak"])
def test_other_spellings_switch_nothing_off(home, name):
    write(home, f"jobs/ctr/{name}", "require_vpc = false\n")
    assert codes(home, ".") >= REQUIRED or codes(home, ".") == {"SM760"}  # where a file system ignores the case


def test_inner_lock_does_not_replace_a_digest(home):
    pins = {"python:3.12-slim": f"sha256:{'1' * 64}"}
    write(home, "smspec.lock", json.dumps({"lock": 1, "images": pins, "requirements": {}}))
    for inner, expected in (({}, REQUIRED), (pins, REQUIRED), ({"python:3.12-slim": f"sha256:{'2' * 64}"}, {"SM761"})):
        write(home, "jobs/ctr/smspec.lock", json.dumps({"lock": 1, "images": inner, "requirements": {}}))
        assert codes(home, "jobs/ctr/job.yaml") == expected


def test_inner_lock_leaves_the_outer_digest_in_the_image(home):
    digest = f"sha256:{'1' * 64}"
    write(home, "smspec.toml", "")
    write(home, "smspec.lock", json.dumps({"lock": 1, "images": {"python:3.12-slim": digest}, "requirements": {}}))
    write(home, "jobs/ctr/smspec.lock", json.dumps({"lock": 1, "images": {}, "requirements": {}}))
    built = READY.replace(
        "image: 111122223333.dkr.ecr.us-west-2.amazonaws.com/small:1",
        "region: us-west-2\nimage: {base: 'python:3.12-slim'}",
    )
    write_job(home / "jobs/ctr", built + "source: src/\nentry_point: train.py\n")
    assert f"python:3.12-slim@{digest}" in smspec("render", "--dockerfile", cwd=home / "jobs/ctr").out


def listed(price, currency="USD"):
    region = {"as_of": "2026-11-01", "currency": currency, "training": {"ml.m5.large": price}}
    return json.dumps({"version": 1, "regions": {"us-west-2": region}}, indent=2)


@pytest.mark.parametrize(
    ("inner", "expected"),
    [
        (listed("0.115"), {"SM748"}),
        (listed("0.2"), {"SM748"}),
        (listed("0.0001"), {"SM760"}),
        (listed("0.5", "CNY"), {"SM760"}),
        (listed("0.5").replace("ml.m5.large", "ml.m5.xlarge"), {"SM748"}),
    ],
)
def test_inner_prices_make_nothing_cheaper(home, inner, expected):
    write(home, "smspec.toml", "max_cost = 1\n")
    write(home, "smspec.prices.json", listed("0.115"))
    write(home, "jobs/smspec.toml", "")
    write(home, "jobs/smspec.prices.json", inner)
    done = smspec("validate", ".", cwd=home)
    assert codes(home, ".") == expected
    assert ("smspec.prices.json:" in done.out) == (expected == {"SM760"})


def test_price_of_an_inner_policy_is_not_below_the_listed_one(home):
    write(home, "smspec.toml", "max_cost = 1\n")
    write(home, "smspec.prices.json", listed("0.115"))
    write(home, "jobs/smspec.toml", '[prices]\n"ml.m5.large" = 0.0001\n')
    assert codes(home, ".") == {"SM760"}


def granted(**quotas):
    return json.dumps(
        {"version": 1, "accounts": {"111122223333": {"us-west-2": {"as_of": "2026-11-01", "training": quotas}}}},
        indent=2,
    )


@pytest.mark.parametrize(("inner", "expected"), [(0, set()), (1, set()), (2, {"SM760"})])
def test_inner_quotas_grant_nothing(home, inner, expected):
    name = "ml.m5.large for training job usage"
    write(home, "smspec.toml", "")
    write(home, "smspec.quotas.json", granted(**{name: 1}))
    write(home, "jobs/smspec.toml", "")
    write(home, "jobs/smspec.quotas.json", granted(**{name: inner}))
    assert codes(home, ".") == expected
    found = json.loads(smspec("validate", ".", "--format", "json", cwd=home).out)
    assert ("SM753" in {record["code"] for record in found}) == (inner == 0)


def test_inner_quota_of_the_runtime_is_not_above_the_default(home):
    write(home, "smspec.toml", "")
    write(home, "jobs/smspec.toml", "")
    write(home, "jobs/smspec.quotas.json", granted(**{"Longest run time for a training job": 10**6}))
    assert codes(home, ".") == {"SM760"}


def test_inner_defaults_are_above_outer_ones(home):
    write(home, "smspec.toml", '[defaults]\nregion = "us-west-2"\ntags = {team = "ads", owner = "a"}\n')
    write(home, "jobs/smspec.toml", '[defaults]\ntags = {owner = "b"}\n')
    request = json.loads(smspec("render", "jobs/ctr/job.yaml", "--api-json", cwd=home).out)
    assert {tag["Key"]: tag["Value"] for tag in request["Tags"]}.items() >= {"team": "ads", "owner": "b"}.items()


def test_raw_request_has_the_outer_policy(home):
    (home / "smspec.toml").rename(home / "kept")
    write(home, "jobs/ctr/request.json", smspec("render", "--api-json", cwd=home / "jobs/ctr").out)
    (home / "kept").rename(home / "smspec.toml")
    write(home, "jobs/ctr/smspec.toml", "")
    assert codes(home, "--api-json", "jobs/ctr/request.json") == {"SM745", "SM748"}


def test_policy_is_named_by_the_file_that_sets_the_key(home):
    write(home, "jobs/smspec.toml", "require_kms = true\nmax_hours = 1\n")
    text = smspec("validate", ".", cwd=home).out
    assert "`smspec.toml` requires a VPC" in text
    assert "`jobs/smspec.toml` requires a KMS key" in text and "`jobs/smspec.toml` allows 1 instance hour" in text


def test_both_lines_are_named(home):
    write(home, "jobs/smspec.toml", "\n\nmax_cost = 7\n")
    text = smspec("validate", ".", cwd=home).out
    assert "--> jobs/smspec.toml:3:1" in text and "--> smspec.toml:2:1" in text


def test_submodule_has_the_policy_of_its_repository(tmp_path):
    other = repository(tmp_path / "other")
    write_job(other / "ctr", READY)
    write(other, "smspec.toml", '[defaults]\nregion = "us-west-2"\n')
    commit(other)
    home = repository(tmp_path / "home")
    write(home, "smspec.toml", POLICY)
    write(home, "rules/team.yaml", RULE)
    git(home, "-c", "protocol.file.allow=always", "submodule", "add", "-q", str(other), "jobs/theirs")
    for at, words in ((".", ["."]), ("jobs/theirs", ["."]), ("jobs/theirs/ctr", [])):
        assert codes(home, *words, at=at) == REQUIRED
    write(home, "jobs/theirs/smspec.toml", 'max_cost = 9\n[rules]\nSM745 = "off"\n')
    assert codes(home, ".") == {"SM760"}


@pytest.mark.parametrize("root", ["jobs", "jobs/ctr", "{tmp}/home/jobs", "{tmp}/link"])
def test_inner_root_keeps_the_policies_of_its_repository(tmp_path, root):
    """`--root` limits what a spec may read; the policy of the repository judges it as before."""
    home = repository(tmp_path / "home")
    write_job(home / "jobs/ctr", READY)
    write(home, "smspec.toml", POLICY)
    write(home, "rules/team.yaml", RULE)
    (tmp_path / "link").symlink_to("home/jobs")
    named = ("--root", root.format(tmp=tmp_path))
    assert codes(home, *named, "jobs/ctr/job.yaml") == codes(home, *named, "jobs") == REQUIRED
    write(home, "jobs/ctr/smspec.toml", "max_cost = 9\n")
    assert codes(home, *named, "jobs") == {"SM760"}
    commit(home)
    (home / "smspec.toml").write_text("")
    done = smspec("diff", "--base", "HEAD", *named, "--fail-on", "security", "jobs", cwd=home)
    assert done.status == 1 and "smspec.toml" in done.out


def test_work_tree_inside_of_its_repository_has_its_own_policy(tmp_path):
    home = repository(tmp_path / "home")
    write_job(home / "ctr", READY)
    write(home, "smspec.toml", "max_hours = 1\n")
    commit(home)
    git(home, "worktree", "add", "-q", str(home / "tree"))
    write(home, "tree/smspec.toml", "max_hours = 100\n")
    assert codes(home, "tree/ctr/job.yaml") == set()


def test_ignored_and_untracked_policies_hide_nothing(tmp_path):
    home = repository(tmp_path / "home")
    write_job(home / "jobs/ctr", READY)
    write(home, "smspec.toml", "require_vpc = true\n")
    write(home, ".gitignore", "jobs/**/smspec.toml\n")
    git(home, "add", "-A")
    write(home, "jobs/ctr/smspec.toml", "")
    assert codes(home, ".") == {"SM745"}
