"""Failed trainings never exit with 0, including each case where the toolkit does."""

import os
import shutil
import signal
import subprocess

import pytest

from support.runtime.container import STOP_WHILE_LOADING, Container


@pytest.fixture
def container(tmp_path):
    return Container(tmp_path / "ml")


@pytest.fixture
def read_only_output(container):
    """The words that start a process to which the output directory is on a disk that cannot be written to."""
    script = 'mount -t tmpfs -o ro none "$0" && exec "$@"'
    prefix = ["unshare", "--mount", "sh", "-c", script, str(container.base / "output")]
    if os.geteuid() != 0 or shutil.which("unshare") is None:
        pytest.skip("a read-only file system needs root and unshare")
    if subprocess.run([*prefix, "true"], capture_output=True).returncode:
        pytest.skip("mounting a tmpfs is not allowed here")
    return prefix


@pytest.mark.parametrize(
    ("ending", "cause"),
    [
        ("raise OSError('no number in it')", "OSError: no number in it"),
        ("import shutil; shutil.copytree('/no/such', '/tmp/x')", "FileNotFoundError: [Errno 2] No such file"),
        ("import shutil; raise shutil.Error([('a', 'b', 'c')])", "shutil.Error: [('a', 'b', 'c')]"),
        ("raise KeyboardInterrupt", "SIGINT: interrupt"),
        ("import sys; sys.exit('no data')", "no data"),
        ("raise BaseException('of another kind')", "BaseException: of another kind"),
        ("def f(): f()\nf()", "RecursionError: maximum recursion depth exceeded"),
        ("import os; os.abort()", "SIGABRT: aborted"),
    ],
)
def test_any_failure_of_the_script_is_a_failure(container, ending, cause):
    """An exception without a number, one that is no Exception, one with a list in it, a signal of its own."""
    done = container.run_script(ending)
    assert 0 < done.status < 256
    assert not done.succeeded
    assert done.failure.startswith(f"ExecuteUserScriptError: {cause}")


@pytest.mark.parametrize("status", [5, "'words'"])
def test_framework_module_that_exits_is_a_failure(container, status):
    """SystemExit inside of a function that the container calls; under the toolkit that is a success."""
    container.write("modules/framework.py", f"import sys\ndef main():\n    sys.exit({status})\n")
    search = f"{container.environ()['PYTHONPATH']}:{container.base}/modules"
    environ = {"SAGEMAKER_TRAINING_MODULE": "framework:main", "PYTHONPATH": search}
    done = container.run(environ=environ)
    assert (done.status, done.succeeded) == (status if isinstance(status, int) else 1, False), done.stderr
    assert done.failure.startswith("ExecuteUserScriptError: ")


def test_read_only_output_directory_is_a_failure(container, read_only_output):
    """The status is right, and the log contains the reason."""
    done = container.run_script("raise ValueError('boom')", prefix=read_only_output)
    assert (done.status, done.failure) == (1, None)
    assert b"\nExecuteUserScriptError: ValueError: boom\nExitCode 1\n" in done.stderr
    done = container.run_script("print('fine')", prefix=read_only_output)
    assert (done.status, done.stdout) == (0, b"fine\n")


def test_unwritable_success_file_is_reported(container):
    """The toolkit logs nothing. The training is still a success."""
    (container.base / "output/success").mkdir()
    done = container.run_script("print('fine')")
    assert done.status == 0
    assert b"smspec: cannot write" in done.stderr


def test_unencodable_hyperparameter_is_a_failure(container):
    """No process can be given a lone surrogate; the failure file must hold the sentence about it."""
    container.configure({"bad": '"\\ud800"'})
    done = container.run_script("import sys; sys.exit(4)")
    assert (done.status, done.succeeded) == (1, False)
    reason, status = done.failure.splitlines()[:2]
    assert reason.startswith("ClientError: ") and "'bad'" in reason, done.failure
    assert status == "ExitCode 1"


def test_sigint_is_never_a_success(container):
    """To a Python program it is an exception; while requirements are installed, it ends the job."""
    sleep = "while True: time.sleep(0.1)"  # A signal that comes right before a sleep is heard after it.
    script = f"import time\nprint('ready', flush=True)\n{sleep}"
    with container.start_script(script) as process:
        assert process.stdout.readline() == b"ready\n"
        process.send_signal(signal.SIGINT)
        stdout, stderr = process.communicate(timeout=60)
    done = container.done(process.returncode, stdout, stderr)
    assert (done.status, done.succeeded) == (130, False)
    assert done.failure.startswith("ExecuteUserScriptError: ")

    container.write("pip/pip.py", f"import time\nprint('installing', flush=True)\n{sleep}")
    container.write("code/requirements.txt", "# nothing")
    environ = {"PYTHONPATH": f"{container.base}/pip:{container.environ()['PYTHONPATH']}"}
    with container.start_script(script, environ=environ) as process:
        assert process.stdout.readline() == b"installing\n"
        process.send_signal(signal.SIGINT)
        process.communicate(timeout=60)
    assert process.returncode == 130
    assert container.failure == "ClientError: stopped before the program was started\nExitCode 130"


def test_results_of_an_earlier_job_are_removed(container):
    """A container that is started twice: neither what failed before nor what succeeded before counts."""
    for path in ("output/failure", "output/success"):
        container.write(path, "of an earlier job")
    done = container.run_script("raise ValueError('now')")
    assert done.failure.startswith("ExecuteUserScriptError: ValueError: now\n")
    assert not done.succeeded
    done = container.run_script("print('fine')")
    assert (done.failure, done.succeeded) == (None, True)


def test_early_stop_removes_results_of_an_earlier_job(container):
    """The signal waits while the runtime is loaded, and counts before anything is read."""
    for path in ("output/failure", "output/success"):
        container.write(path, "of an earlier job")
    container.write("early/sitecustomize.py", STOP_WHILE_LOADING)
    search = f"{container.base}/early:{container.environ()['PYTHONPATH']}"
    done = container.run_script("print('never')", environ={"PYTHONPATH": search})
    assert (done.status, done.succeeded) == (143, False)
    assert done.failure == "ClientError: stopped before the program was started\nExitCode 143"


def test_failure_file_of_a_successful_script_is_kept(container):
    """Its status is what counts; what it wrote is its own."""
    script = "import os; open(os.environ['SM_OUTPUT_DIR'] + '/failure', 'w').write('half of the data was bad')"
    done = container.run_script(script)
    assert (done.status, done.failure, done.succeeded) == (0, "half of the data was bad", True)


def test_empty_failure_file_is_filled_in(container):
    """So the reason is written into it: a program that opened it and ran out of disk, for one."""
    script = "import os; open(os.environ['SM_OUTPUT_DIR'] + '/failure', 'w').close(); raise ValueError('boom')"
    assert container.run_script(script).failure.startswith("ExecuteUserScriptError: ValueError: boom\n")


@pytest.mark.parametrize("level", ['"info"', '"20"', "nonsense", "[]"])
def test_malformed_log_level_is_ignored(container, level):
    """It ends the toolkit's job."""
    container.configure({"sagemaker_container_log_level": level})
    assert container.run_script("print('ran')").stdout == b"ran\n"
