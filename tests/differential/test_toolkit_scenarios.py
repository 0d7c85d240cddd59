"""Jobs of every kind under the runtime and the SageMaker Training Toolkit."""

import json
import os
import subprocess

import pytest

from support.runtime.code_archives import archive
from support.runtime.container import Container
from support.runtime.sagemaker_toolkit import TOOLKIT, WITNESS, Pair, both_show_the_same, needs_toolkit, seen
from support.servers.aws_server import BUCKET, s3_server, wheel

pytestmark = needs_toolkit

SHELL = f'#!/bin/sh\nexec {TOOLKIT} -c \'{WITNESS}\' "$0" "$@"\n'
HYPERPARAMETERS = {"lr": "0.1", "text": "a 'b' \"c\" $d", "e": "true", "layers": "[1, 2]"}


@pytest.fixture(scope="module")
def s3():
    with s3_server() as server:
        yield server


@pytest.mark.parametrize("name", ["train.py", "pkg/train.py", "run.sh", "run", "bin/run.sh"])
@pytest.mark.parametrize("delivery", ["image", "directory", "archive", "s3"])
def test_every_entry_point_and_delivery_starts_alike(tmp_path, s3, name, delivery):
    content = WITNESS if name.endswith(".py") else SHELL
    s3.put("code/source dir.tar.gz", archive({name: content.encode()}))

    def prepare(container):
        hyperparameters = {**HYPERPARAMETERS, "sagemaker_program": name}
        container.write(f"{'code' if delivery == 'image' else 'sent'}/{name}", content)
        if delivery == "directory":
            hyperparameters["sagemaker_submit_directory"] = str(container.base / "sent")
        if delivery == "archive":
            sent = container.base / "sent.tar.gz"
            subprocess.run(["tar", "-C", str(container.base / "sent"), "-czf", str(sent), "."], check=True)
            hyperparameters["sagemaker_submit_directory"] = str(sent)
        if delivery == "s3":
            hyperparameters["sagemaker_submit_directory"] = f"s3://{BUCKET}/code/source dir.tar.gz"
        container.configure(hyperparameters)
        return s3.environ

    both_show_the_same(tmp_path, prepare)


def test_process_attributes_are_equal(tmp_path):
    """The script cannot distinguish the processes, except by its parent."""

    def prepare(container):
        container.write("code/train.py", WITNESS)
        return {"SAGEMAKER_PROGRAM": "train.py"}

    pair = both_show_the_same(tmp_path, prepare, umask=0o027)
    for container in pair.containers:
        assert (container.base / "output/success").stat().st_mode & 0o777 == 0o640
        assert (container.base / "output/success").read_bytes() == b""


def test_environment_overrides_the_hyperparameter(tmp_path):
    def prepare(container):
        container.configure({"sagemaker_program": "other.py", "lr": "1"})
        container.write("code/train.py", WITNESS)
        return {"SAGEMAKER_PROGRAM": "train.py", "TRAINING_JOB_NAME": "job-7"}

    both_show_the_same(tmp_path, prepare)


def test_base_directory_may_end_with_a_slash(tmp_path):
    def prepare(container):
        container.write("code/train.py", WITNESS)
        return {"SAGEMAKER_PROGRAM": "train.py", "SAGEMAKER_BASE_DIR": f"{container.base}/"}

    both_show_the_same(tmp_path, prepare)


def test_base_directory_may_be_relative(tmp_path):
    """Relative to the directory that the container starts in."""

    def prepare(container):
        container.write("code/train.py", WITNESS)
        return {"SAGEMAKER_PROGRAM": "train.py", "SAGEMAKER_BASE_DIR": os.path.relpath(container.base, "/")}

    pair = Pair(tmp_path, prepare)
    theirs, mine = pair.run()
    assert (theirs.succeeded, mine.succeeded) == (True, True), mine.stderr


def test_import_path_begins_with_the_code(tmp_path):
    """Behind it stand the container's own entries in their order; then the toolkit adds those of its interpreter."""

    def prepare(container):
        container.write("code/train.py", "import os; print(os.environ['PYTHONPATH'])")
        return {"SAGEMAKER_PROGRAM": "train.py", "PYTHONPATH": "/opt/one:/opt/two"}

    for done in Pair(tmp_path, prepare).run():
        entries = done.stdout.decode().strip().split(":")
        assert entries[0] == "/the/ml/code"
        assert [entry for entry in entries if entry.startswith("/opt/")] == ["/opt/one", "/opt/two"]


GROUPS = [
    {"instance_group_name": "data", "instance_type": "ml.c5.xlarge", "hosts": ["algo-2"]},
    {"instance_group_name": "gpu", "instance_type": "ml.p3.2xlarge", "hosts": ["algo-1", "algo-3"]},
]


