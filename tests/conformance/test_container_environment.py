"""Environment of the script, as the SageMaker Training Toolkit (5.1.4) sets it."""

import json
import os

import pytest

from support.runtime.container import RUNTIME, SHOW, Container


@pytest.fixture
def container(tmp_path):
    return Container(tmp_path / "ml")


TRAINING_ENV = """
additional_framework_parameters channel_input_dirs current_host current_instance_group current_instance_group_hosts
current_instance_type distribution_hosts distribution_instance_groups framework_module hosts hyperparameters
input_config_dir input_data_config input_dir instance_groups instance_groups_dict is_hetero is_master
is_modelparallel_enabled is_smddpmprun_installed is_smddprun_installed job_name log_level master_hostname model_dir
module_dir module_name network_interface_name num_cpus num_gpus num_neurons output_data_dir output_dir
output_intermediate_dir resource_config topology user_entry_point
"""


def variables(container, **how):
    done = container.run_script(SHOW, **how)
    assert done.status == 0, done.stderr
    return done.shown["environ"]


def test_plain_job_has_every_variable(any_python, tmp_path):
    """SM_* names, JSON with sorted keys and no blanks, on every Python."""
    container = Container(tmp_path / "ml", any_python)
    container.configure({"lr": "1e-3", "name": "x"}, {"train": {"TrainingInputMode": "File"}})
    base = str(container.base)
    found = variables(container, environ={"TRAINING_JOB_NAME": "job-1"})
    training_env = json.loads(found.pop("SM_TRAINING_ENV"))
    assert sorted(training_env) == TRAINING_ENV.split()
    assert training_env["job_name"] == "job-1"
    assert training_env["is_modelparallel_enabled"] is None
    assert {name: value for name, value in found.items() if name.startswith("SM_")} == {
        "SM_CHANNELS": '["train"]',
        "SM_CHANNEL_TRAIN": f"{base}/input/data/train",
        "SM_CURRENT_HOST": "algo-1",
        "SM_CURRENT_INSTANCE_GROUP": "homogeneousCluster",
        "SM_CURRENT_INSTANCE_GROUP_HOSTS": "[]",
        "SM_CURRENT_INSTANCE_TYPE": "local",
        "SM_DISTRIBUTION_INSTANCE_GROUPS": "[]",
        "SM_FRAMEWORK_MODULE": "",
        "SM_FRAMEWORK_PARAMS": "{}",
        "SM_HOSTS": '["algo-1"]',
        "SM_HPS": '{"lr":0.001,"name":"x"}',
        "SM_HP_LR": "0.001",
        "SM_HP_NAME": "x",
        "SM_INPUT_CONFIG_DIR": f"{base}/input/config",
        "SM_INPUT_DATA_CONFIG": '{"train":{"TrainingInputMode":"File"}}',
        "SM_INPUT_DIR": f"{base}/input",
        "SM_INSTANCE_GROUPS": "[]",
        "SM_INSTANCE_GROUPS_DICT": "{}",
        "SM_IS_HETERO": "false",
        "SM_LOG_LEVEL": "20",
        "SM_MODEL_DIR": f"{base}/model",
        "SM_MODULE_DIR": f"{base}/code",
        "SM_MODULE_NAME": "train",
        "SM_NETWORK_INTERFACE_NAME": "eth0",
        "SM_NUM_CPUS": str(os.cpu_count()),
        "SM_NUM_GPUS": "0",
        "SM_NUM_NEURONS": "0",
        "SM_OUTPUT_DATA_DIR": f"{base}/output/data",
        "SM_OUTPUT_DIR": f"{base}/output",
        "SM_OUTPUT_INTERMEDIATE_DIR": f"{base}/output/intermediate",
        "SM_RESOURCE_CONFIG": '{"current_host":"algo-1","hosts":["algo-1"]}',
        "SM_USER_ARGS": '["--lr","0.001","--name","x"]',
        "SM_USER_ENTRY_POINT": "train.py",
    }
    assert found["CURRENT_HOST"] == "algo-1"
    assert found["SAGEMAKER_JOB_NAME"] == ""
    assert found["SAGEMAKER_REGION"] == ""


