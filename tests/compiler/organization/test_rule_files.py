"""`rule_files` of smspec.toml: rules that an organization writes, with their cases."""

import json
import re
import subprocess
import sys
import time
from pathlib import Path

import pytest
import yaml

from smspec.diagnostics import InvalidInput
from smspec.pipeline.input_cache import InputCache
from support.git_repository import commit, repository
from support.smspec_command import smspec

POLICY = Path(__file__).parents[3] / "docs" / "repository.md"
IMAGE = f"111122223333.dkr.ecr.us-west-2.amazonaws.com/ctr@sha256:{'0' * 64}"
JOB = {
    "smspec": "v1",
    "name": "ctr",
    "role": "arn:aws:iam::111122223333:role/SageMakerTraining",
    "region": "us-west-2",
    "image": IMAGE,
    "hosts": {"instance_type": "ml.m5.large", "count": 6, "volume": "10GB"},
    "stopping": {"max_runtime": "2h"},
    "output": "s3://example-models/ctr/",
}
FEW_HOSTS = {
    "code": "ORG103",
    "title": "at most four hosts",
    "why": "The network of the account is small.",
    "require": {"hosts.count": {"max": 4}},
    "cases": {"right": [{"hosts": {"count": 4}}], "wrong": [{"hosts": {"count": 5}}]},
}


@pytest.fixture
def found(tmp_path):
    """Return a function: the diagnostics of a job under some rules."""

    def validated(*rules, job=JOB, policy="", words=(), **files):
        (tmp_path / "rules").mkdir(exist_ok=True)
        (tmp_path / "smspec.toml").write_text(f'rule_files = ["rules/*.yaml"]\n{policy}')
        for number, rule in enumerate(rules):
            text = rule if isinstance(rule, str) else yaml.safe_dump(rule, sort_keys=False)
            (tmp_path / "rules" / f"{number}.yaml").write_text(text)
        for name, spec in {"job": job, **files}.items():
            (tmp_path / f"{name}.yaml").write_text(yaml.safe_dump(spec, sort_keys=False))
        return json.loads(smspec("validate", "job.yaml", "--format", "json", *words, cwd=tmp_path).out)

    return validated


def codes(diagnostics):
    return [(one["code"], one["path"]) for one in diagnostics]


def rule(require, right=None, wrong=None, **more):
    """Return a rule whose cases are not what a test is about."""
    cases = {"right": right or [{}], "wrong": wrong or [{"tags": {"wrong": "yes"}}]}
    guard = {"tags.wrong": {"present": False}} if wrong is None else {}
    return {**FEW_HOSTS, "require": {**guard, **require}, "cases": cases, **more}


def test_documented_rule_passes_its_cases(tmp_path, found):
    (text,) = re.findall(r"```yaml\n(code: .*?)```", POLICY.read_text(), re.DOTALL)
    assert found(text) == []
    tags = {"cost-center": "12"}
    gpu = {**JOB, "hosts": {**JOB["hosts"], "instance_type": "ml.g4dn.xlarge"}, "tags": tags}
    (one,) = [one for one in found(text, job=gpu) if one["code"] == "ORG101"]
    assert (one["path"], one["help"]) == ("tags.cost-center", "add `cost-center` to `tags`")
    assert smspec("explain", "org101", cwd=tmp_path).out.startswith("# ORG101: GPU jobs name their cost center\n\nGPU ")
    assert "ORG101: GPU jobs name their cost center\n" in smspec("explain", cwd=tmp_path).out
    (tmp_path / "rules" / "0.yaml").write_text("code: 1\n")
    assert smspec("explain", "org101", cwd=tmp_path).status == 2
    assert "ORG101" not in smspec("explain", cwd=tmp_path).out


