"""`smspec diff` with requests, with descriptions from SageMaker, and with the last build."""

import itertools
import json

import pytest
import yaml

from support.locked_packages import lock_packages
from support.review.diff_outcomes import change_of, jobs, kinds, rewrite
from support.small_job import BUILT, READY, write_job
from support.smspec_command import smspec

OVERLAYS = BUILT + "overlays: {dev: {retries: 1}, big: {hosts: {count: 2}}, quick: {stopping: {max_runtime: 1h}}}\n"


def test_spec_does_not_differ_from_its_request(tmp_path):
    write_job(tmp_path, READY + "tags: {a: b}\nhyperparameters: {lr: 1e-3}\n")
    (tmp_path / "old.json").write_text(smspec("render", "--api-json", cwd=tmp_path).out)
    assert smspec("diff", "old.json", "job.yaml", cwd=tmp_path).status == 0


def described(request):
    """Return the DescribeTrainingJob response of a job that was created with a request."""
    answer = {name: value for name, value in request.items() if name != "Tags"}
    channels = [
        {"CompressionType": "None", "RecordWrapperType": "None", **channel} for channel in answer["InputDataConfig"]
    ]
    return {
        **answer,
        "TrainingJobArn": "arn:aws:sagemaker:us-west-2:111122223333:training-job/small",
        "TrainingJobStatus": "Completed",
        "InputDataConfig": channels,
        "EnableNetworkIsolation": False,
        "EnableInterContainerTrafficEncryption": False,
        "EnableManagedSpotTraining": False,
        "OutputDataConfig": {**answer["OutputDataConfig"], "KmsKeyId": "", "CompressionType": "GZIP"},
        "BillableTimeInSeconds": 12,
        "CreationTime": "2026-01-01T00:00:00",
    }


def test_spec_does_not_differ_from_its_described_job(tmp_path):
    write_job(tmp_path, READY + "tags: {a: b}\nchannels: {train: s3://example-data/train/}\n")
    request = json.loads(smspec("render", "--api-json", cwd=tmp_path).out)
    (tmp_path / "old.json").write_text(json.dumps(described(request)))
    done = smspec("diff", "old.json", "job.yaml", cwd=tmp_path)
    assert (done.status, done.out) == (0, "")
    assert "which has no tags" in done.err
    rewrite(tmp_path / "job.yaml", "train/}", "other/}")
    done = smspec("diff", "old.json", "job.yaml", "--format", "json", cwd=tmp_path)
    assert kinds(done) == {"data", "job"}
    assert change_of(done, "data")["path"] == "channels.train.s3"


def test_locked_packages_are_compared_with_the_build(tmp_path):
    spec = write_job(tmp_path, BUILT.replace('bookworm"}', 'bookworm", python_packages: [numpy, six]}'))
    lock_packages(spec, {"numpy": "2.1.0", "six": "1.16.0"})
    assert smspec("build", cwd=tmp_path).status == 0
    assert smspec("diff", cwd=tmp_path).status == 0
    lock_packages(spec, {"numpy": "2.2.0", "six": "1.16.0"})
    change = change_of(smspec("diff", "--format", "json", cwd=tmp_path), "image")
    assert (change["what"], change["old"], change["new"]) == ("python packages (`numpy`): is rebuilt", "2.1.0", "2.2.0")


def test_request_forms_do_not_differ_from_each_other(tmp_path):
    """An answer has members that no request has, an ACK object other names: none of it changes the job."""
    write_job(tmp_path, READY + "tags: {a: b}\nchannels: {train: s3://example-data/train/}\n")
    for target in ("api-json", "ack", "step-functions"):
        (tmp_path / f"{target}.json").write_text(smspec("render", f"--{target}", cwd=tmp_path).out)
    (tmp_path / "ack.json").rename(tmp_path / "ack.yaml")
    answer = described(json.loads((tmp_path / "api-json.json").read_text()))
    (tmp_path / "answer.json").write_text(json.dumps(answer))
    (tmp_path / "earlier.json").write_text(json.dumps({**answer, "TrainingJobStatus": "InProgress"}))
    forms = ("job.yaml", "api-json.json", "ack.yaml", "step-functions.json", "answer.json", "earlier.json")
    for old, new in itertools.permutations(forms, 2):
        done = smspec("diff", old, new, cwd=tmp_path)
        assert (old, new, done.status, done.out) == (old, new, 0, "")


def test_renamed_request_points_at_its_name(tmp_path):
    write_job(tmp_path)
    request = json.loads(smspec("render", "--api-json", cwd=tmp_path).out)
    for name in ("old", "new"):
        (tmp_path / f"{name}.json").write_text(json.dumps({**request, "TrainingJobName": name}, indent=1))
    done = smspec("diff", "old.json", "new.json", "--format", "json", cwd=tmp_path)
    renamed = change_of(done, "restart")
    line = list({**request, "TrainingJobName": ""}).index("TrainingJobName") + 2
    assert (renamed["path"], renamed["file"], renamed["line"]) == ("TrainingJobName", "new.json", line)


def test_member_set_to_its_default_is_cosmetic(tmp_path):
    write_job(tmp_path)
    request = json.loads(smspec("render", "--api-json", cwd=tmp_path).out)
    (tmp_path / "old.json").write_text(json.dumps(request))
    (tmp_path / "new.json").write_text(json.dumps({**request, "EnableManagedSpotTraining": False}))
    done = smspec("diff", "old.json", "new.json", "--format", "json", cwd=tmp_path)
    assert (done.status, kinds(done)) == (1, {"cosmetic"})


@pytest.mark.parametrize("content", ["[]", "{", '{"a": 1}', "null", "\x00", '{"a": 1, "a": 2}'])
def test_json_other_than_a_request_is_rejected(tmp_path, content):
    write_job(tmp_path)
    (tmp_path / "old.json").write_text(content)
    assert smspec("diff", "old.json", "job.yaml", cwd=tmp_path).status == 2