@pytest.mark.parametrize(
    ("name", "written", "variable", "value"),
    [
        ("learning-rate", "0.1", "SM_HP_LEARNING-RATE", "0.1"),
        ("a.b", "1", "SM_HP_A.B", "1"),
        ("with space", "x", "SM_HP_WITH SPACE", "x"),
        ("straße", "x", "SM_HP_STRASSE", "x"),
        ("flag", "true", "SM_HP_FLAG", "true"),
        ("nothing", "null", "SM_HP_NOTHING", ""),
        ("layers", "[1, 2]", "SM_HP_LAYERS", "[1,2]"),
        ("nested", '{"b": {"z": 1}, "a": "é"}', "SM_HP_NESTED", '{"a":"\\u00e9","b":{"z":1}}'),
        ("word", "é", "SM_HP_WORD", "é"),
        ("version", "1.10", "SM_HP_VERSION", "1.1"),
        ("quoted", '"5"', "SM_HP_QUOTED", "5"),
        ("python", "True", "SM_HP_PYTHON", "True"),
        ("octal", "007", "SM_HP_OCTAL", "007"),
        ("infinite", "-Infinity", "SM_HP_INFINITE", "-Infinity"),
        ("blank", " 5 ", "SM_HP_BLANK", "5"),
        ("native", 7, "SM_HP_NATIVE", "7"),
    ],
)
def test_hyperparameters_become_variables(container, name, written, variable, value):
    """The name in upper case and otherwise as it is; the value decoded, strings raw, the rest as JSON."""
    container.configure({name: written})
    assert variables(container)[variable] == value


def test_reserved_hyperparameters_do_not_reach_the_script(container):
    """`sagemaker_*` and the reserved names are not the author's; what is left of them is SM_FRAMEWORK_PARAMS."""
    container.configure(
        {
            "a": "1",
            "sagemaker_program": '"train.py"',
            "sagemaker_job_name": '"job"',
            "sagemaker_region": '"us-west-2"',
            "sagemaker_container_log_level": "10",
            "sagemaker_submit_directory": str(container.base / "code"),
            "sagemaker_instance_type": '"ml.p3.2xlarge"',
            "_tuning_objective_metric": "loss",
            "default_user_module_name": "x",
            "sagemaker_smspec": '{"epochs":3}',
        }
    )
    found = variables(container, environ={"AWS_DEFAULT_REGION": "eu-west-1"})
    assert found["SM_HPS"] == '{"a":1}'
    assert [name for name in found if name.startswith("SM_HP_")] == ["SM_HP_A"]
    assert found["SM_FRAMEWORK_PARAMS"] == '{"sagemaker_instance_type":"ml.p3.2xlarge"}'
    assert found["SM_LOG_LEVEL"] == "10"
    assert found["SAGEMAKER_JOB_NAME"] == "job"
    assert found["SAGEMAKER_REGION"] == "us-west-2"
    assert found["SM_MODULE_DIR"] == f"{container.base}/code"


def test_channel_variables_keep_names_and_skip_the_runtime(container):
    """`val-set` is SM_CHANNEL_VAL-SET; the channel that carries the runtime is not the author's."""
    container.configure({}, {name: {"TrainingInputMode": "Pipe"} for name in ("val-set", "Train.Data", "smspec")})
    found = variables(container)
    assert found["SM_CHANNEL_VAL-SET"] == f"{container.base}/input/data/val-set"
    assert found["SM_CHANNEL_TRAIN.DATA"] == f"{container.base}/input/data/Train.Data"
    assert found["SM_CHANNELS"] == '["Train.Data","val-set"]'
    assert "smspec" not in found["SM_INPUT_DATA_CONFIG"]


def test_instance_groups_become_variables(container):
    """Heterogeneous jobs: groups, their hosts, and the leader of those that are distributed over."""
    groups = [
        {"instance_group_name": "data", "instance_type": "ml.c5.xlarge", "hosts": ["algo-2"]},
        {"instance_group_name": "gpu", "instance_type": "ml.p3.2xlarge", "hosts": ["algo-1", "algo-3"]},
    ]
    container.configure(
        {"sagemaker_distribution_instance_groups": '["gpu"]'},
        hosts=["algo-1", "algo-2", "algo-3"],
        current="algo-3",
        current_group_name="gpu",
        current_instance_type="ml.p3.2xlarge",
        instance_groups=groups,
        network_interface_name="eth1",
        topology=[{"hostName": "algo-1"}],
    )
    found = variables(container, environ={"SM_STUDIO_LOCAL_MODE": "True"})
    assert found["SM_CURRENT_INSTANCE_GROUP"] == "gpu"
    assert found["SM_CURRENT_INSTANCE_GROUP_HOSTS"] == '["algo-1","algo-3"]'
    assert found["SM_INSTANCE_GROUPS"] == '["data","gpu"]'
    assert json.loads(found["SM_INSTANCE_GROUPS_DICT"]) == {"data": groups[0], "gpu": groups[1]}
    assert found["SM_DISTRIBUTION_INSTANCE_GROUPS"] == '["gpu"]'
    assert found["SM_IS_HETERO"] == "true"
    assert found["SM_TOPOLOGY"] == '[{"hostName":"algo-1"}]'
    assert found["SM_NETWORK_INTERFACE_NAME"] == "eth1"
    training_env = json.loads(found["SM_TRAINING_ENV"])
    assert training_env["distribution_hosts"] == ["algo-1", "algo-3"]
    assert training_env["master_hostname"] == "algo-1"
    assert training_env["is_master"] is False


