"""`validate --fix` replaces what is certainly misspelled, and nothing else."""

import json
import os
import tempfile
from collections import Counter
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from support.examples import at_most
from support.small_job import BUILT, PROGRAM, READY, write_job
from support.smspec_command import smspec
from support.spec.job_samples import PLAIN
from support.spec.written_specs import written_specs

FAULTY = READY.replace("output:", "outptu:") + "input_mode: 'pipe'  # mode\n"
REPAIRED = READY + "input_mode: 'Pipe'  # mode\n"


def test_changes_are_printed_and_written(tmp_path):
    path = write_job(tmp_path, FAULTY)
    path.chmod(0o640)
    done = smspec("validate", "--fix", cwd=tmp_path)
    assert done.status == 0
    assert done.out.startswith("job.yaml:6: `outptu` -> `output` (SM204)\njob.yaml:7: `'pipe'` -> `'Pipe'` (SM205)\n")
    assert done.err.startswith("2 fixed; checked 1 job: ")
    assert path.read_text() == REPAIRED
    assert path.stat().st_mode & 0o777 == 0o640
    again = smspec("validate", "--fix", cwd=tmp_path)
    assert again.err.startswith("0 fixed; checked 1 job: ")
    assert again.out == smspec("validate", cwd=tmp_path).out
    assert path.read_text() == REPAIRED


def test_json_has_what_was_fixed_and_what_is_left(tmp_path):
    write_job(tmp_path, FAULTY + "nosuchkey: 1\n")
    done = smspec("validate", "--fix", "--format", "json", cwd=tmp_path)
    found = [(one["fixed"], one["code"], one["line"], one["replacement"]) for one in json.loads(done.out)]
    assert found == [(True, "SM204", 6, "output"), (True, "SM205", 7, "Pipe"), (False, "SM204", 8, "")]
    assert done.status == 1


@pytest.mark.parametrize(
    ("written", "meant"),
    [
        ("stopping: {max_runtime: 30 min}", "stopping: {max_runtime: 30m}"),
        ('retries: "2"', "retries: 2"),
        ("network: {isolation: yes}", "network: {isolation: true}"),
        ("account: 111122223333", 'account: "111122223333"'),
        ("Retries: 2", "retries: 2"),
        ('"Retries": 2', '"retries": 2'),
        ("input_mode: &mode pipe", "input_mode: &mode Pipe"),
    ],
)
def test_each_kind_of_certain_suggestion_is_applied(tmp_path, written, meant):
    path = write_job(tmp_path, f"{READY}{written}\n")
    smspec("validate", "--fix", cwd=tmp_path)
    assert path.read_text() == f"{READY}{meant}\n"


OPTIONS = """\
import argparse
p = argparse.ArgumentParser()
p.add_argument("--learning-rate", type=float)
p.add_argument("--optimizer", choices=["adam", "sgd"])
p.add_argument("--adam-beta1", type=float)
p.add_argument("--adam-beta2", type=float)
p.parse_args()
"""


@pytest.mark.parametrize(
    ("written", "meant"),
    [
        ("learning_rate: 0.1", "learning-rate: 0.1"),
        ("learning-rte: 0.1", "learning-rate: 0.1"),
        ("optimizer: 'adamm'", "optimizer: 'adam'"),
        ("optimizer: SGD", "optimizer: sgd"),
        ("adam-beta: 0.1", "adam-beta: 0.1"),  # either of two
        ("optimizer: lamb", "optimizer: lamb"),
        ("learning-rate: 0.1, learning_rate: 0.2", "learning-rate: 0.1, learning_rate: 0.2"),
    ],
)
def test_hyperparameters_are_spelled_as_the_script_has_them(tmp_path, written, meant):
    before = BUILT.replace("epochs: 2", written)
    path = write_job(tmp_path, before, **{"src/train.py": OPTIONS})
    done = smspec("validate", "--fix", cwd=tmp_path)
    assert path.read_text() == before.replace(written, meant), done.err
    assert ("(SM50" in done.out) == (written != meant)


