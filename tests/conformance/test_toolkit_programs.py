"""Programs that use SageMaker's toolkits run without them, in `smspec run` and as in a container."""

import importlib.util
import json
import subprocess
import sys

import pytest

from support.local.local_jobs import LocalJob
from support.runtime.container import LIMIT, Container
from support.runtime.sagemaker_toolkit import TOOLKIT, needs_toolkit, toolkit
from support.runtime.toolkit_programs import CHANNELS, HYPERPARAMETERS, PUBLISHED

pytestmark = pytest.mark.skipif(
    importlib.util.find_spec("sagemaker_training") is not None, reason="this Python has sagemaker-training"
)
SPEC = """
source: src/
entry_point: train.py
hyperparameters: {lr: 0.5, max-depth: 3, name: a b, layers: [64, 32]}
channels:
  train: {s3: s3://data-of-ours/train/, local: data/}
  validation: {s3: s3://data-of-ours/validation/, local: data/}
"""


def lay_out(container, program):
    for name, text in program.files.items():
        container.write(f"code/{name}", text)
    for name in CHANNELS:
        container.write(f"input/data/{name}/rows.csv", "1,2\n")
    container.configure(HYPERPARAMETERS, channels={name: {"TrainingInputMode": "File"} for name in CHANNELS})
    return {"SAGEMAKER_PROGRAM": "train.py", "SM_STUDIO_LOCAL_MODE": "true"}


def shown(output, program):
    return [line for line in output.splitlines() if line in program.shows]


@pytest.mark.parametrize("name", PUBLISHED)
def test_published_programs_run_on_this_machine(name, tmp_path):
    """Nothing is reported of the spec, and the image installs nothing."""
    program = PUBLISHED[name]
    job = LocalJob(tmp_path)
    job.spec(SPEC)
    job.write("data/rows.csv", "1,2\n")
    for path, text in program.files.items():
        job.write(f"src/{path}", text)
    words = [sys.executable, "-m", "smspec", "validate", "--strict"]
    checked = subprocess.run(words, cwd=tmp_path, capture_output=True, text=True, timeout=LIMIT)
    assert (checked.returncode, checked.stdout) == (0, ""), checked
    done = job.run()
    assert done.returncode == 0, done.stderr
    assert shown(job.log(), program) == list(program.shows)
    assert list(job.archive()) == ["model.txt"]


@pytest.mark.parametrize("name", PUBLISHED)
def test_published_programs_run_in_a_container(name, tmp_path):
    program = PUBLISHED[name]
    container = Container(tmp_path / "ml")
    done = container.run(environ=lay_out(container, program))
    assert (done.status, done.succeeded) == (0, True), done.stderr
    assert shown(done.stdout.decode(), program) == list(program.shows)


@needs_toolkit
@pytest.mark.parametrize("name", [name for name in PUBLISHED if not PUBLISHED[name].is_old])
def test_published_programs_show_the_same_with_the_toolkit(name, tmp_path):
    program = PUBLISHED[name]
    container = Container(tmp_path / "ml", TOOLKIT)
    done = toolkit(container, lay_out(container, program))
    assert done.status == 0, done.stderr
    assert shown(done.stdout.decode(), program) == list(program.shows)


ASKING = """
import json
from sagemaker_training import environment, mapping
env = environment.Environment()
print(json.dumps({
    "all": list(dict(env).items()), "text": str(env) == str(dict(env)), "length": len(env),
    "arguments": env.to_cmd_args(),
    "variables": sorted(env.to_env_vars().items()), "hyperparameters": list(env.hyperparameters.items()),
    "channels": list(env.channel_input_dirs.items()), "get": env.get("hosts"), "has": "hosts" in env,
    "directories": [environment.model_dir, environment.code_dir, environment.output_data_dir, environment.input_dir,
                    environment.input_config_dir, environment.output_dir, environment.output_intermediate_dir],
    "mapping": mapping.to_cmd_args({"b": None, "a": {"y": 1, "x": [2]}, "ccc": True, "": 1}),
}))
"""
GROUPS = [
    {"instance_group_name": "data", "instance_type": "ml.c5.xlarge", "hosts": ["algo-2"]},
    {"instance_group_name": "dnn", "instance_type": "ml.p3.2xlarge", "hosts": ["algo-1", "algo-3"]},
]
JOBS = {
    "plain": {},
    "values": {"hyperparameters": {"z": "1", "a": '{"k": [1, null]}', "e": "", "n": "null", "t": "true", "s": "ä b"}},
    "settings": {"hyperparameters": {"sagemaker_custom": "true", "sagemaker_job_name": '"j"', "lr": "1e-3"}},
    "channels": {"channels": {"val-set": {"TrainingInputMode": "File"}, "a": {"TrainingInputMode": "Pipe"}}},
    "groups": {
        "hosts": ("algo-1", "algo-2", "algo-3"),
        "instance_groups": GROUPS,
        "current_group_name": "dnn",
        "current_instance_type": "ml.p3.2xlarge",
        "network_interface_name": "eth7",
    },
    "topology": {"topology": [{"hostName": "algo-1", "capacityUnitId": "u"}]},
}


@needs_toolkit
@pytest.mark.parametrize("job", JOBS)
def test_environment_is_word_for_word_that_of_the_toolkit(job, tmp_path):
    """All members in their order, with their types, and what is made of them."""
    answers = []
    for side, python in (("t", TOOLKIT), ("s", sys.executable)):
        container = Container(tmp_path / side / "ml", python)
        container.configure(**JOBS[job])
        container.write("code/train.py", ASKING)
        environ = {"SAGEMAKER_PROGRAM": "train.py", "SM_STUDIO_LOCAL_MODE": "true", "TRAINING_JOB_NAME": "job-1"}
        done = toolkit(container, environ) if side == "t" else container.run(environ=environ)
        assert done.status == 0, done.stderr
        text = done.stdout.decode().replace(str(tmp_path / side), "/the")
        answers.append(json.loads(text.splitlines()[-1]))
    assert answers[1] == answers[0]
