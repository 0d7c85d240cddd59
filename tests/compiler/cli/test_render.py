"""`smspec render`: exactly one text, equal to that of a build."""

import json

import pytest

from smspec.render import TARGETS
from support.small_job import BUILT, READY, write_job
from support.smspec_command import smspec

FILES = {"api-json": "create-training-job.json", "dockerfile": "Dockerfile", "entrypoint": "entrypoint.py"}


@pytest.mark.parametrize(("target", "file"), FILES.items())
def test_render_prints_what_build_writes(target, file, tmp_path):
    write_job(tmp_path)
    smspec("build", cwd=tmp_path)
    done = smspec("render", f"--{target}", cwd=tmp_path)
    assert (done.status, done.err) == (0, "")
    assert done.out == (tmp_path / "build/small" / file).read_text()


def test_every_target_option_has_a_help(tmp_path):
    text = " ".join(smspec("render", "--help").out.split())
    for name, target in TARGETS.items():
        assert f" --{name} " in text.replace(",", " ")
        assert target.meaning in text


def test_merged_spec_round_trips(tmp_path):
    (tmp_path / "base.yaml").write_text("smspec: v1\nretries: 3\ntags: {team: ads}\n")
    spec = BUILT + "extends: [base.yaml]\nvars: {n: {default: 2}}\noverlays: {dev: {hosts: {count: '${{ vars.n }}'}}}\n"
    write_job(tmp_path, spec)
    merged = smspec("render", "--spec", "-O", "dev", "--set", "vars.n=3", cwd=tmp_path).out
    assert "extends" not in merged
    (tmp_path / "merged.yaml").write_text(merged)
    again = smspec("render", "--api-json", "merged.yaml", cwd=tmp_path)
    assert again.out == smspec("render", "--api-json", "-O", "dev", "--set", "vars.n=3", cwd=tmp_path).out
    assert json.loads(again.out)["ResourceConfig"]["InstanceCount"] == 3
    assert smspec("render", "--spec", "merged.yaml", cwd=tmp_path).out == merged


def test_origins_name_the_file_of_each_value(tmp_path):
    (tmp_path / "base.yaml").write_text("smspec: v1\ntags: {team: ads}\n")
    (tmp_path / "smspec.toml").write_text("[defaults]\nretries = 2\n")
    write_job(tmp_path, READY + "extends: [base.yaml]\noverlays: {dev: {hosts: {count: 2}}}\n")
    text = smspec("render", "--spec", "--origins", "-O", "dev", cwd=tmp_path).out
    for line in ("name: small  # job.yaml:2", "  team: ads  # base.yaml:2", "retries: 2  # smspec.toml:2"):
        assert line in text.splitlines()
    assert "  count: 2  # job.yaml:8" in text.splitlines()
    (tmp_path / "merged.yaml").write_text(text)
    plain = smspec("render", "--spec", "-O", "dev", cwd=tmp_path).out
    assert smspec("render", "--spec", "merged.yaml", cwd=tmp_path).out == plain


def test_origins_require_the_spec(tmp_path):
    write_job(tmp_path, READY)
    assert smspec("render", "--api-json", "--origins", cwd=tmp_path).status == 2


@pytest.mark.parametrize("target", ["--dockerfile", "--entrypoint"])
def test_absent_part_of_a_job_exits_1(target, tmp_path):
    write_job(tmp_path, READY)
    done = smspec("render", target, cwd=tmp_path)
    assert (done.status, done.out) == (1, "")
    assert done.err.startswith("smspec: no ")


def test_warnings_do_not_mix_with_the_result(tmp_path):
    write_job(tmp_path, READY + "checks: {ignore: [{rule: SM409, because: a test}]}\n")
    done = smspec("render", "--api-json", cwd=tmp_path)
    assert done.status == 0
    assert json.loads(done.out)["ResourceConfig"]["InstanceCount"] == 1
    assert done.err.startswith("warning[SM331]")


@pytest.fixture
def several(tmp_path):
    """Two jobs, one of them without an image of its own, and one with errors."""
    write_job(tmp_path / "a", BUILT.replace("name: small", "name: a"))
    write_job(tmp_path / "b", READY.replace("name: small", "name: b"))
    write_job(tmp_path / "c", BUILT.replace("name: small", "name: c") + "nonsense: 1\n")
    return tmp_path


def test_several_jobs_are_rendered_to_files(several):
    done = smspec("render", ".", "--api-json", "-o", "out", cwd=several)
    assert (done.status, done.out) == (1, "out/a.json\nout/b.json\n")
    assert "unknown key `nonsense`" in done.err
    alone = smspec("render", "a/job.yaml", "--api-json", cwd=several).out
    assert (several / "out/a.json").read_text() == alone
    assert sorted(file.name for file in (several / "out").iterdir()) == ["a.json", "b.json"]


def test_job_without_a_text_is_named(several):
    done = smspec("render", "a/job.yaml", "b/job.yaml", "--dockerfile", "-o", "out", cwd=several)
    assert (done.status, done.out) == (0, "out/a.Dockerfile\n")
    assert "b/job.yaml: no Dockerfile" in done.err


def test_several_jobs_require_a_directory(several):
    for words in (["."], ["a", "b"], ["a/job.yaml", "b/job.yaml"], ["a", "--changed", "HEAD"]):
        done = smspec("render", *words, "--api-json", cwd=several)
        assert done.status == 2
        assert "add `-o DIR`" in done.err


def test_only_job_of_a_directory_is_printed(several):
    printed = smspec("render", "a/job.yaml", "--api-json", cwd=several)
    (several / "empty").mkdir()
    for words in (["a"], ["a/"], ["a", "empty"]):
        assert smspec("render", *words, "--api-json", cwd=several) == printed
    assert smspec("render", ".", "--api-json", cwd=several / "a").out == printed.out


def test_two_jobs_do_not_share_a_file(several):
    write_job(several / "d", BUILT.replace("name: small", "name: a"))
    done = smspec("render", "a", "d", "--spec", "-o", "out", cwd=several)
    assert done.status == 2
    assert "both belong in out/a.yaml" in done.err


def test_every_target_has_its_suffix(several):
    """Policies of the role and of the submitter can be in one directory."""
    suffixes = [target.suffix for name, target in TARGETS.items() if name not in ("spec", "api-json")]
    assert len(suffixes) == len(set(suffixes))
