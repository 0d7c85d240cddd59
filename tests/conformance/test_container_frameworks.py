"""SageMaker images run the script directly unless their module does more."""

import pytest

from support.runtime.container import Container

MAIN = "def main():\n    raise SystemExit('the module was called')\n"
MODULES = ["pytorch", "tensorflow", "mxnet", "sklearn", "xgboost"]


@pytest.fixture
def container(tmp_path):
    return Container(tmp_path / "ml")


def image_of(container, framework):
    """Lay a module out as an image has it, and return its variables."""
    container.write(f"lib/sagemaker_{framework}_container/__init__.py", "")
    container.write(f"lib/sagemaker_{framework}_container/training.py", MAIN)
    return {
        "SAGEMAKER_TRAINING_MODULE": f"sagemaker_{framework}_container.training:main",
        "PYTHONPATH": f"{container.environ()['PYTHONPATH']}:{container.base}/lib",
    }


@pytest.mark.parametrize("framework", MODULES)
def test_framework_image_runs_the_script_directly(container, framework):
    """Its own exit status, its own exception; under the module both would be the toolkit's."""
    environ = image_of(container, framework)
    container.configure({"lr": "0.1"})
    done = container.run_script("import sys; print(sys.argv); sys.exit(7)", environ=environ)
    assert (done.status, done.stdout) == (7, b"['train.py', '--lr', '0.1']\n"), done.stderr
    assert done.failure.startswith("ExecuteUserScriptError: no message\nExitCode 7\n")
    done = container.run_script("raise ValueError('boom')", environ=environ)
    assert done.failure is None or done.failure.startswith("ExecuteUserScriptError: ValueError: boom\n")


def test_hyperparameter_may_name_the_script(container):
    container.configure({"sagemaker_program": "train.py"})
    container.write("code/train.py", "print('ran')")
    done = container.run(environ=image_of(container, "pytorch"))
    assert (done.status, done.stdout) == (0, b"ran\n"), done.stderr


TORCH = ("MASTER_ADDR", "MASTER_PORT", "NCCL_SOCKET_IFNAME", "NCCL_IB_DISABLE", "NCCL_DEBUG")


@pytest.mark.parametrize(
    ("framework", "own", "expected"),
    [
        ("pytorch", {}, ("algo-1", "7777", "eth1", "1", "WARN")),
        (
            "pytorch",
            {"MASTER_PORT": "29500", "NCCL_SOCKET_IFNAME": "^lo", "NCCL_IB_DISABLE": "0", "NCCL_DEBUG": "INFO"},
            ("algo-1", "29500", "^lo", "0", "INFO"),
        ),
        ("pytorch", {"MASTER_ADDR": ""}, ("", "7777", "eth1", "1", "WARN")),
        ("tensorflow", {}, (None,) * 5),
        ("mxnet", {}, (None,) * 5),
    ],
)
@pytest.mark.parametrize("plan", [None, {"kind": "script", "program": "train.py"}], ids=["no plan", "a plan"])
def test_pytorch_on_one_host_has_its_variables(container, framework, own, expected, plan):
    """SageMaker's PyTorch module sets them before every program; the author's own are left alone."""
    environ = {**image_of(container, framework), "SAGEMAKER_PROGRAM": "train.py", **own}
    container.configure(network_interface_name="eth1")
    container.write("code/train.py", f"import os; print([os.environ.get(name) for name in {TORCH}])")
    done = container.run(plan=plan, environ=environ)
    assert done.stdout.decode() == f"{list(expected)}\n", done.stderr


@pytest.mark.parametrize("framework", ["xgboost", "chainer", "tensorflow"])
def test_framework_module_with_extra_duties_is_called(container, framework):
    """XGBoost's algorithm where no script is named, Chainer's MPI, TensorFlow's model directory of a tuning job."""
    if framework != "xgboost":
        container.configure({"sagemaker_program": "train.py", "_tuning_objective_metric": "loss"})
    done = container.run(environ=image_of(container, framework))
    assert done.status == 1
    assert done.failure.startswith("ExecuteUserScriptError: the module was called\n")


def test_plan_may_call_the_framework_module(container):
    """`entry_point: {module: …}`; such a function takes no job."""
    environ = image_of(container, "pytorch")
    plan = {"kind": "module", "program": environ["SAGEMAKER_TRAINING_MODULE"], "args_style": "none"}
    done = container.run(plan=plan, environ={"PYTHONPATH": environ["PYTHONPATH"]})
    assert done.failure.startswith("ExecuteUserScriptError: the module was called\n")


def test_train_program_of_the_image_runs(container):
    """SageMaker starts an image with the word `train`, so without an entry point that program is the author's."""
    container.write("bin/train", "#!/bin/sh\necho trained in $SM_MODEL_DIR\nexit 6\n", 0o755)
    path = f"{container.base}/bin:{container.environ()['PATH']}"
    done = container.run(environ={"PATH": path})
    assert (done.status, done.stdout) == (6, f"trained in {container.base}/model\n".encode()), done.stderr


@pytest.mark.parametrize("content", ["from sagemaker_training.cli.train import main", "exec python3 -m smspec_runtime"])
def test_train_program_of_a_toolkit_is_ignored(container, content):
    """It would ask for the entry point itself, or start the runtime for ever."""
    container.write("bin/train", f"#!/bin/sh\n{content}\n", 0o755)
    done = container.run(environ={"PATH": f"{container.base}/bin:{container.environ()['PATH']}"})
    assert done.status == 1
    assert done.failure.startswith("ClientError: no entry point")


def test_train_program_of_the_runtime_ends(container):
    """Hidden from a look at the file."""
    hidden = f"#!/bin/sh\nm=runtime\nexec {container.python} -m smspec_$m train\n"
    container.write("bin/train", hidden, 0o755)
    done = container.run(environ={"PATH": f"{container.base}/bin:{container.environ()['PATH']}"})
    assert done.status == 1
    assert "no entry point" in done.failure
