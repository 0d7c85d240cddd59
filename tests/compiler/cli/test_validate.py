"""`smspec validate`: search for specs, jobs and bases, and findings without duplicates."""

import json
import re

import pytest

from support.small_job import BUILT, READY, write_job
from support.smspec_command import smspec


def codes(done):
    return [record["code"] for record in json.loads(done.out)]


def validate(*words, cwd):
    return smspec("validate", *words, "--format", "json", cwd=cwd)


PASSED = "checked 1 job: no problems found\ncost ceiling: 24 instance hours\n"


def test_valid_job_has_no_problems(tmp_path):
    write_job(tmp_path, READY)
    assert smspec("validate", cwd=tmp_path) == (0, "", PASSED)
    assert validate(cwd=tmp_path).out == "[]\n"


def test_unpinned_base_image_is_mentioned_after_the_result(tmp_path):
    """A first job has nothing wrong with it: only where there is a lock is this a finding."""
    write_job(tmp_path)
    said = f"{PASSED}base image `python:3.12-slim-bookworm` is not pinned; run `smspec lock`\n"
    assert smspec("validate", cwd=tmp_path) == (0, "", said)
    smspec("lock", "--digest", f"python:3.12-slim-bookworm=sha256:{'a' * 64}", cwd=tmp_path)
    assert smspec("validate", cwd=tmp_path) == (0, "", PASSED)


def test_findings_go_to_stdout_and_the_count_to_stderr(tmp_path):
    write_job(tmp_path, BUILT + "nme: x\n")
    done = smspec("validate", cwd=tmp_path)
    assert done.status == 1
    assert done.out.startswith("error[SM204]: unknown key `nme`\n   --> job.yaml:11:1\n")
    assert done.err == "checked 1 job: 1 error\nFor details, run `smspec explain SM204`.\n"


def test_directory_selects_jobs_without_their_bases(tmp_path):
    job = READY.replace("name: small", "name: small\nextends: [../org/base.yaml]")
    write_job(tmp_path / "b", job.replace("small", "second"))
    write_job(tmp_path / "a", job)
    write_job(tmp_path / "c", READY + "nme: x\n")
    for name, text in {
        "org/base.yaml": "smspec: v1\nretries: 3\n",
        "org/unused.yaml": "smspec: v1\nnme: what is in a base is nobody's business until a job extends it\n",
        "other.yaml": "apiVersion: v1\nsmspec_like: no\n",
        "broken.yml": "a: [\n",
        ".hidden/job.yaml": "smspec: v1\nname: [",
        "node_modules/job.yaml": "smspec: v1\nname: [",
        "notes.txt": "smspec: v1\nname: [",
    }.items():
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(text)
    done = validate(".", cwd=tmp_path)
    located = [(r["file"], r["code"]) for r in json.loads(done.out)]
    assert [one for one in located if one[1] == "SM204"] == [("c/job.yaml", "SM204")]
    assert done.err.startswith("checked 3 jobs: 1 error")


def test_extended_spec_is_a_base_even_with_a_name(tmp_path):
    write_job(tmp_path, READY + "nme: x\n")
    (tmp_path / "dev.yaml").write_text("smspec: v1\nextends: [job.yaml]\nname: dev\nnme: null\n")
    done = validate(".", cwd=tmp_path)
    assert (done.status, done.err) == (0, PASSED)
    assert codes(validate("job.yaml", cwd=tmp_path)) == ["SM204"]
    assert codes(validate("job.yaml", "dev.yaml", cwd=tmp_path)) == []


def test_broken_spec_in_a_directory_is_reported(tmp_path):
    write_job(tmp_path)
    (tmp_path / "late.yaml").write_text("role: {\nsmspec: v1\nname: late\n")
    (tmp_path / "flow.yaml").write_text("{smspec: v1, name: flow, role: [}\n")
    done = validate(".", cwd=tmp_path)
    assert {record["file"] for record in json.loads(done.out)} == {"late.yaml", "flow.yaml"}
    assert done.status == 1


def test_named_file_is_checked_as_a_job(tmp_path):
    write_job(tmp_path, READY.replace("name: small\n", ""))
    done = validate("job.yaml", cwd=tmp_path)
    assert codes(done) == ["SM202"]
    assert "name" in json.loads(done.out)[0]["message"]


