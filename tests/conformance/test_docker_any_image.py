"""The Dockerfile of docs/runtime.md, built and started like SageMaker does."""

import json
import re
import shutil
import zipfile

import pytest

from support.runtime.container import RUNTIME

pytest_plugins = ["support.docker_engine"]
pytestmark = pytest.mark.xdist_group("docker")  # one engine, where xdist is told to keep groups together

DOCUMENT = RUNTIME.parent / "docs/runtime.md"
SCRIPT = """
import os, sys
import greeting
print(greeting.WORD, sys.argv, os.getcwd())
sys.exit(int(os.environ["SM_HP_STATUS"]))
"""


@pytest.fixture(scope="module")
def image(engine, tmp_path_factory):
    """An image of a script with requirements."""
    context = tmp_path_factory.mktemp("context")
    (dockerfile,) = re.findall(r"```dockerfile\n(.*?)```", DOCUMENT.read_text(), re.DOTALL)
    (context / "Dockerfile").write_text(re.sub("^FROM .*", f"FROM {engine.base}", dockerfile))
    shutil.copytree(RUNTIME / "smspec_runtime", context / "smspec_runtime")
    (context / "src").mkdir()
    (context / "src/train.py").write_text(SCRIPT)
    (context / "src/requirements.txt").write_text("./greeting-1.0-py3-none-any.whl\n")
    with zipfile.ZipFile(context / "src/greeting-1.0-py3-none-any.whl", "w") as wheel:
        wheel.writestr("greeting.py", "WORD = 'hello'\n")
        wheel.writestr("greeting-1.0.dist-info/METADATA", "Metadata-Version: 2.1\nName: greeting\nVersion: 1.0\n")
        wheel.writestr("greeting-1.0.dist-info/WHEEL", "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n")
        wheel.writestr("greeting-1.0.dist-info/RECORD", "")
    engine.build(context, "any-image")
    return "any-image"


@pytest.fixture
def start(engine, image, tmp_path):
    """Start the image with a word, as SageMaker does; return what the client saw, and the failure file."""

    def start(word, status=0):
        config = tmp_path / "input/config"
        for directory in (config, tmp_path / "model", tmp_path / "output"):
            directory.mkdir(parents=True)
        (config / "hyperparameters.json").write_text(json.dumps({"status": str(status)}))
        (config / "inputdataconfig.json").write_text("{}")
        (config / "resourceconfig.json").write_text(json.dumps({"current_host": "algo-1", "hosts": ["algo-1"]}))
        mounts = [f"--volume={tmp_path / name}:/opt/ml/{name}" for name in ("input", "model", "output")]
        done = engine.docker("run", "--rm", "--network=none", *mounts, image, word, check=False)
        failure = tmp_path / "output/failure"
        return done, failure.read_text() if failure.exists() else None

    return start


@pytest.mark.parametrize("status", [0, 7])
def test_train_argument_starts_the_training(start, status):
    """SageMaker appends `train` to the ENTRYPOINT. Debian's pip by itself leaves the system alone (PEP 668)."""
    done, failure = start("train", status)
    assert done.returncode == status, done.stderr
    assert done.stdout.endswith(f"hello ['train.py', '--status', '{status}'] /opt/ml/code\n")
    assert (failure is None) == (status == 0)


def test_serve_argument_is_rejected(start):
    done, failure = start("serve")
    assert (done.returncode, done.stdout) == (2, "")
    assert "takes the argument `train` or none, not `serve`" in failure
