"""The runtime in foreign images: hostile directories, no site-packages, and no permissions."""

import os
import shutil
import subprocess

import pytest

from support.runtime.container import RUNTIME, SHOW, Container

HOSTILE = ("json", "site", "typing", "re", "signal", "enum", "select", "os", "collections", "socket", "sitecustomize")
SCRIPT = {"kind": "script", "program": "run.sh", "args_style": "none"}


@pytest.fixture
def container(tmp_path):
    container = Container(tmp_path / "ml")
    container.write("code/run.sh", "#!/bin/sh\necho ran\n")
    return container


def plant(container, directory, names=HOSTILE):
    for name in names:
        container.write(f"{directory}/{name}.py", "raise SystemExit('taken from the wrong directory')")


def test_code_modules_do_not_shadow_the_runtime(any_python, tmp_path):
    """The container starts in the code directory, which holds a json.py, a site.py and more."""
    container = Container(tmp_path / "ml", any_python)
    container.write("code/run.sh", "#!/bin/sh\necho ran\n")
    plant(container, "code")
    done = container.run(plan=SCRIPT, cwd=container.base / "code")
    assert (done.status, done.stdout) == (0, b"ran\n"), done.stderr


def test_dash_m_runs_in_the_code_directory(any_python, tmp_path):
    """`python -m` puts the current directory first."""
    container = Container(tmp_path / "ml", any_python)
    container.write("code/run.sh", "#!/bin/sh\necho ran\n")
    # What Python itself loads for -m before the first line of ours is beyond us.
    plant(container, "code", ("json", "site", "sitecustomize", "usercustomize", "signal", "select", "socket"))
    environ = {"SAGEMAKER_PROGRAM": "run.sh"}
    done = container.run(environ=environ, cwd=container.base / "code")
    assert (done.status, done.stdout) == (0, b"ran\n"), done.stderr


def test_code_directory_may_be_in_pythonpath(container):
    """An image may set PYTHONPATH=/opt/ml/code. What Python loads before us, site for one, is beyond us."""
    plant(container, "code", ("json", "typing", "signal", "select", "re", "enum"))
    done = container.run(plan=SCRIPT, environ={"PYTHONPATH": str(container.base / "code")})
    assert (done.status, done.stdout) == (0, b"ran\n"), done.stderr


@pytest.mark.parametrize("options", [["-I"], ["-S"], ["-I", "-S"], ["-E", "-s", "-B"], ["-O"]])
def test_interpreter_options_keep_the_runtime_working(any_python, tmp_path, options):
    """Isolated, without site, without environment."""
    container = Container(tmp_path / "ml", any_python)
    container.write("code/run.sh", "#!/bin/sh\necho ran\n")
    done = container.run(plan=SCRIPT, options=options)
    assert (done.status, done.stdout) == (0, b"ran\n"), done.stderr


@pytest.fixture
def nobody(tmp_path):
    """The words that drop every right of root but one: interpreters may lie where only root can look."""
    prefix = ["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups"]
    prefix += ["--inh-caps=+dac_read_search", "--ambient-caps=+dac_read_search"]
    if os.geteuid() != 0 or shutil.which("setpriv") is None or subprocess.run([*prefix, "true"]).returncode:
        pytest.skip("dropping rights needs root and setpriv")
    return prefix


def test_unprivileged_user_can_run(any_python, tmp_path, nobody):
    """Images may set a user other than root, who owns output and model."""
    container = Container(tmp_path / "ml", any_python)
    container.write("code/train.py", "import os, sys; print(os.getuid()); sys.exit(3)")
    for path in [container.base, *container.base.rglob("*")]:
        os.chown(path, 65534, 65534)
    done = container.run(environ={"SAGEMAKER_PROGRAM": "train.py"}, prefix=nobody)
    assert (done.status, done.stdout) == (3, b"65534\n"), done.stderr
    assert done.failure.startswith("ExecuteUserScriptError: ")


