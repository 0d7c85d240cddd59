"""The modules that stand for SageMaker's toolkits: what they start, what they lack, and to what they give way."""

import importlib.util
import signal

import pytest

from support.runtime.container import LIMIT, Container

pytestmark = pytest.mark.skipif(
    importlib.util.find_spec("sagemaker_training") is not None, reason="this Python has sagemaker-training"
)
LOCAL = {"SM_STUDIO_LOCAL_MODE": "true"}
START = """
from sagemaker_training import entry_point, environment, errors, runner
env = environment.Environment()
words = {words!r}
"""


@pytest.fixture
def container(tmp_path):
    return Container(tmp_path / "ml")


def started(container, inner, call="entry_point.run(env.module_dir, 'inner.py', words)", words=("--a", "1"), **how):
    container.write("code/inner.py", inner)
    return container.run_script(START.format(words=list(words)) + call, environ=LOCAL, **how)


ENDS = {
    "exception": "def f(): raise ValueError('no rows')\nf()",
    "status": "import sys; sys.exit(5)",
    "killed": "import os; os.kill(os.getpid(), 9)",
    "segfault": "import os, signal; os.kill(os.getpid(), signal.SIGSEGV)",
    "ended": "import os, signal; os.kill(os.getpid(), signal.SIGTERM)",
    "message": "import sys; sys.exit('FATAL: no rows')",
    "logged": "import sys; print('ERROR: no rows', file=sys.stderr); sys.exit(3)",
}


@pytest.mark.parametrize("end", ENDS)
def test_failure_of_the_script_is_that_of_the_job(tmp_path, end):
    """As if the runtime had started the script itself: the same status and the same reason."""
    alone = Container(tmp_path / "alone").run_script(ENDS[end], environ=LOCAL)
    done = started(Container(tmp_path / "ml"), ENDS[end])
    assert done.status == alone.status != 0, done.stderr
    assert done.failure.split("\n")[:2] == alone.failure.split("\n")[:2]


def test_failure_of_the_script_can_be_caught(container):
    call = (
        "try:\n    entry_point.run(env.module_dir, 'inner.py', words)\n"
        "except errors.ClientError as error:\n    print(type(error).__name__, error.return_code, error.cmd[-2:])\n"
    )
    done = started(container, "import sys; sys.exit(3)", call)
    assert (done.status, done.succeeded) == (0, True), done.stderr
    assert done.stdout == b"ExecuteUserScriptError 3 ['--a', '1']\n"


def test_script_saves_when_the_job_is_stopped(container):
    """The caller waits for a script that answers SIGTERM, and goes on."""
    inner = (
        "import os, signal, sys, time\n"
        "signal.signal(signal.SIGTERM, lambda *_: (os.write(1, b'saved\\n'), sys.exit()))\n"
        "os.write(1, b'ready\\n')\nwhile True: time.sleep(0.1)"
    )
    container.write("code/inner.py", inner)
    call = "entry_point.run(env.module_dir, 'inner.py', words)\nprint('after')"
    with container.start_script(START.format(words=[]) + call, environ=LOCAL) as process:
        assert process.stdout.readline() == b"ready\n"
        process.send_signal(signal.SIGTERM)
        out, err = process.communicate(timeout=LIMIT)
    assert (process.returncode, out) == (0, b"saved\nafter\n"), err


def test_script_gets_variables_and_arguments(container):
    inner = "import os, sys; print(sys.argv[1:], os.environ['SM_X'], os.getcwd() == os.path.dirname(sys.path[0] + '/'))"
    call = "entry_point.run(uri='s3://ignored', user_entry_point='inner.py', args=words, env_vars={'SM_X': 'y'})"
    assert started(container, inner, call, ["a b", "$HOME", "'"]).stdout == b"['a b', '$HOME', \"'\"] y True\n"


def test_output_before_a_killed_script_is_kept(container):
    call = "print('before')\nentry_point.run(env.module_dir, 'inner.py', [])"
    done = started(container, "import os; print('inner', flush=True); os.kill(os.getpid(), 9)", call)
    assert (done.status, done.stdout) == (137, b"before\ninner\n")


