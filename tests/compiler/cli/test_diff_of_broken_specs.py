"""Specs that cannot be compared: each is named, counted, and explained, and hides no other change."""

import json
import os
import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from support.git_repository import commit, git, repository
from support.small_job import BUILT, READY, write_job
from support.smspec_command import smspec

pytestmark = pytest.mark.slow

GOOD = READY.replace("name: small", "name: NAME")
STATES = {
    "good": GOOD,
    "other": GOOD.replace("count: 1", "count: 2"),
    "shape": GOOD + "nme: x\n",
    "yaml": GOOD + "tags: [\n",
    "base": GOOD + "extends: [gone.yaml]\n",
    "outside": GOOD + "extends: [/proc/self/environ]\n",
    "overlay": GOOD + "overlays: {dev: {hosts: {count: 0}}}\n",
    "variable": GOOD + "description: ${{ vars.gone }}\n",
    "absent": None,
}
BROKEN = {"shape", "yaml", "base", "outside", "variable"}


def write(root, jobs, side):
    for name, states in jobs.items():
        text = STATES[states[side]]
        path = root / f"{name}.yaml"
        if text is not None:
            path.write_text(text.replace("NAME", name))
        elif path.exists():
            path.unlink()


@settings(max_examples=60)
@given(
    st.dictionaries(
        st.sampled_from(["a", "b", "c", "d", "e"]),
        st.tuples(st.sampled_from(sorted(STATES)), st.sampled_from(sorted(STATES))),
        min_size=1,
    )
)
def test_every_spec_is_equal_different_or_not_compared(tmp_path_factory, jobs):
    """Whichever sides of whichever specs are broken, each spec has exactly one result."""
    from smspec.cli.base_comparison import against_base
    from smspec.cli.comparison import NothingToCompare

    root = repository(tmp_path_factory.mktemp("jobs"))
    write(root, jobs, 0)
    commit(root)
    write(root, jobs, 1)
    here = os.getcwd()
    os.chdir(root)
    try:
        outcome = against_base("HEAD", ["."], None, {})
    except NothingToCompare:
        assert all(states == ("absent", "absent") for states in jobs.values())
        return
    finally:
        os.chdir(here)
    found = outcome.comparison

    def names(files):
        return sorted(re.sub(r"^HEAD:|\.yaml$", "", file) for file in files)

    different = {review.file for review in found.reviews}
    unknown = {job.file for job in found.uncompared}
    told = names([*different, *(unknown - different), *found.equal])
    assert told == sorted(name for name, states in jobs.items() if states != ("absent", "absent"))
    for name, (old, new) in jobs.items():
        if old != new and {old, new} & (BROKEN | {"overlay"}):
            assert name in names(unknown), (name, old, new)
        elif old != new:
            assert name in names(different)
        else:
            assert (name in names(found.equal)) == (old != "absent")


@pytest.fixture
def home(tmp_path):
    """Four jobs: one that changes, one that stays, one that breaks, one that was broken."""
    root = repository(tmp_path / "home")
    for name, side in (("changes", "good"), ("stays", "good"), ("breaks", "good"), ("broken", "shape")):
        write(root, {name: (side, side)}, 0)
    commit(root)
    for name, side in (("changes", "other"), ("breaks", "base"), ("broken", "good")):
        write(root, {name: (side, side)}, 0)
    return root


@pytest.mark.parametrize("format", ["text", "markdown", "json"])
def test_uncompared_jobs_are_named_in_every_format(format, home):
    done = smspec("diff", "--base", "HEAD", "--format", format, cwd=home)
    assert done.status == 2
    assert "smspec: 4 jobs: 1 different, 1 equal, 2 not compared" in done.err
    for words in ("breaks.yaml", "HEAD:broken.yaml", "SM140", "SM204", "gone.yaml", "hosts.count"):
        assert words in done.out, words
    assert "stays" not in done.out


def test_json_names_side_and_reason_of_uncompared_jobs(home):
    jobs = {job["job"]: job for job in json.loads(smspec("diff", "--base", "HEAD", "--format", "json", cwd=home).out)}
    assert {name: job["status"] for name, job in jobs.items()} == {
        "changes": "changed",
        "breaks": "not_compared",
        "broken": "not_compared",
    }
    (reason,) = jobs["breaks"]["not_compared"]
    assert (reason["side"], reason["code"], reason["file"], reason["as_is"]) == ("new", "SM140", "breaks.yaml", True)
    (reason,) = jobs["broken"]["not_compared"]
    assert (reason["side"], reason["file"]) == ("old", "HEAD:broken.yaml")
    assert jobs["changes"]["not_compared"] == []