def test_spec_does_not_differ_from_its_build(tmp_path):
    packages = "python_packages: [numpy==2.1.0], system_packages: [git], run: [echo a && echo b], env: {A: 'b c'}"
    spec = BUILT.replace('bookworm"}', f'bookworm", {packages}, labels: {{team: ads}}}}')
    write_job(tmp_path, spec)
    assert smspec("build", cwd=tmp_path).status == 0
    done = smspec("diff", cwd=tmp_path)
    assert (done.status, done.out) == (0, "")
    assert "compared with build/small" in done.err
    rewrite(tmp_path / "job.yaml", "numpy==2.1.0", "numpy==2.2.0")
    rewrite(tmp_path / "job.yaml", "echo b", "echo c")
    (tmp_path / "src/train.py").write_text("print('other')\n")
    done = smspec("diff", "job.yaml", "--format", "json", cwd=tmp_path)
    layers = [change["what"] for change in jobs(done)[0]["changes"] if change["kind"] == "image"]
    assert layers == [f"{layer}: is rebuilt" for layer in ("python packages", "run", "source")]
    assert change_of(done, "code")["what"].startswith("`train.py` changed")


@pytest.mark.parametrize("delivery", ["channel", "s3"])
def test_build_is_read_with_every_delivery(tmp_path, delivery):
    write_job(tmp_path, BUILT.replace("src/", f"{{dir: src/, delivery: {delivery}}}"))
    smspec("build", cwd=tmp_path)
    assert smspec("diff", cwd=tmp_path).status == 0
    (tmp_path / "src/train.py").write_text("print('other')\n")
    done = smspec("diff", "job.yaml", "--format", "json", cwd=tmp_path)
    assert "code" in kinds(done)
    assert "image" not in kinds(done)


def test_build_of_an_overlay_is_compared_with_that_overlay(tmp_path):
    write_job(tmp_path, OVERLAYS)
    smspec("build", "-O", "dev", cwd=tmp_path)
    assert smspec("diff", "-O", "dev", "job.yaml", cwd=tmp_path).status == 0
    assert smspec("diff", "-O", "big", "job.yaml", cwd=tmp_path).status == 2


def imported_spec(tmp_path, source):
    (tmp_path / "old.json").write_text(json.dumps(source))
    done = smspec("import", "old.json", cwd=tmp_path)
    assert done.status == 0, done.err
    (tmp_path / "job.yaml").write_text(done.out)


def test_request_does_not_differ_from_its_import(tmp_path):
    write_job(tmp_path, READY)
    request = json.loads(smspec("render", "--api-json", cwd=tmp_path).out)
    imported_spec(tmp_path, {**request, "TrainingJobName": "Small-Job-2026-01-02-03-04-05-678"})
    assert smspec("diff", "old.json", "job.yaml", cwd=tmp_path).status == 0
    # `name` is what `import` made of the job's name: without `job_name` it is a new job of the same stem.
    (tmp_path / "job.yaml").write_text((tmp_path / "job.yaml").read_text().partition("job_name:")[0])
    assert kinds(smspec("diff", "old.json", "job.yaml", "--format", "json", cwd=tmp_path)) == {"job"}


def test_generated_name_next_to_an_exact_one_is_not_a_restart(tmp_path):
    write_job(tmp_path, READY + "job_name: exact-1\n")
    (tmp_path / "new.yaml").write_text((tmp_path / "job.yaml").read_text().replace("name: small", "name: other"))
    assert kinds(smspec("diff", "job.yaml", "new.yaml", "--format", "json", cwd=tmp_path)) == {"cosmetic"}


def test_state_with_an_open_name_is_compared_by_tags(tmp_path):
    write_job(tmp_path, READY + "tags: {team: ads}\n")
    request = json.loads(smspec("render", "--api-json", cwd=tmp_path).out)
    del request["TrainingJobName"]
    resource = "arn:aws:states:::sagemaker:createTrainingJob.sync"
    state = {"Resource": resource, "Parameters": {**request, "TrainingJobName.$": "$.name"}, "End": True}
    (tmp_path / "old.json").write_text(json.dumps(state))
    done = smspec("diff", "old.json", "job.yaml", cwd=tmp_path)
    assert (done.status, done.out) == (0, "")
    assert "not compared: TrainingJobName: it is different in each run" in done.err
    rewrite(tmp_path / "job.yaml", "team: ads", "team: search")
    assert kinds(smspec("diff", "old.json", "job.yaml", "--format", "json", cwd=tmp_path)) == {"other"}


@pytest.mark.parametrize("target", ["--api-json", "--ack"])
def test_request_in_yaml_is_compared(tmp_path, target):
    write_job(tmp_path, READY + "channels: {train: s3://example-data/train/}\n")
    old = smspec("render", target, cwd=tmp_path).out
    (tmp_path / "old.yaml").write_text(yaml.safe_dump(yaml.safe_load(old)))
    assert smspec("diff", "old.yaml", "job.yaml", cwd=tmp_path) == (0, "", "no differences\n")
    rewrite(tmp_path / "job.yaml", "channels: {train: s3://example-data/train/}\n", "")
    change = change_of(smspec("diff", "old.yaml", "job.yaml", "--format", "json", cwd=tmp_path), "data")
    assert change["file"] == "old.yaml"


def test_yaml_other_than_a_request_is_a_faulty_spec(tmp_path):
    write_job(tmp_path)
    (tmp_path / "old.yaml").write_text("name: small\n")
    done = smspec("diff", "old.yaml", "job.yaml", cwd=tmp_path)
    assert done.status == 2
    assert "error[SM" in done.err