def test_overlapping_arguments_are_checked_once(tmp_path):
    write_job(tmp_path, READY + "nme: x\n")
    done = validate("job.yaml", ".", str(tmp_path), "./job.yaml", cwd=tmp_path)
    assert codes(done) == ["SM204"]
    assert done.err == "checked 1 job: 1 error\n"


@pytest.mark.parametrize("paths", [["job.yaml"], ["."], ["job.yaml", "dev.yaml"]])
def test_specs_that_extend_each_other_are_reported(tmp_path, paths):
    write_job(tmp_path, READY + "extends: [dev.yaml]\n")
    (tmp_path / "dev.yaml").write_text("smspec: v1\nextends: [job.yaml]\nname: dev\n")
    assert set(codes(validate(*paths, cwd=tmp_path))) == {"SM141", "SM147"}


@pytest.mark.parametrize("path", ["job.yaml", "."])
def test_spec_that_extends_itself_is_reported(tmp_path, path):
    write_job(tmp_path, READY + "extends: [job.yaml]\n")
    done = validate(path, cwd=tmp_path)
    assert (done.status, codes(done)) == (1, ["SM141", "SM147"])


def test_named_base_is_not_checked_as_a_job(tmp_path):
    """A commit hook names the files that changed, whatever they are."""
    (tmp_path / "base.yaml").write_text("smspec: v1\nretries: 3\n")
    done = smspec("validate", "base.yaml", cwd=tmp_path)
    assert (done.status, done.out) == (0, "")
    assert done.err.startswith("no jobs found: ")
    write_job(tmp_path, READY)
    assert smspec("validate", "base.yaml", "job.yaml", cwd=tmp_path).err == PASSED


def test_named_base_must_be_yaml(tmp_path):
    (tmp_path / "base.yaml").write_text("smspec: v1\nretries: [3\n")
    assert (validate("base.yaml", cwd=tmp_path).status, codes(validate("base.yaml", cwd=tmp_path))) == (1, ["SM101"])


def test_missing_job_name_is_the_only_error(tmp_path):
    write_job(tmp_path, READY.replace("name: small\n", ""))
    done = validate(cwd=tmp_path)
    assert (done.status, codes(done)) == (1, ["SM202"])
    assert "`name`" in done.out


def test_directory_of_bases_only_exits_2(tmp_path):
    (tmp_path / "base.yaml").write_text("smspec: v1\n")
    assert smspec("validate", ".", cwd=tmp_path) == (2, "", "smspec: no job spec found in `.`\n")


OVERLAYS = """\
overlays:
  dev: {hosts: {count: 0}}
  test: {hosts: {count: 0}}
  prod: {retries: 99}
"""


def test_spec_fault_is_reported_once_for_all_overlays(tmp_path):
    write_job(tmp_path, READY + "nme: x\n" + OVERLAYS.replace("count: 0", "count: 1").replace("99", "3"))
    done = smspec("validate", cwd=tmp_path)
    assert done.out.count("error[") == 1
    assert "overlay" not in done.out
    assert done.err.startswith("checked 1 job and 3 overlays: 1 error\nFor details, ")


def test_overlay_fault_names_its_overlay(tmp_path):
    write_job(
        tmp_path, READY.replace("count: 1", "count: 0") + "overlays: {dev: {retries: 3}, fit: {hosts: {count: 1}}}\n"
    )
    assert smspec("validate", cwd=tmp_path).out.count("error[") == 1
    write_job(tmp_path, READY + "overlays: {dev: {retries: 99}, prod: {retries: 99}}\n")
    done = smspec("validate", cwd=tmp_path)
    assert done.out.count("= note: with the overlay `dev`") == 1
    assert done.out.count("= note: with the overlay `prod`") == 1


PROGRAM = """
import argparse, os
parser = argparse.ArgumentParser()
parser.add_argument("--epochs", type=int)
parser.add_argument("--data-version", required=True)
parser.parse_args()
os.environ["SM_CHANNEL_TRAIN"]
"""
RUNS = BUILT + 'channels: {other: {s3: "s3://data/other/"}}\n'


