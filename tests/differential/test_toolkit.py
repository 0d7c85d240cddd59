"""Scripts see the same environment under the runtime and the SageMaker Training Toolkit."""

import os
import random

import pytest

from support.runtime.container import SHOW, Container
from support.runtime.sagemaker_toolkit import TOOLKIT, needs_toolkit, ours, seen, toolkit

pytestmark = needs_toolkit

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


@pytest.mark.parametrize("seed", range(int(os.environ.get("SMSPEC_DIFFERENTIAL_SEEDS", "12"))))
def test_script_sees_the_same_environment(tmp_path, seed):
    container = Container(tmp_path / "ml", TOOLKIT)
    container.configure(**configuration(seed))
    environ = {"SAGEMAKER_PROGRAM": "train.py", **ENVIRONS[seed % len(ENVIRONS)]}
    container.write("code/train.py", SHOW)
    theirs = toolkit(container, environ)
    assert theirs.status == 0, theirs.stderr
    mine = ours(container, environ)
    assert mine.status == 0, mine.stderr
    assert seen(mine) == seen(theirs)


@pytest.mark.parametrize("name", ["", "a b.py", "./train.py", "/etc/passwd", "../x.py", "-c", "a/../b.py", "x;y.sh"])
def test_same_names_are_rejected(tmp_path, name):
    container = Container(tmp_path / "ml", TOOLKIT)
    container.write("code/train.py", SHOW)
    theirs = toolkit(container, {"SAGEMAKER_PROGRAM": name})
    (container.base / "output/failure").unlink()
    mine = ours(container, {"SAGEMAKER_PROGRAM": name})
    assert (theirs.status, mine.status) == (1, 1)