@pytest.mark.parametrize(
    ("written", "meant"),
    [
        ("ml.gd4n.xlarge", "ml.g4dn.xlarge"),
        ("ml.m5.2xlage", "ml.m5.2xlarge"),
        ("ml.g4nd.7xlarge", "ml.g4nd.7xlarge"),  # the family has no such size
        ("ml.m5.3xlarge", "ml.m5.3xlarge"),
    ],
)
def test_instance_types_are_corrected_by_family_and_size(tmp_path, written, meant):
    before = READY.replace("ml.m5.large", written).replace(
        ", volume: 10GB", "" if "g" in written[:6] else ", volume: 9GB"
    )
    path = write_job(tmp_path, before)
    smspec("validate", "--fix", cwd=tmp_path)
    assert path.read_text() == before.replace(written, meant)


@pytest.mark.parametrize(
    "written",
    [
        "spot: {max_wait: 1:30}",
        "hosts: {volume: 1500MB}",
        "smspec_version: v1",
        "input_mode: ${{ vars.mode }}\nvars: {mode: {default: pipe}}",
        "retries: 1\nretires: 2",
        "image_uri: x",
        "entry_point: |\n  train",
    ],
)
def test_uncertain_suggestions_change_nothing(tmp_path, written):
    path = write_job(tmp_path, f"{READY}{written}\n")
    smspec("validate", "--fix", cwd=tmp_path)
    assert path.read_text() == f"{READY}{written}\n"


def test_fix_goes_to_the_base_spec_or_overlay_with_the_value(tmp_path):
    base = tmp_path / "bases" / "base.yaml"
    base.parent.mkdir()
    base.write_text("smspec: v1\ninput_mode: pipe\n")
    extending = "extends: [bases/base.yaml]\noverlays: {dev: {retires: 1}}\n"
    path = write_job(tmp_path, READY + extending)
    done = smspec("validate", "--fix", cwd=tmp_path)
    assert "bases/base.yaml:2: `pipe` -> `Pipe` (SM205)\n" in done.out
    assert "job.yaml:8: `retires` -> `retries` (SM204)\n" in done.out
    assert base.read_text() == "smspec: v1\ninput_mode: Pipe\n"
    assert path.read_text() == READY + extending.replace("retires", "retries")


def test_fix_that_leads_to_a_new_finding_is_not_applied(tmp_path):
    spec = READY.replace("ml.m5.large", "ml.m5.nosuch").replace("instance_type", "instance_tpye") + "input_mode: pipe\n"
    path = write_job(tmp_path, spec)
    done = smspec("validate", "--fix", cwd=tmp_path)
    assert "job.yaml:5: not changed: `instance_tpye` -> `instance_type`: then the specs would have SM483\n" in done.err
    assert "error[SM204]" in done.out
    assert path.read_text() == spec.replace("pipe", "Pipe")


def _with(directory, spec):
    write_job(directory, spec)
    return directory


@pytest.mark.parametrize("words", [["--api-json", "x.json"], ["--format", "mermaid"]])
def test_fix_is_only_for_findings_in_specs(tmp_path, words):
    done = smspec("validate", "--fix", *words, cwd=_with(tmp_path, FAULTY))
    assert done.status == 2
    assert "--fix cannot be combined with" in done.err
    assert (tmp_path / "job.yaml").read_text() == FAULTY


def test_generated_and_read_only_files_stay(tmp_path):
    path = write_job(tmp_path, "# @generated\n" + FAULTY)
    done = smspec("validate", "--fix", cwd=tmp_path)
    assert (done.status, path.read_text()) == (1, "# @generated\n" + FAULTY)
    assert "job.yaml: not changed, because a program generates it\n" in done.err
    path.write_text(FAULTY)
    path.chmod(0o444)
    done = smspec("validate", "--fix", cwd=tmp_path)
    assert (done.status, done.out, done.err) == (3, "", "smspec: `job.yaml` is read-only\n")
    assert path.read_text() == FAULTY


def test_mark_line_ends_and_links_stay(tmp_path):
    path = write_job(tmp_path / "real")
    path.write_bytes(b"\xef\xbb\xbf" + FAULTY.replace("\n", "\r\n").encode())
    (tmp_path / "job.yaml").symlink_to("real/job.yaml")
    assert smspec("validate", "--fix", cwd=tmp_path).status == 0
    assert path.read_bytes() == b"\xef\xbb\xbf" + REPAIRED.replace("\n", "\r\n").encode()
    assert os.path.islink(tmp_path / "job.yaml")