@pytest.mark.parametrize(
    ("overlays", "expected"),
    [
        ("{a: {hyperparameters: {epochs: 5}}, b: {channels: {other: {s3: 's3://data/b/'}}}}", ["SM502", "SM506"]),
        # Only one of them gives it: the others are reported.
        ("{a: {hyperparameters: {epochs: 5, data-version: 1}}}", ["SM502", "SM506"]),
        # A value that is refused is a fault wherever it is written.
        (
            "{a: {hyperparameters: {epochs: many}}, b: {hyperparameters: {epochs: many}}}",
            ["SM502", "SM506", "SM503", "SM503"],
        ),
    ],
)
def test_script_fault_is_reported_once_for_all_overlays(overlays, expected, tmp_path):
    write_job(tmp_path, f"{RUNS}overlays: {overlays}\n")
    (tmp_path / "src").mkdir(exist_ok=True)
    (tmp_path / "src/train.py").write_text(PROGRAM)
    assert codes(validate(cwd=tmp_path)) == expected


def test_script_fault_under_an_overlay_names_it(tmp_path):
    given = RUNS.replace("epochs: 2", "epochs: 2, data-version: 1")
    write_job(tmp_path, f"{given}overlays: {{a: {{hyperparameters: {{data-version: null}}}}}}\n")
    (tmp_path / "src").mkdir(exist_ok=True)
    (tmp_path / "src/train.py").write_text(PROGRAM)
    done = smspec("validate", cwd=tmp_path)
    assert done.out.count("error[SM502]") == done.out.count("with the overlay `a`") == 1


def test_selected_overlay_is_checked_alone(tmp_path):
    write_job(tmp_path, READY + OVERLAYS)
    done = smspec("validate", "-O", "prod", cwd=tmp_path)
    assert (done.out.count("error["), done.out.count("note:")) == (1, 0)
    assert "`prod`" not in done.out
    assert smspec("validate", "--overlay=prod", "--set", "vars.x=1", cwd=tmp_path).status == 2


def test_unmergeable_overlay_does_not_hide_others(tmp_path):
    write_job(tmp_path, READY + "overlays: {dev: {retries: '${{ vars.gone }}'}, prod: {retries: 99}}\n")
    records = json.loads(validate(cwd=tmp_path).out)
    assert len(records) == 2


def test_ignore_used_by_one_overlay_is_not_unused(tmp_path):
    spec = READY + "checks: {ignore: [{rule: SM409, because: a test}]}\noverlays: {dev: {retries: 3}}\n"
    write_job(tmp_path, spec)
    assert codes(validate(cwd=tmp_path)) == ["SM331"]
    write_job(tmp_path, READY + "hyperparameters: {epochs: '2'}\n")
    assert codes(validate(cwd=tmp_path)) == []


@pytest.mark.parametrize("value", ["13b", "7b"])
def test_set_option_sets_variables(value, tmp_path):
    write_job(tmp_path, READY + "vars: {size: {enum: [7b, 13b]}}\nhyperparameters: {size: '${{ vars.size }}'}\n")
    assert validate("--set", f"vars.size={value}", cwd=tmp_path).status == 0
    assert validate(cwd=tmp_path).status == 1
    assert smspec("validate", "--set", "vars.size=70b", cwd=tmp_path).status == 2


def test_spec_may_be_a_pipe(tmp_path):
    """As from `smspec validate <(generate)`: a FIFO is read once, and only once."""
    import os
    import threading

    fifo = tmp_path / "fifo"
    os.mkfifo(fifo)
    writer = threading.Thread(target=fifo.write_text, args=(READY + "nme: x\n",))
    writer.start()
    done = validate("fifo", cwd=tmp_path)
    writer.join(10)
    assert codes(done) == ["SM204"]


def test_null_that_only_one_job_needs_is_not_idle(tmp_path):
    (tmp_path / "no_network.yaml").write_text("smspec: v1\nnetwork: null\n")
    (tmp_path / "network.yaml").write_text("smspec: v1\nnetwork: {subnets: [subnet-0aa], security_groups: [sg-0bb]}\n")
    for name, bases in (("one", "network.yaml, no_network.yaml"), ("two", "no_network.yaml")):
        text = READY.replace("name: small", f"name: {name}\nextends: [{bases}]").replace(
            "models/small", f"models/{name}"
        )
        (tmp_path / f"{name}.yaml").write_text(text)
    assert "SM216" in smspec("validate", "two.yaml", cwd=tmp_path).out
    assert "SM216" not in smspec("validate", "one.yaml", "two.yaml", cwd=tmp_path).out