def test_policy_sets_the_severity_and_who_may_ignore(found):
    ignoring = {**JOB, "checks": {"ignore": [{"rule": "ORG103", "because": "approved"}]}}
    assert codes(found(FEW_HOSTS)) == [("ORG103", "hosts.count")]
    assert found(FEW_HOSTS, job=ignoring) == []
    assert found(FEW_HOSTS, policy="[rules]\nORG103 = 'off'\n") == []
    assert found(FEW_HOSTS, policy="[rules]\nORG103 = 'note'\n")[0]["severity"] == "note"
    assert {one["code"] for one in found(FEW_HOSTS, job=ignoring, policy="allow_ignores = false")} == {
        "ORG103",
        "SM746",
    }
    (unknown,) = found(FEW_HOSTS, policy="allow_ignores = ['ORG104']")
    assert (unknown["code"], unknown["help"]) == ("SM747", "did you mean `ORG103`?")
    fixed = {**FEW_HOSTS, "ignorable": False}
    assert {one["code"] for one in found(fixed, job=ignoring)} == {"ORG103", "SM330"}


def test_finding_is_at_the_line_of_the_layer(found):
    (own,) = found(FEW_HOSTS)
    assert (own["file"], own["line"]) == ("job.yaml", 8)
    hosts = {"instance_type": "ml.m5.large", "volume": "10GB"}
    base = {"smspec": "v1", "hosts": {"count": 9}}
    (inherited,) = found(FEW_HOSTS, job={**JOB, "hosts": hosts, "extends": ["base.yaml"]}, base=base)
    assert (inherited["file"], inherited["line"]) == ("base.yaml", 3)
    small = {**JOB, "hosts": {**hosts, "count": 1}, "overlays": {"large": {"hosts": {"count": 8}}}}
    (overlaid,) = found(FEW_HOSTS, job=small)
    assert overlaid["note"] == "with the overlay `large`"
    var = {**JOB, "hosts": {**hosts, "count": "${{ vars.n }}"}, "vars": {"n": {"default": 2}}}
    assert found(FEW_HOSTS, job=var) == []
    assert codes(found(FEW_HOSTS, job=var, words=("--set", "vars.n=7"))) == [("ORG103", "hosts.count")]


def test_missing_value_is_reported_at_its_nearest_key(found):
    (one,) = found(rule({"network.vpc.subnets": {"present": True}}, right=[{"tags": {"a": "b"}}]))
    assert one["code"] == "SM757"  # the small job has no subnets, so the right case is wrong
    tagged = rule({"tags.team": {"present": True}}, right=[{"tags": {"team": "ads"}}], wrong=[{}])
    (one,) = found(tagged, job={**JOB, "tags": {"owner": "me"}, "hosts": {**JOB["hosts"], "count": 1}})
    assert (one["path"], one["line"]) == ("tags.team", 13)


def test_each_alternative_of_hosts_is_checked(found):
    any_of = [{"instance_type": "ml.m5.large", "count": 2}, {"instance_type": "ml.m5.xlarge", "count": 8}]
    job = {**JOB, "hosts": {"any_of": any_of, "volume": "10GB"}}
    assert ("ORG103", "hosts.any_of[1].count") in codes(found(FEW_HOSTS, job=job))


def test_star_stands_for_every_item(found):
    own = rule({"channels.*.s3": {"matches": "^s3://example-"}})
    job = {**JOB, "channels": {"a": {"s3": "s3://example-data/a/"}, "b": {"s3": "s3://other/b/"}}}
    assert codes(found(own, job=job)) == [("ORG103", "channels.b.s3")]
    assert found(own) == []


def test_lists_are_checked_item_by_item(found):
    own = rule({"network.subnets": {"matches": "^subnet-0", "optional": True}})
    network = {"subnets": ["subnet-01234567", "subnet-11234567"], "security_groups": ["sg-01234567"]}
    assert codes(found(own, job={**JOB, "network": network})) == [("ORG103", "network.subnets[1]")]