@pytest.mark.parametrize(("script", "status"), [("print('ran')", 0), ("print('ran'); raise SystemExit(3)", 3)])
def test_user_without_write_access_gets_the_status(container, nobody, script, status):
    """Without result files, exit status and log contain the result."""
    container.write("code/train.py", script)
    done = container.run(environ={"SAGEMAKER_PROGRAM": "train.py"}, prefix=nobody)
    assert (done.status, done.stdout) == (status, b"ran\n"), done.stderr
    assert (done.failure, done.succeeded) == (None, False)
    assert b"no room for a failure file" in done.stderr


def test_unreadable_config_files_are_reported(container):
    """Their permissions are the platform's to set."""
    prefix = ["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups"]
    if os.geteuid() != 0 or shutil.which("setpriv") is None:
        pytest.skip("dropping rights needs root and setpriv")
    container.python = shutil.which("python3", path="/usr/bin:/bin") or pytest.skip(
        "no python3 that every user may run"
    )
    runtime = shutil.copytree(RUNTIME, container.base / "runtime", ignore=shutil.ignore_patterns("__pycache__"))
    for path in [container.base, *container.base.rglob("*")]:
        os.chown(path, 65534, 65534)
    for parent in container.base.parents:
        if parent.stat().st_uid == 0 and not parent.stat().st_mode & 0o001:
            parent.chmod(parent.stat().st_mode | 0o001)
    config = container.base / "input/config/hyperparameters.json"
    config.chmod(0o000)
    environ = {"SAGEMAKER_PROGRAM": "run.sh", "PYTHONPATH": str(runtime)}
    done = container.run(environ=environ, prefix=prefix)
    assert (done.status, done.stdout) == (1, b""), done.stderr
    assert done.failure == f"ClientError: {config}: Permission denied\nExitCode 1"


@pytest.mark.parametrize(("script", "status"), [("print('ran')", 0), ("print('ran'); raise SystemExit(3)", 3)])
def test_read_only_file_system_is_supported(container, script, status):
    """`docker run --read-only`, with no place to write to at all."""
    prefix = ["unshare", "--mount", "sh", "-c", 'mount --rbind / / && mount -o remount,bind,ro / && exec "$@"', "sh"]
    probe = [*prefix, "sh", "-c", f"! touch {container.base}/probe"]
    if os.geteuid() != 0 or subprocess.run(probe, capture_output=True).returncode:
        pytest.skip("a read-only root needs root and unshare --mount")
    container.write("code/train.py", script)
    done = container.run(environ={"SAGEMAKER_PROGRAM": "train.py"}, prefix=prefix)
    assert (done.status, done.stdout) == (status, b"ran\n"), done.stderr
    assert b"Read-only file system" in done.stderr


@pytest.mark.parametrize(
    "shell",
    [
        "exec <&-",
        "exec >&-",
        "exec 2>&-",
        "exec <&- >&- 2>&-",
        "umask 077",
        "umask 777",
        "unset HOME",
        "TZ=Nowhere/Nothing; export TZ",
        "TZ=:/dev/zero; export TZ",
        "PATH=; export PATH",
        "mkdir gone && cd gone && rmdir ../gone",
        "ulimit -n 32",
        "ulimit -s unlimited",
        "ulimit -c 0; ulimit -f 8",
    ],
)
def test_unusual_process_environment_is_supported(container, shell):
    """Whatever the container was started with: the program runs, and its exit status is kept."""
    container.write(
        "code/train.py", "import os, sys; open(os.environ['SM_MODEL_DIR'] + '/m', 'w').close(); sys.exit(3)"
    )
    prefix = ["/bin/sh", "-c", f'{shell}; exec "$@"', "sh"]
    done = container.run(environ={"SAGEMAKER_PROGRAM": "train.py"}, prefix=prefix, cwd=container.base)
    assert done.status == 3, done.stderr
    assert (container.base / "model/m").exists()
    if shell != "umask 777" or os.geteuid() == 0:
        assert done.failure.startswith("ExecuteUserScriptError: ")


