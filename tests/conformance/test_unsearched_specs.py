"""Specs that `build` accepts by name: a pull request that adds one anywhere does not pass a gate without a word."""

import json
import os
import re
import shutil

import pytest

from support.git_repository import commit, git, repository
from support.review.diff_outcomes import rewrite
from support.small_job import BUILT, write_job
from support.smspec_command import smspec

NEW = re.sub(r"(?m)^role: .*$", "role: arn:aws:iam::111122223333:role/Admin", BUILT.replace("small", "other", 1))
FOUND = ["new/job.YAML", "new/job.Yml", "new/b.yaml.yml"]
SKIPPED = [
    ".hidden/job.yaml",
    "new/.hidden/job.yaml",
    ".github/workflows/job.yml",
    "node_modules/job.yaml",
    "new/__pycache__/job.yaml",
    ".venv/job.YAML",
    "new.json",
    "new/job.yaml.txt",
    "new/JOB",
    "new/job.yml~",
    "new/.yaml/job",
    "output/job.yaml",  # below a directory that looks like a build
    "output/deep/job.yaml",
]


@pytest.fixture
def home(tmp_path):
    home = repository(tmp_path / "home")
    write_job(home / "jobs")
    commit(home)
    return home


def add(home, path, text=NEW):
    target = home / path
    target.parent.mkdir(parents=True, exist_ok=True)
    target.write_text(text)
    shutil.copytree(home / "jobs/src", target.parent / "src")
    if path.startswith("output/"):
        assert smspec("build", "jobs/job.yaml", "-o", str(home / "built"), cwd=home).status == 0
        shutil.move(home / "built/manifest.json", home / "output/manifest.json")
        shutil.rmtree(home / "built")
    built = smspec("build", path, "-o", str(home.parent / "built"), cwd=home)
    assert built.status == 0 or text is not NEW, built
    return target


def differing(home, *words):
    done = smspec("diff", "--base", "HEAD", "--format", "json", "--fail-on", "security", *words, cwd=home)
    return done.status, [(job["file"], job["status"]) for job in json.loads(done.out)]


@pytest.mark.parametrize("path", FOUND)
def test_spec_with_an_unusual_name_is_compared(home, path):
    add(home, path)
    assert differing(home, ".") == (1, [(path, "added")])
    assert "checked 1 job" in smspec("validate", "--changed", "HEAD", ".", cwd=home).err
    assert "checked 2 jobs" in smspec("validate", ".", cwd=home).err
    commit(home)
    rewrite(home / path, "role/Admin", "role/Other")
    assert differing(home, ".") == (1, [(path, "changed")])


@pytest.mark.parametrize("is_committed", [True, False])
@pytest.mark.parametrize("path", SKIPPED)
def test_spec_that_a_search_skips_is_named(home, path, is_committed):
    target = add(home, path)
    if is_committed:
        commit(home)
        assert differing(home, ".") == (0, [])
        rewrite(target, "role/Admin", "role/Other")
    how = "changed" if is_committed else "added"
    # A marker that a commit brings hides nothing.
    is_read = is_committed and path.startswith("output/")
    assert differing(home, ".") == (1, [(path, "changed")] * (not is_read) + [(path, how)])
    assert differing(home, path)[1] == [(path, how)]
    done = smspec("validate", "--changed", "HEAD", ".", cwd=home)
    assert (f"not searched, but job specs: `{path}`; checked, but not against others\n" in done.err) != is_read
    assert "checked 1 job" in done.err and done.status == 0
    (target.parent / "src/train.py").write_text("import nothing_like_it\n")
    done = smspec("validate", "--changed", "HEAD", ".", cwd=home)
    assert done.status == 1 and "nothing_like_it" in done.out


@pytest.mark.parametrize("path", [".github/fixtures/job.yaml", "node_modules/x/job.yml", "output/job.yaml"])
def test_tracked_spec_that_validation_skips_is_named(home, path, monkeypatch):
    """It is output of smspec, or a fixture, so it is no error."""
    add(home, path)
    assert "not searched" not in smspec("validate", ".", cwd=home).err
    commit(home)
    skipped = path.rpartition("/")[0].removesuffix("/x").removesuffix("/fixtures")
    line = (
        f"not searched, but 1 job spec that git tracks: `{path}` (a search does not enter `{skipped}`); "
        "pass them by name\n"
    )
    for words in ((), ("--format", "json")):
        done = smspec("validate", ".", "--strict", *words, cwd=home)
        assert (done.status, done.err.count(line)) == (0, 1), done
    assert "not searched" not in smspec("validate", "jobs", cwd=home).err
    monkeypatch.setenv("PATH", "/nowhere")
    assert "not searched" not in smspec("validate", ".", cwd=home).err


