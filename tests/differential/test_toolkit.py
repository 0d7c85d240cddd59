"""The runtime beside SageMaker's own toolkit: what a script can see is the same, over many configurations.

Runs where sagemaker-training 5.1.4 is installed: for the interpreter in SMSPEC_TOOLKIT_PYTHON, or for this one.
"""

import json
import os
import random
import subprocess
import sys

import pytest

from container import SHOW, Container

VERSION = "5.1.4"
TOOLKIT = os.environ.get("SMSPEC_TOOLKIT_PYTHON", sys.executable)
PROBE = "import importlib.metadata as m; print(m.version('sagemaker-training'))"
FOUND = subprocess.run([TOOLKIT, "-c", PROBE], capture_output=True, text=True).stdout.strip()

pytestmark = pytest.mark.skipif(FOUND != VERSION, reason=f"sagemaker-training {VERSION} is not installed")

VALUES = [
    *("1", "1.10", "1e3", "1e-05", "-0.0", "0.1", "1e400", "12345678901234567890", "NaN", "-Infinity", " 5 ", '"5"'),
    *("true", "false", "null", "True", "None", "007", "0x10", "1_000", "1,", "[", "", " ", "-", "--flag=x"),
    *("'q'", '"x y"', "é", "日本", "a\tb", '"\\u00e9"', '"a\\nb"', "$(x)", "`x`", "s3://bucket/key"),
    *("[]", "{}", '[1, 2.5, "x", null]', '{"b": 1, "a": {"c": [2]}}', '{"z": "é"}', '{"a": 1, "a": 2}'),
    *(5, 1.5, True, None, [1, "2"], {"k": "v"}),
]
KEYS = [
    *("lr", "LR", "learning-rate", "a.b", "with space", "é", "straße", "k", "K", "", "_x", "epochs", "--x", "train"),
    *("sagemaker_instance_type", "sagemaker_custom", "sagemaker_region", "sagemaker_job_name", "Sagemaker_program"),
    *("_tuning_objective_metric", "default_user_module_name", "mp_parameters"),
    *("hidden_layers", "sagemaker_distribution_instance_groups"),
]
CHANNELS = ["train", "val-set", "Train.Data", "test_0", "TEST_0", "x"]
DIFFERENT_BY_DESIGN = {"PYTHONPATH"}


def configuration(seed):
    """Return the arguments of `Container.configure` for a seed."""
    choose = random.Random(seed)
    hyperparameters = {key: choose.choice(VALUES) for key in choose.sample(KEYS, choose.randint(0, 12))}
    for key in ("sagemaker_region", "sagemaker_job_name"):
        if key in hyperparameters:
            hyperparameters[key] = choose.choice(['"text"', "plain", '"é"'])
    if "sagemaker_distribution_instance_groups" in hyperparameters:
        hyperparameters["sagemaker_distribution_instance_groups"] = choose.choice(
            ['["a"]', '["a", "b"]', '["none"]', "[]"]
        )
    modes = ("File", "FastFile", "Pipe")
    channels = {
        name: {"TrainingInputMode": choose.choice(modes), "RecordWrapperType": "None", "é": [1, None]}
        for name in choose.sample(CHANNELS, choose.randint(0, 4))
    }
    hosts = [f"algo-{number + 1}" for number in range(choose.randint(1, 5))]
    choose.shuffle(hosts)
    resource = {"hosts": hosts, "current": choose.choice(hosts)}
    if choose.random() < 0.5:
        cut = choose.randint(0, len(hosts) - 1)
        groups = [("a", hosts[: cut + 1]), ("b", hosts[cut + 1 :])]
        resource["instance_groups"] = [
            {"instance_group_name": name, "instance_type": "ml.c5.xlarge", "hosts": members}
            for name, members in groups
            if members
        ]
        resource["current_group_name"] = next(name for name, members in groups if resource["current"] in members)
        resource["current_instance_type"] = "ml.c5.xlarge"
    if choose.random() < 0.3:
        resource["network_interface_name"] = "eth1"
    if choose.random() < 0.3:
        resource["topology"] = [{"hostName": "algo-1", "capacityUnitId": "u"}]
    return {"hyperparameters": hyperparameters, "channels": channels, **resource}