@pytest.mark.parametrize(
    ("condition", "is_right"),
    [
        (6, True),
        ([1, 2], False),
        ({"in": [6]}, True),
        ({"not_in": [6]}, False),
        (True, False),
        ({"min": 7}, False),
        ({"min": 6, "max": 6}, True),
        ({"matches": "^[0-9]$"}, True),
        ({"max": "30GB"}, False),
        ({"present": False}, False),
    ],
)
def test_condition(found, condition, is_right):
    own = rule({}, wrong=[{"name": "ctr", "hosts": {"count": 6}}], when={"name": "ctr"})
    own["require"] = {"hosts.count": condition}
    assert ([one["code"] for one in found(own)] == ["SM757"]) is is_right


def test_all_faulty_files_are_reported(found):
    diagnostics = found("code: [\n", {**FEW_HOSTS, "code": "SM999"}, "- 1\n", "", "x" * (65 << 10))
    assert [(one["file"], one["code"]) for one in diagnostics] == [
        ("rules/0.yaml", "SM101"),
        ("rules/1.yaml", "SM755"),
        ("rules/2.yaml", "SM114"),
        ("rules/3.yaml", "SM109"),
        ("rules/4.yaml", "SM755"),
    ]


@pytest.mark.parametrize(
    "pattern", ["../*.yaml", "/etc/*.conf", "**/*.yaml", "rule/*.yaml", "rules", "rules/*.txt", "\\u0000"]
)
def test_pattern_without_a_file_in_the_repository(tmp_path, found, pattern):
    found(FEW_HOSTS)
    (tmp_path / ".git").mkdir()
    (tmp_path / "rules" / "a.txt").write_text(yaml.safe_dump(FEW_HOSTS))
    (tmp_path / "smspec.toml").write_text(f'\nrule_files = ["{pattern}"]\n')
    (one,) = json.loads(smspec("validate", "--format", "json", cwd=tmp_path).out)
    assert (one["code"], one["line"]) == ("SM747", 2) and re.search(r"matches no file|U\+0000", one["message"])


def test_hostile_pattern_takes_linear_time(found):
    hostile = rule({"hyperparameters.a": {"matches": "^(a|a?)+$|((a*)*)*b", "optional": True}})
    started = time.monotonic()
    assert codes(found(hostile, job={**JOB, "hyperparameters": {"a": "a" * 2000 + "c"}})) == [
        ("ORG103", "hyperparameters.a")
    ]
    assert time.monotonic() - started < 10
    (one,) = found(rule({"name": {"matches": "((a{100}){100}){100}"}}))
    assert "invalid repetition size: {100}" in one["message"]


def test_pattern_that_never_ended_is_rejected_at_its_line(found):
    (one,) = found(rule({"name": {"matches": "(((){999}){999}){999}"}}))
    assert (one["code"], one["file"], one["path"]) == ("SM755", "rules/0.yaml", "require.name.matches")
    assert one["help"] == "use the syntax of RE2, which has no lookarounds and no backreferences"


def test_rule_is_never_skipped_without_re2(tmp_path, found):
    """Without the extra, a rule with a pattern is an error, and one without is checked."""
    (tmp_path / "packages").mkdir()
    (tmp_path / "packages" / "re2.py").write_text("raise ImportError")
    found(FEW_HOSTS, rule({"name": {"matches": "^ctr"}}, code="ORG104"))
    program = f"import sys; sys.path.insert(0, {str(tmp_path / 'packages')!r}); from smspec.cli import main; sys.exit("

    def validated(*words):
        command = [sys.executable, "-c", f"{program}main(['validate', *{words!r}, '--format', 'json']))"]
        run = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
        return run.returncode, json.loads(run.stdout)

    for words in (("job.yaml",), ("rules/1.yaml",)):
        status, (one,) = validated(*words)
        assert (status, one["code"], one["file"], one["severity"]) == (1, "SM755", "rules/1.yaml", "error")
        assert "google-re2 is not installed" in one["message"] and "pip install google-re2" in one["help"]
    (tmp_path / "rules" / "1.yaml").unlink()
    status, (one,) = validated("job.yaml")
    assert (status, one["code"]) == (1, "ORG103")


