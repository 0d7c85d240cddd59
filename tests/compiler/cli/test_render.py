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