def test_only_the_faulty_overlay_is_not_compared(tmp_path):
    root = repository(tmp_path / "home")
    (root / "job.yaml").write_text(READY + "overlays: {dev: {retries: 1}, prod: {retries: 2}}\n")
    commit(root)
    (root / "job.yaml").write_text(READY + "overlays: {dev: {retries: 0}, prod: {retries: 3}}\n")
    done = smspec("diff", "--base", "HEAD", cwd=root)
    assert done.status == 2
    assert "small with the overlay `dev`: not compared" in done.out
    assert "2 → 3" in done.out


def test_spec_that_became_a_link_out_is_not_compared(tmp_path):
    root = repository(tmp_path / "home")
    write_job(root, BUILT)
    commit(root)
    (root / "job.yaml").unlink()
    os.symlink("/proc/self/environ", root / "job.yaml")
    for words in ((), ("job.yaml",)):
        done = smspec("diff", "--base", "HEAD", "--format", "markdown", *words, cwd=root)
        assert (done.status, "### Not compared: 1 job" in done.out) == (2, True)
        assert "SM145" in done.out


def test_repository_whose_only_spec_is_a_link_out_fails(tmp_path):
    root = repository(tmp_path / "home")
    os.symlink("/proc/self/environ", root / "job.yaml")
    done = smspec("validate", ".", cwd=root)
    assert (done.status, "did not read `job.yaml`" in done.err) == (2, True)


def test_malformed_policy_hides_no_difference(tmp_path):
    root = repository(tmp_path / "home")
    write_job(root, BUILT)
    commit(root)
    write_job(root, BUILT.replace("count: 1", "count: 2"))
    (root / "smspec.toml").write_text("prices = [\n")
    done = smspec("diff", "--base", "HEAD", cwd=root)
    assert (done.status, "1 → 2" in done.out, "`smspec.toml`" in done.err) == (2, True, True)


def test_user_text_is_escaped_in_uncompared_specs(tmp_path):
    root = repository(tmp_path / "home")
    write_job(root, BUILT)
    commit(root)
    (root / "job.yaml").write_text(BUILT + '"@team `x` | <b> [l](http://e)": 1\n')
    out = smspec("diff", "--base", "HEAD", "--format", "markdown", cwd=root).out
    assert "@team" in out
    bare = re.sub(r"(`+)(?!`).*?(?<!`)\1(?!`)", "", out)
    assert not re.search(r"@team|<b>|\]\(", bare)
    assert git(root, "status", "--porcelain")


OPTIONS = {
    "a variable": ("retries: ${{ vars.week }}\nvars: {week: {}}\n", ("--set", "vars.week=3")),
    "a variable in its name": ("vars: {week: {}}\n", ("--set", "vars.week=3")),
    "a region": ("region: null\n", ()),
    "a region of an image": ("region: null\n", ()),
}


@pytest.mark.parametrize("before", ["with the option", "without it"])
@pytest.mark.parametrize("option", OPTIONS)
def test_extended_job_that_needs_an_option_is_named(tmp_path, option, before):
    """CI submits it by its path, with `--set` or `--region`, so silence would hide what changed."""
    more, words = OPTIONS[option]
    root = repository(tmp_path / "home")
    plain = BUILT.replace("name: small", "name: job3").replace('bookworm"', 'bookworm", repository: ctr')
    needs = plain.replace("job3", "job${{ vars.week }}") if "name" in option else plain
    needs = needs.replace("region: us-west-2\n", "") if "region" in option else needs
    if "image" in option:
        needs = needs.replace('image: {base: "python:3.12-slim-bookworm", repository: ctr}', "image: NAME")
        needs = needs.replace("NAME", "pytorch-training:2.5.1-cpu")
    write_job(root, needs + more if before == "with the option" else plain)
    big = "smspec: v1\nname: big\nextends: [job.yaml]\nregion: us-west-2\nretries: 1\nvars: {week: {default: 1}}\n"
    (root / "big.yaml").write_text(big)
    commit(root)
    (root / "big.yaml").write_text(big + "role: arn:aws:iam::111122223333:role/Training\n")
    assert smspec("diff", "--base", "HEAD", "--fail-on", "image", cwd=root).status == 0
    write_job(root, needs + more + "tags: {a: b}\n")
    done = smspec("diff", "--base", "HEAD", "--fail-on", "security", cwd=root)
    assert done.status == 1 and "job.yaml: changes security (unset value)" in done.out and "is gone" not in done.out
    changed = smspec("validate", "--changed", "HEAD", cwd=root)
    assert changed.status == 0 and "--set or --region is missing: `job.yaml`" in changed.err
    if words:
        done = smspec("diff", "--base", "HEAD", *words, cwd=root)
        assert done.status == 1 and "unset value" not in done.out