def test_comment_in_a_spec_that_a_search_skips_passes(home):
    target = add(home, ".fixtures/job.yaml")
    commit(home)
    target.write_text(NEW + "# a comment\n")
    assert differing(home, ".")[0] == 0
    target.write_text("rolle: x\n" + NEW)
    assert differing(home, ".")[0] == 1, "it was a job that `build` accepted"


@pytest.mark.parametrize("what", ["directory", "twins"])
def test_specs_that_move_are_paired(home, what):
    """Also where a link is left, so that what names the old path goes on."""
    if what == "twins":
        shutil.copytree(home / "jobs", home / "jobs/twin")
        rewrite(home / "jobs/twin/job.yaml", "epochs: 2", "epochs: 3")
        commit(home)
    shutil.move(home / "jobs", home / "training")
    (home / "jobs").symlink_to("training")
    places = ["training/job.yaml", "training/twin/job.yaml"][: 1 + (what == "twins")]
    assert differing(home, ".") == (0, [(place, "moved") for place in places])


def test_spec_of_a_submodule_that_a_search_skips_is_named(home, tmp_path):
    outer = repository(tmp_path / "outer")
    git(outer, "-c", "protocol.file.allow=always", "submodule", "add", "-q", str(home), "module")
    commit(outer)
    (outer / "module/node_modules").mkdir()
    shutil.move(outer / "module/jobs", outer / "module/node_modules/jobs")
    commit(outer / "module")
    path = "module/node_modules/jobs/job.yaml"
    assert differing(outer, ".") == (1, [(path, "changed"), (path, "moved")])
    write_job(outer / "own")
    git(outer, "rm", "-q", "-f", "module")
    assert (
        "`module` is a submodule: its contents at main are unknown" in smspec("diff", "--base", "main", cwd=outer).err
    )


def test_link_to_a_spec_in_another_directory_is_compared(home):
    """It has another source than the spec that it leads to."""
    add(home, "z/other.txt", "not a spec")
    (home / "z/job.yaml").symlink_to("../jobs/job.yaml")
    assert differing(home, ".") == (1, [("z/job.yaml", "added")])


def test_files_that_are_no_jobs_are_not_named(home):
    for path, text in {
        "README.md": "# Use\n\n```yaml\nsmspec: v1\nname: x\n```\n",
        ".hidden/base.yaml": "smspec: v1\nretries: 2\n",
        ".hidden/other.yaml": "name: x\n",
        "data.json": '{"name": "smspec"}',
        "notes.txt": "smspec: v1\nname: [",
        ".hidden/broken.yaml": BUILT.replace("role:", "rolle:"),
        "smspec.py": "smspec = 1\n",
        "schema.json": smspec("schema").out,
        "binary": "smspec\0",
    }.items():
        (home / path).parent.mkdir(exist_ok=True)
        (home / path).write_text(text)
    assert differing(home, ".") == (0, [])
    assert "not searched" not in smspec("validate", "--changed", "HEAD", ".", cwd=home).err


PLACED = BUILT.replace("small", "far", 1).replace("smspec: v1\n", "smspec: v1\nextends: [../../teams/base.yaml]\n", 1)
PATHS = {
    "link to a directory": ("real/jobs/a/job.yaml", "latest", "real/jobs"),
    "link to YAML": ("specs/real.yaml", "jobs/a/job.yaml", "../../specs/real.yaml"),
    "link to YAML that is read later": ("zspecs/real.yaml", "jobs/a/job.yaml", "../../zspecs/real.yaml"),
    "link to another name": ("specs/real.conf", "jobs/a/job.yaml", "../../specs/real.conf"),
    "link below": ("jobs/a/spec/job.yaml", "jobs/a/job.yaml", "spec/job.yaml"),
}


@pytest.mark.parametrize("change", ["spec", "script", "new"])
@pytest.mark.parametrize("case", PATHS)
def test_path_without_a_valid_job_does_not_count(home, case, change):
    """Its base is relative to one of its paths; at the other there is none, so that no one can submit it there."""
    real, link, target = PATHS[case]
    text = PLACED.replace("../../teams", "../../../teams") if case == "link to a directory" else PLACED
    valid = home / (real if case == "link to a directory" else link)
    for directory in (valid.parent, (home / real).parent, (home / link).parent, home / "teams"):
        directory.mkdir(parents=True, exist_ok=True)
    shutil.copytree(home / "jobs/src", valid.parent / "src")
    (home / "teams/base.yaml").write_text("smspec: v1\ntags: {team: ads}\n")
    os.symlink(target, home / link)
    if change != "new":
        (home / real).write_text(text)
    commit(home)
    if change == "script":
        (valid.parent / "src/train.py").write_text("print(2)\n")
    else:
        (home / real).write_text(text.replace("epochs: 2", "epochs: 3"))
    done = smspec("diff", "--base", "HEAD", "--format", "json", ".", cwd=home)
    shown = str(valid.relative_to(home))
    assert {job["file"] for job in json.loads(done.out)} == {shown}, done
    assert done.status == 1 and "cannot be compared" not in done.out
    changed = smspec("validate", "--changed", "HEAD", ".", cwd=home)
    assert changed.status == 0 and "not checked" not in changed.err.replace("checked, but not", "")