def test_rules_without_patterns_do_not_import_re2(tmp_path, found):
    found(FEW_HOSTS)
    program = "import sys; from smspec.cli import main; main(['validate']); sys.exit('re2' in sys.modules)"
    run = subprocess.run([sys.executable, "-c", program], cwd=tmp_path, capture_output=True, check=False)
    assert run.returncode == 0 and b"ORG103" in run.stderr


def test_sarif_describes_the_rule(tmp_path, found):
    found(FEW_HOSTS)
    run = json.loads(smspec("validate", "--format", "sarif", cwd=tmp_path).out)["runs"][0]
    (described,) = run["tool"]["driver"]["rules"]
    assert described["id"] == "ORG103" and described["shortDescription"]["text"] == "at most four hosts"
    assert "small" in described["fullDescription"]["text"]
    for form in ("junit", "html", "github"):
        assert "ORG103" in smspec("validate", "--format", form, cwd=tmp_path).out


def test_rule_file_outside_the_repository_is_not_read(tmp_path, found):
    repository = tmp_path / "repository"
    (repository / "rules").mkdir(parents=True)
    (repository / ".git").mkdir()
    (tmp_path / "secret.yaml").write_text("code: hidden\n")
    (repository / "rules" / "a.yaml").symlink_to(tmp_path / "secret.yaml")
    (repository / "smspec.toml").write_text('rule_files = ["rules/*.yaml"]\n')
    (repository / "job.yaml").write_text(yaml.safe_dump(JOB))
    (one,) = json.loads(smspec("validate", "--format", "json", cwd=repository).out)
    assert (one["code"], one["file"]) == ("SM755", "rules/a.yaml") and "hidden" not in str(one)


def test_missing_base_spec_leaves_rules_undecided(found):
    reported = found(FEW_HOSTS, job={**JOB, "extends": ["missing.yaml"]})
    assert "SM140" in {one["code"] for one in reported} and "ORG103" not in {one["code"] for one in reported}


def test_changed_rule_file_affects_its_specs(tmp_path, found):
    found(FEW_HOSTS)
    git = ("git", "-c", "user.name=a", "-c", "user.email=a@example.com")
    for words in (("init", "-q"), ("add", "."), ("commit", "-qm", "first")):
        subprocess.run([*git, *words], cwd=tmp_path, check=True)
    changed = ("validate", ".", "--changed", "HEAD", "--format", "json")
    assert json.loads(smspec(*changed, cwd=tmp_path).out) == []
    for text, code in ((yaml.safe_dump({**FEW_HOSTS, "title": "few hosts"}), "ORG103"), ("code: 1\n", "SM755")):
        (tmp_path / "rules" / "0.yaml").write_text(text)
        assert {one["code"] for one in json.loads(smspec(*changed, cwd=tmp_path).out)} == {code}


@pytest.mark.parametrize("place", ["jobs", "jobs [x]", "linked"])
def test_removed_rule_file_affects_its_specs(tmp_path, found, place):
    """A directory may have the signs of a pattern in its name, and git knows a file by the directory behind a link."""
    found(FEW_HOSTS, {**FEW_HOSTS, "code": "ORG104"})
    home = tmp_path / place
    home.mkdir()
    for name in ("job.yaml", "smspec.toml", "rules"):
        (tmp_path / name).rename(home / name)
    if place == "linked":
        (home / "rules").rename(tmp_path / "kept")
        (home / "rules").symlink_to("../kept")
    commit(repository(tmp_path))
    (home / "rules/1.yaml").unlink()
    done = smspec("validate", ".", "--changed", "HEAD", cwd=tmp_path)
    assert (done.status, "ORG103" in done.out, "ORG104" in done.out) == (1, True, False)
    assert "judged by settings that changed since HEAD" in done.err
    done = smspec("diff", "--base", "HEAD", "--fail-on", "security", ".", cwd=tmp_path)
    assert (done.status, "the rule is gone, which loosens it" in done.out) == (1, True)


