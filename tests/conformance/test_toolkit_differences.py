"""Faults of the SageMaker Training Toolkit: the runtime passes each check and the toolkit fails it.

`FAULTS` is the list. A fault with tests elsewhere names them.
"""

import ast
import os
import shutil
import signal
import stat
import subprocess
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import pytest

from support.runtime.container import LIMIT, RUNTIME, Container, wait_until
from support.runtime.sagemaker_toolkit import TOOLKIT, needs_toolkit, ours, toolkit

ROOT = Path(__file__).parents[2]
GLUE = """
from sagemaker_training import entry_point, environment, runner
def main():
    env = environment.Environment()
    kind = getattr(runner.RunnerType, {runner!r})
    words = [env.module_dir, env.user_entry_point, env.to_cmd_args(), env.to_env_vars()]
    entry_point.run(*words, capture_error=True, runner_type=kind)
"""
"""What framework containers add to the toolkit: a module that starts the program and reads what it writes."""


@dataclass(frozen=True)
class Side:
    """The toolkit or the runtime. ``glue``: which runner of the toolkit's a framework container would use, if any."""

    is_ours: bool
    glue: str = ""

    def run(self, container, **environ):
        return (ours if self.is_ours else toolkit)(container, self._environ(container, environ))

    def run_script(self, container, script, **environ):
        container.write("code/train.py", script)
        return self.run(container, SAGEMAKER_PROGRAM="train.py", **environ)

    def start_script(self, container, script, **environ):
        """Start without waiting, as the leader of a session, so that nothing need be left behind."""
        container.write("code/train.py", script)
        environ = {"SAGEMAKER_PROGRAM": "train.py", "SM_STUDIO_LOCAL_MODE": "true", **environ}
        if self.is_ours:
            command, own = container.command(), container.environ()
        else:
            command = [TOOLKIT, "-c", "from sagemaker_training.cli.train import main; main()"]
            own = container.environ(plan={})
        streams = {"stdin": subprocess.DEVNULL, "stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
        return subprocess.Popen(command, env={**own, **environ}, start_new_session=True, cwd="/", **streams)

    def _environ(self, container, environ):
        if self.glue and not self.is_ours:
            container.write("glue/framework_glue.py", GLUE.format(runner=self.glue))
            return {
                "PYTHONPATH": f"{container.base}/glue",
                "SAGEMAKER_TRAINING_MODULE": "framework_glue:main",
                **environ,
            }
        return environ


def clean_up(process):
    """End a whole session, for the toolkit leaves its program behind. Return what stood on standard error."""
    try:
        os.killpg(process.pid, signal.SIGKILL)
    except ProcessLookupError:
        pass
    return process.communicate(timeout=LIMIT)[1]


def tool(container, name, script):
    """Put a program in front of PATH; return the variables that do."""
    container.write(f"bin/{name}", f"#!/bin/sh\n{script}\n", 0o755)
    return {"PATH": f"{container.base}/bin:/usr/bin:/bin"}


def output_that_is_no_directory(side, container):
    (container.base / "output/data").rmdir()
    (container.base / "output").rmdir()
    container.write("output", "a file")
    assert side.run_script(container, "raise ValueError").status != 0


def exit_of_a_framework_s_function(side, container):
    container.write("code/framework.py", "import sys\ndef main(): sys.exit(5)")
    environ = {"SAGEMAKER_TRAINING_MODULE": "framework:main", "PYTHONPATH": str(container.base / "code")}
    assert side.run(container, **environ).status == 5


def error_without_a_number(side, container):
    container.write("code/framework.py", "def main(): raise OSError('no number')")
    environ = {"SAGEMAKER_TRAINING_MODULE": "framework:main", "PYTHONPATH": str(container.base / "code")}
    done = side.run(container, **environ)
    assert done.status != 0
    assert "OSError: no number" in done.failure


def sigterm(side, container):
    script = (
        "import os, signal, sys, time\n"
        "signal.signal(signal.SIGTERM, lambda *_: (os.write(1, b'saved\\n'), sys.exit()))\n"
        "os.write(1, b'ready\\n')\nwhile True: time.sleep(0.1)"  # A signal right before a sleep is heard after it.
    )
    process = side.start_script(container, script)
    try:
        assert process.stdout.readline() == b"ready\n"
        process.terminate()
        assert process.wait(LIMIT) == 0
        assert process.stdout.readline() == b"saved\n"
    finally:
        clean_up(process)


def silent_failure_file(side, container):
    done = side.run_script(container, "raise ValueError('three classes')")
    assert "ValueError: three classes" in done.failure[:1024]


def sigkill(side, container):
    done = side.run_script(container, "import os; os.kill(os.getpid(), 9)")
    assert done.status == 137
    assert "SIGKILL" in done.failure


def mangled_log(side, container):
    text = "early: registering Exception hooks\n\n  indented\n\n\tTab \r50%\r100%\n"
    script = f"import sys; sys.stderr.write({text!r}); sys.stderr.flush(); raise KeyError('last')"
    done = side.run_script(container, script)
    assert text.encode() in done.stderr
    assert "registering" not in done.failure.split("\n")[0]
    assert done.failure.split("\n")[0].endswith("KeyError: 'last'")


def argument_list_too_long(side, container):
    container.configure({f"key{number}": "x" * 2400 for number in range(100)})
    done = side.run_script(container, "import sys; print(len(sys.argv))")
    assert (done.status, done.stdout) == (0, b"201\n")


def equals_sign_in_a_name(side, container):
    container.configure({"a=b": "1"})
    assert side.run_script(container, "print('ran')").stdout == b"ran\n"


def log_level_of_the_environment(side, container):
    done = side.run_script(container, "print('ran')", SAGEMAKER_CONTAINER_LOG_LEVEL="debug")
    assert (done.status, done.stdout) == (0, b"ran\n")


def log_level_in_words(side, container):
    container.configure({"sagemaker_container_log_level": '"DEBUG"'})
    done = side.run_script(container, "import os; print(os.environ['SM_LOG_LEVEL'])")
    assert (done.status, done.stdout) == (0, b"DEBUG\n")


def code_of_the_image(side, container):
    container.write("sent/train.py", "print('sent with the job')")
    container.configure({"sagemaker_submit_directory": str(container.base / "sent")})
    assert side.run_script(container, "print('of the image')").stdout == b"sent with the job\n"


def requirements_of_a_shell_program(side, container):
    container.write("code/requirements.txt", "no-such-package-of-anybody==1\n")
    container.write("code/run.sh", "echo ran\n")
    done = side.run(container, SAGEMAKER_PROGRAM="run.sh", PIP_NO_INDEX="1", PIP_DISABLE_PIP_VERSION_CHECK="1")
    assert b"ran\n" not in done.stdout
    assert done.failure.startswith("InstallRequirementsError")


def module_of_a_package(side, container):
    container.write("code/setup.py", "raise SystemExit('pip does the rest')")
    container.write("code/pkg/__init__.py", "")
    container.write("code/pkg/train.py", "print('ran')")
    container.write("stub/pip.py", "")
    path = {"PYTHONPATH": str(container.base / "stub")}
    done = side.run(container, SAGEMAKER_PROGRAM="pkg/train.py", **path)
    assert (done.status, done.stdout) == (0, b"ran\n")


def import_path_of_children(side, container):
    done = side.run_script(container, "import os; print(os.environ['PYTHONPATH'])")
    leaked = [entry for entry in done.stdout.decode().strip().split(":") if "/lib/python" in entry or ".zip" in entry]
    assert leaked == []


def secrets(side, container):
    container.configure({"api_key": "sk-1234567890", "db": '{"password": "sk-1234567890"}', "lr": "0.1"})
    done = side.run_script(container, "raise ValueError")
    assert "sk-1234567890" not in done.failure
    assert b"sk-1234567890" not in done.stderr


def questions_to_the_driver(side, container):
    environ = tool(container, "nvidia-smi", "echo asked >> $0.log; echo 'GPU 0: x'")
    assert side.run_script(container, "import os; print(os.environ['SM_NUM_GPUS'])", **environ).stdout == b"1\n"
    assert (container.base / "bin/nvidia-smi.log").read_text() == "asked\n"


def odd_answer_of_neuron_ls(side, container):
    environ = tool(container, "neuron-ls", "echo no devices found")
    assert side.run_script(container, "print('ran')", **environ).stdout == b"ran\n"


def silent_wait_for_hosts(side, container):
    container.configure(hosts=["localhost", "no-such-host.invalid"], current="localhost")
    script = "import socket; socket.gethostbyname('localhost')"
    process = side.start_script(container, script, SM_STUDIO_LOCAL_MODE="false")
    try:
        process.wait(3)
    except subprocess.TimeoutExpired:
        pass
    assert b"waiting for host no-such-host.invalid" in clean_up(process)


def rights_of_a_script(side, container):
    path = container.write("code/run.sh", "echo ran\n", 0o640)
    assert side.run(container, SAGEMAKER_PROGRAM="run.sh").status == 0
    assert stat.S_IMODE(path.stat().st_mode) == 0o750


def torchrun_that_is_not_there(side, container):
    container.configure({"sagemaker_torch_distributed_enabled": "true", "sagemaker_instance_type": "ml.c5.xlarge"})
    done = side.run_script(container, "print('ran')", PATH="/usr/bin:/bin")
    assert (done.status, done.stdout) == (127, b"")
    assert "torchrun" in done.failure.split("\n")[0]
    assert "\nExitCode 127\n" in done.failure


def hanging_driver(side, container):
    """The runtime gives up after 20 s, and in this copy of it after one."""
    asked = container.base / "asked"
    environ = tool(container, "nvidia-smi", f": > {asked}; exec sleep 600")
    runtime = shutil.copytree(RUNTIME, container.base / "runtime", ignore=shutil.ignore_patterns("__pycache__"))
    module = runtime / "smspec_runtime/accelerators.py"
    module.write_text(replaced(module.read_text(), "\nSECONDS = 20.0 ", "\nSECONDS = 1.0 "))
    if side.is_ours:
        environ["PYTHONPATH"] = str(runtime)
    process = side.start_script(container, "print('ran', flush=True)", **environ)
    try:
        wait_until(asked.exists)
        process.wait(LIMIT if side.is_ours else 5)
    except subprocess.TimeoutExpired:
        pass
    finally:
        done = process.poll()
        clean_up(process)
    assert done == 0


def replaced(text, old, new):
    assert text.count(old) == 1
    return text.replace(old, new)


@dataclass(frozen=True)
class Fault:
    """``check`` is passed by the runtime and failed by the toolkit. ``tests``: more of it, or all."""

    number: int
    said: str
    check: Callable | None = None
    glue: str = ""
    tests: tuple[str, ...] = ()
    compared: bool = True


FAULTS = (
    Fault(
        1,
        "success although training failed",
        output_that_is_no_directory,
        tests=(
            "conformance/test_container_exit.py::test_full_disk_fails_with_the_reason",
            "conformance/test_container_signals.py::test_sigint_is_not_a_success",
            "conformance/test_container_failure.py::test_undecodable_error_is_escaped",
        ),
    ),
    Fault(1, "success after SystemExit in a framework's function", exit_of_a_framework_s_function),
    Fault(1, "success after an OSError without a number", error_without_a_number),
    Fault(
        2,
        "SIGTERM never reaches the script, process 1 ignores it, zombies",
        sigterm,
        tests=(
            "conformance/test_container_signals.py::test_process_1_forwards_sigterm",
            "conformance/test_container_signals.py::test_process_1_reaps_orphans_and_keeps_the_status",
        ),
    ),
    Fault(3, "a failure file that says nothing", silent_failure_file),
    Fault(4, "no hint at memory for Python programs", sigkill),
    Fault(
        5,
        "logs read and printed again",
        mangled_log,
        glue="Process",
        tests=("conformance/test_container_output.py::test_million_short_lines_are_relayed",),
    ),
    Fault(
        6,
        "Argument list too long",
        argument_list_too_long,
        tests=("conformance/test_container_robustness.py::test_hyperparameters_of_any_size_start_the_script",),
    ),
    Fault(7, "a hyperparameter with `=` in its name", equals_sign_in_a_name),
    Fault(8, "variables that are read and overwritten, and can end the job", log_level_of_the_environment),
    Fault(9, "a log level in words", log_level_in_words),
    Fault(10, "code in the image wins in silence", code_of_the_image),
    Fault(11, "requirements of shell programs are ignored", requirements_of_a_shell_program),
    Fault(12, "the module of a package in a directory", module_of_a_package),
    Fault(  # Compared, the toolkit would start an SSH server on this machine.
        13,
        "the text `False` turns a launcher on",
        tests=("conformance/test_container_launch.py::test_torchrun_starts_as_the_estimator_requests",),
    ),
    Fault(14, "the import path of the toolkit's interpreter in every child", import_path_of_children),
    Fault(
        15,
        "secrets in log and failure file",
        secrets,
        tests=("runtime/test_mpi.py::test_only_what_ssh_cannot_carry_is_exported",),
    ),
    Fault(  # Compared, the toolkit would start an SSH server and sleep.
        16,
        "sleeps of 30 seconds; workers that always succeed",
        tests=(
            "runtime/test_peers.py::test_members_exit_as_the_leader_does",
            "conformance/test_docker_mpi.py::test_failing_process_fails_the_job_on_all_hosts",
        ),
    ),
    Fault(17, "four questions to the driver", questions_to_the_driver),
    Fault(18, "inspect.ArgSpec", tests=("conformance/test_container_code.py::test_function_is_called_with_the_job",)),
    Fault(19, "an answer of neuron-ls that is no JSON", odd_answer_of_neuron_ls),
    Fault(
        20,
        "a silent wait",
        silent_wait_for_hosts,
        tests=("runtime/test_hosts.py::test_unresolvable_host_ends_the_wait",),
    ),
    Fault(21, "scripts that everybody may write", rights_of_a_script),
    Fault(22, "a missing torchrun is ExitCode None", torchrun_that_is_not_there, glue="TorchDistributed"),
    Fault(23, "a driver that hangs", hanging_driver),
    Fault(  # Nothing is preloaded: the command lines of launchers are compared word by word.
        24,
        "gethostname.so",
        tests=("runtime/test_mpi.py::test_leader_starts_the_processes_of_every_host",),
    ),
    Fault(
        25,
        "an exit that hangs over intermediate output",
        tests=("conformance/test_container_aws.py::test_framework_function_that_exits_does_not_hang",),
    ),
    Fault(
        26,
        "the leader's SM_ variables on every host",
        tests=("conformance/test_local_run_namespace.py::test_mpi_ranks_have_the_variables_of_their_host",),
    ),
)
COMPARED = [fault for fault in FAULTS if fault.check is not None]


def named(fault):
    return f"{fault.number}-{fault.check.__name__}"


@pytest.fixture
def container(tmp_path):
    return Container(tmp_path / "ml")


@pytest.mark.parametrize("fault", COMPARED, ids=named)
def test_runtime_lacks_the_toolkit_fault(fault, container):
    fault.check(Side(is_ours=True), container)


@needs_toolkit
@pytest.mark.parametrize("fault", COMPARED, ids=named)
def test_toolkit_has_the_fault(fault, tmp_path):
    """Else the check would show nothing."""
    with pytest.raises(AssertionError):
        fault.check(Side(is_ours=False, glue=fault.glue), Container(tmp_path / "ml", TOOLKIT))


def test_every_fault_has_a_test():
    assert sorted({fault.number for fault in FAULTS}) == list(range(1, 27))
    for fault in FAULTS:
        assert fault.check is not None or fault.tests, fault.said
        for place in fault.tests:
            path, _, name = place.partition("::")
            module = ast.parse((ROOT / "tests" / path).read_text(encoding="utf-8"))
            assert name in {node.name for node in module.body if isinstance(node, ast.FunctionDef)}, place