@pytest.mark.parametrize("flag", ["sagemaker_mpi_enabled", "sagemaker_torch_distributed_enabled", None])
def test_group_outside_the_distribution_runs_alike(tmp_path, flag):
    """It runs the program by itself and still knows who takes part."""

    def prepare(container):
        hyperparameters = {"sagemaker_program": "train.py", "sagemaker_distribution_instance_groups": '["gpu"]'}
        resource = {"current_group_name": "data", "current_instance_type": "ml.c5.xlarge", "instance_groups": GROUPS}
        hosts = ["algo-1", "algo-2", "algo-3"]
        container.configure(
            {**hyperparameters, **({flag: "true"} if flag else {})}, hosts=hosts, current="algo-2", **resource
        )
        container.write("code/train.py", WITNESS)

    both_show_the_same(tmp_path, prepare)


@pytest.mark.parametrize("instance", ["ml.p4d.24xlarge", "ml.trn1.32xlarge", "ml.trn2.48xlarge"])
def test_accelerators_are_counted_alike(tmp_path, instance):
    def prepare(container):
        gpus = "".join(f"GPU {number}: NVIDIA A100 (UUID: x)\\n" for number in range(8))
        container.write("bin/nvidia-smi", f"#!/bin/sh\nprintf '{gpus}'\necho warning\n", 0o755)
        container.write("bin/neuron-ls", '#!/bin/sh\necho \'[{"nc_count": 2}, {"nc_count": 4}]\'\n', 0o755)
        container.write("bin/smddprun", "#!/bin/sh\n", 0o755)
        container.configure({"sagemaker_program": "train.py"}, current_instance_type=instance)
        container.write("code/train.py", WITNESS)
        return {"PATH": f"{container.base}/bin:{container.environ()['PATH']}"}

    both_show_the_same(tmp_path, prepare)


def packages(container):
    """Return what leads pip to a directory of wheels, and to one that it may install into."""
    container.write("wheels/greeting-1-py3-none-any.whl", wheel("greeting", "WORD = 'hello'\n"))
    site = str(container.base / "site")
    return {
        "PIP_NO_INDEX": "1",
        "PIP_FIND_LINKS": str(container.base / "wheels"),
        "PIP_TARGET": site,
        "PIP_DISABLE_PIP_VERSION_CHECK": "1",
        "PIP_NO_BUILD_ISOLATION": "0",  # pip takes the value for that of the opposite option
        "PYTHONPATH": site,
    }


def test_requirements_are_installed_before_the_start(tmp_path):
    def prepare(container):
        container.configure({"sagemaker_program": "train.py", "lr": "1"})
        container.write("code/requirements.txt", "greeting==1\n")
        container.write("code/train.py", f"import greeting\nassert greeting.WORD == 'hello'\n{WITNESS}")
        return packages(container)

    both_show_the_same(tmp_path, prepare)


def test_package_is_installed_and_run_as_a_module(tmp_path):
    if subprocess.run([TOOLKIT, "-c", "import setuptools, wheel"], capture_output=True).returncode:
        pytest.skip("no setuptools and wheel beside the toolkit")

    def prepare(container):
        container.configure({"sagemaker_program": "train.py", "lr": "1"})
        container.write("code/setup.py", "from setuptools import setup\nsetup(name='mine', py_modules=['train'])\n")
        container.write("code/requirements.txt", "greeting\n")
        container.write("code/train.py", f"import greeting\n{WITNESS}")
        return packages(container)

    pair = both_show_the_same(tmp_path, prepare)
    for container in pair.containers:
        assert (container.base / "site/train.py").exists()


@pytest.mark.parametrize("kind", ["InstallRequirementsError", "InstallModuleError"])
def test_failed_installations_end_alike(tmp_path, kind):
    def prepare(container):
        container.configure({"sagemaker_program": "train.py"})
        container.write("code/train.py", "print('ran')")
        container.write("code/requirements.txt", "no-such-package-of-ours\n")
        if kind == "InstallModuleError":
            container.write("code/setup.py", "raise ValueError('not today')\n")
        return packages(container)

    for done in Pair(tmp_path, prepare).run():
        assert done.status == 1
        assert done.failure.startswith(f"{kind}:")
        assert not done.stdout.endswith(b"ran\n")


def test_framework_function_runs_alike(tmp_path):
    """In the directory that the container starts in, and with its variables; ours has those of the job besides."""

    def prepare(container):
        container.write("lib/framework.py", f"def main():\n    exec({WITNESS!r}, {{}})\n")
        container.configure({"sagemaker_region": '"eu-west-1"', "lr": "1"})
        return {"SAGEMAKER_TRAINING_MODULE": "framework:main", "PYTHONPATH": f"{container.base}/lib"}

    theirs, mine = Pair(tmp_path, prepare).run()
    assert (theirs.status, mine.status) == (0, 0), mine.stderr
    shown, expected = seen(mine), seen(theirs)
    assert shown["cwd"] == expected["cwd"]
    assert {name: shown["environ"].get(name) for name in expected["environ"]} == expected["environ"]
    assert (theirs.succeeded, mine.succeeded) == (True, True)


