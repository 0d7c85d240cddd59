"""Exit statuses: that of the script, and never 0 for a failed training."""

import json
import os
import resource
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from support.runtime.container import RUNTIME, Container, wait_until


@pytest.fixture
def container(tmp_path):
    return Container(tmp_path / "ml")


def statuses(python, commands):
    """Run commands under one supervisor; return what each outcome is."""
    script = f"""
import json, os, sys
sys.path.insert(0, {str(RUNTIME)!r})
from smspec_runtime.supervisor import Supervisor
supervisor = Supervisor()
supervisor.start()
outcomes = [supervisor.run(words, dict(os.environ), "/") for words in json.load(sys.stdin)]
print(json.dumps([[outcome.status, outcome.signal, outcome.error] for outcome in outcomes]))
"""
    done = subprocess.run(
        [python, "-I", "-S", "-c", script], input=json.dumps(commands), capture_output=True, text=True, timeout=120
    )
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def test_every_exit_status_is_kept():
    """All 256 of them."""
    found = statuses(sys.executable, [["sh", "-c", f"exit {status}"] for status in range(256)])
    assert found == [[status, 0, ""] for status in range(256)]


def test_signal_exits_128_plus_its_number():
    """For every signal that ends a process."""
    resource.setrlimit(resource.RLIMIT_CORE, (0, resource.getrlimit(resource.RLIMIT_CORE)[1]))
    fatal = [n for n in range(1, 32) if n not in (17, 18, 19, 20, 21, 22, 23, 28)]
    found = statuses(sys.executable, [["sh", "-c", f"kill -{number} $$"] for number in fatal])
    assert found == [[128 + number, number, ""] for number in fatal]


def test_missing_script_exits_127_and_not_executable_126(any_python, tmp_path):
    """As shells have it, and with the name of what could not be started."""
    plain = tmp_path / "plain"
    plain.write_text("#!/bin/sh\nexit 3\n")
    interpreter = tmp_path / "interpreter"
    interpreter.write_text("#!/no/such/interpreter\n")
    interpreter.chmod(0o755)
    without = tmp_path / "without"
    without.write_text("exit 4\n")
    without.chmod(0o755)
    commands = [
        ["no-such-program"],
        ["/no/such/program"],
        [str(plain)],
        [str(tmp_path)],
        [str(interpreter)],
        [str(without)],
    ]
    found = statuses(any_python, [*commands, ["sh", "-c", "exit 5", "x" * 200_000], ["sh", "nul\0"]])
    assert [status for status, _, _ in found] == [127, 127, 126, 126, 127, 4, 126, 126]
    assert found[0][2] == "no-such-program: no such program along PATH; is it in the image?"
    assert found[2][2] == f"{plain}: Permission denied"
    assert found[4][2] == f"{interpreter}: its interpreter is missing; do lines end with CR LF?"


@pytest.mark.parametrize("status", [0, 1, 2, 3, 42, 137, 255])
def test_container_exits_with_the_status_of_the_script(container, status):
    """The toolkit always exits with 1."""
    done = container.run_script(f"import sys; sys.exit({status})")
    assert done.status == status
    assert (done.failure is None) == (status == 0)
    assert done.succeeded == (status == 0)


@pytest.fixture
def little_memory():
    """Return a command prefix that starts a process with 64 MiB of memory in a separate control group."""
    script = 'echo $$ > "$0/cgroup.procs" && exec "$@"'
    for root, limit in (("/sys/fs/cgroup/memory", "memory.limit_in_bytes"), ("/sys/fs/cgroup", "memory.max")):
        group = Path(root) / f"smspec-test-{os.getpid()}"
        try:
            group.mkdir()
        except OSError:
            continue
        try:
            (group / limit).write_text(str(64 << 20))
            yield ["sh", "-c", script, str(group)]
            return
        except OSError:
            pass
        finally:
            wait_until(lambda group=group: not (group / "cgroup.procs").read_text())
            group.rmdir()
    pytest.skip("no control group for memory can be made here")


def test_script_killed_by_the_oom_killer_has_a_reason(container, little_memory):
    """The kernel's out-of-memory killer sends SIGKILL, and counts that it did."""
    done = container.run_script("hoard = [b'x' * (1 << 20) for _ in range(200)]", prefix=little_memory)
    assert done.status == 137
    cause = "SIGKILL: probably out of memory (the kernel killed 1 for want of it)"
    assert done.failure.startswith(f"ExecuteUserScriptError: {cause}\nExitCode 137\n")


def test_shell_whose_child_was_oom_killed_has_a_reason(container, little_memory):
    """A shell turns the signal into exit status 137."""
    container.write("code/hoard.py", "hoard = [b'x' * (1 << 20) for _ in range(200)]")
    container.write("code/run.sh", f"#!/bin/sh\n{container.python} hoard.py\nexit $?\n")
    done = container.run(environ={"SAGEMAKER_PROGRAM": "run.sh"}, prefix=little_memory)
    assert done.status == 137
    assert done.failure.startswith("ExecuteUserScriptError: SIGKILL: probably out of memory (the kernel killed 1 ")