JOB = {
    **PLAIN,
    "hyperparameters": {"lr": 0.1, "epochs": 2},
    "stopping": {"max_runtime": "1h"},
    "input_mode": "File",
    "retries": 2,
}
FAULTS = (
    lambda job: {**job, "reties": job["retries"]},
    lambda job: {("retires" if key == "retries" else key): value for key, value in job.items()},
    lambda job: {("chanels" if key == "channels" else key): value for key, value in job.items()},
    lambda job: {**job, "stopping": {"max_runtime": "90 minutes"}},
    lambda job: {**job, "stopping": {"max_runtme": "1h"}},
    lambda job: {**job, "input_mode": "fastfile"},
    lambda job: {**job, "input_mode": "stream"},
    lambda job: {**job, "hosts": {**job["hosts"], "volume": "0.5TB"}},
    lambda job: {**job, "hosts": {**job["hosts"], "instance_type": "ml.c5.xlrge"}},
    lambda job: {**job, "entry_point": {"script": "trian.py"}},
    lambda job: {**job, "retries": "two"},
    lambda job: {**job, "unknown": 1},
    lambda job: {**job, "overlays": {"dev": {"retreis": 1, "input_mode": "PIPE"}}},
)


@st.composite
def faulty_jobs(draw):
    job = JOB
    for fault in draw(st.lists(st.sampled_from(FAULTS), max_size=4)):
        job = fault(job) if "retries" in job and "hosts" in job else job
    return draw(written_specs(job))


def found(directory, *options):
    return json.loads(smspec("validate", "--format", "json", *options, cwd=directory).out)


def kinds(findings):
    return Counter((one["code"], one["path"]) for one in findings)


def test_findings_only_become_fewer_and_only_once():
    with tempfile.TemporaryDirectory() as name:
        directory = Path(name)
        path = write_job(directory, BUILT, src__train__py=PROGRAM)

        @settings(max_examples=at_most(200), suppress_health_check=[HealthCheck.too_slow])
        @given(faulty_jobs())
        def law(text):
            path.write_bytes(text.encode())
            before = found(directory)
            told = found(directory, "--fix")
            after = found(directory)
            once = path.read_bytes()
            fixed = [one for one in told if one["fixed"]]
            assert kinds(one for one in told if not one["fixed"]) == kinds(after)
            assert not kinds(after) - kinds(before)
            assert (once == text.encode()) == (not fixed)
            assert not any(kinds(after)[kind] >= kinds(before)[kind] > 0 for kind in kinds(fixed))
            changed = sum(old != new for old, new in zip(text.split("\n"), once.decode().split("\n"), strict=True))
            assert changed <= len(fixed)
            assert not any(one["fixed"] for one in found(directory, "--fix"))
            assert path.read_bytes() == once

        law()


def test_missing_base_spec_makes_a_fix_uncertain(tmp_path):
    """The base spec may have the intended key too."""
    spec = READY.replace("count", "cuont") + "extends: [gone.yaml]\n"
    path = write_job(tmp_path, spec)
    assert "did you mean `count`?" in smspec("validate", "--fix", cwd=tmp_path).out
    assert path.read_text() == spec


@pytest.mark.parametrize(
    ("written", "meant"),
    [
        ('command: "./job.sh --fast"', "command: [./job.sh, --fast]"),
        ("command: python3 train.py --lr 1", 'command: [python3, train.py, --lr, "1"]'),
        ("command: python3 train.py && date", 'command: [sh, -c, "python3 train.py && date"]'),
    ],
)
def test_command_in_one_string_becomes_a_list(tmp_path, written, meant):
    """A list of words shows findings that need the command, such as a note about a program that is not Python."""
    spec = BUILT.replace("entry_point: train.py", "entry_point: {WORDS}")
    assert "WORDS" in spec
    path = write_job(tmp_path, spec.replace("WORDS", written), **{"src/job.sh": "#!/bin/sh\n"})
    smspec("validate", "--fix", cwd=tmp_path)
    assert path.read_text() == spec.replace("WORDS", meant)


@pytest.mark.parametrize("channels", [101, 150, 400])
def test_many_misspelled_keys_are_all_fixed(channels, tmp_path):
    """More than a check explains: each round shows more of them, and what they hid does not count as new."""
    lines = [f"  c{number}: {{s3: 's3://a/{number}/', inputmode: File}}\n" for number in range(channels)]
    path = write_job(tmp_path, READY + "channels:\n" + "".join(lines))
    fixed = smspec("validate", "--fix", cwd=tmp_path).err
    assert f"{channels} fixed; " in fixed
    assert path.read_text().count("input_mode: File") == channels