@pytest.mark.parametrize("where", ["", "import os; os.chdir('/')\n"], ids=["code", "elsewhere"])
def test_shell_script_is_started(container, where):
    container.write("code/run.sh", 'echo "$1" in "$(basename "$PWD")"\n', 0o600)
    done = started(container, "", f"{where}entry_point.run(env.module_dir, 'run.sh', ['one word'])")
    assert done.stdout == b"one word in code\n"


def test_script_is_started_without_a_wait(container):
    call = "process = entry_point.run(env.module_dir, 'inner.py', [], wait=False)\nprint(process.wait())"
    assert started(container, "import sys; sys.exit(4)", call).stdout == b"4\n"


def test_script_is_started_by_a_thread(container):
    call = (
        "import threading\nstart = lambda: entry_point.run(env.module_dir, 'inner.py', words)\n"
        "thread = threading.Thread(target=start)\nthread.start()\nthread.join()"
    )
    assert started(container, "print('ran')", call).stdout == b"ran\n"


@pytest.mark.parametrize(
    ("call", "sentence"),
    [
        (
            "entry_point.run('', 'inner.py', [], runner_type=runner.MPIRunnerType)",
            "RuntimeError: `entry_point.run` cannot start MPI: set `distribution` in the job spec",
        ),
        (
            "environment.read_hyperparameters()",
            "RuntimeError: the smspec runtime has no `sagemaker_training.environment.read_hyperparameters`: "
            "install the toolkit in the image",
        ),
        (
            "from sagemaker_containers.beta.framework import encoders\nencoders.encode(1, 'text/csv')",
            "AttributeError: the smspec runtime has no `sagemaker_containers.beta.framework.encoders`: "
            "install the toolkit in the image",
        ),
        ("import sagemaker_training.recordio", "ModuleNotFoundError: No module named 'sagemaker_training.recordio'"),
    ],
    ids=["launcher", "function", "module", "import"],
)
def test_absent_members_are_named_in_the_failure(container, call, sentence):
    done = started(container, "", call)
    assert done.status == 1
    assert done.failure.split("\n")[0] == f"ExecuteUserScriptError: {sentence}"


def test_absent_modules_can_be_copied(container):
    call = "import copy, pickle\nfrom sagemaker_training import encoders\ncopy.deepcopy(encoders)\n"
    assert started(container, "", call + "pickle.loads(pickle.dumps(encoders))\nprint('ran')").stdout == b"ran\n"


def test_environment_is_a_mapping(container):
    call = (
        "import copy, pickle, sagemaker_training\n"
        "print(len(env), env['hosts'] == env.hosts, 'x' in env, hasattr(env, 'x'), hasattr(environment, '__x__'))\n"
        "print(sagemaker_training.training_env() == env == copy.deepcopy(env), sorted(env) == list(env))"
    )
    assert started(container, "", call).stdout == b"37 True False False False\nTrue True\n"


@pytest.mark.parametrize("name", ["sagemaker_training", "sagemaker_containers"])
def test_installed_toolkit_is_loaded_instead(container, name):
    container.write(f"site/{name}/__init__.py", "VERSION = 'installed'\n")
    container.write(f"site/{name}/environment.py", "from . import VERSION\n")
    # Like site-packages, behind what the runtime adds to PYTHONPATH.
    script = f"import sys\nsys.path.append({str(container.base / 'site')!r})\n"
    script += f"import {name}.environment\nfrom {name} import environment\n"
    script += f"print({name}.environment.VERSION, environment is sys.modules['{name}.environment'])"
    assert container.run_script(script, environ=LOCAL).stdout == b"installed True\n"


@pytest.mark.parametrize("marker", ["sagemaker_training/__init__.py", "sagemaker_training/README"])
def test_package_of_the_author_is_loaded_instead(container, marker):
    """Also a directory without `__init__.py`, which any other package of the name would hide."""
    container.write(f"code/{marker}", "")
    container.write("code/sagemaker_training/net.py", "NAME = 'own'\n")
    done = container.run_script("from sagemaker_training.net import NAME\nprint(NAME)", environ=LOCAL)
    assert done.stdout == b"own\n", done.stderr