@pytest.mark.parametrize(
    ("before", "after", "cause"),
    [
        ("", "", "probably out of memory"),
        ("oom 0\noom_kill 2\n", "oom 1\noom_kill 4\n", "probably out of memory (the kernel killed 2 for want of it)"),
        (
            "oom 9\noom_kill 2\n",
            "oom 9\noom_kill 2\n",
            "probably out of memory, unless a process sent it: the kernel has counted no such kill here",
        ),
        ("nonsense", "nonsense", "probably out of memory"),
    ],
)
def test_sigkill_reason_uses_the_oom_count(container, before, after, cause):
    """The count of version 2, in a file where the kernel's stands; where nobody counts, memory is the usual reason."""
    mount = 'mount -t tmpfs none /sys/fs/cgroup && printf "$0" > /sys/fs/cgroup/memory.events && exec "$@"'
    prefix = ["unshare", "--mount", "sh", "-c", mount, before]
    if os.geteuid() != 0 or subprocess.run([*prefix, "true"], capture_output=True).returncode:
        pytest.skip("hiding the control groups needs root and unshare")
    script = f"import os; open('/sys/fs/cgroup/memory.events', 'w').write({after!r}); os.kill(os.getpid(), 9)"
    done = container.run_script(script, prefix=prefix)
    assert done.status == 137
    assert done.failure.startswith(f"ExecuteUserScriptError: SIGKILL: {cause}\nExitCode 137\n")


def test_sigkill_without_oom_has_a_separate_reason(container, little_memory):
    """A wrong reason would suggest a larger instance."""
    done = container.run_script("import os; os.kill(os.getpid(), 9)", prefix=little_memory)
    cause = "SIGKILL: probably out of memory, unless a process sent it: the kernel has counted no such kill here"
    assert done.failure.startswith(f"ExecuteUserScriptError: {cause}\nExitCode 137\n")


@pytest.mark.parametrize("arguments", [(), ("train",), ("train", "train")])
def test_argument_train_is_optional(container, arguments):
    """SageMaker starts an image with the argument `train`, and with none when the request has its own entry point.

    It appends the word to the ENTRYPOINT of the image, which may end with it: that of docs/runtime.md does.
    """
    assert container.run_script("print('ran')", arguments=arguments).stdout == b"ran\n"


@pytest.mark.parametrize("arguments", [("serve",), ("train", "serve"), ("train", "now"), ("--help",)])
def test_other_arguments_are_rejected(container, arguments):
    """An image for training does not serve."""
    done = container.run_script("print('ran')", arguments=arguments)
    assert (done.status, done.stdout) == (2, b"")
    assert f"not `{arguments[-1]}`" in done.failure


@pytest.fixture
def tiny_disk(tmp_path):
    """A file system of 64 KiB."""
    if os.geteuid() != 0 or shutil.which("mount") is None:
        pytest.skip("a small file system needs root and mount")
    directory = tmp_path / "tiny"
    directory.mkdir()
    if subprocess.run(
        ["mount", "-t", "tmpfs", "-o", "size=64k", "tmpfs", str(directory)], capture_output=True
    ).returncode:
        pytest.skip("mounting a tmpfs is not allowed here")
    yield directory
    subprocess.run(["umount", "-l", str(directory)], check=True)


FILL = """
import os, sys
with open(os.environ["SM_OUTPUT_DIR"] + "/fill", "wb", buffering=0) as file:
    while True:
        file.write(b"x" * 4096)
"""


def test_full_disk_fails_with_the_reason(container, tiny_disk):
    """The toolkit ends with 0 and an empty failure file when the program has filled the disk."""
    output = container.base / "output"
    shutil.rmtree(output)
    output.symlink_to(tiny_disk)
    done = container.run_script(FILL)
    assert (done.status, done.succeeded) == (1, False)
    assert done.failure.startswith("ExecuteUserScriptError: OSError: [Errno 28] No space left on device\nExitCode 1\n")


def test_unwritable_output_directory_keeps_the_status(container):
    """The exit status is right even where no file can be written, and the log has the reason."""
    shutil.rmtree(container.base / "output")
    container.write("output", "not a directory")
    done = container.run_script("raise ValueError('boom')")
    assert (done.status, done.failure) == (1, None)
    assert b"ExecuteUserScriptError: ValueError: boom" in done.stderr


def test_missing_output_directory_is_created(container):
    shutil.rmtree(container.base / "output")
    done = container.run_script("raise ValueError('boom')")
    assert done.status == 1
    assert done.failure.startswith("ExecuteUserScriptError: ValueError: boom\n")


def test_output_directory_contains_only_result_files(container):
    """The room that was set aside for a failure is given back."""
    container.run_script("print('fine')")
    assert sorted(os.listdir(container.base / "output")) == ["data", "success"]


@pytest.mark.parametrize("stream", ["stdout", "stderr", "both"])
def test_closed_standard_streams_keep_the_status(container, stream):
    """The reader of the log may disappear."""
    closed = {"stdout": ">&-", "stderr": "2>&-", "both": "<&- >&- 2>&-"}[stream]
    prefix = ["sh", "-c", f'exec "$@" {closed}', "sh"]
    done = container.run_script("import sys; sys.stderr.write('x' * 100000); sys.exit(3)", prefix=prefix)
    assert done.status == 3
    assert done.failure.startswith("ExecuteUserScriptError: ")


def test_full_disk_behind_stderr_does_not_stop_the_script(container):
    """Standard error may be a file on a disk that is full; the program never notices."""
    with open("/dev/full", "wb") as full:
        done = container.run_script("import sys; sys.stderr.write('x' * 100000); print('done')", stderr=full)
    assert (done.status, done.stdout, done.succeeded) == (0, b"done\n", True)