ENVIRONS = [
    {},
    {"TRAINING_JOB_NAME": "job-1", "AWS_REGION": "us-west-2", "MINE": "é", "SM_HOSTS": "old"},
    {"AWS_DEFAULT_REGION": "eu-west-1", "SM_HP_MP_PARAMETERS": "{}"},
    {"SM_HP_MP_PARAMETERS": '{"a":1}', "SAGEMAKER_JOB_NAME": "old", "PYTHONPATH": "/opt/lib"},
]


def toolkit(container, environ):
    command = [TOOLKIT, "-c", "from sagemaker_training.cli.train import main; main()"]
    variables = {**container.environ(plan={}), "SM_STUDIO_LOCAL_MODE": "true", **environ}
    done = subprocess.run(command, env=variables, stdin=subprocess.DEVNULL, capture_output=True, timeout=120)
    return container.done(done.returncode, done.stdout, done.stderr)


def ours(container, environ):
    return container.run(plan=None, environ={"SM_STUDIO_LOCAL_MODE": "true", **environ, **_path(container, environ)})


def _path(container, environ):
    own = container.environ()["PYTHONPATH"]
    return {"PYTHONPATH": f"{own}:{environ['PYTHONPATH']}" if "PYTHONPATH" in environ else own}


def seen(done):
    shown = json.loads(done.stdout)
    environ = {name: value for name, value in shown["environ"].items() if name not in DIFFERENT_BY_DESIGN}
    return {"argv": shown["argv"], "cwd": shown["cwd"], "environ": environ}


@pytest.mark.parametrize("seed", range(int(os.environ.get("SMSPEC_DIFFERENTIAL_SEEDS", "12"))))
def test_a_script_sees_the_same(tmp_path, seed):
    container = Container(tmp_path / "ml", TOOLKIT)
    container.configure(**configuration(seed))
    environ = {"SAGEMAKER_PROGRAM": "train.py", **ENVIRONS[seed % len(ENVIRONS)]}
    container.write("code/train.py", SHOW)
    theirs = toolkit(container, environ)
    assert theirs.status == 0, theirs.stderr
    mine = ours(container, environ)
    assert mine.status == 0, mine.stderr
    assert seen(mine) == seen(theirs)


@pytest.mark.parametrize("name", ["train.py", "pkg/train.py", "run.sh", "run", "bin/run.sh"])
@pytest.mark.parametrize("delivery", ["image", "directory", "archive"])
def test_every_entry_type_and_delivery_is_started_the_same_way(tmp_path, name, delivery):
    seen_by = []
    for run in (toolkit, ours):
        container = Container(tmp_path / run.__name__ / "ml", TOOLKIT)
        base = "code" if delivery == "image" else "sent"
        shell = f'#!/bin/sh\nexec {TOOLKIT} -c \'{SHOW}\' "$0" "$@"\n'
        container.write(f"{base}/{name}", SHOW if name.endswith(".py") else shell)
        hyperparameters = {"lr": "0.1", "text": "a 'b' \"c\" $d", "sagemaker_program": name}
        if delivery == "directory":
            hyperparameters["sagemaker_submit_directory"] = str(container.base / "sent")
        if delivery == "archive":
            archive = container.base / "sent.tar.gz"
            subprocess.run(["tar", "-C", str(container.base / "sent"), "-czf", str(archive), "."], check=True)
            hyperparameters["sagemaker_submit_directory"] = str(archive)
        container.configure(hyperparameters)
        done = run(container, {})
        assert done.status == 0, done.stderr
        seen_by.append(json.loads(json.dumps(seen(done)).replace(f"/{run.__name__}/", "/")))
        assert done.succeeded
    for shown in seen_by:
        shown["environ"].pop("_", None)  # Set by the shell in between.
        shown["environ"].pop("OLDPWD", None)
        shown["environ"].pop("PWD", None)
    assert seen_by[0] == seen_by[1]


@pytest.mark.parametrize("name", ["", "a b.py", "./train.py", "/etc/passwd", "../x.py", "-c", "a/../b.py", "x;y.sh"])
def test_the_same_names_are_refused(tmp_path, name):
    container = Container(tmp_path / "ml", TOOLKIT)
    container.write("code/train.py", SHOW)
    theirs = toolkit(container, {"SAGEMAKER_PROGRAM": name})
    (container.base / "output/failure").unlink()
    mine = ours(container, {"SAGEMAKER_PROGRAM": name})
    assert (theirs.status, mine.status) == (1, 1)