def test_pattern_visits_each_directory_once(tmp_path, found):
    """Two links to the directory that they are in are 2^30 ways to it."""
    for name in ("a", "b"):
        (tmp_path / name).symlink_to(".")
    found(FEW_HOSTS)
    (tmp_path / "smspec.toml").write_text(f'rule_files = ["{"*/" * 30}rules/*.yaml"]\n')
    done = smspec("validate", "job.yaml", "--format", "json", cwd=tmp_path)
    assert codes(json.loads(done.out)) == [("ORG103", "hosts.count")]


def test_named_rule_file_is_checked(tmp_path, found):
    found(FEW_HOSTS)
    good = smspec("validate", "rules/0.yaml", cwd=tmp_path)
    assert (good.status, good.out + good.err) == (0, "checked 1 rule file: no problems found\n")
    both = smspec("validate", "rules/0.yaml", "job.yaml", cwd=tmp_path)
    assert both.status == 1 and "checked 1 job and 1 rule file: 1 error" in both.err + both.out
    cases = {"right": [{}], "wrong": [{}]}
    (tmp_path / "rules" / "0.yaml").write_text(yaml.safe_dump({**FEW_HOSTS, "cases": cases}))
    (one,) = json.loads(smspec("validate", "rules/0.yaml", "--format", "json", cwd=tmp_path).out)
    assert (one["code"], one["path"]) == ("SM757", "cases.wrong[0]")
    found(FEW_HOSTS)
    (tmp_path / "other.yaml").write_text("code: ORG104\n")
    (other, *_) = json.loads(smspec("validate", "other.yaml", "--format", "json", cwd=tmp_path).out)
    assert other["file"] == "other.yaml"


def test_too_much_in_a_rule_is_reported(found):
    many = {f"a{number}": {"optional": True} for number in range(51)}
    cases = {"right": [{}] * 101, "wrong": [{}]}
    deep = {".".join("a" * 9): 1, "a..b": 1, "": 1}
    reported = found({**FEW_HOSTS, "require": many, "when": deep, "cases": cases})
    assert {(one["code"], one["message"]) for one in reported} == {
        ("SM755", "`require` has more than 50 conditions"),
        ("SM755", '`when["a.a.a.a.a.a.a.a.a"]` is not a path'),
        ("SM755", '`when["a..b"]` is not a path'),
        ("SM755", '`when[""]` is not a path'),
        ("SM755", "`cases.right` has more than 100 cases"),
    }


def test_value_that_is_too_long_to_search_cannot_evade_a_rule(found):
    own = rule({"hyperparameters.a": {"matches": "^a*$", "optional": True}})
    few = {**FEW_HOSTS, "code": "ORG104", "when": {"hyperparameters.a": {"matches": "b"}}}
    few["cases"] = {
        "right": [{"hosts": {"count": 5}}],
        "wrong": [{"hosts": {"count": 5}, "hyperparameters": {"a": "b"}}],
    }
    assert found(own, few, job={**JOB, "hyperparameters": {"a": "a" * 2000}}) == []
    reported = [
        one for one in found(own, few, job={**JOB, "hyperparameters": {"a": "a" * 16385}}) if "O" in one["code"]
    ]
    assert sorted(one["code"] for one in reported) == ["ORG103", "ORG104"]
    assert any("the maximum is 16,384 characters" in one["message"] for one in reported)


def test_title_cannot_control_the_terminal(tmp_path, found):
    found({**FEW_HOSTS, "title": "red \x1b[31m"})
    assert "\x1b" not in smspec("explain", "ORG103", cwd=tmp_path).out


def test_faulty_rules_are_read_once(tmp_path, found):
    """With a thousand specs, reading them for each would take most of the time."""
    found("code: 1\n")
    cache = InputCache()
    seen = []
    for text in ("code: 1\n", yaml.safe_dump(FEW_HOSTS)):
        (tmp_path / "rules" / "0.yaml").write_text(text)
        with pytest.raises(InvalidInput) as rejected:
            cache.organization(str(tmp_path)).rules()
        seen.append(rejected.value.diagnostics)
    assert seen[0] == seen[1]