def test_sagemaker_variables_override_those_of_the_image(container):
    """Variables of the image and of the request reach the program; SM_ names are SageMaker's."""
    found = variables(container, environ={"MINE": "b\u00e9", "SM_HOSTS": "old", "CURRENT_HOST": "old"})
    assert found["MINE"] == "bé"
    assert found["SM_HOSTS"] == '["algo-1"]'
    assert found["CURRENT_HOST"] == "algo-1"


def test_pythonpath_lists_code_container_and_runtime(container):
    """Nothing of the interpreter that runs the runtime leaks into the program's import path."""
    code = str(container.base / "code")
    found = variables(container, environ={"PYTHONPATH": f"{RUNTIME}:/opt/lib"})
    api = f"{RUNTIME}/smspec_runtime/toolkit_api"
    assert found["PYTHONPATH"] == f"{code}:{RUNTIME}:/opt/lib:{api}"
    plan = {"kind": "script", "program": "train.py"}
    found = json.loads(container.run(plan=plan, environ={"PYTHONPATH": "/opt/lib"}).stdout)["environ"]
    assert found["PYTHONPATH"] == f"{code}:/opt/lib:{RUNTIME}:{api}"


def test_script_can_import_the_runtime(container):
    """`import smspec_runtime` works with the runtime in any directory."""
    container.configure({"lr": "0.5"})
    container.write("code/train.py", "import smspec_runtime; print(smspec_runtime.job().hyperparameters)")
    done = container.run(plan={"kind": "script", "program": "train.py"}, options=["-I", "-S"])
    assert (done.status, done.stdout) == (0, b"{'lr': 0.5}\n")


def test_hyperparameters_beyond_128_kib_start_the_script(container):
    """A hundred hyperparameters of 2,400 characters are within the limits of the API; a single variable is not."""
    container.configure({f"p{number:02}": "x" * 2400 for number in range(100)})
    done = container.run_script(SHOW)
    assert done.status == 0, done.stderr
    found = done.shown["environ"]
    assert len([name for name in found if name.startswith("SM_HP_")]) == 100
    assert not {"SM_HPS", "SM_TRAINING_ENV", "SM_USER_ARGS"} & set(found)
    assert len(done.shown["argv"]) == 201
    assert b"SM_HPS" in done.stderr and b"input/config" in done.stderr


@pytest.mark.parametrize("name", ["a=b", "nul\0"])
def test_impossible_variable_name_does_not_fail_the_job(container, name):
    """A hyperparameter named `a=b` has no variable, but it is in SM_HPS and in the file."""
    container.configure({name: "1", "c": "2"})
    script = "import os; print(sorted(name for name in os.environ if name.startswith('SM_HP')))"
    plan = {"kind": "script", "program": "train.py", "args_style": "none"}
    container.write("code/train.py", script)
    done = container.run(plan=plan)
    assert (done.status, done.stdout) == (0, b"['SM_HPS', 'SM_HP_C']\n"), done.stderr


def test_lone_surrogate_does_not_fail_the_job(container):
    """JSON can hold characters that have no encoding; they stay in the file."""
    container.write("input/config/hyperparameters.json", '{"bad": "\\ud800", "good": "1"}')
    container.write("code/train.py", "import os; print(os.environ['SM_HP_GOOD'], 'SM_HP_BAD' in os.environ)")
    done = container.run(plan={"kind": "script", "program": "train.py", "args_style": "none"})
    assert (done.status, done.stdout) == (0, b"1 False\n"), done.stderr