@pytest.mark.parametrize(
    ("failure", "status"),
    [
        ("OSError(28, 'No space left on device')", 28),
        ("FileNotFoundError(2, 'No such file')", 2),
        ("ValueError('x')", 1),
    ],
)
def test_failing_framework_function_ends_alike(tmp_path, failure, status):
    """An OSError's number is the exit status."""

    def prepare(container):
        container.write("lib/framework.py", f"def main():\n    raise {failure}\n")
        return {"SAGEMAKER_TRAINING_MODULE": "framework:main", "PYTHONPATH": f"{container.base}/lib"}

    for done in Pair(tmp_path, prepare).run():
        assert done.status == status
        assert failure.split("'")[1] in done.failure
        assert not done.succeeded


@pytest.mark.parametrize("name", ["train.py", "run.sh"])
@pytest.mark.parametrize("status", [1, 3, 137])
def test_failing_script_ends_alike(tmp_path, name, status):
    """The status that the container ends with is ours alone; the failure file names the same one."""

    def prepare(container):
        container.configure({"sagemaker_program": name})
        container.write("code/train.py", f"import sys; print('out'); sys.exit({status})")
        container.write("code/run.sh", f"#!/bin/sh\necho out; exit {status}\n")

    theirs, mine = Pair(tmp_path, prepare).run()
    assert (theirs.status, mine.status) == (1, status)
    for done in (theirs, mine):
        assert done.stdout == b"out\n"
        assert done.failure.startswith("ExecuteUserScriptError:")
        assert f"\nExitCode {status}\n" in done.failure
        assert not done.succeeded


@pytest.mark.parametrize("status", [0, 2])
def test_failure_file_of_the_script_is_kept(tmp_path, status):
    def prepare(container):
        container.configure({"sagemaker_program": "train.py"})
        script = (
            f"import os, sys\nopen(os.environ['SM_OUTPUT_DIR'] + '/failure', 'w').write('mine')\nsys.exit({status})"
        )
        container.write("code/train.py", script)

    theirs, mine = Pair(tmp_path, prepare).run()
    assert theirs.failure == mine.failure == "mine"
    assert theirs.succeeded is mine.succeeded is (status == 0)


@pytest.mark.parametrize("broken", ["resourceconfig.json", "inputdataconfig.json", "hyperparameters.json"])
@pytest.mark.parametrize("content", [None, "", "7", '{"hosts": 1'])
def test_broken_config_files_fail_alike(tmp_path, broken, content):
    """Both fail with a reason."""

    def prepare(container):
        container.write("code/train.py", "print('ran')")
        path = container.base / "input/config" / broken
        path.unlink() if content is None else path.write_text(content)
        return {"SAGEMAKER_PROGRAM": "train.py"}

    for done in Pair(tmp_path, prepare).run():
        assert done.status != 0
        assert done.failure
        assert done.stdout == b""


def test_output_is_relayed_byte_for_byte(tmp_path):
    def prepare(container):
        script = "import sys; sys.stdout.buffer.write(bytes(range(256)) * 300); sys.stdout.write('\\r50%\\r100%')"
        container.write("code/train.py", script)
        return {"SAGEMAKER_PROGRAM": "train.py"}

    theirs, mine = Pair(tmp_path, prepare).run()
    assert theirs.stdout == mine.stdout == bytes(range(256)) * 300 + b"\r50%\r100%"


ASKING = """
import json
from sagemaker_training import environment
env = environment.Environment()
print(json.dumps({
    "hyperparameters": dict(env.hyperparameters), "channels": dict(env.channel_input_dirs), "model": env.model_dir,
    "arguments": env.to_cmd_args(), "entry": env.user_entry_point, "module": env.module_dir, "host": env.current_host,
    "variables": {name: value for name, value in env.to_env_vars().items() if name.startswith("SM_")},
}, sort_keys=True))
"""


def test_toolkit_library_returns_the_same_values(tmp_path):
    """`sagemaker_training.environment` in a script of the author's: the same answers."""

    def prepare(container):
        container.configure(HYPERPARAMETERS, channels={"train": {"TrainingInputMode": "File"}})
        container.write("code/train.py", ASKING)
        return {"SAGEMAKER_PROGRAM": "train.py"}

    pair = Pair(tmp_path, prepare)
    theirs, mine = pair.run()
    assert mine.status == 0, mine.stderr
    assert json.loads(mine.stdout) == json.loads(theirs.stdout)


def test_toolkit_library_starts_a_script_alike(tmp_path):
    """`entry_point.run` works, and the reason is the inner script's exception."""
    script = "from sagemaker_training import entry_point, environment\nenv = environment.Environment()\n"
    script += "entry_point.run(env.module_dir, 'inner.py', ['--a', '1'], env.to_env_vars(), capture_error={})\n"
    for captures in (False, True):
        container = Container(tmp_path / str(captures), TOOLKIT)
        container.write("code/inner.py", "import sys\nprint(sys.argv)\nraise ValueError('inner fault')\n")
        environ = {"SM_STUDIO_LOCAL_MODE": "true"}
        done = container.run_script(script.format(captures), environ=environ)
        assert (done.status, b"['inner.py', '--a', '1']" in done.stdout) == (1, True), done.stderr
        assert "ValueError: inner fault" in done.failure.split("\n")[0]