def test_part_of_a_job_that_needs_an_option_is_not_named(tmp_path):
    """Without its other required keys, no option makes a job of it."""
    root = repository(tmp_path / "home")
    (root / "base.yaml").write_text("smspec: v1\nname: none\nretries: ${{ vars.n }}\nvars: {n: {}}\n")
    write_job(root, BUILT + "extends: [base.yaml]\nvars: {n: {default: 2}}\n")
    commit(root)
    (root / "base.yaml").write_text("smspec: v1\nname: other\nretries: ${{ vars.n }}\nvars: {n: {}}\n")
    done = smspec("diff", "--base", "HEAD", cwd=root)
    assert done.status == 1 and "unset value" not in done.out


DEFAULTS = {
    "of the name": ("name: small", 'name: "small${{ vars.week }}"', "D!", "3"),
    "of a value": ("output: s3://models/small/", 'output: "${{ vars.week }}"', "nowhere", "s3://models/x/"),
    "of the source": ("source: src/", 'source: "${{ vars.week }}"', "nowhere", "src"),
    "of the launcher": (
        "description: x",
        'description: x\nchecks: {ignore: [{rule: SM558, because: the base has it}]}\ndistribution: "${{ vars.week }}"',
        "zzz",
        "torchrun",
    ),
    "of a required key": ("output: s3://models/small/", 'output: "${{ vars.week }}"', "null", "s3://models/x/"),
    "that is null": ("description: x", 'description: "${{ vars.week }}"', "null", "y"),
}


@pytest.mark.parametrize("place", ["extended", "hidden"])
@pytest.mark.parametrize("before", ["without it", "with it"])
@pytest.mark.parametrize("default", DEFAULTS)
def test_job_whose_default_does_not_compile_is_named(tmp_path, default, before, place):
    """CI replaces the default by `--set`, so it shows nothing about what CI submits. The file is still there."""
    old, new, value, ours = DEFAULTS[default]
    plain = BUILT + "description: x\nvars: {week: {default: 1}}\n"
    needs = plain.replace(old, new).replace("default: 1", f'default: "{value}"' if value != "null" else "default: null")
    spec = "job.yaml" if place == "extended" else ".x/job.yaml"
    root = repository(tmp_path / "home")
    write_job((root / spec).parent, plain if before == "without it" else needs)
    big = "smspec: v1\nname: big\nextends: [job.yaml]\nsource: src/\ndescription: z\noutput: s3://models/b/\n"
    big += "distribution: torchrun\n" if "distribution" in new else ""
    (root / "big.yaml").write_text(big if place == "extended" else BUILT.replace("small", "big"))
    if place == "hidden":
        write_job(root, BUILT)
    commit(root)
    (root / spec).write_text(needs + "tags: {a: b}\n")
    done = smspec("diff", "--base", "HEAD", "--fail-on", "security", cwd=root)
    assert done.status == 1 and f"{spec}: changes security (" in done.out and "is gone" not in done.out, done
    assert "that cannot be compared" in done.out
    changed = smspec("validate", "--changed", "HEAD", cwd=root)
    assert changed.status == 0 and "not checked, because they have errors, or a value" in changed.err
    assert f"`{spec}`" in changed.err
    build = smspec("build", spec, "--set", f"vars.week={ours}", cwd=root)
    assert build.status == 0, build


def test_job_that_lost_a_key_is_not_gone(tmp_path):
    """Only a file that is gone is gone; here it was a job, and others extend what is left."""
    root = repository(tmp_path / "home")
    write_job(root, BUILT)
    (root / "big.yaml").write_text("smspec: v1\nname: big\nextends: [job.yaml]\nentry_point: train.py\n")
    commit(root)
    (root / "job.yaml").write_text(BUILT.replace("entry_point: train.py\n", ""))
    done = smspec("diff", "--base", "HEAD", "--fail-on", "security", cwd=root)
    assert done.status == 1 and "job.yaml: changes security (cannot be compared)" in done.out
    assert "is gone" not in done.out


def test_file_outside_of_a_revision_has_a_name_of_the_author(tmp_path):
    (tmp_path / "out.yaml").write_text("smspec: v1\n")
    root = tmp_path / "repository"
    write_job(root / "jobs", READY.replace("smspec: v1\n", "smspec: v1\nextends: [../../out.yaml]\n"))
    repository(root)
    commit(root)
    (root / "jobs/job.yaml").write_text(READY)
    done = smspec("diff", "--base", "HEAD", ".", cwd=root)
    assert done.status == 2
    assert "SM145: `HEAD:../out.yaml` is outside the repository" in done.out
    assert "smspec-tmp" not in done.out + done.err