@pytest.mark.parametrize("faults", [1, 100])
def test_explain_is_suggested_once(tmp_path, faults):
    """The command is for people: what programs read has the address of the documentation instead."""
    write_job(tmp_path, READY + "tags: {env: dev}\n" + "".join(f"key{n}: 1\n" for n in range(faults)))
    suggestion = "For details, run `smspec explain SM204`.\n"
    done = smspec("validate", cwd=tmp_path)
    assert done.out.count("error[SM204]") == faults
    assert (done.out + done.err).count("smspec explain") == 1
    assert done.err.endswith(suggestion)
    assert smspec("build", cwd=tmp_path).err.count("smspec explain") == 1
    for form in ("json", "sarif", "github"):
        done = smspec("validate", "--format", form, cwd=tmp_path)
        assert suggestion not in done.out + done.err


def test_explain_is_suggested_for_the_first_error(tmp_path):
    write_job(tmp_path, READY.replace("image: ", "description: \u00a0\nimage: ") + "nme: x\nmne: [\n")
    done = smspec("validate", cwd=tmp_path)
    first = re.search(r"^error\[(SM\d+)\]", done.out, re.MULTILINE)
    assert done.err.endswith(f"smspec explain {first[1]}`.\n")


def test_verbosity_of_validate(tmp_path):
    write_job(tmp_path / "a", READY)
    write_job(tmp_path / "b", READY + "overlays: {dev: {hosts: {count: 2}}}\nnme: x\n")
    quiet = smspec("validate", "-q", ".", cwd=tmp_path)
    assert quiet.status == 1 and quiet.out.startswith("error[SM204]")
    assert quiet.err == ""
    assert smspec("validate", "-q", "a", cwd=tmp_path) == (0, "", "")
    verbose = smspec("validate", "-v", ".", cwd=tmp_path)
    assert verbose.out == quiet.out
    assert verbose.err.splitlines()[:2] == [
        "checked a/job.yaml: no problems found; cost ceiling: 24 instance hours",
        "checked b/job.yaml and 1 overlay: 1 error",
    ]


def test_quiet_text_has_no_notes_and_json_has_all(tmp_path):
    unread = (
        "import argparse, sys\nparser = argparse.ArgumentParser()\nargparse.fill(parser, sys)\nparser.parse_args()\n"
    )
    write_job(tmp_path, **{"src/train.py": unread})
    notes = [record["code"] for record in json.loads(validate("-q", cwd=tmp_path).out) if record["severity"] == "note"]
    assert notes
    assert "note[" in smspec("validate", cwd=tmp_path).out
    assert "note[" not in smspec("validate", "-q", cwd=tmp_path).out


@pytest.mark.parametrize(("words", "status"), [([], 0), (["--strict"], 1)])
def test_junit_fails_where_the_command_does(words, status, tmp_path):
    write_job(tmp_path, BUILT.replace("{epochs: 2}", "{amp: no}"))
    done = smspec("validate", "--format", "junit", *words, cwd=tmp_path)
    assert (done.status, done.out.count("<failure")) == (status, status)


def test_packages_without_a_version_are_counted_once(tmp_path):
    spec = BUILT.replace(
        'base: "python:3.12-slim-bookworm"', 'base: "python:3.12-slim-bookworm", python_packages: [%s]'
    )
    write_job(tmp_path, spec % "numpy, six==1.16.0, 'torch>=2'")
    done = smspec("validate", cwd=tmp_path)
    assert "base image `python:3.12-slim-bookworm` and 2 packages are not pinned; run `smspec lock`\n" in done.err
    ignoring = 'checks: {ignore: [{rule: SM721, because: "they follow their releases"}]}\n'
    write_job(tmp_path, spec % "numpy" + ignoring)
    assert "base image `python:3.12-slim-bookworm` is not pinned;" in smspec("validate", cwd=tmp_path).err