def test_path_that_was_a_job_counts_when_it_is_none(home):
    """So CI submitted it, and may have the file that it lacks here."""
    (home / "teams").mkdir()
    (home / "teams/base.yaml").write_text("smspec: v1\ntags: {team: ads}\n")
    commit(home)
    text = BUILT.replace("smspec: v1\n", "smspec: v1\nextends: [made/base.yaml]\n", 1)
    (home / "jobs/job.yaml").write_text(text)
    for name in ("src", "made"):
        (home / "other" / name).mkdir(parents=True)
    (home / "other/src/train.py").write_text("print(1)\n")
    (home / "other/made/base.yaml").write_text("smspec: v1\n")
    os.symlink("../jobs/job.yaml", home / "other/job.yaml")
    done = smspec("diff", "--base", "HEAD", "--fail-on", "security", ".", cwd=home)
    assert done.status == 2 and "jobs/job.yaml" in done.out, done


def test_path_that_an_option_completes_counts(home):
    """The source of CI is one that only `--set` names, and its base differs from that of the other path."""
    text = BUILT.replace("small", "far", 1).replace("source: src/", "source: ${{ vars.s }}")
    text = text.replace("smspec: v1\n", "smspec: v1\nextends: [../base.yaml]\n", 1) + "vars: {s: {default: src}}\n"
    for name in ("a/specs/src", "b/jobs"):
        (home / name).mkdir(parents=True)
    (home / "a/specs/src/train.py").write_text("print(1)\n")
    (home / "a/specs/job.yaml").write_text(text)
    os.symlink("../../a/specs/job.yaml", home / "b/jobs/job.yaml")
    for name in ("a/base.yaml", "b/base.yaml"):
        (home / name).write_text("smspec: v1\ntags: {team: ads}\n")
    commit(home)
    (home / "b/base.yaml").write_text("smspec: v1\ntags: {team: search}\n")
    done = smspec("diff", "--base", "HEAD", "--fail-on", "security", ".", cwd=home)
    assert done.status == 2 and "b/jobs/job.yaml: not compared" in done.out, done


TEMPLATES = {
    "no volume": (", volume: 50GB", ""),
    "placeholder": ("s3://models/small/", "s3://TODO_BUCKET/small/"),
    "no source": ("source: src/\n", ""),
    "syntax": ("name: small", "name: [small"),
}


@pytest.mark.parametrize("case", TEMPLATES)
def test_template_that_no_option_mends_is_not_named(home, case):
    """Its jobs set what it lacks; without variables, `--set` has nothing to replace."""
    old, new = TEMPLATES[case]
    text = BUILT.replace("volume: 10GB", "volume: 50GB")
    assert old in text
    place = ".x/job.yaml" if case == "syntax" else "job.yaml"
    write_job(home / ".x" if case == "syntax" else home, text.replace(old, new))
    child = "smspec: v1\nname: big\nextends: [job.yaml]\nsource: src/\nhosts: {volume: 30GB}\noutput: s3://models/b/\n"
    (home / "big.yaml").write_text(child if case != "syntax" else BUILT.replace("small", "big"))
    write_job(home)
    (home / place).write_text(text.replace(old, new))
    commit(home)
    (home / place).write_text(text.replace(old, new).replace("epochs: 2", "epochs: 3"))
    done = smspec("diff", "--base", "HEAD", "--fail-on", "security", ".", cwd=home)
    assert done.status == 0 and "cannot be compared" not in done.out, done
    assert smspec("validate", "--changed", "HEAD", ".", cwd=home).status == 0


def test_hidden_job_whose_name_is_in_a_missing_base_is_named(home):
    """CI may make that base; without it, nothing shows whether the file is a job."""
    text = BUILT.replace("name: small\n", "extends: [../made/name.yaml]\n").replace("src/", "../jobs/src/")
    (home / ".x").mkdir()
    (home / ".x/job.yaml").write_text(text)
    commit(home)
    (home / ".x/job.yaml").write_text(text.replace("epochs: 2", "epochs: 3"))
    done = smspec("diff", "--base", "HEAD", "--fail-on", "security", ".", cwd=home)
    assert done.status == 1 and ".x/job.yaml: changes security (cannot be compared)" in done.out
    assert "`.x/job.yaml`" in smspec("validate", "--changed", "HEAD", ".", cwd=home).err


def test_settings_of_the_base_are_shown_under_their_names_there(home):
    (home / "smspec.toml").write_text("= broken\n")
    commit(home)
    (home / "smspec.toml").write_text("max_cost = 5\n")
    done = smspec("diff", "--base", "HEAD", ".", cwd=home)
    assert done.status == 2 and "`HEAD:smspec.toml`" in done.err, done