def test_other_smspec_runtime_in_the_code_is_ignored(container):
    """A vendored copy of a different version is not imported."""
    container.write("code/smspec_runtime/__init__.py", "raise SystemExit('taken from the wrong directory')")
    container.write("code/smspec_runtime/main.py", "raise SystemExit('taken from the wrong directory')")
    done = container.run(plan=SCRIPT, cwd=container.base / "code")
    assert (done.status, done.stdout) == (0, b"ran\n"), done.stderr


def test_read_only_model_directory_and_code_are_supported(container):
    """The runtime writes to neither."""
    (container.base / "model").chmod(0o555)
    (container.base / "code").chmod(0o555)
    done = container.run(plan=SCRIPT)
    assert (done.status, done.stdout) == (0, b"ran\n"), done.stderr


def test_empty_environment_is_supported(container):
    """Not even PATH."""
    with open(os.devnull) as nothing:
        environ = {"SAGEMAKER_BASE_DIR": str(container.base)}
        command = container.command(plan=SCRIPT)
        done = subprocess.run(command, env=environ, stdin=nothing, capture_output=True, timeout=60)
    assert (done.returncode, done.stdout) == (0, b"ran\n"), done.stderr


@pytest.mark.parametrize("locale", ["C", "POSIX", "en_US.ISO-8859-1", "C.UTF-8"])
def test_any_locale_is_supported(container, locale):
    """Text is UTF-8 in every locale."""
    container.configure({"word": "é"})
    container.write("code/run.sh", '#!/bin/sh\nprintf "%s" "$SM_HP_WORD"\n')
    done = container.run(plan=SCRIPT, environ={"LC_ALL": locale, "LANG": locale})
    assert (done.status, done.stdout.decode()) == (0, "é"), done.stderr


def test_missing_network_is_supported(container):
    """One host needs none."""
    prefix = ["unshare", "--net"]
    if os.geteuid() != 0 or subprocess.run([*prefix, "true"], capture_output=True).returncode:
        pytest.skip("a network of its own needs root and unshare --net")
    container.write("code/train.py", SHOW)
    done = container.run(environ={"SAGEMAKER_PROGRAM": "train.py"}, prefix=prefix)
    assert done.status == 0, done.stderr


@pytest.mark.parametrize(
    ("answer", "gpus"),
    [
        ("echo 'GPU 0: Tesla (UUID: x)'; echo 'GPU 1: Tesla'; echo 'other'", "2"),
        ("echo 'GPU 0: half'; exit 9", "0"),
        ("printf '\\377'", "0"),
    ],
)
def test_nvidia_smi_runs_once(container, answer, gpus):
    """One call; a tool that fails counts as none."""
    container.write("bin/nvidia-smi", f"#!/bin/sh\necho called >> $0.calls\n{answer}\n", 0o755)
    environ = {"PATH": f"{container.base}/bin:/usr/bin:/bin", "SAGEMAKER_PROGRAM": "train.py"}
    container.write("code/train.py", SHOW)
    shown = container.run(environ=environ).shown
    assert shown["environ"]["SM_NUM_GPUS"] == gpus
    assert (container.base / "bin/nvidia-smi.calls").read_text() == "called\n"


@pytest.mark.parametrize(
    ("answer", "neurons"),
    [("""echo '[{"nc_count": 2}, {"nc_count": 4}, {}]'""", "6"), ("echo not json", "0"), ("echo '{}'", "0")],
)
def test_neuron_ls_counts_the_devices(container, answer, neurons):
    """Malformed JSON ends the toolkit's job."""
    container.write("bin/neuron-ls", f"#!/bin/sh\n{answer}\n", 0o755)
    environ = {"PATH": f"{container.base}/bin:/usr/bin:/bin", "SAGEMAKER_PROGRAM": "train.py"}
    container.write("code/train.py", SHOW)
    assert container.run(environ=environ).shown["environ"]["SM_NUM_NEURONS"] == neurons
